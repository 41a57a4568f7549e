"""A worker on strings: a program that a pool starts in place of a worker, and that does only what a test says.

It connects to the stage, a socket of the test, says its process id there and then reports every job it gets; the
test answers each time with one word. A puppet that gets no word hangs. So a test knows when a worker is thinking,
and decides when it stops, without ever looking at a clock.
"""

from __future__ import annotations

import os
import socket
import sys

from tabuleiro_server.bots.messages import Answer, Ready, Refusal, encode_frame, read_job


def main(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as link, link.makefile("rw") as strings:
        print(os.getpid(), file=strings, flush=True)
        number = 0
        while word := strings.readline().strip():
            obey(word, number)
            job = read_job(sys.stdin.buffer)
            if job is None:
                return
            number, request = job.number, job.request
            print(request.room, len(request.actions), request.budget_ms, request.cores, file=strings, flush=True)


def obey(word: str, number: int) -> None:
    """Do what ``word`` says about the job with this number."""
    frames = {
        "ready": encode_frame(Ready()),
        "answer": encode_frame(Answer(number, ["a1", "b1"])),
        "refuse": encode_frame(Refusal(number, "no idea")),
        "wrong-number": encode_frame(Answer(number + 1, ["a1"])),
        "no-actions": encode_frame(Answer(number, [])),
        "no-msgpack": b"\x00\x00\x00\x05hello",
        "text": b"Traceback (most recent call last):\n",
        "half-a-frame-and-end": encode_frame(Answer(number, ["a1"]))[:-1],
        "end": b"",
    }
    sys.stdout.buffer.write(frames[word])
    sys.stdout.buffer.flush()
    if word.endswith("end"):
        os._exit(3)


if __name__ == "__main__":
    main(int(sys.argv[1]))

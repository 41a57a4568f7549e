"""What is written to a terminal that is gone holds nobody up."""

from __future__ import annotations

import os
import pty
import threading

from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from tabuleiro_client.tui.driver import LastingFile

LIMIT_S = 60.0


def test_writing_goes_on_after_the_terminal_was_closed() -> None:
    reader, writer = pty.openpty()
    with open(writer, "w", encoding="utf-8") as stream:
        file = LastingFile(stream)
        output = WriterThread(file)  # type: ignore[arg-type]
        output.start()
        output.write("there")
        assert os.read(reader, 100) == b"there"
        os.close(reader)

        def write_more_than_can_wait() -> None:
            for _ in range(3 * MAX_QUEUED_WRITES):
                output.write("gone")
            output.stop()

        writing = threading.Thread(target=write_more_than_can_wait, daemon=True)
        writing.start()
        writing.join(LIMIT_S)
        assert not writing.is_alive()
        assert file.is_gone
        # What the closed terminal left in the stream cannot be let out any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), writer)

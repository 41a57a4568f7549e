"""What server/BOTS.md shows, for the tests: its transcript and its example engine; and engines that misbehave."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "server" / "BOTS.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The text of the page's one block of ``language``."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def transcript() -> list[tuple[str, str]]:
    """The lines of the conversation, each with who says it: ``<`` is the host, ``>`` the engine."""
    return [(line[0], line[2:]) for line in block("transcript").splitlines()]


def write_engine(folder: Path, source: str, name: str = "engine.py") -> str:
    """Write an engine and return the command that runs it."""
    path = folder / name
    path.write_text(source, encoding="utf-8")
    return shlex.join([sys.executable, str(path)])


def scripted(on_go: str, on_new_game: str = "pass") -> str:
    """The source of an engine that is ready at once and does what the test says when it is asked to choose."""
    return f"""\
import sys, time
for line in sys.stdin:
    order, _, rest = line.strip().partition(" ")
    if order == "isready":
        print("ready", flush=True)
    elif order == "newgame":
        {on_new_game}
    elif order == "position":
        played = rest.split()
    elif order == "go":
        {on_go}
    elif order == "quit":
        break
"""


FAULTS = {
    "sys.exit('out of ideas')": "ended",
    "print('my move is a1', flush=True)": "none of: name NAME",
    "print('best z9', flush=True)": "'z9', which cannot be played",
    "sys.stdout.buffer.write(b'best \\xff\\n'); sys.stdout.flush()": "not UTF-8",
    "print('best ' + 'a1 ' * 9000, flush=True)": "more than 8192 bytes",
    "print('error no book for this', flush=True)": "no book for this",
    "time.sleep(600)": "no answer within",
}
"""What an engine may do instead of choosing, and a part of what is told about it."""

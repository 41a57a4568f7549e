"""``tabuleiro`` as it is, but for one thing: it counts what it is told of rooms, where a bench can read it.

    python -m tests.bench.counting_client COUNTS ARGUMENTS...

COUNTS is a file of eight bytes: the number of events and changed heads taken in so far.
"""

from __future__ import annotations

import mmap
import struct
import sys
from typing import Final

from tabuleiro.protocol.messages import Update
from tabuleiro_client.cli.main import main
from tabuleiro_client.net.mirror import Mirror, Step

COUNT: Final = struct.Struct("<q")


def count_updates(path: str) -> None:
    """Count from now on what mirrors take in: events, or one for a head that changed without any."""
    with open(path, "r+b") as file:
        shared = mmap.mmap(file.fileno(), COUNT.size)
    original = Mirror.update

    def update(self: Mirror, told: Update) -> tuple[Step, ...]:
        COUNT.pack_into(shared, 0, COUNT.unpack_from(shared)[0] + max(1, len(told.events)))
        return original(self, told)

    Mirror.update = update  # type: ignore[method-assign]


if __name__ == "__main__":
    count_updates(sys.argv.pop(1))
    main()

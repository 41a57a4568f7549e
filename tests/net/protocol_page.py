"""shared/PROTOCOL.md, cut into its sections, for the tests that check it or take examples from it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import get_args

import msgspec

from tabuleiro.protocol.codec import JsonCodec
from tabuleiro.protocol.messages import ClientMessage

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "shared" / "PROTOCOL.md").read_text(encoding="utf-8")

_HEADING = re.compile(r"^#{2,3} (.+)$", re.MULTILINE)
_EXAMPLE = re.compile(r"^```json\n(.+?)^```$", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| (`[^|]+) \|", re.MULTILINE)
_QUOTED = re.compile(r"`([^`]+)`")


@cache
def sections() -> dict[str, str]:
    """The text under each heading of level 2 and 3; backticks around a heading are taken off."""
    parts = _HEADING.split(PAGE)
    return {heading.strip("`"): text for heading, text in zip(parts[1::2], parts[2::2], strict=True)}


def example(heading: str) -> bytes:
    """The JSON example under a heading. Raises: AssertionError when there is not just one."""
    found = _EXAMPLE.findall(sections()[heading])
    assert len(found) == 1, f"{heading}: {len(found)} examples"
    return str(found[0]).encode()


def described(heading: str) -> set[str]:
    """What the first columns of the tables under a heading quote."""
    return {name for row in _ROW.findall(sections()[heading]) for name in _QUOTED.findall(row)}


def tag_of(struct: type[msgspec.Struct]) -> str:
    """What a struct is told apart by on the wire."""
    return str(struct.__struct_config__.tag)


def client_examples() -> list[ClientMessage]:
    """One message of every type that clients send."""
    codec = JsonCodec()
    return [codec.decode_client(example(tag_of(message))) for message in get_args(ClientMessage)]

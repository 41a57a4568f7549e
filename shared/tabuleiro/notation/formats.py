"""The formats of match records: what a file of bytes holds, and in which format a record is written.

Files themselves are left to the callers.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import Final

from tabuleiro.errors import RecordError
from tabuleiro.notation.record import MatchRecord
from tabuleiro.notation.record_json import JsonRecord, export_json, find_json_records
from tabuleiro.notation.record_text import RecordText, format_record, split_records

MEBIBYTE: Final = 1 << 20
FILE_MAX_BYTES: Final = 8 * MEBIBYTE
"""The longest file that is read."""

_ENCODINGS: Final = "UTF-8 text, or UTF-16 with a byte order mark"
_JSON_START: Final = re.compile(r'\s*(?:\{\s*(?:\}|"(?:[^"\\]|\\.)*"\s*:)|\[\s*[\[{"\]])')
"""Neither a comment in braces, nor a header, nor a cell in the form ``[3, 4]``."""


class RecordFormat(StrEnum):
    """The formats in which a match is exported."""

    RECORD = "record"
    JSON = "json"


def write_record(record: MatchRecord, record_format: RecordFormat, *, game_id: str | None = None) -> str:
    """Write a record in a format; the text ends with a line end.

    ``game_id`` is the name of the match on its server, ``None`` for none.

    Raises:
        GameOptionError, NotationError, IllegalActionError: The rules refuse the record.
        ValueError: The outcome contradicts the rules.
    """
    if record_format is RecordFormat.RECORD:
        return format_record(record)
    text = json.dumps(export_json(record, game_id=game_id), indent=2, ensure_ascii=False) + "\n"
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # half a character is none in UTF-8


def find_records(data: bytes) -> tuple[RecordText | JsonRecord, ...]:
    """Return the records in the bytes of a file, in order, found but not yet checked; at least one.

    Raises:
        RecordError: The bytes are no text, hold no record, or are too many.
    """
    if len(data) > FILE_MAX_BYTES:
        raise RecordError("", 1, 1, f"expected at most {FILE_MAX_BYTES // MEBIBYTE} MiB")
    text = decode_text(data)
    found = find_json_records(text) if _JSON_START.match(text) else split_records(text)
    if not found:
        raise RecordError("", 1, 1, "there is no record: expected headers and turns, a list of actions, or JSON")
    return found


def decode_text(data: bytes) -> str:
    """Return the text of a file in UTF-8, with a byte order mark or without, or UTF-16 with one.

    Every line ends with a line feed.

    Raises:
        RecordError: It is neither; it names the place of the wrong byte.
    """
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode(encoding, "ignore")
        raise _wrong_text(before, data[error.start : error.start + 8].decode("latin-1")) from None
    before, nul, _ = text.partition("\0")
    if nul:
        raise _wrong_text(before, nul)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _wrong_text(before: str, wrong: str) -> RecordError:
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return RecordError(wrong, line, column, f"expected {_ENCODINGS}")

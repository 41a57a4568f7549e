"""Own matches in words: what can be done about one, the questions before, and what became of it."""

from __future__ import annotations

from typing import Final

HEADINGS: Final = ("room", "game", "against", "result", "date", "where", "board")
"""What lists of own matches tell."""

UNFINISHED: Final = "unfinished"
"""What stands for the result of a match that can be continued; lists are searched by it."""

CONTINUE_MATCH: Final = "continue it"
END_MATCH: Final = "end it: resign, or no result if it has hardly begun"
DELETE_MATCH: Final = "delete it, with all that was played"
FORGET_MATCH: Final = "take it off this list; its server keeps it"


def end_question(match: str) -> str:
    """Return the question before a match is ended."""
    return f"End {match}? You resign; if it has hardly begun, it ends without a result."


def delete_question(match: str) -> str:
    """Return the question before a match of this machine is deleted."""
    return f"Delete {match}? What was played is gone for good."


def ended_text(match: str) -> str:
    """Return what became of a match that was ended."""
    return f"ended: {match}"


def deleted_text(match: str) -> str:
    """Return what became of a match that was deleted."""
    return f"deleted: {match}"

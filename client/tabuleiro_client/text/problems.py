"""Errors as sentences for people."""

from __future__ import annotations

from tabuleiro.errors import CommandError, GuestNameTakenError, TabuleiroError, UnknownOutcomeError


def problem_text(error: TabuleiroError | ModuleNotFoundError) -> str:
    """Return the sentence that says what went wrong."""
    match error:
        case CommandError():
            return f"the server refuses: {error.message}"
        case UnknownOutcomeError():
            return f"the connection was lost before the answer ({error.reason}): not known whether it was done"
        case GuestNameTakenError():
            return f"{error.told}; if it is yours on another computer: `tabuleiro identity export` there"
        case ModuleNotFoundError():
            return f"this needs {error.name}, which is not installed: pip install 'tabuleiro[server]'"
        case _:
            return str(error)

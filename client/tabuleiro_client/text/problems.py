"""Errors as sentences for people."""

from __future__ import annotations

from typing import Final

from tabuleiro import __version__
from tabuleiro.errors import CommandError, GuestNameTakenError, TabuleiroError, UnknownOutcomeError


def problem_text(error: TabuleiroError | ModuleNotFoundError) -> str:
    """Return the sentence that says what went wrong."""
    match error:
        case CommandError():
            return error.message
        case UnknownOutcomeError():
            return f"the connection was lost before the answer ({error.reason}): not known whether it was done"
        case GuestNameTakenError():
            return f"{error.told}; if it is yours on another computer: `tabuleiro identity export` there"
        case ModuleNotFoundError():
            return missing_part("server")
        case _:
            return str(error)


_PARTS: Final = {"server": ("the server part", "server"), "bots": ("the compiled bots", "server,bots")}


def missing_part(extra: str) -> str:
    """Say that an extra of the distribution is not installed, and how to install it."""
    part, extras = _PARTS[extra]
    wheel = f"./tabuleiro-{__version__}-py3-none-any.whl[{extras}]"
    return (
        f"this needs {part} of tabuleiro, which is not installed; with the wheel: pipx install --force '{wheel}'"
    )

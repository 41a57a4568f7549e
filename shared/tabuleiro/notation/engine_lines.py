"""The lines that a host and an engine, somebody else's program that plays, say to each other (server/BOTS.md).

Orders go to the engine, replies come from it, one a line. Starting the program, the pipes and the limits of time
are left to each side's own engine process, and what a turn may be to :mod:`tabuleiro.notation.actions`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tabuleiro.errors import BotError, TurnError, shown
from tabuleiro.notation.actions import parse_turn
from tabuleiro.notation.plain_text import strip_controls
from tabuleiro.rules import Game, State

ENGINE_PROTOCOL_VERSION: Final = 1

REPLY_MAX_BYTES: Final = 8192
"""The longest line that an engine may say, its line end included."""

NAME_MAX_CHARS: Final = 40

GREETING: Final = (f"tabuleiro {ENGINE_PROTOCOL_VERSION}", "isready")
"""What the host says first; the engine answers with its name and that it is ready."""

QUIT: Final = "quit"


@dataclass(frozen=True, slots=True)
class Ready:
    """The engine has taken in everything it was told."""


@dataclass(frozen=True, slots=True)
class Best:
    """The engine's choice: ``text`` holds one action or more, parted by spaces, not yet checked."""

    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """What the engine is called; one line of visible characters, :data:`NAME_MAX_CHARS` at most."""

    name: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Something for people; one line of visible characters."""

    text: str


Reply = Ready | Best | Called | Remark


def game_lines(game: Game, seed: int) -> tuple[str, ...]:
    """The orders that begin a game: its name, every option, the ``seed`` to draw from, and to say when ready."""
    options = (f"option {name} {str(value).strip()}" for name, value in game.options.items())
    return (f"newgame {game.name}", *options, f"seed {seed}", "isready")


def position_line(actions: Iterable[str]) -> str:
    """The order that tells what has been played since the start, in canonical texts.

    >>> position_line(["c3", "d4"]), position_line([])
    ('position c3 d4', 'position')
    """
    return " ".join(("position", *actions))


def go_line(limit_ms: int, clocks_ms: tuple[int, int] | None = None) -> str:
    """The order to choose within ``limit_ms`` milliseconds.

    ``clocks_ms`` is what the engine and its opponent have left on their clocks; ``None`` without a clock.

    >>> go_line(5000), go_line(2500, (60000, 58000))
    ('go limit 5000', 'go limit 2500 left 60000 other 58000')
    """
    clocks = "" if clocks_ms is None else f" left {clocks_ms[0]} other {clocks_ms[1]}"
    return f"go limit {limit_ms}{clocks}"


def parse_reply(line: bytes) -> Reply | None:
    """Read a line of an engine, with its line end or without; ``None`` for an empty one.

    Raises: BotError for anything that the protocol does not know, and for an ``error`` that the engine tells.

    >>> parse_reply(b"best c3 d4")
    Best(text='c3 d4')
    """
    text = _decoded(line)
    word, _, rest = text.partition(" ")
    rest = rest.strip()
    match word:
        case "":
            return None
        case "ready" if not rest:
            return Ready()
        case "best" if rest:
            return Best(rest)
        case "name" if rest:
            return Called(strip_controls(rest)[:NAME_MAX_CHARS])
        case "info":
            return Remark(strip_controls(rest))
        case "error":
            raise BotError(f"reports an error: {strip_controls(rest) or 'it does not say which'}")
    raise BotError(
        f"said {shown(text)}, which is none of: name NAME, ready, best ACTION ..., info TEXT, error TEXT "
        "(remarks belong into info lines or to standard error)"
    )


def parse_best(state: State, best: Best) -> tuple[int, ...]:
    """Read the actions that an engine chose in ``state``: one at least, all within the turn of the mover.

    Raises: BotError naming the action that cannot be played and why.
    """
    try:
        actions = parse_turn(state, best.text)
    except TurnError as error:
        raise BotError(
            f"chose {shown(error.text)}, which cannot be played: {error.expected} (position {state.to_position()})"
        ) from error
    if not actions:
        raise BotError(f"chose no action: best {shown(best.text)}")
    return actions


def _decoded(line: bytes) -> str:
    if len(line) > REPLY_MAX_BYTES:
        raise BotError(f"said a line of more than {REPLY_MAX_BYTES} bytes: {line[:30]!r}...")
    try:
        return line.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise BotError(f"said something that is not UTF-8 text: {line[:30]!r}") from error

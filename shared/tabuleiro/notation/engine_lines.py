"""The protocol between a host and an engine, a program that plays (server/BOTS.md), without I/O.

Orders go to the engine and replies come from it, one a line. :class:`EngineHost` is the host's side;
each user of it brings the program, its pipes and its clock.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from tabuleiro.errors import BotError, TurnError, shown
from tabuleiro.notation.actions import parse_turn
from tabuleiro.notation.plain_text import strip_controls
from tabuleiro.rules import Game, State

ENGINE_PROTOCOL_VERSION: Final = 1

REPLY_MAX_BYTES: Final = 8192
"""The longest line of an engine, its line end included."""

NAME_MAX_CHARS: Final = 40

START_LIMIT_MS: Final = 10_000
"""The time for the first ``ready``."""

SLACK_MS: Final = 250
"""The time beyond its limit that an answer may take, for the way to the engine and back."""

END_LIMIT_S: Final = 1.0
"""The time for an engine to end after ``quit``."""

GREETING: Final = (f"tabuleiro {ENGINE_PROTOCOL_VERSION}", "isready")
"""The first orders of the host; the engine answers with its name and ``ready``."""

QUIT: Final = "quit"


@dataclass(frozen=True, slots=True)
class Ready:
    """The engine has read all orders."""


@dataclass(frozen=True, slots=True)
class Best:
    """The engine's choice: ``text`` holds one action or more, separated by spaces, not yet checked."""

    text: str


@dataclass(frozen=True, slots=True)
class Called:
    """The name of the engine; one line of visible characters, :data:`NAME_MAX_CHARS` at most."""

    name: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Something for people; one line of visible characters."""

    text: str


Reply = Ready | Best | Called | Remark

Answer = TypeVar("Answer", Ready, Best)
"""The replies that end a wait."""


def game_lines(game: Game, seed: int) -> tuple[str, ...]:
    """Return the orders that begin a game: its name, every option, the ``seed``, and ``isready``."""
    options = (f"option {name} {str(value).strip()}" for name, value in game.options.items())
    return (f"newgame {game.name}", *options, f"seed {seed}", "isready")


def position_line(actions: Iterable[str]) -> str:
    """Return the order with all actions since the start, in canonical texts.

    >>> position_line(["c3", "d4"]), position_line([])
    ('position c3 d4', 'position')
    """
    return " ".join(("position", *actions))


def go_line(limit_ms: int, clocks_ms: tuple[int, int] | None = None) -> str:
    """Return the order to choose within ``limit_ms`` milliseconds.

    ``clocks_ms`` is the time left on the clocks of the engine and its opponent; ``None`` without a clock.

    >>> go_line(5000), go_line(2500, (60000, 58000))
    ('go limit 5000', 'go limit 2500 left 60000 other 58000')
    """
    clocks = "" if clocks_ms is None else f" left {clocks_ms[0]} other {clocks_ms[1]}"
    return f"go limit {limit_ms}{clocks}"


def parse_reply(line: bytes) -> Reply | None:
    """Read a line of an engine, with its line end or without; ``None`` for an empty one.

    Raises: BotError for anything that the protocol does not know, and for an ``error`` of the engine.

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


class EngineHost(ABC):
    """The host's side of the protocol over a transport that subclasses provide: :meth:`_ask`.

    ``name`` is the name that the engine gave, or empty.
    """

    def __init__(self) -> None:
        self.name = ""

    async def greet(self, limit_ms: int = START_LIMIT_MS) -> None:
        """Send the greeting and wait until the engine is ready. Raises: BotError."""
        await self._ask(_encoded(GREETING), Ready, limit_ms)

    async def begin(self, game: Game, seed: int, limit_ms: int = START_LIMIT_MS) -> None:
        """Announce a new game and wait until the engine is ready for it. Raises: BotError."""
        await self._ask(_encoded(game_lines(game, seed)), Ready, limit_ms)

    async def choose(
        self, state: State, played: Iterable[str], limit_ms: int, clocks_ms: tuple[int, int] | None = None
    ) -> tuple[int, ...]:
        """Ask for the actions of the player to move, for the rest of the turn or a part of it.

        ``played`` are the texts of all actions since the start, which led to ``state``; ``clocks_ms`` is the time
        left to the engine and its opponent, ``None`` without a clock.

        Raises: BotError when the answer is late, missing, or not legal.
        """
        orders = _encoded((position_line(played), go_line(limit_ms, clocks_ms)))
        return parse_best(state, await self._ask(orders, Best, limit_ms))

    @abstractmethod
    async def _ask(self, orders: bytes, wanted: type[Answer], limit_ms: int) -> Answer:
        """Send ``orders``, and hand the engine's lines to :meth:`_receive` until it returns the answer.

        Raises: BotError, after ``limit_ms`` and :data:`SLACK_MS` milliseconds too.
        """

    def _receive(self, line: bytes, wanted: type[Answer]) -> Answer | None:
        """Read a line of the engine; return the answer if it is the ``wanted`` one, ``None`` to read on.

        Raises: BotError for an answer that was not asked for, and as :func:`parse_reply`.
        """
        reply = parse_reply(line)
        if isinstance(reply, wanted):
            return reply
        if isinstance(reply, Called):
            self.name = reply.name
        elif isinstance(reply, Ready | Best):
            raise BotError(f"said {type(reply).__name__.lower()} when {wanted.__name__.lower()} was expected")
        return None


def _encoded(orders: Iterable[str]) -> bytes:
    return "".join(f"{order}\n" for order in orders).encode()


def too_late(limit_ms: int) -> BotError:
    """Return the error for an engine without an answer after ``limit_ms`` milliseconds."""
    return BotError(f"gave no answer within {limit_ms} ms")


def too_long() -> BotError:
    """Return the error for a line beyond :data:`REPLY_MAX_BYTES`."""
    return BotError(f"said a line of more than {REPLY_MAX_BYTES} bytes")


def early_end(exit_status: int | None, last_words: str = "") -> BotError:
    """Return the error for an engine that ended, or closed its output and still runs (exit status ``None``)."""
    how = "closed its standard output" if exit_status is None else f"ended with exit status {exit_status}"
    return BotError(f"{how}: {last_words}" if last_words else how)


def cannot_start(error: OSError | ValueError) -> BotError:
    """Return the error for a program that could not be started."""
    return BotError(f"cannot be started: {getattr(error, 'strerror', None) or error}")


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

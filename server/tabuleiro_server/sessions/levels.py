"""The levels of bots that guests may ask for: those of the server, and algorithms for the person who runs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from tabuleiro.errors import BotError, CommandError, GameOptionError
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.settings import RoomSettings


class ReadLevel(Protocol):
    """Returns the name of a level by any text for it. Raises: BotError, GameOptionError."""

    def __call__(self, game: str, text: str, *, is_own_machine: bool) -> str:
        """Read a level; algorithms are refused except on one's own machine."""
        ...


class Levels:
    """The levels ``offered`` for each game, and what else may be read for people on their own machine."""

    def __init__(self, offered: Mapping[str, tuple[str, ...]], read: ReadLevel) -> None:
        self.offered = offered
        self._read = read

    def known(self, game: str, *names: str | None) -> tuple[str, ...]:
        """Return the levels of a game that a command may name: those offered and ``names``, which were read."""
        offered = self.offered.get(game, ())
        return (*offered, *(name for name in names if name is not None and name not in offered))

    def read(self, game: str, text: str, *, is_own_machine: bool) -> str:
        """Return the name of a level.

        Raises:
            CommandError: unknown-level.
        """
        if text in self.offered.get(game, ()):
            return text
        try:
            return self._read(game, text, is_own_machine=is_own_machine)
        except (BotError, GameOptionError) as error:
            raise CommandError(ErrorCode.UNKNOWN_LEVEL, str(error)) from error

    def read_settings(self, game: str, settings: RoomSettings, *, is_own_machine: bool) -> RoomSettings:
        """Return settings with the names of their levels. Raises: CommandError, as :meth:`read`."""
        late_bot, stand_in = settings.late_bot, settings.stand_in_level
        if late_bot is not None:
            level = self.read(game, late_bot.level, is_own_machine=is_own_machine)
            late_bot = msgspec.structs.replace(late_bot, level=level)
        if stand_in is not None:
            stand_in = self.read(game, stand_in, is_own_machine=is_own_machine)
        return msgspec.structs.replace(settings, late_bot=late_bot, stand_in_level=stand_in)


def levels_in(settings: RoomSettings) -> tuple[str | None, str | None]:
    """Return the levels that settings name."""
    return (None if settings.late_bot is None else settings.late_bot.level, settings.stand_in_level)

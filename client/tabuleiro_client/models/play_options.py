"""The options of `tabuleiro play`, for both kinds of client, and the order in which bots are offered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tabuleiro.ids import Player
from tabuleiro.protocol.messages import ME, OPEN, CreateRoom, JoinRoom, QuickPlay, SeatRequest
from tabuleiro.rules.options import OptionValue
from tabuleiro.settings import RoomSettings
from tabuleiro_client.net.addresses import named_room

FIRST_OFFERED: Final = "easy"
"""The level for somebody who does not know any yet: it plays sensibly and can be beaten."""


def levels_to_offer(levels: Sequence[str]) -> tuple[str, ...]:
    """Return the levels (given weakest first) in the order to offer them: the usual one first, if it is there.

    >>> levels_to_offer(("random", "greedy", "easy", "hard"))
    ('easy', 'random', 'greedy', 'hard')
    """
    return tuple(sorted(levels, key=lambda level: level != FIRST_OFFERED))


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """The options of `tabuleiro play`; ``None`` and empty stand for an option left out.

    ``server`` is a checked URL, ``options`` those of the preset and of the single options together. ``secret``
    belongs to ``room``. ``is_quick`` asks for whoever waits for ``game``.
    """

    server: str | None = None
    room: str | None = None
    secret: str | None = None
    game: str | None = None
    is_quick: bool = False
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    level: str | None = None
    seat: Player | None = None
    settings: RoomSettings = RoomSettings()

    @property
    def is_direct(self) -> bool:
        """True if the options are enough to play without a menu."""
        return bool(self.room or self.game or self.options or self.level or self.seat is not None)

    @property
    def is_far(self) -> bool:
        """True if a server is asked, and not that of this process."""
        return self.server is not None or self.room is not None or self.is_quick

    @property
    def is_nothing(self) -> bool:
        """True if no option was given."""
        return not (self.is_direct or self.server)

    def request(self) -> CreateRoom | JoinRoom | QuickPlay:
        """Return the request that enters the room; on the server of this process two people play at one keyboard.

        Raises: ClientError when ``room`` is no address of a room.
        """
        if self.room is not None:
            code, secret = named_room(self.room)
            return JoinRoom(id=0, room=code, seat=self.seat, secret=self.secret or secret)
        from tabuleiro.rules import registry

        game, options = self.game or registry.names()[0], dict(self.options)
        if self.is_quick:
            return QuickPlay(id=0, game=game, options=options, settings=self.settings)
        if self.level is not None:
            other = SeatRequest("bot", self.level)
        else:
            other = OPEN if self.is_far else ME
        seats = (other, ME) if self.seat == 1 else (ME, other)
        return CreateRoom(id=0, game=game, options=options, seats=seats, settings=self.settings)

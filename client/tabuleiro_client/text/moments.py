"""What time alone makes worth telling in a room: a bot thinks for long, a clock runs low, a win may be claimed.

Pure: the room's head in, moments of the server's time out. Waiting for them is left to whoever tells them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tabuleiro.clock import flag_deadline_ms
from tabuleiro.ids import SECOND_MS, Player, opponent
from tabuleiro.protocol.messages import RoomHead
from tabuleiro.text import spell_duration
from tabuleiro_client.text.sentences import Cast

THOUGHT_TOLD_AFTER_MS: Final = 1500
LOW_TIMES_MS: Final = (30 * SECOND_MS, 10 * SECOND_MS)


@dataclass(frozen=True, slots=True)
class Moment:
    """At ``at_ms`` by the server's clock ``text`` becomes true, unless something happens before."""

    at_ms: int
    text: str


def moments(head: RoomHead, cast: Cast, own_seats: tuple[Player, ...]) -> tuple[Moment, ...]:
    """What is to be told to the holder of ``own_seats`` if nothing happens; past moments included."""
    if head.phase != "playing":
        return ()
    return (*_thoughts(head, cast), *_low_times(head, cast, own_seats), *_claims(head, cast, own_seats))


def _thoughts(head: RoomHead, cast: Cast) -> Iterator[Moment]:
    if head.thinking is not None:
        name = head.seats[head.thinking.player].holder
        thinker = f"the computer, for {name.name}," if name.stand_in else cast.title(head.thinking.player)
        yield Moment(head.thinking.since_ms + THOUGHT_TOLD_AFTER_MS, f"{thinker} is thinking")


def _low_times(head: RoomHead, cast: Cast, own_seats: tuple[Player, ...]) -> Iterator[Moment]:
    clock = None if head.match is None else head.match.clock
    if clock is None or clock.running not in own_seats or clock.since_ms is None:
        return
    deadline_ms = flag_deadline_ms(head.settings.time_control, clock)
    for low_ms in LOW_TIMES_MS:
        if deadline_ms is not None and deadline_ms - low_ms > clock.since_ms:
            yield Moment(deadline_ms - low_ms, f"{spell_duration(low_ms)} left for {cast.side(clock.running)}")


def _claims(head: RoomHead, cast: Cast, own_seats: tuple[Player, ...]) -> Iterator[Moment]:
    if len(own_seats) != 1 or head.settings.stand_in_level is not None:
        return
    other = opponent(own_seats[0])
    seat, away_after_ms = head.seats[other], head.settings.away_after_ms
    if seat.holder.kind == "person" and seat.away_since_ms is not None:
        gain = "ends the match" if head.match is not None and head.match.can_abort else "takes the win"
        text = f"{cast.title(other)} has been away for {spell_duration(away_after_ms)}: claim {gain}, or wait on"
        yield Moment(seat.away_since_ms + away_after_ms, text)

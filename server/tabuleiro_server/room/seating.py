"""Decisions about rooms and seats: making and changing the room, joining, leaving, bots, presence."""

from __future__ import annotations

import hmac

from tabuleiro.clock import NoClock
from tabuleiro.errors import GameOptionError, shown
from tabuleiro.ids import PLAYERS, Player
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro.protocol.events import (
    BotSeated,
    Event,
    Events,
    HostChanged,
    MatchEnded,
    MatchStarted,
    OfferEnded,
    RoomClosed,
    RoomOpened,
    RoomResumed,
    SeatConnected,
    SeatDisconnected,
    SeatFreed,
    SeatInfo,
    SeatsSwapped,
    SeatTaken,
    SettingsChanged,
)
from tabuleiro.protocol.names import bot_name
from tabuleiro.rules import registry
from tabuleiro.rules.base import Game, Termination
from tabuleiro.settings import RoomSettings
from tabuleiro_server.room import commands
from tabuleiro_server.room.commands import Chance
from tabuleiro_server.room.permissions import check_host, check_not_playing, refuse
from tabuleiro_server.room.state import RoomState, Seats, bot_account


def open_room(command: commands.OpenRoom) -> Events:
    """Return the first events of a new room.

    Raises:
        CommandError: A game, option or level is impossible.
    """
    options = dict(command.options)
    try:
        if registry.game_type(command.game).needs_seed(options):
            options["seed"] = command.chance.seed
        game = registry.load(command.game, options)
    except GameOptionError as error:
        refuse(ErrorCode.BAD_OPTION, str(error))
    settings = command.settings
    _check_settings(settings, command.bot_levels, game.name)
    first = _seat_wanted(command, 0, None)
    seats = (first, _seat_wanted(command, 1, first.name))
    opened = RoomOpened(
        room=command.code,
        game=game.name,
        options=dict(game.options),
        host=command.account,
        host_name=command.name,
        seats=seats,
        settings=settings,
        limits=command.limits,
        secrets=command.secrets if settings.is_private else None,
    )
    if any(seat.kind == "open" for seat in seats):
        return (opened,)
    return (opened, *start_match(settings, game, 1, command.chance))


def start_match(settings: RoomSettings, game: Game, number: int, chance: Chance) -> Events:
    """Return the events of a match that begins now; the first one is played with the seed drawn for the room.

    A position in which nobody can act ends the match at once.
    """
    seed = chance.seed if number > 1 and _needs_new_seed(game) else None
    swapped: Events = (SeatsSwapped(),) if settings.first == "draw" and chance.is_swapped else ()
    outcome = game.initial_state().outcome
    ended: Events = () if outcome is None else (MatchEnded(number, outcome.winner, outcome.termination),)
    return (*swapped, MatchStarted(number, seed), *ended)


def _needs_new_seed(game: Game) -> bool:
    return game.needs_seed({name: value for name, value in game.options.items() if name != "seed"})


def _check_settings(settings: RoomSettings, bot_levels: tuple[str, ...], game: str) -> None:
    if settings.late_bot is not None:
        _check_level(settings.late_bot.level, bot_levels, game)
    if settings.stand_in_level is not None:
        _check_level(settings.stand_in_level, bot_levels, game)
    if settings.hints and not settings.is_casual:
        refuse(ErrorCode.NOT_ALLOWED, "hints are for casual rooms: make the room casual, or without hints")


def _check_level(level: str | None, bot_levels: tuple[str, ...], game: str) -> str:
    if level is None or level not in bot_levels:
        known = ", ".join(bot_levels)
        refuse(ErrorCode.UNKNOWN_LEVEL, f"no bot of level {shown(level)} plays {game}, expected one of {known}")
    return level


def _seat_wanted(command: commands.OpenRoom, seat: Player, opposite: str | None) -> SeatInfo:
    wanted = command.seats[seat]
    if wanted.kind == "me":
        return SeatInfo("person", command.account, command.name)
    if wanted.kind == "open":
        return SeatInfo()
    return bot_seat(seat, _check_level(wanted.level, command.bot_levels, command.game), opposite)


def bot_seat(seat: Player, level: str, opposite: str | None) -> SeatInfo:
    """Return a seat held by a bot; ``opposite`` is the name of the player there, ``None`` for a free seat."""
    return SeatInfo("bot", bot_account(seat), bot_name(level, opposite), level)


def _start_when_full(room: RoomState, seats: Seats, chance: Chance) -> Events:
    """Start the first match once both seats are held; further ones are agreed on by a rematch."""
    if room.phase != "waiting" or any(seat.kind == "open" for seat in seats):
        return ()
    return start_match(room.settings, room.game, 1, chance)


def with_seat(seats: Seats, seat: Player, info: SeatInfo) -> Seats:
    """Return the seats with one of them changed."""
    return (info, seats[1]) if seat == 0 else (seats[0], info)


def decide_join(room: RoomState, command: commands.Join, now_ms: int) -> Events:
    """Take an open seat. A player keeps the seat they hold; the host needs no secret to come back."""
    held = room.seats_of(command.account)
    if held and command.seat in (None, *held):
        return ()
    if held:
        refuse(ErrorCode.SEAT_TAKEN, f"you hold seat {held[0]} of room {room.code} already")
    if command.account != room.host:
        _check_secret(room, command.secret, is_to_play=True)
    wanted = [player for player in PLAYERS if room.seats[player].kind == "open" and command.seat in (None, player)]
    if room.phase == "playing" or not wanted:
        which = "every seat" if command.seat is None else f"seat {command.seat}"
        refuse(ErrorCode.SEAT_TAKEN, f"{which} of room {room.code} is taken; you can watch it")
    seat = wanted[0]
    taken = SeatInfo("person", command.account, command.name)
    full = _start_when_full(room, with_seat(room.seats, seat, taken), command.chance)
    return (SeatTaken(seat, command.account, command.name), *full)


def decide_watch(room: RoomState, command: commands.Watch, now_ms: int) -> Events:
    """Change nothing; refuse if the room is private and the secret is wrong."""
    if not room.seats_of(command.account) and command.account != room.host:
        _check_secret(room, command.secret, is_to_play=False)
    return ()


def _check_secret(room: RoomState, secret: str | None, *, is_to_play: bool) -> None:
    if room.secrets is None:
        return
    good = [room.secrets.invite] if is_to_play else [room.secrets.invite, room.secrets.watch]
    if not any(hmac.compare_digest((secret or "").encode(), wanted.encode()) for wanted in good):
        refuse(ErrorCode.BAD_SECRET, f"room {room.code} is private: it takes the secret part of the invitation")


def decide_leave(room: RoomState, command: commands.Leave, now_ms: int) -> Events:
    """Give up the sender's seats unless a match is being played; the last person to leave closes the room.

    The other player becomes host when the host gives up a seat. A host who never sat down stays host.
    """
    if room.phase == "playing":
        return ()
    return free_seats(room, room.seats_of(command.account), "everybody left")


def decide_close(room: RoomState, command: commands.Close, now_ms: int) -> Events:
    """Close the room, whatever happens in it; a running match ends without a result."""
    match = room.match
    closed = RoomClosed("it was deleted")
    if room.phase != "playing" or match is None:
        return (*_void_offers(room), closed)
    return (MatchEnded(match.number, None, Termination.ABORTED), closed)


def free_seats(room: RoomState, freed: tuple[Player, ...], reason: str) -> Events:
    """Free seats while no match runs; a room without a person on a seat is closed."""
    if not freed:
        return ()
    events = [*_void_offers(room), *(SeatFreed(seat) for seat in freed)]
    left = [
        room.seats[player] for player in PLAYERS if player not in freed and room.seats[player].kind == "person"
    ]
    if not left:
        events.append(RoomClosed(reason))
    elif any(room.seats[player].account == room.host for player in freed):
        heir = left[0]
        events.append(HostChanged(heir.account or room.host, heir.name or room.host_name))
    return tuple(events)


def _void_offers(room: RoomState) -> list[Event]:
    """End all offers: they depend on the people and the settings at the time they were made."""
    return [OfferEnded(offer.kind, offer.player, "void") for offer in room.offers]


def decide_seat_bot(room: RoomState, command: commands.SeatBot, now_ms: int) -> Events:
    """Put a bot on an open seat, or remove it."""
    check_host(room, command.account)
    check_not_playing(room)
    seat = room.seats[command.seat]
    if command.level is None:
        if seat.kind != "bot":
            refuse(ErrorCode.NOT_ALLOWED, f"there is no bot on seat {command.seat}")
        return (SeatFreed(command.seat),)
    if seat.kind == "person":
        refuse(ErrorCode.SEAT_TAKEN, f"{seat.name} holds seat {command.seat}")
    level = _check_level(command.level, command.bot_levels, room.game.name)
    freed: Events = (SeatFreed(command.seat),) if seat.kind == "bot" else ()
    seats = with_seat(room.seats, command.seat, bot_seat(command.seat, level, None))
    return (*freed, BotSeated(command.seat, level), *_start_when_full(room, seats, command.chance))


def decide_swap(room: RoomState, command: commands.SwapSeats, now_ms: int) -> Events:
    """Let the holders of the seats change places."""
    check_host(room, command.account)
    check_not_playing(room)
    return (*_void_offers(room), SeatsSwapped())


def decide_change_settings(room: RoomState, command: commands.ChangeSettings, now_ms: int) -> Events:
    """Change the settings for the matches to come; offers made before are void."""
    check_host(room, command.account)
    check_not_playing(room)
    old, new = room.settings, command.settings
    if new == old:
        return ()
    if (new.is_private, new.counts_downtime) != (old.is_private, old.counts_downtime):
        refuse(ErrorCode.NOT_ALLOWED, "is_private and counts_downtime stay as they were when the room was made")
    _check_settings(new, command.bot_levels, room.game.name)
    return (*_void_offers(room), SettingsChanged(new))


def decide_connect(room: RoomState, command: commands.Connect, now_ms: int) -> Events:
    """Note that the person on a seat is back."""
    back = (seat for seat in room.seats_of(command.account) if room.away_since_ms[seat] is not None)
    return tuple(SeatConnected(seat) for seat in back)


def decide_disconnect(room: RoomState, command: commands.Disconnect, now_ms: int) -> Events:
    """Note that the person on a seat has gone."""
    gone = (seat for seat in room.seats_of(command.account) if room.away_since_ms[seat] is None)
    since_ms = command.since_ms if command.since_ms is not None and command.since_ms < now_ms else None
    return tuple(SeatDisconnected(seat, since_ms) for seat in gone)


def decide_resume(room: RoomState, command: commands.Resume, now_ms: int) -> Events:
    """Note that the server was down; that it stood still only where some time runs that must not count it."""
    is_anything_timed = room.away_since_ms != (None, None) or _is_clock_spared(room)
    if command.is_standstill and (room.phase == "finished" or not is_anything_timed):
        return ()
    return (RoomResumed(command.down_since_ms, command.up_since_ms, command.is_standstill),)


def _is_clock_spared(room: RoomState) -> bool:
    """Return True if a clock runs that does not count downtime, or a first turn is waited for."""
    if room.phase != "playing" or room.match is None:
        return False
    if room.match.first_turn_since_ms is not None:
        return True
    if room.settings.counts_downtime:
        return False
    return not isinstance(room.settings.time_control, NoClock) and room.match.clock.since_ms is not None

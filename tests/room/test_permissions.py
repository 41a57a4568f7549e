"""Who may do what, and when: every command from every role in every phase."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tabuleiro.errors import CommandError
from tabuleiro.ids import AccountId, TimestampMs
from tabuleiro.settings import RoomSettings
from tabuleiro_server.room.commands import (
    Abort,
    AnswerOffer,
    ChangeSettings,
    ClaimWin,
    Close,
    Command,
    Connect,
    Disconnect,
    Expire,
    Explain,
    Leave,
    MakeOffer,
    Mute,
    Play,
    Resign,
    Resume,
    Say,
    SeatBot,
    SwapSeats,
    TakeHint,
    Undo,
    Watch,
)
from tabuleiro_server.room.decide import decide
from tabuleiro_server.room.state import RoomState, bot_account
from tests.room.story import ANA, CODE, DOM, EVA, LEVELS, NAMES, OPEN, RUI, STILL, Story, join

pytestmark = pytest.mark.usefixtures("draws_in_virus_wars")

ROLES = {"host": DOM, "ana": ANA, "rui": RUI, "eva": EVA, "bot": bot_account(0)}
"""Dom has made the room and holds no seat. Ana sits on seat 0, and rui on seat 1, but not yet while it waits."""

COMMANDS = {
    "join": lambda who: join(who) if who in NAMES else None,
    "watch": Watch,
    "leave": Leave,
    "seat-bot": lambda who: SeatBot(who, 1, "random", LEVELS, STILL),
    "swap": SwapSeats,
    "settings": lambda who: ChangeSettings(who, RoomSettings(may_undo=False), LEVELS),
    "play": lambda who: Play(who, 1, 1, ("a2",)),
    "undo": lambda who: Undo(who, 1, 0),
    "hint": lambda who: TakeHint(who, 1, 1),
    "explain": lambda who: Explain(who, 1, 1),
    "resign": lambda who: Resign(who, 1),
    "abort": lambda who: Abort(who, 1),
    "claim": lambda who: ClaimWin(who, 1),
    "draw": lambda who: MakeOffer(who, "draw", STILL),
    "takeback": lambda who: MakeOffer(who, "takeback", STILL),
    "rematch": lambda who: MakeOffer(who, "rematch", STILL),
    "answer": lambda who: AnswerOffer(who, "draw", True, STILL),
    "say": lambda who: Say(who, NAMES.get(who, "bot"), "hello"),
    "mute": lambda who: Mute(who, "ana", True),
    "connect": Connect,
    "disconnect": Disconnect,
    "resume": lambda who: Resume(TimestampMs(0), TimestampMs(1)),
    "expire": lambda who: Expire(STILL),
    "close": lambda who: Close(),
}

EXPECTED = """
command     phase     host         ana           rui           eva         bot
join        waiting   ok           ok            ok            ok          -
join        playing   seat-taken   ok            ok            seat-taken  -
join        finished  seat-taken   ok            ok            seat-taken  -
seat-bot    waiting   ok           not-host      not-host      not-host    not-host
seat-bot    playing   wrong-phase  not-host      not-host      not-host    not-host
seat-bot    finished  seat-taken   not-host      not-host      not-host    not-host
swap        waiting   ok           not-host      not-host      not-host    not-host
swap        playing   wrong-phase  not-host      not-host      not-host    not-host
swap        finished  ok           not-host      not-host      not-host    not-host
settings    waiting   ok           not-host      not-host      not-host    not-host
settings    playing   wrong-phase  not-host      not-host      not-host    not-host
settings    finished  ok           not-host      not-host      not-host    not-host
play        waiting   not-seated   wrong-phase   not-seated    not-seated  not-seated
play        playing   not-seated   ok            not-your-turn not-seated  not-seated
play        finished  not-seated   wrong-phase   wrong-phase   not-seated  not-seated
undo        waiting   not-seated   wrong-phase   not-seated    not-seated  not-seated
undo        playing   not-seated   ok            not-your-turn not-seated  not-seated
undo        finished  not-seated   wrong-phase   wrong-phase   not-seated  not-seated
hint        waiting   not-seated   wrong-phase   not-seated    not-seated  not-seated
hint        playing   not-seated   not-allowed   not-allowed   not-seated  not-seated
hint        finished  not-seated   wrong-phase   wrong-phase   not-seated  not-seated
explain     waiting   wrong-phase  wrong-phase   wrong-phase   wrong-phase wrong-phase
explain     playing   not-seated   not-allowed   not-allowed   not-seated  not-seated
resign      waiting   not-seated   wrong-phase   not-seated    not-seated  not-seated
resign      playing   not-seated   ok            ok            not-seated  not-seated
resign      finished  not-seated   wrong-phase   ok            not-seated  not-seated
abort       waiting   not-seated   wrong-phase   not-seated    not-seated  not-seated
abort       playing   not-seated   ok            ok            not-seated  not-seated
abort       finished  not-seated   wrong-phase   wrong-phase   not-seated  not-seated
claim       waiting   not-seated   wrong-phase   not-seated    not-seated  not-seated
claim       playing   not-seated   not-allowed   not-allowed   not-seated  not-seated
claim       finished  not-seated   wrong-phase   wrong-phase   not-seated  not-seated
draw        waiting   not-seated   wrong-phase   not-seated    not-seated  not-seated
draw        playing   not-seated   ok            ok            not-seated  not-seated
draw        finished  not-seated   wrong-phase   wrong-phase   not-seated  not-seated
takeback    waiting   not-seated   wrong-phase   not-seated    not-seated  not-seated
takeback    playing   not-seated   not-allowed   not-allowed   not-seated  not-seated
takeback    finished  not-seated   wrong-phase   wrong-phase   not-seated  not-seated
rematch     waiting   not-seated   wrong-phase   not-seated    not-seated  not-seated
rematch     playing   not-seated   wrong-phase   wrong-phase   not-seated  not-seated
rematch     finished  not-seated   ok            ok            not-seated  not-seated
answer      waiting   not-seated   no-offer      not-seated    not-seated  not-seated
answer      playing   not-seated   no-offer      no-offer      not-seated  not-seated
answer      finished  not-seated   no-offer      no-offer      not-seated  not-seated
mute        waiting   ok           not-host      not-host      not-host    not-host
mute        playing   ok           not-host      not-host      not-host    not-host
mute        finished  ok           not-host      not-host      not-host    not-host
"""
"""What anybody may do at any time is not listed: watch, leave, say, and what the server itself sends."""


def rooms() -> dict[str, RoomState]:
    story = Story()
    story.open((OPEN, OPEN), host=DOM)
    story.join(ANA)
    found = {"waiting": story.room}
    story.join(RUI)
    story.play(ANA, "a3")
    found["playing"] = story.room
    story.when(Resign(RUI, 1))
    found["finished"] = story.room
    return found


ROOMS = rooms()
TABLE = {
    (command, phase, role): expected
    for command, phase, *row in map(str.split, EXPECTED.strip().splitlines()[1:])
    for role, expected in zip(ROLES, row, strict=True)
}


def answer(room: RoomState, command: Command) -> str:
    try:
        decide(room, command, room.updated_at_ms)
    except CommandError as error:
        return error.code
    return "ok"


@pytest.mark.parametrize("phase", ROOMS)
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_from_every_role_in_every_phase(name: str, phase: str) -> None:
    for role, account in ROLES.items():
        command = COMMANDS[name](account)
        expected = TABLE.get((name, phase, role), "ok")
        assert (role, answer(ROOMS[phase], command) if command else "-") == (role, expected)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("account", ROLES.values(), ids=ROLES)
def test_a_closed_room_answers_like_one_that_never_was(name: str, account: AccountId) -> None:
    command = COMMANDS[name](account)
    if command is not None:
        assert answer(replace(ROOMS["finished"], phase="closed"), command) == "no-such-room"


def test_there_is_a_row_for_every_command() -> None:
    built = {type(make(ANA)) for make in COMMANDS.values()}
    assert built == set(Command.__args__)
    assert ROOMS["waiting"].code == CODE

"""Every message round trips; whatever is not a message is refused with the reason."""

from __future__ import annotations

import json
import math
from typing import Any, get_args

import msgpack
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabuleiro.clock import ByoYomi, Fischer
from tabuleiro.errors import LocalProtocolError, RemoteProtocolError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.codec import CLIENT_FRAME_MAX_BYTES, Codec, JsonCodec, MsgpackCodec, codec_for
from tabuleiro.protocol.messages import (
    Abort,
    Announcement,
    Answer,
    ChangeSettings,
    ClaimWin,
    ClientMessage,
    Consider,
    CreateRoom,
    Error,
    Explain,
    GetBoards,
    GetRecord,
    Hello,
    HintGiven,
    JoinRoom,
    LeaveRoom,
    ListGames,
    ListRooms,
    Mute,
    Offer,
    Ok,
    Play,
    QuickPlay,
    Resign,
    RoomGone,
    Say,
    SayInLobby,
    SeatBot,
    SeatRequest,
    ServerMessage,
    SubscribeLobby,
    SwapSeats,
    TakeHint,
    Undo,
    UnsubscribeLobby,
    WatchRoom,
)
from tabuleiro.protocol.version import SUBPROTOCOLS
from tabuleiro.settings import LateBot, RoomSettings
from tabuleiro_server.rooms.refusals import elsewhere
from tabuleiro_server.sessions.session import refusal

EXAMPLES: tuple[ClientMessage, ...] = (
    Hello(id=1, name="ana"),
    CreateRoom(
        id=2, game="virus-wars", options={"rows": 5}, seats=(SeatRequest("me"), SeatRequest("bot", "random"))
    ),
    SayInLobby(id=30, text="a game, anybody?"),
    ListRooms(id=3, phases=("playing",)),
    JoinRoom(id=4, room="ABCDE", seat=1),
    WatchRoom(id=5, room="ABCDE", since=3, follow=True),
    LeaveRoom(id=6, room="ABCDE"),
    Play(id=7, room="ABCDE", match=1, ply=0, actions=("a1", "b2")),
    Resign(id=8, room="ABCDE", match=1),
    QuickPlay(id=9, game="iris", options={"side": 5}, settings=RoomSettings(time_control=Fischer(60_000, 0))),
    SubscribeLobby(id=10, game="iris", phases=("waiting",)),
    UnsubscribeLobby(id=11),
    Undo(id=12, room="ABCDE", match=1, ply=3),
    Abort(id=13, room="ABCDE", match=1),
    ClaimWin(id=14, room="ABCDE", match=1),
    Offer(id=15, room="ABCDE", kind="draw"),
    Answer(id=16, room="ABCDE", kind="draw", accept=True),
    SeatBot(id=17, room="ABCDE", seat=1, level="random"),
    SwapSeats(id=18, room="ABCDE"),
    ChangeSettings(id=22, room="ABCDE", settings=RoomSettings(stand_in_level="random")),
    Say(id=19, room="ABCDE", text="good game"),
    Mute(id=20, room="ABCDE", name="rui"),
    GetRecord(id=21, room="ABCDE", match=2),
    TakeHint(id=22, room="ABCDE", match=1, ply=3, revision=2),
    Explain(id=26, room="ABCDE", match=1, ply=3, level="minimax-1", count=5),
    ListGames(id=23),
    GetBoards(id=24, room="ABCDE", match=1, ply=3, count=2),
    Consider(id=25, room="ABCDE", match=1, ply=3, actions=("a1",)),
)

codecs = pytest.mark.parametrize("codec", [MsgpackCodec(), JsonCodec()], ids=["msgpack", "json"])
examples = pytest.mark.parametrize("message", EXAMPLES, ids=lambda message: type(message).__name__)


def pack(codec: Codec, value: Any) -> bytes:
    return json.dumps(value).encode() if codec.is_text else msgpack.packb(value)


def plain(message: ClientMessage) -> dict[str, Any]:
    built = msgspec.to_builtins(message)
    assert isinstance(built, dict)
    return built


def test_there_is_an_example_of_every_client_message() -> None:
    assert {type(message) for message in EXAMPLES} == set(get_args(ClientMessage))


@codecs
@examples
def test_client_messages_round_trip(codec: Codec, message: ClientMessage) -> None:
    assert codec.decode_client(codec.encode(message)) == message


@codecs
@pytest.mark.parametrize(
    "message",
    [
        Ok(1),
        Ok(2, HintGiven(("c3",), 0.25, turns_to_end=2)),
        Error(None, "busy", "wait"),
        Error(3, "elsewhere", "room ABCDE is there", "wss://b.example.org", RoomCode("ABCDE"), follow=True),
        RoomGone(RoomCode("ABCDE"), "it moved", "wss://b.example.org"),
        Announcement("hello"),
    ],
)
def test_server_messages_round_trip(codec: Codec, message: ServerMessage) -> None:
    assert codec.decode_server(codec.encode(message)) == message


@codecs
def test_fields_that_older_programs_do_not_know_are_left_out_unless_they_are_used(codec: Codec) -> None:
    """A server refuses unknown fields, and one of before there were nodes knows no ``follow``."""
    told: tuple[ClientMessage | ServerMessage, ...] = (
        WatchRoom(id=5, room="ABCDE"),
        Error(5, "busy", "wait"),
        RoomGone(RoomCode("ABCDE"), "it is closed"),
    )
    for message in told:
        assert b"follow" not in codec.encode(message)
        assert b"node_url" not in codec.encode(message)


@codecs
def test_an_older_client_is_told_where_a_room_is_in_the_words_for_people(codec: Codec) -> None:
    """It knows neither the code nor the new fields, and shows the message; the same for a room that moves."""

    class OlderError(msgspec.Struct, tag_field="type", tag="error"):
        id: int | None
        code: str
        message: str

    class OlderRoomGone(msgspec.Struct, tag_field="type", tag="room-gone"):
        room: str
        reason: str

    url, code = "wss://play.example.org/node/b", RoomCode("ABCDE")
    told = refusal(3, elsewhere(code, url))
    assert isinstance(told.node_url, str)
    seen = [
        msgspec.convert(json.loads(frame) if codec.is_text else msgpack.unpackb(frame), OlderError | OlderRoomGone)
        for frame in (codec.encode(told), codec.encode(RoomGone(code, f"the room is at {url} now", url)))
    ]
    assert seen == [
        OlderError(
            3, "elsewhere", f"room ABCDE is at {url} now; newer versions of this client go there by themselves"
        ),
        OlderRoomGone("ABCDE", f"the room is at {url} now"),
    ]


@codecs
@examples
def test_a_missing_field_is_named(codec: Codec, message: ClientMessage) -> None:
    for field in type(message).__struct_fields__:
        value = plain(message)
        info = next(info for info in msgspec.structs.fields(message) if info.name == field)
        if info.required:
            del value[field]
            with pytest.raises(RemoteProtocolError, match=f"missing required field `{field}`") as caught:
                codec.decode_client(pack(codec, value))
            assert caught.value.close_code is None
            assert caught.value.request_id == (None if field == "id" else message.id)


@codecs
@examples
@pytest.mark.parametrize("wrong", [[{"a": 1}], 1.5, "x" * 5000, -7, 2**60, [[]]], ids=str)
def test_a_wrong_type_is_named(codec: Codec, message: ClientMessage, wrong: Any) -> None:
    for field in type(message).__struct_fields__:
        value = plain(message) | {field: wrong}
        with pytest.raises(RemoteProtocolError, match=r"Expected|Invalid|expected|missing") as caught:
            codec.decode_client(pack(codec, value))
        assert caught.value.close_code is None


def with_fractions(value: Any) -> Any:
    """The same value as a program writes it that knows no whole numbers."""
    if isinstance(value, dict):
        return {key: with_fractions(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_fractions(item) for item in value]
    return float(value) if type(value) is int else value


NUMBERS_EVERYWHERE: tuple[ClientMessage, ...] = (
    *EXAMPLES,
    CreateRoom(
        id=0,
        game="xero-g",
        options={"seed": 7},
        settings=RoomSettings(
            time_control=ByoYomi(60_000, 10_000, 3), late_bot=LateBot("random", 5_000), away_after_ms=6_000
        ),
    ),
    Resign(id=2**53 - 1, room="ABCDE", match=1, seat=0),
)


@codecs
@pytest.mark.parametrize("message", NUMBERS_EVERYWHERE, ids=lambda message: type(message).__name__)
def test_whole_numbers_may_be_written_as_fractions_everywhere(codec: Codec, message: ClientMessage) -> None:
    frame = pack(codec, with_fractions(plain(message)))
    assert codec.decode_client(frame) == message
    for field, value in plain(codec.decode_client(frame)).items():
        assert type(value) is not float, field


@codecs
@pytest.mark.parametrize("wrong", [1.5, -1.0, 2.0**53, 1e300, 0.999999999999])
def test_a_number_that_is_no_whole_one_in_its_range_is_refused(codec: Codec, wrong: float) -> None:
    with pytest.raises(RemoteProtocolError, match="Expected `int`") as caught:
        codec.decode_client(pack(codec, {"type": "unsubscribe-lobby", "id": wrong}))
    assert (caught.value.close_code, caught.value.request_id) == (None, None)
    with pytest.raises(RemoteProtocolError, match="Expected `int`") as caught:
        codec.decode_client(pack(codec, {"type": "play", "id": 4.0, "room": "A", "match": wrong - 1, "ply": 0}))
    assert (caught.value.close_code, caught.value.request_id) == (None, 4)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_at_all_is_refused(wrong: float) -> None:
    with pytest.raises(RemoteProtocolError, match="Expected `int`") as caught:
        MsgpackCodec().decode_client(msgpack.packb({"type": "unsubscribe-lobby", "id": wrong}))
    assert caught.value.close_code is None


@pytest.mark.parametrize("zero", ["0", "-0", "0.0", "-0.0", "0e5"])
def test_every_way_to_write_zero_is_zero(zero: str) -> None:
    frame = b'{"type": "undo", "id": 1e0, "room": "A", "match": 1.0, "ply": %b}' % zero.encode()
    assert JsonCodec().decode_client(frame) == Undo(id=1, room="A", match=1, ply=0)


@pytest.mark.parametrize("number", [b"1e400", b"-1e400", b"9" * 30, b"1" + b"0" * 400])
def test_json_with_a_number_out_of_all_ranges_is_refused_and_the_connection_lives(number: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match=r"range|Expected `int`") as caught:
        JsonCodec().decode_client(b'{"type": "unsubscribe-lobby", "id": ' + number + b"}")
    assert caught.value.close_code is None


@codecs
def test_a_truth_value_is_no_number(codec: Codec) -> None:
    with pytest.raises(RemoteProtocolError, match="Expected `int`, got `bool`"):
        codec.decode_client(pack(codec, {"type": "unsubscribe-lobby", "id": True}))


@codecs
@examples
def test_a_superfluous_field_is_named(codec: Codec, message: ClientMessage) -> None:
    with pytest.raises(RemoteProtocolError, match="unknown field `colour`"):
        codec.decode_client(pack(codec, plain(message) | {"colour": 1}))


@codecs
@pytest.mark.parametrize("value", [None, 3, "hello", [], {}, {"type": "sing", "id": 1}, {"type": 3, "id": 2}])
def test_what_is_no_message_is_refused_and_the_connection_lives(codec: Codec, value: Any) -> None:
    with pytest.raises(RemoteProtocolError, match=r"a message is a map|unknown type") as caught:
        codec.decode_client(pack(codec, value))
    assert caught.value.close_code is None


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (b"\x91" * 4000, "nested too deep"),
        (b"\xc1", "a byte that begins no value"),
        (b"\x81\xa4type", "incomplete input"),
        (msgpack.packb([1]) + b"\x00", "extra data"),
    ],
    ids=["deep", "strange", "cut", "followed"],
)
def test_bytes_that_are_no_msgpack_are_refused_with_a_reason(frame: bytes, reason: str) -> None:
    with pytest.raises(RemoteProtocolError, match=f"not a msgpack message: .*{reason}"):
        MsgpackCodec().decode_client(frame)


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\xc1",
        b"\x91" * 4000,
        b"\x81\xa4type",
        msgpack.packb(msgpack.ExtType(5, b"abc")),
        msgpack.packb({"type": msgpack.Timestamp(1)}),
        msgpack.packb({1: 2}),
        msgpack.packb({"a": b"bytes"}),
        msgpack.packb({"type": "hello", "id": 1}) + b"\x00",
        b"\x81\xa4type\xa2\xff\xfe",
        b'{"type":"hello"}',
    ],
    ids=lambda frame: frame[:12].hex() or "empty",
)
def test_bytes_that_are_no_msgpack_close_the_connection(frame: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match="not a msgpack message") as caught:
        MsgpackCodec().decode_client(frame)
    assert caught.value.close_code == 1007


@pytest.mark.parametrize(
    "frame", [b"", b"[" * 10_000, b'{"id": NaN}', b'{"id": 1,}', b"\xff\xfe", b"\x81\xa1a\x01"]
)
def test_bytes_that_are_no_json_close_the_connection(frame: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match="not a JSON message") as caught:
        JsonCodec().decode_client(frame)
    assert caught.value.close_code == 1007


@pytest.mark.parametrize(
    ("codec", "begin", "end"), [(JsonCodec(), b"[", b"]"), (MsgpackCodec(), b"\x91", b"")], ids=["json", "msgpack"]
)
def test_nesting_up_to_a_depth_is_refused_and_beyond_closes_the_connection(
    codec: Codec, begin: bytes, end: bytes
) -> None:
    value = b"1" if codec.is_text else b"\x01"
    with pytest.raises(RemoteProtocolError, match="a message is a map") as caught:
        codec.decode_client(begin * 500 + value + end * 500)
    assert caught.value.close_code is None
    with pytest.raises(RemoteProtocolError, match="not a") as caught:
        codec.decode_client(begin * 5_000 + value + end * 5_000)
    assert caught.value.close_code == 1007


@codecs
@pytest.mark.parametrize(
    "pairs",
    [
        (("type", "list-rooms"), ("id", 1), ("id", 2)),
        (("type", "list-rooms"), ("id", "x"), ("id", 2)),
        (("type", "hello"), ("id", 2), ("type", "list-rooms")),
    ],
    ids=str,
)
def test_of_a_key_that_comes_twice_the_last_one_counts(codec: Codec, pairs: tuple[tuple[str, Any], ...]) -> None:
    if codec.is_text:
        members = ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in pairs)
        assert codec.decode_client(b"{%b}" % members.encode()) == ListRooms(id=2)
    else:
        frame_bytes = bytes([0x80 + len(pairs)]) + b"".join(msgpack.packb(part) for pair in pairs for part in pair)
        assert codec.decode_client(frame_bytes) == ListRooms(id=2)


def test_half_of_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(RemoteProtocolError, match="not a JSON message") as caught:
        JsonCodec().decode_client(b'{"type": "list-rooms", "id": 1, "game": "\\ud800"}')
    assert caught.value.close_code == 1007


@codecs
def test_a_frame_over_the_limit_closes_the_connection(codec: Codec) -> None:
    with pytest.raises(RemoteProtocolError, match="at most") as caught:
        codec.decode_client(pack(codec, {"type": "hello", "id": 1, "client": "x" * CLIENT_FRAME_MAX_BYTES}))
    assert caught.value.close_code == 1009


@codecs
def test_sending_a_frame_over_the_limit_is_our_own_fault(codec: Codec) -> None:
    with pytest.raises(LocalProtocolError, match="at most"):
        codec.encode(Hello(id=1, name="x" * CLIENT_FRAME_MAX_BYTES))


@codecs
@settings(max_examples=300)
@given(frame=st.binary(max_size=200))
def test_no_bytes_get_through_as_anything_but_a_message(codec: Codec, frame: bytes) -> None:
    try:
        message = codec.decode_client(frame)
    except RemoteProtocolError:
        return
    assert isinstance(message, ClientMessage)


def test_codecs_are_found_by_their_subprotocol() -> None:
    assert [codec_for(name).subprotocol for name in SUBPROTOCOLS] == list(SUBPROTOCOLS)

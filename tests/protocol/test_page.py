"""shared/PROTOCOL.md describes all of the protocol and nothing else, and its examples are true."""

from __future__ import annotations

import re
from typing import Any, get_args

import msgspec
import pytest

from tabuleiro.clock import ByoYomi, ClockState, Correspondence, Fischer, FixedTurn, NoClock, PlayerClock
from tabuleiro.protocol import boards, codec, messages
from tabuleiro.protocol.codec import JsonCodec
from tabuleiro.protocol.codes import CloseCode, ErrorCode
from tabuleiro.protocol.events import Event, OfferView, RoomSecrets, SeatInfo, SequencedEvent
from tabuleiro.protocol.messages import ClientMessage, Ok, ServerMessage
from tabuleiro.protocol.version import SUBPROTOCOLS
from tabuleiro.rules.base import Termination
from tabuleiro.settings import LateBot, RoomLimits, RoomSettings
from tabuleiro_server.config import Config
from tests.net.protocol_page import PAGE, ROOT, described, example, sections, tag_of

RESULTS = (
    messages.Welcome,
    messages.RoomEntered,
    messages.RoomList,
    messages.RecordPlayed,
    messages.BoardsShown,
    messages.Considered,
    messages.GameList,
    messages.HintGiven,
)
PARTS = (
    messages.RoomHead,
    messages.SeatView,
    SeatInfo,
    messages.MatchView,
    ClockState,
    PlayerClock,
    messages.FirstTurn,
    OfferView,
    messages.BotThought,
    messages.Snapshot,
    messages.ChatLine,
    messages.RoomSummary,
    RoomSecrets,
    RoomLimits,
    boards.BoardLayout,
    boards.PieceKind,
    boards.Board,
    boards.BoardEdge,
    boards.BoardNote,
    boards.BoardChoice,
    boards.OptionForm,
    boards.GameForm,
)
TIME_CONTROLS = (NoClock, Fischer, ByoYomi, FixedTurn, Correspondence)
TAGGED = (*get_args(ClientMessage), *get_args(ServerMessage), *RESULTS, *get_args(Event))


def fields_of(*structs: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for struct in structs for field in msgspec.structs.fields(struct)}


@pytest.mark.parametrize("message", get_args(ClientMessage), ids=tag_of)
def test_every_client_message_is_described_with_an_example(message: type[Any]) -> None:
    extra = fields_of(messages.SeatRequest) if message is messages.CreateRoom else set()
    assert described(tag_of(message)) == (fields_of(message) | extra) - {"id"}
    assert type(JsonCodec().decode_client(example(tag_of(message)))) is message


@pytest.mark.parametrize("message", get_args(ServerMessage), ids=tag_of)
def test_every_server_message_is_described_with_an_example(message: type[Any]) -> None:
    assert described(tag_of(message)) == fields_of(message)
    assert type(JsonCodec().decode_server(example(tag_of(message)))) is message


@pytest.mark.parametrize("result", RESULTS, ids=tag_of)
def test_every_result_is_described_with_an_example(result: type[Any]) -> None:
    assert described(tag_of(result)) == fields_of(result)
    answer = JsonCodec().decode_server(example(tag_of(result)))
    assert isinstance(answer, Ok)
    assert type(answer.result) is result


@pytest.mark.parametrize("event", get_args(Event), ids=tag_of)
def test_every_event_is_described_with_an_example(event: type[Any]) -> None:
    assert described(tag_of(event)) == fields_of(event)
    assert type(msgspec.json.decode(example(tag_of(event)), type=Event)) is event


@pytest.mark.parametrize("tagged", TAGGED, ids=tag_of)
def test_an_example_uses_no_field_that_does_not_exist(tagged: type[Any]) -> None:
    def check(value: Any, decoded: Any) -> None:
        if isinstance(decoded, msgspec.Struct):
            assert set(value) <= fields_of(type(decoded)) | {"type", "kind"}
            for name in set(value) & fields_of(type(decoded)):
                check(value[name], getattr(decoded, name))
        elif isinstance(decoded, tuple):
            for item, decoded_item in zip(value, decoded, strict=True):
                check(item, decoded_item)

    text = example(tag_of(tagged))
    check(msgspec.json.decode(text), msgspec.json.decode(text, type=ClientMessage | ServerMessage | Event))


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_every_part_of_a_message_is_described(part: type[Any]) -> None:
    assert described(part.__name__) == fields_of(part)


def test_every_part_that_can_be_sent_is_among_those_checked() -> None:
    known = {*TAGGED, *PARTS, *TIME_CONTROLS, RoomSettings, LateBot, SequencedEvent, messages.SeatRequest}
    seen: set[Any] = set()
    for kind in msgspec.inspect.multi_type_info([*get_args(ClientMessage), *get_args(ServerMessage)]):
        collect_structs(kind, seen)
    assert seen <= known


def collect_structs(kind: msgspec.inspect.Type, seen: set[Any]) -> None:
    if isinstance(kind, msgspec.inspect.StructType):
        if kind.cls in seen:
            return
        seen.add(kind.cls)
        children = [field.type for field in kind.fields]
    else:
        children = [getattr(kind, name) for name in ("item_type", "key_type", "value_type") if hasattr(kind, name)]
        children += [*getattr(kind, "types", ()), *getattr(kind, "item_types", ())]
    for child in children:
        collect_structs(child, seen)


def test_numbered_events_and_settings_are_described() -> None:
    assert described("Events") == fields_of(SequencedEvent)
    assert described("Settings") == fields_of(RoomSettings, LateBot)
    assert described("Time controls") == {tag_of(control) for control in TIME_CONTROLS}
    for control in TIME_CONTROLS:
        row = next(line for line in sections()["Time controls"].splitlines() if f"| `{tag_of(control)}` |" in line)
        assert fields_of(control) <= set(re.findall(r"`([^`]+)`", row))


def test_defaults_of_settings_are_described() -> None:
    for field in msgspec.structs.fields(RoomSettings):
        row = next(line for line in sections()["Settings"].splitlines() if f"| `{field.encode_name}` |" in line)
        default = row.split("|")[3].strip().strip("`")
        told = {"none": (None, NoClock()), "true": (True,), "false": (False,)}.get(default, (default,))
        assert field.default in told or str(field.default) == default


def test_every_error_code_and_no_other_is_described() -> None:
    assert described("Error codes") == {str(code) for code in ErrorCode}


def test_every_close_code_and_no_other_is_described() -> None:
    codes = re.findall(r"^\| (\d+) \|", sections()["Close codes"], re.MULTILINE)
    assert [int(code) for code in codes] == sorted(CloseCode)


def test_every_way_to_end_is_described() -> None:
    quoted = set(re.findall(r"`([^`]+)`", sections()["Terminations"]))
    assert quoted == {str(termination) for termination in Termination}


def test_limits_are_keys_of_the_config() -> None:
    assert described("Limits") <= set(Config.__struct_fields__)
    for key in described("Limits"):
        assert f"`{key}`" in sections()["Limits"]


def test_subprotocols_and_frame_limits_are_described() -> None:
    assert set(SUBPROTOCOLS) <= described("Connecting")
    assert str(codec.CLIENT_FRAME_MAX_BYTES) in sections()["Connecting"]
    assert str(codec.SERVER_FRAME_MAX_BYTES) in sections()["Connecting"]


def test_links_lead_somewhere() -> None:
    anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in sections()}
    for target in re.findall(r"\]\(([^)]+)\)", PAGE):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        else:
            assert (ROOT / "shared" / target).resolve().is_file(), target


def test_every_key_of_the_config_is_described_for_the_host_of_a_server() -> None:
    readme = (ROOT / "deploy" / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", readme, re.MULTILINE))
    assert list(rows) == list(Config.__struct_fields__)
    for field in msgspec.structs.fields(Config):
        shown = msgspec.json.encode(field.default).decode()
        assert rows[field.name].strip().strip("`") == shown

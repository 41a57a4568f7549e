"""shared/PROTOCOL.md describes all of the protocol and nothing else, and its examples are true."""

from __future__ import annotations

import re
from typing import Any, get_args

import msgspec
import pytest

from tabuleiro.clock import ByoYomi, ClockState, Correspondence, Fischer, FixedTurn, NoClock, PlayerClock
from tabuleiro.descriptors import ChoiceSetting, NumberSetting, PositionSetting
from tabuleiro.ids import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from tabuleiro.notation.plain_text import MAX_COMBINING_RUN
from tabuleiro.protocol import boards, codec, messages
from tabuleiro.protocol.codec import JsonCodec
from tabuleiro.protocol.codes import CloseCode, ErrorCode
from tabuleiro.protocol.events import Event, OfferView, RoomSecrets, SeatInfo, SequencedEvent
from tabuleiro.protocol.messages import ClientMessage, Ok, ServerMessage
from tabuleiro.protocol.names import NAME_MAX_CHARS, NAME_MIN_CHARS
from tabuleiro.protocol.version import SUBPROTOCOLS
from tabuleiro.rules import registry
from tabuleiro.rules.base import Termination
from tabuleiro.settings import LateBot, RoomLimits, RoomSettings
from tabuleiro_server.config import Config
from tabuleiro_server.room.chat import FLOOD_LINES_COUNT, FLOOD_WINDOW_MS
from tabuleiro_server.room.playing import HINT_PAUSE_MS
from tabuleiro_server.sessions.lobby import LISTED_PEOPLE_COUNT, LISTED_ROOMS_COUNT
from tests.net.protocol_page import PAGE, ROOT, described, example, sections, tag_of

RESULTS = (
    messages.Welcome,
    messages.RoomEntered,
    messages.RoomList,
    messages.RecordPlayed,
    messages.BoardsShown,
    messages.Considered,
    messages.Explanation,
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
    messages.ExplainedTurn,
    messages.ExplainedTerm,
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


# Tables against the code: types, defaults, ranges


def struct_sections() -> list[tuple[str, type[msgspec.Struct]]]:
    named = [(tag_of(struct), struct) for struct in TAGGED] + [(part.__name__, part) for part in PARTS]
    return [*named, ("Settings", RoomSettings), ("Settings", LateBot), ("create-room", messages.SeatRequest)]


def rows_of(heading: str) -> dict[str, list[str]]:
    """The rows of the tables under a heading by the name in their first column."""
    lines = [line for line in sections()[heading].splitlines() if line.startswith("| `")]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    return {cells[0].strip("`"): cells for cells in rows}


def type_words(kind: msgspec.inspect.Type) -> tuple[str, ...]:
    """The words of which one has to stand in the column of types."""
    match kind:
        case msgspec.inspect.UnionType():
            kinds = [each for each in kind.types if not isinstance(each, msgspec.inspect.NoneType)]
            words = tuple(word for each in kinds for word in type_words(each))
            return (*words, "one of the events", "time control")
        case msgspec.inspect.LiteralType():
            is_number = all(isinstance(value, int) for value in kind.values)
            return ("seat",) if is_number else ("text", *(f"`{value}`" for value in kind.values))
        case msgspec.inspect.IntType():
            return ("number",)
        case msgspec.inspect.FloatType():
            return ("fraction",)
        case msgspec.inspect.BoolType():
            return ("flag",)
        case msgspec.inspect.StrType():
            return ("text",)
        case msgspec.inspect.DictType():
            return ("map",)
        case msgspec.inspect.VarTupleType():
            return ("list",)
        case msgspec.inspect.TupleType():
            return ("two",)
        case msgspec.inspect.StructType():
            name = kind.cls.__name__
            return (name, "settings" if kind.cls is RoomSettings else name, "[`")
    raise AssertionError(kind)


def is_optional(kind: msgspec.inspect.Type) -> bool:
    return isinstance(kind, msgspec.inspect.UnionType) and kind.includes_none


def told_defaults(field: msgspec.inspect.Field) -> set[str]:
    """What the column of defaults may say."""
    if field.required:
        return {""}
    value = field.default
    if value is msgspec.NODEFAULT and field.default_factory is not msgspec.NODEFAULT:
        value = field.default_factory()
    if value is msgspec.NODEFAULT:
        return {"left out"}
    if value is None or value == NoClock():
        return {"none"}
    if isinstance(value, bool):
        return {str(value).lower()}
    if value in (RoomSettings(), RoomLimits()):
        return {"all defaults"}
    if value == (messages.ME, messages.OPEN):
        return {"me, open"}
    return {str(value), f"`{value}`"} if value not in ("", (), {}) else {"empty"}


@pytest.mark.parametrize(
    ("heading", "struct"), struct_sections(), ids=lambda value: getattr(value, "__name__", value)
)
def test_types_and_defaults_in_the_tables_are_those_of_the_code(
    heading: str, struct: type[msgspec.Struct]
) -> None:
    rows = rows_of(heading)
    kind = msgspec.inspect.type_info(struct)
    assert isinstance(kind, msgspec.inspect.StructType)
    for field in kind.fields:
        if field.encode_name == "id" and field.encode_name not in rows:
            continue
        _, told_type, told_default, *_ = rows[field.encode_name]
        if told_type != "none":  # the secrets of a room, which are never sent
            assert any(word in told_type for word in type_words(field.type)), (field.name, told_type)
            assert ("none" in told_type.split(", ")[-1]) == is_optional(field.type), (field.name, told_type)
        assert told_default in told_defaults(field), (field.name, told_default)
        if isinstance(field.type, msgspec.inspect.LiteralType) and told_type.startswith("`"):
            assert set(re.findall(r"`([^`]+)`", told_type)) == set(field.type.values)
        if isinstance(field.type, msgspec.inspect.IntType) and " to " in told_type:
            assert told_type == f"number, {field.type.ge} to {field.type.le}"


def test_numbers_in_sentences_are_those_of_the_code() -> None:
    def numbers(heading: str) -> set[int]:
        return set(map(int, re.findall(r"\d+", sections()[heading])))

    assert {FLOOD_LINES_COUNT, FLOOD_WINDOW_MS // 1000, messages.CHAT_MAX_CHARS} <= numbers("say")
    assert {HINT_PAUSE_MS // 1000} <= numbers("take-hint")
    assert {NAME_MIN_CHARS, NAME_MAX_CHARS} <= numbers("hello")
    assert {MAX_COMBINING_RUN} <= numbers("Texts and names")
    assert {LISTED_PEOPLE_COUNT} <= numbers("lobby-update")
    assert {LISTED_ROOMS_COUNT} <= numbers("rooms")


@pytest.mark.parametrize("field", msgspec.structs.fields(Config), ids=lambda field: field.name)
def test_defaults_of_limits_are_those_of_the_config(field: msgspec.structs.FieldInfo) -> None:
    rows = [cells for names, cells in rows_of("Limits").items() if field.name in names.split("`, `")]
    if not rows:
        return
    told = rows[0][1]
    value = field.default
    ways = {str(value), f"{value / SECOND_MS:g} s", f"{value / DAY_MS:g} days", f"{value / HOUR_MS:g} h"}
    ways |= {f"{value / MINUTE_MS:g} min", f"{value / 2**20:g} MiB", f"{value:,}"}
    assert any(re.search(rf"(?<![\d,]){way}\b", told) for way in ways), (told, ways)


# The games


def option_rows(game: str) -> dict[str, list[str]]:
    return {name: cells for name, cells in rows_of(game).items() if not name.startswith("{")}


def position_rows(game: str) -> list[tuple[str, str, str]]:
    found = re.findall(r"^\| `(\{[^`]*\})` \| (?:`([^`]*)`)? ?\| `([^`]*)` \|$", sections()[game], re.MULTILINE)
    assert found
    return found


@pytest.mark.parametrize("game", registry.names())
def test_options_of_games_are_described_with_ranges_and_defaults(game: str) -> None:
    specs = registry.game_type(game).option_specs
    rows = option_rows(game)
    assert list(rows) == [spec.key for spec in specs]
    for spec in specs:
        _, values, default, _ = rows[spec.key]
        match spec:
            case NumberSetting():
                assert values == f"{spec.low} to {spec.high}"
            case ChoiceSetting():
                assert values == ", ".join(f"`{choice}`" for choice in spec.choices)
            case PositionSetting():
                assert values == f"text of at most {spec.max_chars} characters"
        assert default.strip("`") == str(spec.default).lower()


@pytest.mark.parametrize("game", registry.names())
def test_positions_and_actions_of_games_are_as_described(game: str) -> None:
    for options, actions, position in position_rows(game):
        given = msgspec.json.decode(options)
        state = registry.load(game, given).initial_state()
        for action in actions.split():
            state = state.apply(state.string_to_action(action))
        assert state.to_position() == position
        again = registry.load(game, {**given, "position": position}).initial_state()
        assert (again.to_position(), again.to_move) == (position, state.to_move)


@pytest.mark.parametrize("game", registry.names())
def test_texts_of_actions_that_are_shown_can_be_read(game: str) -> None:
    state = registry.load(game, {}).initial_state()
    (told,) = re.findall(r"^Actions: (.+?)\n\n", sections()[game], re.MULTILINE | re.DOTALL)
    shown = re.findall(r"`([^`]+)`", told)
    for text in set(shown) - {"goal", "g", "a1"}:
        state.string_to_action(text)


def test_the_random_setup_follows_from_the_seed_as_the_page_says() -> None:
    """Symptom: the algorithm was told nowhere. This is another program than ours, with the numbers of the page."""
    text = sections()["xero-g"]
    added, first, second = (int(number, 16) for number in re.findall(r"0x[0-9A-F]{16}", text))
    shifts = [int(number) for number in re.findall(r"z >> (\d+)", text)]
    start = re.findall(r"A row begins as `([\d ]+)`", text)[0].split()
    places = [int(place) for place in re.findall(r"For `last` = ([\d, ]+) take", text)[0].split(", ")]
    seeds = 0
    for options, actions, position in position_rows("xero-g"):
        given = msgspec.json.decode(options)
        if actions or given.get("setup") != "random":
            continue
        seeds += 1
        state = given["seed"]
        rows = []
        for _ in range(2):
            row = list(start)
            for last in places:
                state = (state + added) % 2**64
                z = (state ^ (state >> shifts[0])) * first % 2**64
                z = (z ^ (z >> shifts[1])) * second % 2**64
                other = (z ^ (z >> shifts[2])) % (last + 1)
                row[last], row[other] = row[other], row[last]
            rows.append("".join(row))
        assert position == "/".join([rows[0], *["000000"] * 4, rows[1]]) + " 0"
    assert seeds >= 3

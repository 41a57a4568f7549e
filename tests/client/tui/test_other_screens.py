"""Settings, rules with their boards, replays, the command palette, and characters beyond ASCII."""

from __future__ import annotations

import msgspec
import pytest
from textual.command import CommandPalette
from textual.widgets import DataTable, Input, OptionList

from tabuleiro.errors import ClientError
from tabuleiro.ids import RoomCode, TimestampMs
from tabuleiro.notation.record import MatchRecord, RecordPlayer
from tabuleiro.notation.record_text import format_record
from tabuleiro.rules import registry
from tabuleiro.rules.page import words_of
from tabuleiro_client.models.records import RoomMatches
from tabuleiro_client.models.saved_matches import ImportedRecord, SavedMatch, SavedMatches
from tabuleiro_client.net.files import config_folder
from tabuleiro_client.net.identity import Identity, IdentityFolder
from tabuleiro_client.net.library import ME, Client, connect
from tabuleiro_client.tui.app import TabuleiroApp
from tabuleiro_client.tui.palette import PaletteCommands
from tabuleiro_client.tui.screens.help import HelpScreen
from tabuleiro_client.tui.screens.home import HomeScreen
from tabuleiro_client.tui.screens.lobby import LobbyScreen
from tabuleiro_client.tui.screens.match import MatchScreen
from tabuleiro_client.tui.screens.new_match import NewMatchScreen
from tabuleiro_client.tui.screens.questions import PickerScreen
from tabuleiro_client.tui.screens.replay import ReplayScreen, TryScreen
from tabuleiro_client.tui.screens.replays import ReplaysScreen
from tabuleiro_client.tui.screens.room import RoomScreen
from tabuleiro_client.tui.screens.rules import RulesScreen
from tabuleiro_client.tui.screens.settings import SettingsScreen, setting_fields
from tabuleiro_client.tui.settings import Settings, SettingsFile
from tabuleiro_server.wiring import RunningServer
from tests.client.tui.tables import until
from tests.client.tui.visits import Visit, lobby_visit, visit
from tests.selection import rest_slow


async def open_settings(at: Visit) -> SettingsScreen:
    await at.press("s")
    return await at.arrive(SettingsScreen)


def test_every_setting_has_a_field():
    assert {field.name for field in setting_fields()} == set(Settings.__struct_fields__)


async def test_a_theme_is_applied_at_once_and_kept():
    async with visit() as at:
        await open_settings(at)
        await at.press("right")
        assert at.app.theme == "light"
        assert SettingsFile(config_folder()).load().theme == "light"
        await at.press("left")
        assert at.app.theme == "dark"


@pytest.mark.parametrize(
    "name", rest_slow(["is_ascii", "shows_legal", "asks_before_sending", "rings_bell", "changes_title"])
)
async def test_a_switch_is_turned_and_kept(name):
    async with visit() as at:
        await open_settings(at)
        before = getattr(at.app.settings, name)
        at.row(name).take_focus()
        await at.pilot.pause()
        await at.press("space")
        assert getattr(SettingsFile(config_folder()).load(), name) is not before


async def test_enter_leads_from_setting_to_setting():
    async with visit() as at:
        await open_settings(at)
        for field in setting_fields():
            assert at.row(field.name).has_focus_within
            await at.press("enter")


async def test_a_name_is_checked_and_kept():
    async with visit() as at:
        await open_settings(at)
        at.row("name").take_focus()
        await at.pilot.pause()
        await at.type("a b")
        await until(at.pilot, lambda: at.problem("name").startswith("! expected 2 to 20"))
        await at.type("ana")
        await until(at.pilot, lambda: SettingsFile(config_folder()).load().name == "ana")
        assert at.problem("name") == "who you are on new servers"


@pytest.mark.slow
async def test_settings_are_found_again_at_the_next_start_and_a_damaged_file_is_told():
    async with visit() as at:
        await open_settings(at)
        await at.press("right")
    app = TabuleiroApp(HomeScreen)
    async with app.run_test() as pilot:
        assert (app.theme, list(app._notifications)) == ("light", [])
        await pilot.press("q")
    file = SettingsFile(config_folder()).path
    file.write_text(file.read_text().replace("light", "neon"))
    app = TabuleiroApp(HomeScreen)
    async with app.run_test() as pilot:
        assert app.theme == "dark"
        await pilot.pause()
        (told,) = app._notifications
        assert told.message == f"not understood in {file}: theme 'neon'"


@pytest.mark.slow
async def test_a_settings_file_that_cannot_be_written_is_told():
    (config_folder()).parent.mkdir(exist_ok=True)
    config_folder().write_text("in the way")
    async with visit() as at:
        await open_settings(at)
        await at.press("right")
        await until(
            at.pilot, lambda: [note for note in at.app._notifications if "cannot be saved" in note.message]
        )
        assert at.app.theme == "light"


def words_of_rules(game: str) -> set[str]:
    """Return the words of a rules page, with those of the captions of its diagrams."""
    game_type = registry.game_type(game)
    return set(words_of(game_type.rules_page, game_type.diagrams).lower().split())


async def test_the_rules_of_every_game_can_be_read():
    async with visit() as at:
        await at.press("r")
        screen = await at.arrive(RulesScreen)
        for name in registry.names():
            assert screen.game == name
            assert set(at.text("page").lower().split()) >= words_of_rules(name)
            await at.press("right")
        assert screen.game == registry.names()[0]


@pytest.mark.parametrize("game", rest_slow(registry.names()))
async def test_every_game_can_be_tried(game):
    async with visit() as at:
        await at.press("r")
        await at.arrive(RulesScreen)
        for _ in range(registry.names().index(game)):
            await at.press("right")
        await at.press("t")
        screen = await at.arrive(TryScreen)
        assert screen.model.game.name == game
        state = screen.model.state
        await at.press("colon")
        await at.type(state.action_to_string(state.legal_actions()[0]))
        await at.press("enter")
        await until(at.pilot, lambda: screen.model.branch.last_ply == 1)
        await at.press("backspace")
        assert screen.model.branch.last_ply == 0
        await at.press("escape")
        await at.arrive(RulesScreen)


async def test_a_pass_is_tried_where_the_game_has_it():
    app = TabuleiroApp(lambda: TryScreen("iris", {"side": 5}), settings=Settings())
    async with app.run_test() as pilot:
        model = app.screen.model
        await pilot.press("f6")
        assert model.branch.actions == []
        await pilot.press(*"c3", "enter", "f6")
        assert model.branch.actions == ["c3", "pass"]
        await pilot.press("f6")
        said = str(app.screen.query_one("#turn").render())
        assert said == "3 tried: a draw: the scores are equal"


async def test_a_record_in_a_file_is_opened(tmp_path):
    record = MatchRecord("iris", {}, (RecordPlayer("Ana"), RecordPlayer("Rui")), ("f6",))
    path = tmp_path / "match.txt"
    path.write_text(format_record(record))
    async with visit() as at:
        await at.press("p")
        await at.arrive(ReplaysScreen)
        await at.type(str(path))
        await at.press("enter")
        screen = await at.arrive(ReplayScreen)
        assert screen.model.record.actions == ("f6",)


@pytest.mark.parametrize(
    ("content", "told"), rest_slow([(None, "cannot be read"), ("[Game", "record.txt: "), ("", "record.txt: ")])
)
async def test_a_file_that_holds_no_record_is_told(tmp_path, content, told):
    path = tmp_path / "record.txt"
    if content is not None:
        path.write_text(content)
    async with visit((200, 24)) as at:
        await at.press("p")
        await at.arrive(ReplaysScreen)
        await at.type(str(path))
        await at.press("enter")
        await until(at.pilot, lambda: at.text("say"))
        assert isinstance(at.app.screen, ReplaysScreen)


@pytest.mark.slow
async def test_an_own_match_is_replayed_from_the_server(real_server):
    async with lobby_visit(real_server) as at, connect(real_server.url, name="rui") as rui:
        await at.press("n")
        await at.arrive(NewMatchScreen)
        await at.press("ctrl+s")
        room = await at.arrive(RoomScreen)
        await until(at.pilot, lambda: room.room is not None)
        async with rui.join(room.room.code) as other:
            await at.arrive(MatchScreen)
            await other.resign()
            await until(at.pilot, lambda: room.room.mirror.head.phase == "finished")
        for kind in (RoomScreen, LobbyScreen, HomeScreen):
            await at.press("escape")
            await at.arrive(kind)
        await at.press("p")
        await at.arrive(ReplaysScreen)
        assert at.app.screen.query_one(DataTable).get_row_at(0)[2] == "rui"
        await at.press("enter")
        screen = await at.arrive(ReplayScreen)
        assert screen.model.record.termination == "resignation"


async def test_imported_records_are_among_the_replays():
    text = '[Game "minefield"]\n[Option "size=5"]\n1. c3\n'
    words = ("Minefield", "size=5", "Ana - Rui", "unfinished")
    assert SavedMatches(config_folder()).import_record(ImportedRecord(*words, TimestampMs(1), text))
    async with visit() as at:
        await at.press("p")
        await at.arrive(ReplaysScreen)
        row = at.app.screen.query_one(DataTable).get_row_at(0)
        assert row[:4] == ["", "Minefield", "Ana - Rui", "unfinished"]
        assert row[5:] == ["imported", "size=5"]
        await at.press("enter")
        screen = await at.arrive(ReplayScreen)
        assert screen.model.record.actions == ("c3",)


async def test_every_match_of_a_file_is_reached_from_its_replay(tmp_path):
    file = tmp_path / "two.txt"
    file.write_text('[Game "iris"]\n1. f6\n\n[Game "minefield"]\n1. c3 d4 *\n')
    async with visit() as at:
        await at.press("p")
        await at.arrive(ReplaysScreen)
        at.app.screen.query_one(Input).value = str(file)
        await at.press("enter")
        screen = await at.arrive(ReplayScreen)
        assert screen.model.record.game == "minefield"
        assert f"{file}, match 2 of 2" in screen._title()
        await at.press("less_than_sign")
        await until(at.pilot, lambda: screen.model.record.game == "iris")


async def played_twice(server: RunningServer, rui: Client) -> RoomCode:
    """A room with two matches of rui's, the second of which goes on."""
    small = {"rows": 4, "cols": 4, "steps": 2}
    async with rui.create("virus-wars", small, seats=(ME, ME)) as room:
        await room.play(["b3", "c2"])
        await room.resign()
        await room.offer("rematch")
        await room.play(["a3"])
        return room.code


async def test_own_matches_are_listed_with_result_and_date_and_found_by_what_is_typed():
    saved = SavedMatches(config_folder())
    day_ms = 86_400_000
    match = SavedMatch("ws://h:1", "ana", RoomCode("AAAA2"), "Iris", "", "finished", "rui", TimestampMs(day_ms))
    saved.keep(msgspec.structs.replace(match, result="won"))
    saved.keep(msgspec.structs.replace(match, room=RoomCode("BBBB2"), opponent="eva", result="lost"))
    later = TimestampMs(400 * day_ms)
    saved.keep(msgspec.structs.replace(match, room=RoomCode("CCCC2"), game="Minefield", seen_at_ms=later))
    async with visit((120, 30)) as at:
        await at.press("p")
        screen = await at.arrive(ReplaysScreen)
        table = screen.query_one(DataTable)

        def rooms() -> set[str]:
            return {table.get_row_at(place)[0] for place in range(table.row_count)}

        assert table.get_row_at(0)[3] == "finished", "an older program kept no result"
        assert {row[3] for row in map(table.get_row_at, range(1, 3))} == {"won", "lost"}
        for typed, found in (("iris WON", {"AAAA2"}), ("eva", {"BBBB2"}), ("1971", {"CCCC2"}), ("xyz", set())):
            await at.press("f3")
            await at.type(typed)
            await until(at.pilot, lambda found=found: rooms() == found)
            await at.press("enter")
            assert screen.focused is table


@pytest.mark.slow
async def test_every_match_of_a_room_is_reached_from_its_replay(real_server):
    async with connect(real_server.url, name="rui") as rui, visit() as at:
        code = await played_twice(real_server, rui)
        IdentityFolder(config_folder()).save(Identity(real_server.url, "rui", rui.token))
        SavedMatches(config_folder()).keep(
            SavedMatch(real_server.url, "rui", code, "Virus Wars", "rows=4", "playing", "", TimestampMs(1))
        )
        await at.press("p")
        await at.arrive(ReplaysScreen)
        await at.press("enter")
        screen = await at.arrive(ReplayScreen)
        assert (screen.match.number, screen.model.record.actions) == (2, ("a3",))
        assert "room " + code + ", match 2 of 2" in at.text("title")
        assert "< > m  other matches" in at.text("record")
        await at.press("less_than_sign")
        await until(at.pilot, lambda: screen.model.record.actions == ("b3", "c2"))
        assert "match 1 of 2" in at.text("title")
        assert at.text("record").splitlines()[2] == "1-0  blue wins: red resigned"
        await at.press("less_than_sign")
        await at.says(f"match 1 is the first of room {code}")
        await at.press("m")
        picker = await at.arrive(PickerScreen)
        options = picker.query_one(OptionList).options
        assert [str(option.prompt) for option in options] == [
            "match 2: rui * rui, unfinished",
            "match 1: rui 1-0 rui, resignation",
        ]
        await at.press("enter")
        await until(at.pilot, lambda: screen.model.record.actions == ("a3",))
        await at.press("greater_than_sign")
        await at.says(f"there is no match 3: room {code} has matches 1 to 2")


async def test_a_match_that_goes_on_is_asked_for_again_and_one_that_is_over_only_once(real_server):
    async with connect(real_server.url, name="rui") as rui:
        code = await played_twice(real_server, rui)
        asked = []

        async def ask(number: int | None):
            asked.append(number)
            return await rui.link.get_record(code, number)

        matches = RoomMatches(ask)
        assert (await matches.newest()).name == f"{code}-2"
        for number in (1, 1, 2, 2):
            assert (await matches.get(number)).number == number
        assert asked == [None, 1, 2, 2]
        with pytest.raises(ClientError, match=r"there is no match 3: room [A-Z0-9]+ has matches 1 to 2"):
            await matches.get(3)


async def palette(at: Visit, text: str) -> None:
    """Find a command by its title and run it."""
    await at.press("ctrl+p")
    await at.arrive(CommandPalette)
    at.app.screen.query_one(Input).value = text
    await until(
        at.pilot, lambda: not at.app.workers._workers or at.app.screen.query_one("OptionList").option_count
    )
    await at.press("down", "enter")


@pytest.mark.parametrize(
    ("title", "kind"), rest_slow([("go to: replays", ReplaysScreen), ("go to: settings", SettingsScreen)])
)
async def test_the_palette_goes_to_every_place(title, kind):
    async with visit() as at:
        await palette(at, title)
        await at.arrive(kind)


async def test_the_palette_changes_the_theme():
    async with visit() as at:
        await palette(at, "theme: High contrast")
        await until(at.pilot, lambda: at.app.theme == "high-contrast")


@pytest.mark.slow
async def test_the_palette_offers_what_the_present_screen_can_do():
    async with visit() as at:
        await at.press("r")
        await at.arrive(RulesScreen)
        await palette(at, "here: try it")
        await at.arrive(TryScreen)


async def test_the_palette_names_every_command_once_and_none_that_only_moves_the_cursor():
    async with visit() as at:
        await at.press("r")
        await at.arrive(RulesScreen)
        await at.press("t")
        screen = await at.arrive(TryScreen)
        titles = [hit.display async for hit in PaletteCommands(screen).discover()]
        assert "here: type" in titles
        assert not {"here: next", "here: before", "here: left"} & set(titles)
        assert len(titles) == len(set(titles))


@pytest.mark.slow
async def test_with_ascii_nothing_beyond_it_is_drawn():
    async with visit(looks=Settings(is_ascii=True)) as at:
        for key in ("1", "s", "r", "p", "o", "question_mark"):
            await at.press(key)
            await until(at.pilot, lambda: not isinstance(at.app.screen, HomeScreen))
            await at.pilot.pause()
            drawn = "".join(
                segment.text for strip in at.app.screen._compositor.render_strips() for segment in strip
            )
            assert drawn.strip()
            assert [letter for letter in set(drawn) if ord(letter) > 126] == []
            await at.press("escape")
            await at.arrive(HomeScreen)


async def test_the_help_page_is_about_the_screen_it_is_opened_on_every_time():
    # It told the keys of the screen on which it had been opened first.
    async with visit() as at:
        await at.press("question_mark")
        await at.arrive(HelpScreen)
        assert "Connect to a server." in at.text("keys")
        await at.press("escape")
        await open_settings(at)
        await at.press("f1")
        await at.arrive(HelpScreen)
        assert "Connect to a server." not in at.text("keys")
        assert "Go to the next field." in at.text("keys")
        assert at.text("keys").rindex("Leave the program") > at.text("keys").index("Go to the next field.")


@pytest.mark.parametrize("width", rest_slow([80, 52]))
async def test_no_word_of_the_rules_is_cut_off_at_the_side(width):
    async with visit((width, 24)) as at:
        await at.press("r")
        screen = await at.arrive(RulesScreen)
        for game in registry.names():
            screen.action_open_game(game)
            await at.pilot.pause()
            page = screen.query_one("#page")
            assert page.region.right <= page.parent.scrollable_content_region.right
            drawn = [page.render_line(row).text for row in range(page.size.height)]
            words = words_of_rules(game)
            links = {word for word in words if word.startswith("http")}
            assert set(" ".join(drawn).lower().split()) >= words - links
            joined = "".join(line.strip() for line in drawn).lower()
            assert all(link in joined for link in links), "broken, but whole"


def lines_of(app: TabuleiroApp) -> list[str]:
    return [strip.text for strip in app.screen._compositor.render_strips()]


@pytest.mark.slow
async def test_the_palette_and_notices_need_nothing_beyond_ascii():
    """Their borders and dots were of ambiguous width, also on a terminal that has no such characters."""
    app = TabuleiroApp(HomeScreen, settings=Settings(is_ascii=True))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        for severity in ("information", "warning", "error"):
            app.notify(f"this is {severity}", severity=severity)
        await until(pilot, lambda: "this is error" in "".join(lines_of(app)))
        lines = lines_of(app)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: "go to: " in "".join(lines_of(app)))
        assert [line for line in (*lines, *lines_of(app)) if not line.isascii()] == []

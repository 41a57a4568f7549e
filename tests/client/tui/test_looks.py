"""Themes, settings and the key map: complete, readable, kept."""

from __future__ import annotations

import msgspec
import pytest
from rich.color import Color, ColorSystem
from rich.style import Style

from tabuleiro_client.net.files import SETTINGS_FILE
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.present.ink import Ink, Role
from tabuleiro_client.tui.screens.help import key_page
from tabuleiro_client.tui.settings import Settings, SettingsFile
from tabuleiro_client.tui.themes import DEFAULT_THEME, THEMES, Brush, screen_colours_256, theme_named

PIECES = {False: ("SIDE_0", "SIDE_1", "SHIP_1", "SHIP_2", "SHIP_3"), True: ("SIDE_0", "SIDE_1")}
GROUNDS = ("GROUND", "GROUND_ALT", "GROUND_THIRD")
MARKED = ("CURSOR", "HOVER", "LAST", "PICKED", "ROUTE", "OPPOSITE", "HINT", "REASON", "WINNING")
RIM = ("RED", "ORANGE", "YELLOW", "GREEN", "CYAN", "BLUE", "VIOLET")


def rounded(style: Style, colour_count: int) -> Style:
    """The style as a terminal of so many colours gets it."""
    if colour_count > 256:
        return style
    colours = [colour and colour.downgrade(ColorSystem.EIGHT_BIT) for colour in (style.color, style.bgcolor)]
    return Style(color=colours[0], bgcolor=colours[1])


def luminance(colour: Color) -> float:
    """Relative luminance as the accessibility guidelines (WCAG 2) define it."""
    parts = [part / 255 for part in colour.get_truecolor()]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(style) -> float:
    light, dark = sorted((luminance(style.color), luminance(style.bgcolor)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("is_stone", [False, True], ids=["field", "stone"])
@pytest.mark.parametrize("theme", list(THEMES))
@pytest.mark.parametrize("count", [256, 1 << 24])
def test_pieces_stand_out_from_every_ground_in_every_theme(theme, is_stone, count):
    brush = Brush(THEMES[theme], is_stone=is_stone, colour_count=count)
    for piece in PIECES[is_stone]:
        for ground in GROUNDS:
            assert contrast(rounded(brush.style(Ink(Role[piece], Role[ground])), count)) >= 3, (piece, ground)
        for ground in (*MARKED, *(RIM if is_stone else ())):
            assert contrast(rounded(brush.style(Ink(Role[piece], Role[ground])), count)) >= 2, (piece, ground)


@pytest.mark.parametrize("theme", list(THEMES))
@pytest.mark.parametrize("count", [16, 256, 1 << 24])
def test_labels_stand_out_from_the_ground_of_the_screen(theme, count):
    """With 16 colours those of the cursor's row and column were white on white."""
    ground = Color.parse(THEMES[theme].ui.background)
    for is_stone in (False, True):
        brush = Brush(THEMES[theme], is_stone=is_stone, colour_count=count)
        for role in (Role.LABEL, Role.LABEL_STRONG):
            assert contrast(Style(color=brush.style(Ink(role)).color, bgcolor=ground)) >= 4, role


@pytest.mark.parametrize("is_stone", [False, True], ids=["field", "stone"])
@pytest.mark.parametrize("count", [256, 1 << 24])
def test_with_high_contrast_small_signs_stand_out_as_well(is_stone, count):
    """What is forbidden was dark red on grey, with less than three to one."""
    brush = Brush(THEMES["high-contrast"], is_stone=is_stone, colour_count=count)
    for sign in ("EMPTY", "LEGAL", "FORBIDDEN", "MARK"):
        for ground in GROUNDS:
            assert contrast(rounded(brush.style(Ink(Role[sign], Role[ground])), count)) >= 3, (sign, ground)


@pytest.mark.parametrize("is_stone", [False, True], ids=["field", "stone"])
@pytest.mark.parametrize("count", [256, 1 << 24])
def test_with_high_contrast_pieces_and_their_ground_are_as_far_apart_as_text_has_to_be(is_stone, count):
    """White stones lay on a lighter grey than black ones could bear."""
    brush = Brush(THEMES["high-contrast"], is_stone=is_stone, colour_count=count)
    for piece in PIECES[is_stone]:
        for ground in GROUNDS:
            assert contrast(rounded(brush.style(Ink(Role[piece], Role[ground])), count)) >= 4.5, (piece, ground)


@pytest.mark.parametrize("is_stone", [False, True], ids=["field", "stone"])
@pytest.mark.parametrize("theme", list(THEMES))
@pytest.mark.parametrize("count", [16, 256, 1 << 24])
def test_last_turn_hint_and_choice_have_grounds_of_their_own_and_a_hint_is_no_alarm(theme, is_stone, count):
    brush = Brush(THEMES[theme], is_stone=is_stone, colour_count=count)
    names = ("LAST", "HINT", "PICKED", "REASON", "GROUND")
    colours = [rounded(brush.style(Ink(bg=Role[name])), count).bgcolor.get_truecolor() for name in names]
    assert len(set(colours)) == len(colours)
    assert colours[1].blue > colours[1].red


@pytest.mark.parametrize("is_stone", [False, True], ids=["field", "stone"])
@pytest.mark.parametrize("theme", list(THEMES))
@pytest.mark.parametrize("count", [256, 1 << 24])
def test_what_is_hovered_lies_on_a_ground_of_its_own_on_terminals_of_256_colours_too(theme, is_stone, count):
    """Rounding made it the ground of every third cell of Iris, and that of the cell opposite in Virus Wars."""
    brush = Brush(THEMES[theme], is_stone=is_stone, colour_count=count)
    grounds = {rounded(brush.style(Ink(bg=Role[name])), count).bgcolor.get_truecolor() for name in GROUNDS}
    hovered, opposite = (
        rounded(brush.style(Ink(bg=role)), count).bgcolor.get_truecolor() for role in (Role.HOVER, Role.OPPOSITE)
    )
    assert hovered not in {*grounds, opposite}


@pytest.mark.parametrize("theme", list(THEMES))
@pytest.mark.parametrize("count", [256, 1 << 24])
def test_the_colours_of_the_rim_of_iris_differ_on_terminals_of_256_colours_too(theme, count):
    """Symptom: orange and yellow cells were both brown, and one of any colour was green when taken last."""
    brush = Brush(THEMES[theme], is_stone=True, colour_count=count)
    colours = [rounded(brush.style(Ink(bg=Role[name])), count).bgcolor.get_truecolor() for name in (*RIM, "LAST")]
    assert len(set(colours)) == len(colours)


@pytest.mark.parametrize("theme", list(THEMES))
def test_dark_and_light_grounds_stay_grey_on_terminals_of_256_colours(theme):
    """A dark grey with a little blue in it was rounded to navy."""
    ui = screen_colours_256(THEMES[theme].ui)
    brush = Brush(THEMES[theme], is_stone=False, colour_count=256)
    colours = [Color.parse(colour) for colour in (ui.background, ui.surface, ui.panel)]
    colours += [brush.style(Ink(bg=Role[name])).bgcolor for name in GROUNDS]
    for colour in colours:
        assert len(set(colour.downgrade(ColorSystem.EIGHT_BIT).get_truecolor())) == 1, colour


@pytest.mark.parametrize("count", [16, 256, 1 << 24])
@pytest.mark.parametrize("is_stone", [False, True], ids=["field", "stone"])
@pytest.mark.parametrize("theme", list(THEMES))
def test_every_role_that_a_board_can_need_has_a_colour(theme, is_stone, count):
    brush = Brush(THEMES[theme], is_stone=is_stone, colour_count=count)
    only_elsewhere = {Role[name] for name in (*RIM, "GROUND_LETTER")} if not is_stone else set()
    for role in set(Role) - only_elsewhere:
        assert brush.style(Ink(role)).color is not None, role


@pytest.mark.parametrize("is_stone", [False, True], ids=["field", "stone"])
def test_sixteen_colours_are_the_terminals_own(is_stone):
    brush = Brush(THEMES["dark"], is_stone=is_stone, colour_count=16)
    for role in Role:
        colour = brush.style(Ink(role)).color
        if colour is not None:
            assert set(colour.get_truecolor()) <= {0, 85, 170, 255}


def test_without_colours_the_cursor_is_reversed_and_what_is_hovered_underlined():
    brush = Brush(THEMES["dark"], is_stone=True, colour_count=0)
    cursor, hover = brush.style(Ink(Role.SIDE_0, Role.CURSOR)), brush.style(Ink(bg=Role.HOVER))
    assert (cursor.color, cursor.bgcolor, cursor.reverse) == (None, None, True)
    assert (hover.bgcolor, hover.underline) == (None, True)
    # What is filled by reverse stays visible under the cursor.
    assert not brush.style(Ink(Role.SIDE_0, Role.CURSOR, reverse=True)).reverse


def test_an_unknown_theme_is_the_default_one():
    assert theme_named("no such theme").name == DEFAULT_THEME


def test_settings_are_kept_and_read_again(tmp_path):
    settings = Settings(theme="light", is_ascii=True, board_size="small", asks_before_sending=False)
    SettingsFile(tmp_path / "new").save(settings)
    file = SettingsFile(tmp_path / "new")
    assert (file.load(), file.problem) == (settings, "")
    assert [path.name for path in (tmp_path / "new").iterdir()] == [SETTINGS_FILE]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", b'{"theme": "light"'])
def test_settings_that_cannot_be_read_are_the_defaults_and_that_is_said(tmp_path, content):
    (tmp_path / SETTINGS_FILE).write_bytes(content)
    file = SettingsFile(tmp_path)
    assert file.load() == Settings()
    problem = f"{tmp_path / SETTINGS_FILE} cannot be read (it is damaged): the standard settings are used"
    assert file.problem == problem


def test_a_settings_file_that_is_none_is_said(tmp_path):
    (tmp_path / SETTINGS_FILE).mkdir()
    file = SettingsFile(tmp_path)
    assert file.load() == Settings()
    assert "cannot be read (Is a directory)" in file.problem


@pytest.mark.parametrize(
    ("written", "refused"),
    [
        ('"theme": 3', "theme '3'"),
        ('"theme": "neon"', "theme 'neon'"),
        ('"board_size": "enormous"', "board_size 'enormous'"),
        ('"rings_bell": "often"', "rings_bell 'often'"),
        ('"name": "a b"', "name 'a b'"),
        ('"theme": "neon", "name": null', "theme 'neon', name 'None'"),
    ],
)
def test_one_setting_that_makes_no_sense_costs_no_other_and_is_named(tmp_path, written, refused):
    """All of them were the defaults then, without a word, and the next change wrote that down for good."""
    (tmp_path / SETTINGS_FILE).write_text(f'{{"is_ascii": true, {written}}}', encoding="utf-8")
    file = SettingsFile(tmp_path)
    assert file.load() == Settings(is_ascii=True)
    assert file.problem == f"not understood in {tmp_path / SETTINGS_FILE}: {refused}"


def test_a_file_that_was_not_understood_is_kept_when_settings_are_saved(tmp_path):
    (tmp_path / SETTINGS_FILE).write_text('{"theme": "light",}', encoding="utf-8")
    file = SettingsFile(tmp_path)
    file.save(msgspec.structs.replace(file.load(), is_ascii=True))
    assert SettingsFile(tmp_path).load() == Settings(is_ascii=True)
    kept = tmp_path / f"{SETTINGS_FILE}.damaged"
    assert kept.read_text(encoding="utf-8") == '{"theme": "light",}'
    file.save(Settings())
    assert kept.read_text(encoding="utf-8") == '{"theme": "light",}'


def test_settings_of_another_version_keep_what_is_known(tmp_path):
    (tmp_path / SETTINGS_FILE).write_text('{"theme": "light", "sparkles": true}', encoding="utf-8")
    file = SettingsFile(tmp_path)
    assert (file.load(), file.problem) == (Settings(theme="light"), "")


@pytest.mark.parametrize("group", ["BOARD", "MATCH", "CHOOSER", "STEPPING", "REPLAY", "EVERYWHERE"])
def test_every_key_has_a_sentence_and_means_one_thing_in_its_group(group):
    bindings = getattr(keys, group)
    assert all(binding.tooltip.endswith(".") for binding in bindings)
    names = [name for binding in bindings for name in binding.key.split(",")]
    assert len(names) == len(set(names))


def test_the_page_of_keys_puts_keys_that_do_the_same_on_one_line():
    page = key_page([keys.key("a", "x", "x", "Do x."), keys.key("escape", "x", "x", "Do x.")], 40)
    assert page == "a Esc  Do x."


def test_a_long_sentence_on_the_page_of_keys_goes_on_below_itself():
    """Symptom: the second line began below the keys, and looked like a key of its own."""
    page = key_page([keys.key("a", "x", "x", "Say it at length.")], 16)
    assert page.splitlines() == ["a  Say it at", "   length."]

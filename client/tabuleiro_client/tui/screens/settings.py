"""The settings: each is applied at once and kept in the user's config folder."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, get_args

from textual import events
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Static

from tabuleiro.descriptors import NO, YES
from tabuleiro.errors import NotationError
from tabuleiro.protocol.names import NAME_RULE, parse_name
from tabuleiro.rules.view import Target
from tabuleiro_client.net.files import SETTINGS_FILE, config_folder
from tabuleiro_client.net.identity import login_name
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.present.overlay import NOTHING, Overlay
from tabuleiro_client.tui.room_form import Field
from tabuleiro_client.tui.sample_positions import sample_view
from tabuleiro_client.tui.screens.page import PageScreen
from tabuleiro_client.tui.settings import BoardSize, Settings
from tabuleiro_client.tui.themes import THEMES
from tabuleiro_client.tui.widgets.board import BoardPicture
from tabuleiro_client.tui.widgets.forms import FieldRow, FormBox, widgets_of

PREVIEW_MIN_COLUMNS = 110
_YES_NO = {YES: YES, NO: NO}
_SWITCHES = (
    "is_ascii",
    "shows_legal",
    "asks_before_sending",
    "lays_forced",
    "rings_bell",
    "changes_title",
    "has_report_cells",
)


def setting_fields() -> list[Field]:
    """Return the settings as fields, named as in :class:`Settings`."""
    themes = {theme.name: theme.title for theme in THEMES.values()}
    sizes = {size: size for size in get_args(BoardSize)}
    return [
        Field("theme", "theme", "colours of screens and boards", themes, heading="Looks"),
        Field("is_ascii", "ASCII only", "no characters beyond ASCII", _YES_NO),
        Field("board_size", "size of boards", "auto: as large as fits", sizes),
        Field("shows_legal", "mark choices", "show the cells you can choose", _YES_NO, heading="Play"),
        Field("asks_before_sending", "ask to send", "a complete turn of several actions waits", _YES_NO),
        Field("lays_forced", "forced stone", "Iris: laid by itself where one cell is left", _YES_NO),
        Field("has_report_cells", "cells as in reports", "the names that the games' reports gave them", _YES_NO),
        Field("rings_bell", "bell", "rings when it is your turn", _YES_NO, heading="In the background"),
        Field("changes_title", "window title", "says so when it is your turn", _YES_NO),
        Field("name", "your name", "who you are on new servers", None, login_name(), heading="You"),
    ]


class SettingsScreen(PageScreen):
    """Every setting, with a board beside it that shows the looks."""

    BINDINGS: ClassVar[list[BindingType]] = [binding for binding in keys.FORM if binding.action != "submit"]
    DEFAULT_CSS = """
    SettingsScreen #preview { width: 40; margin: 1; }
    SettingsScreen #file { color: $text-muted; margin-top: 1; }
    SettingsScreen.narrow #preview { display: none; }
    """

    def __init__(self) -> None:
        super().__init__("settings")

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal():
            with FormBox(id="form"):
                for field in setting_fields():
                    yield from widgets_of(field, _text_of(self.context.settings, field.name))
                yield Static(f"kept in {config_folder() / SETTINGS_FILE}", id="file", markup=False)
            yield BoardPicture(id="preview")

    def on_mount(self) -> None:
        super().on_mount()
        self.query(FieldRow).first().take_focus()
        self._show_board()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < PREVIEW_MIN_COLUMNS, "narrow")

    def _show_board(self) -> None:
        shows_legal = self.context.settings.shows_legal

        def overlay(cursor: Target | None, hover: Target | None) -> Overlay:
            return Overlay(hover=hover, shows_legal=True) if shows_legal else NOTHING

        self.query_one(BoardPicture).show(sample_view("virus-wars"), overlay)

    def on_field_row_filled(self, event: FieldRow.Filled) -> None:
        row = next(row for row in self.query(FieldRow) if row.field.name == event.name)
        problem = ""
        if event.name == "name" and event.text.strip():
            try:
                parse_name(event.text)
            except NotationError:
                problem = f"expected {NAME_RULE}"
        if not problem:
            value = event.text == YES if event.name in _SWITCHES else event.text.strip()
            self.context.change_settings(**{event.name: value})
            self._show_board()
        row.show(row.field, event.text, problem)

    def on_field_row_left(self, event: FieldRow.Left) -> None:
        self.action_next_field()

    def action_next_field(self) -> None:
        """Go to the next field."""
        self.focus_next(FieldRow.FIELDS)

    def action_field_before(self) -> None:
        """Go to the field before."""
        self.focus_previous(FieldRow.FIELDS)


def _text_of(settings: Settings, name: str) -> str:
    value = getattr(settings, name)
    return (YES if value else NO) if isinstance(value, bool) else str(value)

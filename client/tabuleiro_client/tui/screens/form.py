"""The form for a new match: the game and its options, who plays, how it is played; and for quick play."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.css.query import NoMatches
from textual.widget import Widget
from textual.widgets import Button

from tabuleiro.descriptors import YES
from tabuleiro.errors import TabuleiroError
from tabuleiro_client.text.problems import problem_text
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.present.layout import smallest_layout
from tabuleiro_client.tui.present.overlay import NOTHING
from tabuleiro_client.tui.room_form import MORE, Field, RoomForm
from tabuleiro_client.tui.screens.page import PageScreen
from tabuleiro_client.tui.widgets.board import BoardPicture
from tabuleiro_client.tui.widgets.forms import FieldRow, FormBox, widgets_of

FORM_MIN_COLUMNS = 76
PREVIEW_MIN_COLUMNS = 28


class FormScreen(PageScreen):
    """Fills ``form`` in; :meth:`submit` is what comes of it."""

    BINDINGS: ClassVar[list[BindingType]] = list(keys.FORM)
    DEFAULT_CSS = """
    FormScreen #preview { width: 44; margin: 1 1 0 0; }
    FormScreen.narrow #preview { display: none; }
    FormScreen #buttons { height: 1; padding: 0 1; margin-top: 1; }
    FormScreen #buttons Button { margin-right: 2; }
    FormScreen #submit { text-style: bold; }
    """

    def __init__(self, form: RoomForm, title: str) -> None:
        super().__init__(title)
        self.form = form
        self._has_tried = False
        self._board_columns = 0
        self._drawing = asyncio.Lock()
        self._has_begun = asyncio.Event()

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal():
            yield FormBox(id="form")
            yield BoardPicture(id="preview")
        with Horizontal(id="buttons"):
            yield Button(self.form.submit_label, id="submit", compact=True)
            yield Button("back", id="back", compact=True)

    def on_mount(self) -> None:
        super().on_mount()
        venue = self.context.session.venue
        if not self.form.is_local and venue is not None:
            self.form.know_levels(venue.link.welcome.levels)
        # Not in place of what is started here: who asks for the match at once must find the server on its way.
        self.run_worker(self._told(self._begin()), name="begin", group="begin")

    async def _begin(self) -> None:
        try:
            await self._show_all()
            self._rows()[0].take_focus()
            if not self.form.is_local:
                return
            venue = await self.context.session.be_local(self.context.settings.name or None)
            self.form.know_levels(venue.link.welcome.levels)
            await self._show_all()
        except (TabuleiroError, ModuleNotFoundError) as error:
            self.form.why_no_bots = problem_text(error)
            await self._show_all()
            raise
        finally:
            self._has_begun.set()

    def on_resize(self, event: events.Resize) -> None:
        self._fit(event.size.width)

    def _fit(self, width: int) -> None:
        view = self.form.preview()
        if view is not None:
            self._board_columns = smallest_layout(view).width  # while something is wrong, the last board stays
        spare = width - FORM_MIN_COLUMNS
        self.set_class(spare < max(self._board_columns, PREVIEW_MIN_COLUMNS), "narrow")
        self.query_one("#preview").styles.width = max(self._board_columns, min(spare, 64))

    def _rows(self) -> list[FieldRow]:
        return list(self.query(FieldRow))

    async def _show_all(self) -> None:
        # Rows are taken away and made bit by bit: two at the same time would mix theirs.
        async with self._drawing:
            # A form that is left meanwhile has lost some of its widgets.
            with suppress(NoMatches):
                await self._draw()

    async def _draw(self) -> None:
        """Show every field as it is now, with the rows that are asked for now."""
        form, rows = self.form, self._rows()
        fields = form.fields()
        problems = form.errors()
        if not (len(rows) == len(fields) and all(map(FieldRow.fits, rows, fields))):
            if not await self._renew_rows(fields):
                return
            rows = self._rows()
        for row, field in zip(rows, fields, strict=True):
            row.show(field, form.values.get(field.name, ""), problems.get(field.name, ""))
        view = form.preview()
        if view is not None:
            self.query_one(BoardPicture).show(view, lambda cursor, hover: NOTHING)
        self._fit(self.size.width)
        self._say_what_is_wrong(problems)

    def _say_what_is_wrong(self, problems: dict[str, str]) -> None:
        if self._has_tried and not problems:
            self._has_tried = False
            self.say("")

    async def _renew_rows(self, fields: list[Field]) -> bool:
        """Take away the rows of fields that are not asked for now, and make those that are missing.

        Return whether all are there: no longer, when the form is left meanwhile.

        A row that stays keeps the focus, and with it the keys that are on their way to it.
        """
        box, rows = self.query_one(FormBox), {row.field.name: row for row in self._rows()}
        staying = {field.name for field in fields if field.name in rows and rows[field.name].fits(field)}
        going = {*rows} - staying
        with self.app.batch_update():
            for widget in [child for child in box.children if child.name in going]:
                await widget.remove()
            above: Widget | None = None
            for field in fields:
                if field.name not in staying:
                    made = widgets_of(field, self.form.values.get(field.name, ""))
                    await box.mount_all(made, before=0 if above is None else None, after=above)
                above = next((child for child in reversed(box.children) if child.name == field.name), None)
                if above is None:
                    return False
        return True

    async def on_field_row_filled(self, event: FieldRow.Filled) -> None:
        self.form.set(event.name, event.text)
        await self._show_all()

    def on_field_row_left(self, event: FieldRow.Left) -> None:
        """Go to the next field; after the last of the few that are needed, the match starts."""
        if self.form.is_last_of_few(event.name):
            self.action_submit()
        else:
            self.action_next_field()

    def action_next_field(self) -> None:
        """Go to the next field."""
        self.focus_next(FieldRow.FIELDS)

    def action_field_before(self) -> None:
        """Go to the field before."""
        self.focus_previous(FieldRow.FIELDS)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "back":
            self.action_back()
        else:
            self.action_submit()

    def action_submit(self) -> None:
        """Ask the server for the room, or go to the first field that is wrong."""
        if self.form.is_local and not self._has_begun.is_set():
            self.say("starting the server ...")
            self.start(self._submit_later())
            return
        self._take_in_rows()
        problems = self.form.errors()
        for row in self._rows():
            if row.field.name in problems:
                row.take_focus()
                self._has_tried = True
                self.say(f"check the field: {row.field.label}")
                return
        if problems and self.form.values[MORE] == YES:
            self.say(next(iter(problems.values())))
            return
        if problems:
            self.run_worker(self._show_hidden_problem(), name="more", group="more")
            return
        self.say("")
        self.start(self.submit())

    async def _show_hidden_problem(self) -> None:
        """Show all fields: one of those not shown is wrong."""
        self.set_focus(None)  # a row with the focus keeps what it shows
        self.form.set(MORE, YES)
        await self._show_all()
        self.action_submit()

    async def _submit_later(self) -> None:
        """Ask again once the server of this machine runs; why it does not has been said."""
        await self._has_begun.wait()
        if self.context.session.venue is not None:
            self.action_submit()

    def _take_in_rows(self) -> None:
        """Take in what the fields hold: the key that asks can come before the word of the last one."""
        for row in self._rows():
            name = row.field.name
            if row.text != self.form.values.get(name):
                self.form.set(name, row.text)
                if name in ("game", "preset"):
                    return  # the fields below belong to what was there before

    async def submit(self) -> None:
        """Use the form, in which nothing is wrong now."""

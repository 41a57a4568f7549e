"""Learning a game: a task on the board, the lessons of the course beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from tabuleiro.rules import registry
from tabuleiro.rules.view import BoardView, Target
from tabuleiro_client.models.turn_composer import PASS_TEXT, ShipComposer
from tabuleiro_client.models.tutorial import Course
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.present.overlay import Overlay, composed_overlay
from tabuleiro_client.tui.screens.board_screen import BoardScreen
from tabuleiro_client.tui.widgets.chat import Entry


class TutorialScreen(BoardScreen):
    """The course of ``game``."""

    BINDINGS: ClassVar[list[BindingType]] = [keys.BACK, *keys.TUTORIAL]
    DEFAULT_CSS = """
    TutorialScreen #lesson { height: auto; padding: 0 1 1 1; }
    TutorialScreen #course { height: 1fr; padding: 0 1; color: $text-muted; }
    """

    def __init__(self, game: str) -> None:
        super().__init__(f"{registry.game_type(game).title}: find the move")
        self.course = Course(game)

    @property
    def game_name(self) -> str:
        return self.course.game

    def compose_panel(self) -> Iterable[Widget]:
        yield Static("", id="lesson", markup=False)
        yield Static("", id="course", classes="aside", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.part_columns(self.size)
        self.show_all()

    def current_view(self) -> BoardView | None:
        return self.course.view

    def part_columns(self, size: Size) -> None:
        super().part_columns(size)
        self._show_lines()

    def show_all(self) -> None:
        """Draw the position, the task, and what was said about the last turn."""
        course = self.course
        self.show_position(course.view, self._overlay)
        self.query_one("#lesson", Static).update(
            Text.assemble((course.lesson.title, "bold"), "\n\n", course.lesson.task)
        )
        lines = [
            f"{'>' if number == course.number else ' '} {number + 1} {lesson.title}"
            f"{' - done' if number in course.solved else ''}"
            for number, lesson in enumerate(course.lessons)
        ]
        self.query_one("#course", Static).update("\n".join(lines))
        self._show_lines()
        self.show_choices(None if course.is_solved else course.composer, leaves_out="send")
        self.show_keys()

    def _overlay(self, cursor: Target | None, hover: Target | None) -> Overlay:
        composer, shows_legal = self.course.composer, self.context.settings.shows_legal
        return composed_overlay(
            composer, cursor, hover, frozenset(), shows_legal=shows_legal and not self.course.is_solved
        )

    def _show_lines(self) -> None:
        course = self.course
        done = " - done, Enter goes on" if course.is_solved else ""
        self.write_line("turn", f"{course.number + 1} of {len(course.lessons)}: {course.lesson.title}{done}")
        self.write_line(
            "say", course.message or (course.lesson.task if self.has_class("narrow") else self._prompt())
        )
        self.query_one("#say").set_class(bool(course.message), "message")

    def _prompt(self) -> str:
        return self.course.composer.prompt()

    def choose(self, target: Target) -> None:
        """Choose a cell or an edge; after a right turn, go to the next lesson."""
        if self.course.is_solved:
            self.action_go(1)
        else:
            self.course.choose(target)
            self.show_all()

    def action_go(self, step: int) -> None:
        """Go to the next lesson, or the one before."""
        course = self.course
        if not course.go(step) and step > 0:
            left = len(course.lessons) - len(course.solved)
            course.message = (
                "That was the last one. Esc goes back to the start."
                if not left
                else (f"That was the last one; {left} are not done yet.")
            )
        self.show_all()

    def action_answer(self) -> None:
        """Show a right turn."""
        self.course.show_answer()
        self.show_all()

    def action_undo(self) -> None:
        """Undo the last choice."""
        self.course.step_back()
        self.show_all()

    def action_pass_turn(self) -> None:
        """Pass."""
        if self.course.composer.can_pass():
            self.course.type_actions(PASS_TEXT)
            self.show_all()

    def action_ship(self, value: int) -> None:
        """Choose the value of the ship to place next."""
        if isinstance(self.course.composer, ShipComposer):
            self.course.composer.set_value(value)
            self.show_all()

    def action_boost(self) -> None:
        """Run on from the ship landed on."""
        if isinstance(self.course.composer, ShipComposer):
            self.course.composer.boost()
            self.show_all()

    def action_reprogram(self) -> None:
        """Put the ship landed on elsewhere."""
        if isinstance(self.course.composer, ShipComposer):
            self.course.composer.reprogram()
            self.show_all()

    def action_type(self) -> None:
        """Type actions."""
        self.query_one(Entry).open_for("play")

    def on_entry_typed(self, event: Entry.Typed) -> None:
        """Play what was typed; what the rules refuse comes back."""
        if not self.course.type_actions(event.text):
            self.query_one(Entry).refuse("play", event.text, self.course.composer.column)
        self.show_all()

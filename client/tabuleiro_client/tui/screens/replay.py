"""Looking through a record: step, jump, autoplay, and branch off to try moves."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker

from tabuleiro.errors import ClientError, NotationError, TabuleiroError
from tabuleiro.notation.record import MatchRecord, RecordPlayer
from tabuleiro.protocol.messages import Explanation
from tabuleiro.rules import registry
from tabuleiro.rules.options import Options
from tabuleiro.rules.search_tree import SearchTree
from tabuleiro.rules.view import BoardView, Target
from tabuleiro_client.models.analysis import Explained, ExplainJob, SearchProcess, TreeJob
from tabuleiro_client.models.records import Match, Matches
from tabuleiro_client.models.timeline import picture_of
from tabuleiro_client.models.turn_composer import PASS_TEXT, ShipComposer
from tabuleiro_client.text.problems import problem_text
from tabuleiro_client.text.sentences import side_glyphs
from tabuleiro_client.text.terminal import showable
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.present.notes import facts, match_text, notes_of_cell
from tabuleiro_client.tui.present.overlay import Overlay
from tabuleiro_client.tui.replay_model import ReplayModel
from tabuleiro_client.tui.screens.board_screen import BoardScreen
from tabuleiro_client.tui.screens.dialogs import ExportScreen
from tabuleiro_client.tui.screens.questions import PickerScreen
from tabuleiro_client.tui.screens.thinking import ExplainScreen, TreeScreen
from tabuleiro_client.tui.widgets.bars import TopBar
from tabuleiro_client.tui.widgets.chat import Entry
from tabuleiro_client.tui.widgets.panel import Moves

_MATCH_KEYS = frozenset({"why", "type", "pass_turn"})


class ReplayScreen(BoardScreen):
    """The record on the board.

    ``match`` is the one of ``matches`` that the record is of, both ``None`` for a record of its own.

    Raises: as :class:`ReplayModel`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *keys.STEPPING,
        *keys.LOOKING,
        *keys.REPLAY,
        *(replace(binding, show=False) for binding in keys.MATCH if binding.action in _MATCH_KEYS),
    ]
    DEFAULT_CSS = """
    ReplayScreen #record { height: auto; padding: 0 1; }
    ReplayScreen #facts { height: auto; padding: 0 1; color: $text-muted; }
    ReplayScreen #evaluation { height: auto; padding: 0 1; }
    ReplayScreen #graph { height: auto; padding: 0 1; text-wrap: nowrap; color: $text-muted; }
    ReplayScreen .unused { display: none; }
    """

    def __init__(
        self,
        record: MatchRecord,
        match: Match | None = None,
        matches: Matches | None = None,
        *,
        has_report_cells: bool = False,
    ) -> None:
        self.model = ReplayModel(record, has_report_cells=has_report_cells)
        self.match = match
        self._matches = matches
        self._autoplay: Timer | None = None
        self._search = SearchProcess()
        self._searching: Worker[None] | None = None
        super().__init__(self._title())

    @property
    def game_name(self) -> str:
        return self.model.record.game

    @property
    def is_typed_on(self) -> bool:
        return self.model.branch is not None and super().is_typed_on

    def compose_panel(self) -> Iterable[Widget]:
        yield Static("", id="record", markup=False)
        yield Static("", id="facts", classes="aside", markup=False)
        yield Static("", id="evaluation", markup=False)
        yield Static("", id="graph", classes="aside", markup=False)
        yield Moves(id="moves").add_class("aside")

    async def on_unmount(self) -> None:
        await self._search.close()

    def on_mount(self) -> None:
        super().on_mount()
        self.part_columns(self.size)
        self.query_one("#record", Static).update("\n".join(self._introduction()))
        self.show_all()

    def _title(self) -> str:
        title = f"{self.model.game.title}: replay"
        if self.match is None or self._matches is None:
            return title
        return f"{title}  {self.match.place}, match {self.match.number} of {self._matches.last}"

    def _introduction(self) -> list[str]:
        record, game, style = self.model.record, self.model.game, self.context.writing

        def name(player: RecordPlayer) -> str:
            shown = showable(player.name, style) or "?"
            return shown if player.bot is None else f"{shown}, bot {showable(player.bot, style)}"

        glyphs = side_glyphs(game, style)
        lines = [
            f"{glyph or arrow} {name(player)} ({side})"
            for player, side, glyph, arrow in zip(record.players, game.sides, glyphs, "^v", strict=True)
        ]
        has_others = self._matches is not None and self._matches.last > 1
        lines.append(f"{self.model.result}  {self.model.ending}")
        return [*lines, "< > m  other matches"] if has_others else lines

    def current_view(self) -> BoardView | None:
        return self.model.view

    def make_overlay(self, cursor: Target | None, hover: Target | None) -> Overlay:
        """Return the marks on the position for the cell that the person points at."""
        return self.model.overlay(cursor, hover, shows_legal=self.context.settings.shows_legal)

    def show_all(self) -> None:
        """Draw everything anew."""
        model = self.model
        self.show_position(model.view, self.make_overlay)
        glyphs, marks = side_glyphs(model.game, self.context.writing), model.turn_marks()
        self.query_one(Moves).show(model.turns_shown, glyphs, model.place, {} if model.branch else marks)
        self._show_analysis()
        self.query_one("#facts", Static).update(facts(model.state, model.view, model.game.sides))
        notices = "  ".join(model.cells.picture(picture_of(model.state)).notices)
        self.write_line(
            "turn", model.turn_text() if model.is_ended else f"{model.turn_text()}  {notices}".rstrip()
        )
        playing = f"autoplay, {model.delay_s:g} s an action (Space stops)" if self._autoplay is not None else ""
        brief = model.brief_evaluation() if self.has_class("narrow") else ""
        told = model.message or playing or model.progress_text() or brief or model.prompt
        self.write_line("say", told or (notices if model.is_ended else ""))
        self.query_one("#say").set_class(bool(model.message), "message")
        self.board.can_choose = model.branch is not None
        self.show_choices(model.composer, leaves_out="send")
        self.show_keys()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return True if a key does something now; the footer shows those that do."""
        if action in ("undo", "type"):
            return self.model.branch is not None
        if action == "pass_turn":
            return self.model.composer is not None and self.model.composer.can_pass()
        if action in ("explain", "tree"):
            return not self.model.state.is_terminal
        if action in ("autoplay", "export"):
            return self.model.branch is None
        if action == "judge":
            return self.model.branch is None and bool(self.model.judge.turns)
        if action in ("pick_match", "other_match"):
            return self._matches is not None and self._matches.last > 1 and self.model.branch is None
        if action.startswith("scroll"):
            return self.model.composer is None or not self.model.composer.is_asking
        return True

    def action_copy_position(self) -> None:
        """Copy the position shown as text; it is also said, for terminals that do not let us."""
        self.model.message = self.copied_position(self.model.state)
        self.show_all()

    def _show_analysis(self) -> None:
        """Write what the search has found so far, and let it continue if there is more to find."""
        width = self.query_one("#panel").size.width - 2
        is_ascii = self.context.writing.ascii
        for name, lines in (
            ("evaluation", self.model.evaluation(width, is_ascii=is_ascii)),
            ("graph", self.model.graph(width, is_ascii=is_ascii)),
        ):
            part = self.query_one(f"#{name}", Static)
            part.update("\n".join(lines))
            part.set_class(not lines, "unused")
        is_searching = self._searching is not None and self._searching.is_running
        if not is_searching and self.model.next_job() is not None:
            self._searching = self.run_worker(self._search_on(), name="search", group="search")

    async def _search_on(self) -> None:
        """Search positions until nothing more is asked for."""
        model = self.model
        try:
            while self.model is model and (job := model.next_job()) is not None:
                model.take_analysis(job.actions, await self._search.search(job))
                if model.next_job() is not None:
                    self.show_all()
        except ClientError as error:
            model.is_evaluating = model.is_judging = False
            model.message = str(error)
        self._searching = None
        self.show_all()

    def action_evaluate(self) -> None:
        """Show what the position is worth and the best turn, or no more."""
        self.model.message = ""
        self.model.evaluate()
        self.show_all()

    def action_judge(self) -> None:
        """Judge every turn of the match, or stop."""
        self._stop_autoplay()
        self.model.judge_match()
        self.show_all()

    def action_explain(self) -> None:
        """Tell what each choice of the position shown is worth to a bot."""
        path, game = self.model.path, self.model.game

        def explained(level: str | None) -> Awaitable[Explained]:
            return self._search.explain(ExplainJob(game.name, game.options, path, level))

        async def explain(level: str | None) -> Explanation:
            return (await explained(level)).explanation

        async def show() -> None:
            self._say("asking a bot; the first time takes up to a minute")
            found = await explained(None)
            self._say("")
            self.app.push_screen(ExplainScreen(game, found, explain))

        self._stop_autoplay()
        self.run_worker(self._told(show()), name="explain", group="explain", exclusive=True)

    def action_tree(self) -> None:
        """Show the tree of a search from the position shown."""
        path, state = self.model.path, self.model.state

        def grow(engine: str, depth: int) -> Awaitable[SearchTree]:
            return self._search.grow_tree(TreeJob(state.game.name, state.game.options, path, engine, depth))

        self._stop_autoplay()
        self.app.push_screen(TreeScreen(state, grow))

    async def _told(self, work: Awaitable[None]) -> None:
        """Await ``work``, and say what goes wrong."""
        try:
            await work
        except TabuleiroError as error:
            self._say(problem_text(error))

    def look(self, ply: int) -> None:
        """Show the position after ``ply`` actions of the record."""
        self._stop_autoplay()
        self.model.go(ply)
        self.show_all()

    def action_scroll(self, step: int) -> None:
        """One action back or on."""
        self._stop_autoplay()
        self.model.step(step)
        self.show_all()

    def action_scroll_turn(self, step: int) -> None:
        """One turn back or on."""
        self._stop_autoplay()
        self.model.step_turn(step)
        self.show_all()

    def action_scroll_to_start(self) -> None:
        """To the start."""
        self.look(0)

    def action_scroll_to_end(self) -> None:
        """To the end."""
        self.look(self.model.timeline.last_ply)

    def action_go_to(self) -> None:
        """Ask where to go."""
        self.query_one(Entry).open_for("turn")

    def action_type(self) -> None:
        """Type actions to try."""
        self.query_one(Entry).open_for("play")

    def on_entry_typed(self, event: Entry.Typed) -> None:
        """Handle a typed line: a place to go to, or actions to try."""
        if event.kind == "play":
            is_tried, column = self.model.type_actions(event.text)
            if not is_tried:
                self.query_one(Entry).refuse("play", event.text, column)
            self.show_all()
            return
        try:
            self.look(self.model.timeline.ply_of(event.text))
        except NotationError as error:
            self._say(str(error))
            self.query_one(Entry).refuse("turn", event.text)

    def action_autoplay(self) -> None:
        """Start or stop the autoplay; at the end it starts over."""
        model = self.model
        if self._autoplay is not None:
            self._stop_autoplay()
        elif model.timeline.last_ply:
            model.go(0 if model.is_at_end else model.ply)
            self._autoplay = self.set_interval(model.delay_s, self._play_on)
        self.show_all()

    def _play_on(self) -> None:
        self.model.go(self.model.ply + 1)
        if self.model.is_at_end:
            self._stop_autoplay()
        self.show_all()

    def _stop_autoplay(self) -> None:
        if self._autoplay is not None:
            self._autoplay.stop()
            self._autoplay = None

    def action_faster(self, step: int) -> None:
        """Make the autoplay faster or slower."""
        self.model.change_speed(step)
        if self._autoplay is not None:
            self._autoplay.stop()
            self._autoplay = self.set_interval(self.model.delay_s, self._play_on)
        self.show_all()

    def action_branch(self) -> None:
        """Branch off to try moves, or come back to the record."""
        self._stop_autoplay()
        if self.model.branch is None:
            self.model.start_branch()
        else:
            self.model.leave_branch()
        self.show_all()

    def action_undo(self) -> None:
        """Undo the last move tried."""
        self.model.undo()
        self.show_all()

    def choose(self, target: Target) -> None:
        """Try a move, in a branch."""
        if self.model.branch is None:
            self.model.message = "F6 branches off here to try moves"
        else:
            self.model.choose(target)
        self.show_all()

    def action_pass_turn(self) -> None:
        """Try a pass."""
        self.model.type_actions(PASS_TEXT)
        self.show_all()

    def action_ship(self, value: int) -> None:
        """Choose the value of the ship to place next."""
        if isinstance(self.model.composer, ShipComposer):
            self.model.composer.set_value(value)
            self.show_all()

    def action_boost(self) -> None:
        """Run on from the ship landed on."""
        if isinstance(self.model.composer, ShipComposer):
            self.model.composer.boost()
            self.show_all()

    def action_reprogram(self) -> None:
        """Put the ship landed on elsewhere."""
        if isinstance(self.model.composer, ShipComposer):
            self.model.composer.reprogram()
            self.show_all()

    def action_why(self) -> None:
        """Say what is known of the cell that is pointed at."""
        target = self.board.target
        if isinstance(target, int):
            hints = notes_of_cell(self.model.view, target)
            self.model.message = (
                " ".join(hint.text for hint in hints) or "there is nothing more to say of this cell"
            )
            self.show_all()

    def action_export(self) -> None:
        """Ask for a file, and write the record into it."""

        def written(path: str | None) -> None:
            if path is not None:
                self.model.message = f"written to {path}"
                self.show_all()

        name = None if self.match is None else self.match.name
        self._stop_autoplay()
        self.app.push_screen(ExportScreen(self.model.record, name), written)

    def action_other_match(self, step: int) -> None:
        """Look through the match before or after this one."""
        if self.match is not None and self._matches is not None:
            number = self.match.number + step
            if number < 1:
                self._say(f"match 1 is the first of {self.match.place}")
            else:
                self._ask_for(number)

    def action_pick_match(self) -> None:
        """Ask which match to look through."""
        matches = self._matches
        if matches is None:
            return

        def picked(number: str | None) -> None:
            if number is not None:
                self._ask_for(int(number))

        numbers = range(matches.last, 0, -1)
        choices = {str(number): match_text(number, matches.known(number)) for number in numbers}
        self.app.push_screen(PickerScreen("Which match? The last one comes first.", choices), picked)

    def _ask_for(self, number: int) -> None:
        self._say(f"asking for match {number} ...")
        self.run_worker(self._show_match(number), name="match", group="match", exclusive=True)

    async def _show_match(self, number: int) -> None:
        assert self._matches is not None
        try:
            match = await self._matches.get(number)
            model = ReplayModel(match.record, has_report_cells=self.model.cells.is_report)
        except (TabuleiroError, ModuleNotFoundError) as error:
            self._say(problem_text(error))
            return
        self._stop_autoplay()
        model.speed, model.is_evaluating = self.model.speed, self.model.is_evaluating
        self.model, self.match = model, match
        self.query_one(TopBar).show_title(self._title())
        self.query_one("#record", Static).update("\n".join(self._introduction()))
        self.show_all()

    def _say(self, text: str) -> None:
        self.model.message = text
        self.show_all()

    def action_back(self) -> None:
        """Come back to the record, or leave."""
        if self.model.branch is not None:
            self.action_branch()
        else:
            self.context.leave_screen()


_MOVES = frozenset({"undo", "app.menu", "app.rules", "why", "explain", "type", "pass_turn"})


class TryScreen(ReplayScreen, inherit_bindings=False):
    """An empty record from whose start moves are tried; nothing else of a replay is of use here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        keys.BACK,
        *(binding for binding in keys.MATCH if binding.action in _MOVES),
    ]

    def __init__(self, game: str, options: Options) -> None:
        first, second = registry.game_type(game).sides
        super().__init__(MatchRecord(game, options, (RecordPlayer(first), RecordPlayer(second))))

    def on_mount(self) -> None:
        super().on_mount()
        self.action_branch()
        self.query_one(TopBar).show_title(f"{self.model.game.title}: try it")

    def _introduction(self) -> list[str]:
        lines = ["Try what the rules allow:", "both sides are played from here."]
        return [*lines, "", "Backspace undoes, Esc goes back."]

    def action_back(self) -> None:
        """Leave the board."""
        self.context.leave_screen()

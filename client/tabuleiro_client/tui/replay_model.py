"""A place in a record, and moves tried from there on. No textual, no I/O."""

from __future__ import annotations

from typing import Final

from tabuleiro.errors import NotationError
from tabuleiro.notation.record import MatchRecord, RecordTurn, result_of
from tabuleiro.rules import State, registry
from tabuleiro.rules.analysis import Analysis
from tabuleiro.rules.base import Outcome
from tabuleiro.rules.view import BoardView, Target
from tabuleiro_client.models.analysis import MatchJudge, SearchJob
from tabuleiro_client.models.timeline import Timeline, picture_of
from tabuleiro_client.models.turn_composer import TurnComposer, composer_for
from tabuleiro_client.text.analysis import TURN_MARKS, evaluation_lines, evaluation_text, graph_lines
from tabuleiro_client.text.coordinates import coordinates_of, turns_as_shown
from tabuleiro_client.text.endings import ending_text
from tabuleiro_client.tui.present.overlay import Overlay, composed_overlay

EVALUATION_S: Final = 1.0
JUDGING_S: Final = 0.5
"""How long a position is searched: the one shown, and each of a whole match."""

DELAYS_S: Final = (4.0, 2.0, 1.0, 0.5, 0.25)
"""The seconds between two actions of the autoplay, slowest first."""


class ReplayModel:
    """``ply`` actions of the record have been played; ``branch`` holds moves tried from there, ``None`` for none.

    ``tried_ply`` is the place shown in the branch, counted as in the record. A branch that was left is kept, and
    continued when moves are tried from the same place again.

    Raises: GameOptionError, NotationError or IllegalActionError for a record that the rules refuse.
    """

    def __init__(self, record: MatchRecord, *, has_report_cells: bool = False) -> None:
        self.record = record
        self.game = registry.load(record.game, record.options)
        self.cells = coordinates_of(self.game, is_report=has_report_cells)
        self.timeline = Timeline(self.game, record.actions)
        self.ply = 0
        self.branch: Timeline | None = None
        self.tried_ply = 0
        self.composer: TurnComposer | None = None
        self.speed = 2
        self.message = ""
        self.is_evaluating = False
        self.is_judging = False
        self.judge = MatchJudge(self.timeline.states, self.timeline.turns())
        self._left_branch: tuple[int, Timeline] | None = None
        self._analyses: dict[tuple[str, ...], Analysis] = {}

    @property
    def line(self) -> Timeline:
        """The timeline stepped through: the record, or the branch."""
        return self.timeline if self.branch is None else self.branch

    @property
    def place(self) -> int:
        """The ply of the position shown, in :attr:`line`."""
        return self.ply if self.branch is None else self.tried_ply

    @property
    def state(self) -> State:
        """The position shown."""
        return self.line.states[self.place]

    @property
    def view(self) -> BoardView:
        """The picture of the position shown."""
        return self.cells.picture(picture_of(self.state if self.composer is None else self.composer.state))

    @property
    def turns_shown(self) -> tuple[RecordTurn, ...]:
        """The turns of the line stepped through, as they are shown."""
        return turns_as_shown(self.line.turns(), self.cells)

    @property
    def prompt(self) -> str:
        """The next thing to do where moves are tried; empty for none."""
        is_trying = self.composer is not None and self.state.to_move is not None
        return self.cells.shown(self.composer.prompt()) if is_trying and self.composer is not None else ""

    @property
    def delay_s(self) -> float:
        """The seconds between two actions of the autoplay."""
        return DELAYS_S[self.speed]

    @property
    def is_at_end(self) -> bool:
        """True if the record has nothing further."""
        return self.ply == self.timeline.last_ply

    @property
    def is_ended(self) -> bool:
        """True if the position shown is one in which the match, or what was tried, has ended."""
        return self.state.is_terminal or (self.branch is None and self.is_at_end and self.outcome is not None)

    @property
    def analysis(self) -> Analysis | None:
        """The result of the search for the position shown, ``None`` for nothing yet."""
        return self._analyses.get(self.path)

    @property
    def path(self) -> tuple[str, ...]:
        """The actions that lead to the position shown."""
        return tuple(self.line.actions[: self.place])

    def evaluate(self) -> None:
        """Have the positions shown searched from now on, or no more."""
        self.is_evaluating = not self.is_evaluating

    def judge_match(self) -> None:
        """Have all positions of the record searched, or stop that; what was found stays."""
        self.message = "every turn is judged" if self.judge.next_ply is None else ""
        self.is_judging = not self.is_judging and self.judge.next_ply is not None

    def next_job(self) -> SearchJob | None:
        """Return what is to be searched next: the position shown comes first; ``None`` for nothing."""
        record, path = self.record, self.path
        if self.is_evaluating and path not in self._analyses and not self.state.is_terminal:
            return SearchJob(record.game, self.game.options, path, EVALUATION_S)
        ply = self.judge.next_ply if self.is_judging else None
        if ply is None:
            return None
        return SearchJob(record.game, self.game.options, tuple(self.timeline.actions[:ply]), JUDGING_S)

    def take_analysis(self, path: tuple[str, ...], analysis: Analysis) -> None:
        """Take what was found about the position to which the actions of ``path`` lead."""
        self._analyses[path] = analysis
        if list(path) == self.timeline.actions[: len(path)] and len(path) in self.judge.plies:
            self.judge.take(len(path), analysis)
        if self.judge.next_ply is None:
            self.is_judging = False

    def progress_text(self) -> str:
        """Return how far the judging is; empty while there is none."""
        if not self.is_judging:
            return ""
        return f"judging the match: {self.judge.done_count} of {len(self.judge.plies)} positions (A stops)"

    def evaluation(self, width: int, *, is_ascii: bool) -> list[str]:
        """Return the value of the position shown and its best turn, for a panel of ``width`` columns."""
        if not self.is_evaluating:
            return []
        if self.state.is_terminal:
            return ["the game is over here"]
        if self.analysis is None:
            return ["searching ..." if self._analyses else "searching; the first time takes up to a minute"]
        found = evaluation_lines(self.game, self.state, self.analysis, width, is_ascii=is_ascii)
        return list(map(self.cells.shown, found))

    def brief_evaluation(self) -> str:
        """Return the same in a sentence, empty without an analysis: for windows without room for a panel."""
        if not self.is_evaluating or self.analysis is None:
            return ""
        return self.cells.shown(evaluation_text(self.game, self.state, self.analysis))

    def graph(self, width: int, *, is_ascii: bool) -> list[str]:
        """Return the values of the match as a graph, once one of them is known from judging."""
        judge = self.judge
        if not self.is_judging and judge.next_ply is not None and not judge.judged():
            return []
        turns_before = sum(turn.ply + len(turn.actions) <= self.ply for turn in judge.turns)
        found = graph_lines(self.game, judge.values(), judge.judgements(), turns_before, width, is_ascii=is_ascii)
        return list(map(self.cells.shown, found))

    def turn_marks(self) -> dict[int, str]:
        """Return signs for the turns of the record that cost much, by their numbers."""
        return {judged.turn.number: TURN_MARKS[judged.verdict] for judged in self.judge.judged() if judged.verdict}

    def go(self, ply: int) -> None:
        """Go to a place in the record, and out of a branch."""
        self.leave_branch()
        self.ply = max(0, min(ply, self.timeline.last_ply))

    def step(self, step: int) -> None:
        """Go on by so many actions, back if negative; in a branch no further back than where it begins."""
        self._show(self.place + step)

    def step_turn(self, step: int) -> None:
        """Go on by a turn, back if negative."""
        turn_start = self.line.turn_start if step < 0 else self.line.next_turn_start
        self._show(turn_start(self.place))

    def _show(self, ply: int) -> None:
        if self.branch is None:
            self.go(ply)
            return
        self.message = "" if ply >= self.ply else "the moves tried begin here: Esc goes back to the record"
        self.tried_ply = max(self.ply, min(ply, self.branch.last_ply))
        self.composer = composer_for(self.state)

    def change_speed(self, step: int) -> None:
        """Make the autoplay faster or slower."""
        self.speed = max(0, min(self.speed + step, len(DELAYS_S) - 1))
        self.message = f"autoplay: {self.delay_s:g} s an action"

    def start_branch(self) -> None:
        """Try moves from here on, or continue those tried from here before."""
        self.message = ""
        if self._left_branch is not None and self._left_branch[0] == self.ply:
            self.branch = self._left_branch[1]
            self.message = "here are the moves you tried before: Backspace undoes them"
        else:
            self.branch = Timeline(self.game, self.timeline.actions[: self.ply])
            if self.branch.states[-1].to_move is None:
                self.message = "the game is over here"
        self.tried_ply = self.branch.last_ply
        self.composer = composer_for(self.state)

    def leave_branch(self) -> None:
        """Go back to the record; the moves tried are kept for the next time."""
        if self.branch is not None and self.branch.last_ply > self.ply:
            self._left_branch = (self.ply, self.branch)
        self.branch = self.composer = None
        self.message = ""

    def choose(self, target: Target) -> None:
        """Choose a target for the move tried next."""
        if self.composer is not None:
            self.composer.choose(target)
            self._take_tried()

    def type_actions(self, text: str) -> tuple[bool, int | None]:
        """Try typed actions; return whether they were legal, and else the column (from 1) at fault, if one is."""
        composer = self.composer
        if composer is None:
            return False, None
        try:
            own = self.cells.typed(text)
        except NotationError as error:
            self.message = str(error)
            return False, None
        is_tried = composer.add_turn(own)
        self._take_tried()
        return is_tried, composer.column if own == text else None

    def _take_tried(self) -> None:
        composer, branch = self.composer, self.branch
        assert composer is not None
        assert branch is not None
        self.message = self.cells.shown(composer.message)
        if composer.actions:
            self._follow([*branch.actions[: self.tried_ply], *composer.texts()])

    def undo(self) -> None:
        """Undo the last choice or move tried, with those tried after it."""
        if self.composer is None or self.branch is None:
            return
        self.message = ""
        if self.composer.can_step_back:
            self.composer.step_back()
        elif self.tried_ply > self.ply:
            self._follow(self.branch.actions[: self.tried_ply - 1])

    def _follow(self, actions: list[str]) -> None:
        """Make ``actions`` the branch, and show its end."""
        assert self.branch is not None
        self.branch.follow(self.game, actions)
        self.tried_ply = self.branch.last_ply
        self.composer = composer_for(self.state)
        if self.branch.last_ply == self.ply:
            self._left_branch = None

    def overlay(self, cursor: Target | None, hover: Target | None, *, shows_legal: bool) -> Overlay:
        """Return the marks to add to the picture for the places pointed at."""
        last = self.line.changed_by_last_turn(self.place)
        if self.composer is None:
            return Overlay(cursor=cursor, hover=hover, targets=frozenset(), last=last)
        return composed_overlay(self.composer, cursor, hover, last, shows_legal=shows_legal)

    def turn_text(self) -> str:
        """Return the place, with the player to move or the ending."""
        if self.branch is not None:
            ahead = self.branch.last_ply - self.ply
            tried = self.tried_ply - self.ply
            many = f"{tried} of {ahead}" if tried < ahead else f"{tried}"
            if not self.timeline.last_ply:
                return f"{many} tried: {self._whose(self.state.outcome)}"
            return f"trying moves from action {self.ply}, {many} tried: {self._whose(self.state.outcome)}"
        place = f"action {self.ply} of {self.timeline.last_ply}"
        if not self.is_at_end:
            return f"{place}: {self._whose(self.state.outcome)}"
        return f"{place}, {'unfinished' if self.outcome is None else 'the end'}: {self._whose(self.outcome)}"

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the match, also when the record leaves it to the rules; ``None`` for unfinished."""
        return self.record.outcome or self.timeline.states[-1].outcome

    @property
    def result(self) -> str:
        """``1-0``, ``0-1``, ``1/2-1/2``, or ``*`` for no result."""
        return result_of(self.outcome)

    @property
    def ending(self) -> str:
        """The ending of the match, in words."""
        return "unfinished" if self.outcome is None else self._whose(self.outcome)

    def _whose(self, outcome: Outcome | None) -> str:
        """Return the player to move in the position shown, or the ending if it has ended."""
        if outcome is not None:
            return ending_text(self.game.sides, outcome.winner, outcome.termination)
        mover = self.state.to_move
        return "" if mover is None else f"{self.game.sides[mover]} to move"

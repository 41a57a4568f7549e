"""A course through the lessons of a game: the turn in the making, and its judge, who asks only the rules."""

from __future__ import annotations

from collections.abc import Sequence

from tabuleiro.ids import Player, opponent
from tabuleiro.rules import State, registry
from tabuleiro.rules.view import EMPTY, BoardView, Mark, Target
from tabuleiro_client.models.timeline import picture_of
from tabuleiro_client.models.turn_composer import TurnComposer, composer_for
from tabuleiro_client.text.lessons import LESSONS, Lesson

_ZOMBIES = "XO"
_VIRUSES = "xo"


def is_reached(lesson: Lesson, before: State, now: State) -> bool:
    """Return whether the actions that led from ``before`` to ``now`` do what the lesson asks for."""
    mover = before.to_move
    assert mover is not None  # no lesson begins at the end of a match
    view = picture_of(now)
    match lesson.aim:
        case "win":
            return now.outcome is not None and now.outcome.winner == mover
        case "stop":
            return now.to_move == opponent(mover) and not _can_win(now)
        case "force":
            replies = now.legal_actions() if now.to_move == opponent(mover) else ()
            return bool(replies) and all(_wins_next(now.child(action), mover) for action in replies)
        case "take":
            held = {cell.name for cell in view.cells if cell.piece != EMPTY}
            return held.issuperset(lesson.cells)
        case "absorb":
            rival = opponent(mover)
            return _count(before, rival, _VIRUSES) - _count(now, rival, _VIRUSES) >= lesson.count
        case "wake":
            return not any(cell.owner == mover and Mark.ASLEEP in cell.marks for cell in view.cells)
        case "lull":
            zombies = [cell for cell in view.cells if cell.piece == _ZOMBIES[opponent(mover)]]
            return all(Mark.ASLEEP in cell.marks for cell in zombies)
        case "score":
            has_ended = now.to_move != mover
            return has_ended and view.scores is not None and view.scores[mover][:1] >= (lesson.count,)


def _can_win(state: State) -> bool:
    """Return whether the player to move can win with one action."""
    outcomes = [state.child(action).outcome for action in state.legal_actions()]
    return any(outcome is not None and outcome.winner == state.to_move for outcome in outcomes)


def _wins_next(state: State, player: Player) -> bool:
    """Return whether ``player`` has won, or can win with the next action."""
    if state.outcome is not None:
        return state.outcome.winner == player
    return state.to_move == player and _can_win(state)


def _count(state: State, player: Player, pieces: str) -> int:
    return sum(cell.piece == pieces[player] for cell in picture_of(state).cells)


class Course:
    """The lessons of one game, one after the other.

    ``message`` is what is to be said about the last choice, ``is_solved`` whether the task of the present lesson
    is done. ``solved`` holds the numbers of the lessons that are, from 0.
    """

    def __init__(self, game: str) -> None:
        self.game = game
        self.lessons: Sequence[Lesson] = LESSONS[game]
        self.solved: set[int] = set()
        self.number = 0
        self.message = ""
        self.is_solved = False
        self.composer: TurnComposer = self._composer()

    @property
    def lesson(self) -> Lesson:
        """The present lesson."""
        return self.lessons[self.number]

    @property
    def view(self) -> BoardView:
        """The picture of the position with the actions chosen so far."""
        return self.composer.view

    def _composer(self) -> TurnComposer:
        return composer_for(registry.load(self.game, self.lesson.options).initial_state())

    def go(self, step: int) -> bool:
        """Go to the next lesson, or the one before; return whether there is one."""
        number = self.number + step
        if not 0 <= number < len(self.lessons):
            return False
        self.number = number
        self.restart()
        return True

    def restart(self) -> None:
        """Set the position of the present lesson up again."""
        self.message, self.is_solved = "", False
        self.composer = self._composer()

    def choose(self, target: Target) -> None:
        """Choose a cell or an edge, and judge what was played."""
        if not self.is_solved:
            self.composer.choose(target)
            self.judge()

    def type_actions(self, text: str) -> bool:
        """Play typed actions, and judge them; return whether they were legal."""
        if self.is_solved:
            return True
        is_legal = self.composer.add_turn(text)
        self.judge()
        return is_legal

    def show_answer(self) -> None:
        """Play a right turn."""
        self.restart()
        self.type_actions(self.lesson.answer)

    def step_back(self) -> None:
        """Undo the last choice."""
        if not self.is_solved:
            self.composer.step_back()
            self.message = ""

    def judge(self) -> None:
        """Look at what was chosen: a turn that is complete without doing the task is taken back."""
        composer = self.composer
        self.message = composer.message
        if composer.actions and is_reached(self.lesson, composer.base, composer.state):
            self.is_solved = True
            self.solved.add(self.number)
            self.message = f"Right. {self.lesson.insight}"
        elif composer.is_complete:
            played = " ".join(composer.texts())
            composer.drop()
            self.message = f"{played} is allowed, but does not do it. Try again."

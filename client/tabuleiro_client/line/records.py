"""Stepping through a record: commands in, lines of text out. Reading and printing are left to the command."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tabuleiro.errors import shown
from tabuleiro.notation.record import MatchRecord, RecordPlayer
from tabuleiro.rules import registry
from tabuleiro_client.models.timeline import Timeline
from tabuleiro_client.text.board import TextStyle, board_lines, legend, scores_text
from tabuleiro_client.text.coordinates import coordinates_of, turns_as_shown
from tabuleiro_client.text.endings import ending_text
from tabuleiro_client.text.terminal import showable

HELP = """\
next, n, Enter   the next action          nn   the next turn
back, b          the action before        bb   the turn before
goto N, N        the start of turn N      ?    mark what could be played
start, end       the ends of the record   quit, q"""
OTHERS_HELP = "match N          another one of "

_MATCH = re.compile(r"match\s*([0-9]{1,9})", re.ASCII)
_GOTO = re.compile(r"(?:goto\s*|turn\s*|g\s*)?([0-9]{1,9})", re.ASCII)


class RecordBrowser:
    """A place in a record: ``ply`` actions have been played. Every command answers with the lines to show.

    ``others`` says which matches there are beside the record, empty for a record of its own.
    ``wanted_match`` is the number of the one that was asked for, ``None`` for none; getting it is the caller's.

    Raises: GameOptionError, NotationError or IllegalActionError for a record that the rules refuse.
    """

    def __init__(self, record: MatchRecord, style: TextStyle, others: str = "") -> None:
        self.record = record
        self.others = others
        self.wanted_match: int | None = None
        self.style = style
        self.game = registry.load(record.game, record.options)
        self._cells = coordinates_of(self.game, is_report=style.has_report_cells)
        self.timeline = Timeline(self.game, record.actions)
        self.turns = turns_as_shown(self.timeline.turns(), self._cells)
        self.ply = 0
        self.is_done = False

    def introduction(self) -> list[str]:
        """Return the game with its players, the meaning of the signs on the board, and the commands."""
        first, second = (
            f"{self._player(player)} ({side})"
            for player, side in zip(self.record.players, self.game.sides, strict=True)
        )
        signs = legend(self.timeline.states[0].view(), self.style)
        named = [self._cells.explanation] if self._cells.explanation else []
        return [f"{self.game.title}: {first} against {second}", signs, *named, "", *self._help()]

    def _player(self, player: RecordPlayer) -> str:
        name = showable(player.name, self.style) or "?"
        return name if player.bot is None else f"{name}, bot {showable(player.bot, self.style)}"

    def position_lines(self, *, show_legal: bool = False) -> list[str]:
        """Return the board at this place, with the last action and what comes next."""
        view = self._cells.picture(self.timeline.states[self.ply].view())
        lines = ["", *board_lines(view, self.style, show_legal=show_legal, show_forbidden=show_legal)]
        lines += [self._place(), *view.notices]
        if view.scores is not None and (self.timeline.states[self.ply].is_terminal or show_legal):
            for side, scores in zip(self.game.sides, view.scores, strict=True):
                lines.append(f"{side} scores {scores_text(scores)}")
        if self.ply == self.timeline.last_ply:
            lines.append(self._ending())
        return lines

    def _place(self) -> str:
        if self.ply == 0:
            return f"The start; {self.timeline.last_ply} actions in {len(self.turns)} turns follow."
        turn = next(turn for turn in reversed(self.turns) if turn.ply < self.ply)
        made = self.ply - turn.ply
        of_turn = f" ({made} of {len(turn.actions)})" if len(turn.actions) > 1 else ""
        side, action = self.game.sides[turn.player], turn.actions[made - 1]
        return (
            f"Turn {turn.number}{of_turn}: {side} played {action}. Action {self.ply} of {self.timeline.last_ply}."
        )

    def _ending(self) -> str:
        outcome = self.record.outcome
        if outcome is None:
            return "The record ends here; the match is unfinished."
        ending = ending_text(self.game.sides, outcome.winner, outcome.termination)
        return f"The end. {ending[:1].upper()}{ending[1:]}."

    def obey(self, text: str) -> list[str]:
        """Do what was typed and return what to show: a position, or a message about what cannot be done."""
        word = " ".join(text.lower().split())
        command = _COMMANDS.get(word)
        if command is not None:
            return command(self)
        to_turn = _GOTO.fullmatch(word)
        if to_turn is not None:
            return self._go_to_turn(int(to_turn[1]))
        other = _MATCH.fullmatch(word)
        if other is not None and self.others:
            self.wanted_match = int(other[1])
            return []
        if other is not None:
            return ["This record is of one match alone: there are no others to go to."]
        return [f"{shown(text.strip())} is not a command here. These are:", *self._help()]

    def _go_to(self, ply: int) -> list[str]:
        if ply < 0:
            return ["This is the start of the record."]
        if ply > self.timeline.last_ply:
            return ["This is the end of the record."]
        self.ply = ply
        return self.position_lines()

    def _go_to_turn(self, number: int) -> list[str]:
        for turn in self.turns:
            if turn.number == number:
                return self._go_to(turn.ply)
        if not self.turns:
            return ["There are no turns in this record."]
        return [f"There is no turn {number} in this record: it has turns 1 to {self.turns[-1].number}."]

    def _next(self) -> list[str]:
        return self._go_to(self.ply + 1)

    def _back(self) -> list[str]:
        return self._go_to(self.ply - 1)

    def _next_turn(self) -> list[str]:
        """Go to the end of the turn that is being played."""
        is_at_end = self.ply == self.timeline.last_ply
        return self._go_to(self.ply + 1 if is_at_end else self.timeline.next_turn_start(self.ply))

    def _back_turn(self) -> list[str]:
        """Go to the last start of a turn before here."""
        return self._go_to(self.timeline.turn_start(self.ply) if self.ply else -1)

    def _start(self) -> list[str]:
        return self._go_to(0)

    def _end(self) -> list[str]:
        return self._go_to(self.timeline.last_ply)

    def _legal(self) -> list[str]:
        return self.position_lines(show_legal=True)

    def _help(self) -> list[str]:
        return [*HELP.splitlines(), *([OTHERS_HELP + self.others] if self.others else [])]

    def _quit(self) -> list[str]:
        self.is_done = True
        return []


_COMMANDS: Mapping[str, Callable[[RecordBrowser], list[str]]] = {
    **dict.fromkeys(("", "n", "next"), RecordBrowser._next),
    **dict.fromkeys(("b", "back"), RecordBrowser._back),
    **dict.fromkeys(("nn", "next turn"), RecordBrowser._next_turn),
    **dict.fromkeys(("bb", "back turn"), RecordBrowser._back_turn),
    **dict.fromkeys(("s", "start"), RecordBrowser._start),
    **dict.fromkeys(("e", "end"), RecordBrowser._end),
    **dict.fromkeys(("q", "quit", "exit"), RecordBrowser._quit),
    **dict.fromkeys(("h", "help"), RecordBrowser._help),
    "?": RecordBrowser._legal,
}

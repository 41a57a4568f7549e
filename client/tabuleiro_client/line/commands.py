"""The commands of a room in line mode: what each word asks of the room, or answers from the mirror.

Actions and leaving are left to :mod:`tabuleiro_client.line.match`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from tabuleiro.errors import CommandError, NotationError, shown
from tabuleiro.ids import PLAYERS, Player
from tabuleiro.protocol.events import OfferKind
from tabuleiro.protocol.messages import CHAT_MAX_CHARS
from tabuleiro.rules import Game
from tabuleiro.rules.board import split_name
from tabuleiro.settings import change_setting
from tabuleiro_client.line.reports import MatchReport, RoomAnswers
from tabuleiro_client.line.terminal import Screen
from tabuleiro_client.net.room import EnteredRoom
from tabuleiro_client.text.analysis import hint_text
from tabuleiro_client.text.explanation import explanation_lines, refusal_text
from tabuleiro_client.text.rules import page_lines
from tabuleiro_client.text.sentences import no_draws_text
from tabuleiro_client.text.settings import settings_text

_HELP_INDENT = "  "


@dataclass(frozen=True, slots=True)
class RoomCommand:
    """``names`` are the words that call it, ``argument`` what follows them (in help, e.g. ``TEXT``).

    ``argument`` empty: nothing may follow; in brackets: something may. ``run`` is given what followed.
    """

    names: tuple[str, ...]
    argument: str
    help: str
    run: Callable[[str], None]

    @property
    def usage(self) -> str:
        """The form in which it is typed."""
        return f"{self.names[0]} {self.argument}".rstrip()

    def problem(self, rest: str) -> str:
        """Return the fault in ``rest``, which follows the word; empty if the command can run."""
        if rest and not self.argument:
            return f"{self.names[0]} takes nothing after it"
        if not rest and self.argument and not self.argument.startswith("["):
            return f"{self.usage}: {self.help}"
        return ""


@dataclass(frozen=True, slots=True)
class CommandGroup:
    """Commands that belong together, under a ``title`` in the help; an empty title is not shown."""

    title: str
    commands: tuple[RoomCommand, ...]


class CommandTable:
    """All commands of a room by their words."""

    def __init__(self, groups: Sequence[CommandGroup]) -> None:
        self._groups = tuple(groups)
        self._by_name = {name: command for command in self._commands() for name in command.names}

    def find(self, text: str) -> tuple[RoomCommand, str] | None:
        """Return the command that ``text`` calls and the rest after its word; ``None`` for no command.

        It may begin with a slash.
        """
        word, _, rest = text.strip().removeprefix("/").partition(" ")
        command = self._by_name.get(word.lower())
        if command is None or (split_name(text) is not None and not command.argument):
            return None  # "h 4" is a cell, not help
        return command, rest.strip()

    def help_lines(self) -> list[str]:
        """Return the help: every command in columns, under the titles of the groups."""
        width = max(len(command.usage) for command in self._commands())
        lines: list[str] = []
        for group in self._groups:
            lines += [group.title] if group.title else []
            indent = _HELP_INDENT if group.title else ""
            lines += [f"{indent}{command.usage:{width}}  {command.help}" for command in group.commands]
        return lines

    def _commands(self) -> Iterable[RoomCommand]:
        return (command for group in self._groups for command in group.commands)


Send = Callable[[Coroutine[Any, Any, None]], None]
"""Sends a request and tells what is answered."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A request that is sent only after a yes to ``question``; ``otherwise`` is said after anything else."""

    question: str
    request: Callable[[], Coroutine[Any, Any, None]]
    otherwise: str


_OFFER_KINDS: Final[tuple[OfferKind, ...]] = get_args(OfferKind)


class RoomCommands:
    """Does what is typed about ``room``; ``levels`` are those of the server's bots for its game.

    ``confirm`` asks before what cannot be undone.
    """

    def __init__(
        self,
        room: EnteredRoom,
        screen: Screen,
        report: MatchReport,
        answers: RoomAnswers,
        levels: Sequence[str],
        send: Send,
        confirm: Callable[[Doubt], None],
    ) -> None:
        self._room = room
        self._mirror = room.mirror
        self._screen = screen
        self._report = report
        self._answers = answers
        self._levels = tuple(levels)
        self._send = send
        self._confirm = confirm

    def groups(self) -> tuple[CommandGroup, ...]:
        """Return the commands, in the order of the help."""
        return (
            CommandGroup("the match", self._match_commands()),
            CommandGroup("the room", self._room_commands()),
            CommandGroup("the host of the room", self._host_commands()),
        )

    def _match_commands(self) -> tuple[RoomCommand, ...]:
        command = RoomCommand
        return (
            command(("?",), "", "show the board with the playable cells marked", self._choices),
            command(("moves",), "", "list everything that can be played, as text", self._moves),
            command(("why",), "CELL", "explain why this cell cannot be played", self._answers.show_why),
            command(("board",), "", "show the board", self._board),
            command(("look",), "CELL", "describe a cell and its neighbours, or a row", self._answers.show_place),
            command(("clock",), "", "show the clocks", self._clock),
            command(("rules",), "", "show the rules of this game", self._rules),
            command(("hint",), "", "ask the server for a hint, if this room allows hints", self._hint),
            command(("explain",), "[LEVEL]", "tell what each choice is worth to a bot", self._explain),
            command(("position",), "", "show the position as text, for the option position", self._position),
            command(("undo",), "[all]", "undo the last action of your turn, or all of them", self._undo),
            command(("takeback",), "", "ask to take back your last turn", self._takeback),
            command(("draw",), "", "offer a draw", self._draw),
            command(("rematch",), "", "ask for another match, sides swapped", self._rematch),
            command(("accept",), "[OFFER]", "accept the offer of the other player", self._accept),
            command(("decline",), "[OFFER]", "decline it, or withdraw your own offer", self._decline),
            command(("claim",), "", "claim the win while the opponent is away", self._claim),
            command(("abort",), "", "end the match before both players have moved", self._abort),
        )

    def _room_commands(self) -> tuple[RoomCommand, ...]:
        return (
            RoomCommand(("chat", "say"), "TEXT", "send a chat message to the room", self._say),
            RoomCommand(("who",), "", "show the players and the number of watchers", self._who),
            RoomCommand(("invite",), "", "show the commands to join or watch this room", self._invite),
        )

    def _host_commands(self) -> tuple[RoomCommand, ...]:
        return (
            RoomCommand(("bot",), "[LEVEL]", "put a bot on the free seat; alone: list them", self._bot),
            RoomCommand(("nobot",), "", "take the bot off its seat", self._no_bot),
            RoomCommand(("swap",), "", "let the players change seats", self._swap),
            RoomCommand(("set", "settings"), "[CHANGE]", "show the settings; e.g. set time 5+3", self._settings),
            RoomCommand(("mute",), "NAME", "hide the chat of this person", self._mute),
            RoomCommand(("unmute",), "NAME", "show their chat again", self._unmute),
        )

    def _choices(self, _: str) -> None:
        self._answers.show_choices()

    def _moves(self, _: str) -> None:
        self._answers.show_moves()

    def _board(self, _: str) -> None:
        self._report.show_position()
        self._report.show_turn()

    def _clock(self, _: str) -> None:
        self._answers.show_clock(self._room.server_now_ms())

    def _rules(self, _: str) -> None:
        self._screen.say(*page_lines(self._mirror.game, self._screen.style))

    def _who(self, _: str) -> None:
        self._answers.show_who(self._room.server_now_ms())

    def _invite(self, _: str) -> None:
        self._report.show_signposts()

    def _undo(self, rest: str) -> None:
        made_count = self._mirror.state.actions_in_turn
        ply = len(self._mirror.actions)
        if rest.lower() not in ("", "all"):
            self._screen.say("undo takes nothing after it, or all")
        elif not self._is_playing():
            return
        elif not self._mirror.is_my_turn or not made_count:
            self._screen.say("there is no action of your turn to undo; takeback asks for your last whole turn")
        else:
            self._send(self._room.undo(ply - (made_count if rest else 1)))

    def _hint(self, _: str) -> None:
        if self._is_playing():
            self._send(self._tell_hint())

    async def _tell_hint(self) -> None:
        self._report.say_of_cells(hint_text(await self._room.take_hint()))

    def _position(self, _: str) -> None:
        self._screen.say(self._mirror.state.to_position())

    def _explain(self, rest: str) -> None:
        first, _, after = rest.partition(" ")
        turn = int(first) if first.isascii() and first.isdigit() else None
        level = (rest if turn is None else after).strip() or None
        is_over = self._mirror.head.phase == "finished"
        if self._mirror.match is None:
            self._screen.say("no match is running")
        elif turn is not None and not is_over:
            self._screen.say("earlier turns are explained after the end of the match")
        else:
            ply = _start_of_turn(self._mirror.game, self._mirror.actions, turn) if is_over else None
            if is_over and ply is None:
                self._screen.say("the match has no such turn")
            else:
                self._send(self._tell_explanation(level, ply))

    async def _tell_explanation(self, level: str | None, ply: int | None) -> None:
        try:
            found = await self._room.explain(level, ply)
        except CommandError as error:
            self._screen.say(refusal_text(error))
        else:
            self._report.say_of_cells(*explanation_lines(self._mirror.game, found))

    def _takeback(self, _: str) -> None:
        if self._is_playing():
            self._send(self._room.offer("takeback"))

    def _draw(self, _: str) -> None:
        if not self._is_playing():
            return
        game = self._room.mirror.game
        if not game.has_draws:
            self._screen.say(no_draws_text(game))
            return
        if len(self._report.own_seats) == 1:
            self._send(self._room.offer("draw"))
        else:  # nobody else is asked
            question = "end this match in a draw? type yes to do so, anything else to continue"
            self._confirm(Doubt(question, lambda: self._room.offer("draw"), "no draw"))

    def ask_to_resign(self, side: str) -> None:
        """Ask, and resign the match; who plays both sides names one, or means the one to move."""
        own = [player for player in self._report.own_seats if side.lower() in ("", self._report.cast.side(player))]
        if not self._report.own_seats:
            self._screen.say("you are watching; only players resign")
        elif not own:
            self._screen.say(f"{shown(side)} is not your side")
        elif self._mirror.head.phase != "playing":
            self._screen.say("no match is running: quit leaves")
        else:
            seat = own[0] if len(own) == 1 else self._mirror.to_move
            resigning = seat if len(self._report.own_seats) == 2 else None
            who = "" if resigning is None else f"does {self._report.cast.side(resigning)} "
            question = f"{who}resign this match? type yes to resign, anything else to continue"
            self._confirm(Doubt(question, lambda: self._room.resign(resigning), "not resigned"))

    def _rematch(self, _: str) -> None:
        if self._is_seated():
            self._send(self._room.offer("rematch"))

    def _accept(self, rest: str) -> None:
        kind = self._offer_meant(rest, "accept", self._others())
        if kind is not None:
            self._send(self._room.answer(kind, accept=True))

    def _decline(self, rest: str) -> None:
        kind = self._offer_meant(rest, "decline", self._others() or PLAYERS)
        if kind is not None:
            self._send(self._room.answer(kind, accept=False))

    def _others(self) -> tuple[Player, ...]:
        """Return the other player, if an offer of theirs waits for an answer."""
        makers = {offer.player for offer in self._mirror.head.offers}
        return tuple(player for player in PLAYERS if player in makers and player not in self._report.own_seats)

    def _offer_meant(self, rest: str, word: str, makers: Sequence[Player]) -> OfferKind | None:
        """Return the offer of ``makers`` to answer; ``None`` after saying why there is none."""
        if not self._is_seated():
            return None
        waiting = [offer.kind for offer in self._mirror.head.offers if offer.player in makers]
        wanted = [kind for kind in waiting if rest.lower() in ("", kind)]
        if len(wanted) == 1:
            return wanted[0]
        if wanted:
            self._screen.say(f"which of them? {' or '.join(f'{word} {kind}' for kind in wanted)}")
        elif rest and rest.lower() not in _OFFER_KINDS:
            self._screen.say(f"{word} takes nothing after it, or one of {', '.join(_OFFER_KINDS)}")
        else:
            self._screen.say(f"there is no offer to {word}")
        return None

    def _claim(self, _: str) -> None:
        if self._is_playing():
            self._send(self._room.claim_win())

    def _abort(self, _: str) -> None:
        if self._is_playing():
            self._send(self._room.abort())

    def _say(self, text: str) -> None:
        if len(text) > CHAT_MAX_CHARS:
            self._screen.say(f"that is too long: at most {CHAT_MAX_CHARS} characters")
        else:
            self._send(self._room.say(text))

    def _bot(self, level: str) -> None:
        seats = self._mirror.head.seats
        free = [player for player in PLAYERS if seats[player].holder.kind == "open"]
        if not level:
            self._screen.say(f"bots here: {', '.join(self._levels) or 'none'}; e.g. bot LEVEL")
        elif not free:
            self._screen.say("there is no free seat")
        else:
            self._send(self._room.seat_bot(free[0], level))

    def _no_bot(self, _: str) -> None:
        bots = [player for player in PLAYERS if self._mirror.head.seats[player].holder.kind == "bot"]
        if not bots:
            self._screen.say("there is no bot to take off")
        else:
            self._send(self._room.seat_bot(bots[0], None))

    def _swap(self, _: str) -> None:
        self._send(self._room.swap_seats())

    def _settings(self, text: str) -> None:
        settings = self._mirror.head.settings
        if not text:
            self._screen.say(f"settings: {settings_text(settings) or 'all standard'}")
            return
        try:
            wanted = change_setting(settings, text)
        except NotationError as error:
            self._screen.say(str(error))
        else:
            self._send(self._room.change_settings(wanted))

    def _mute(self, name: str) -> None:
        self._send(self._room.mute(name))

    def _unmute(self, name: str) -> None:
        self._send(self._room.mute(name, is_muted=False))

    def _is_seated(self) -> bool:
        if not self._report.own_seats:
            self._screen.say("you are watching: this is for the players")
        return bool(self._report.own_seats)

    def _is_playing(self) -> bool:
        """Return whether a match of ours runs; say so if not."""
        if not self._is_seated():
            return False
        if self._mirror.head.phase != "playing":
            self._screen.say("no match is running")
            return False
        return True


def _start_of_turn(game: Game, actions: Sequence[str], turn: int | None) -> int | None:
    """Return the number of actions before ``turn``, ``None``: before the last one; ``None`` if there is none."""
    state, start = game.initial_state(), None
    for ply, text in enumerate(actions):
        if state.actions_in_turn == 0 and (turn is None or state.turn_number == turn):
            start = ply
        state = state.child(state.string_to_action(text))
    return start

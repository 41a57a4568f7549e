"""A match while it goes on: keeps the board, the panel and the lines in step with its room.

What can be pressed is left to the screens of playing and of watching.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from textual.css.query import NoMatches
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from tabuleiro.errors import ClientError, CommandError, NotationError, shown
from tabuleiro.protocol.events import Said
from tabuleiro.protocol.messages import Explanation, RoomHead
from tabuleiro.rules import Game
from tabuleiro.rules.view import BoardView, Target
from tabuleiro_client.models.analysis import Explained
from tabuleiro_client.net.room import Change, Happened
from tabuleiro_client.text.explanation import refusal_text
from tabuleiro_client.text.rooms import brief_options_text
from tabuleiro_client.text.sentences import said as said_line
from tabuleiro_client.text.sentences import side_glyphs
from tabuleiro_client.text.terminal import showable
from tabuleiro_client.tui.open_room import OpenRoom
from tabuleiro_client.tui.pacing import FrameLimiter
from tabuleiro_client.tui.present.notes import facts
from tabuleiro_client.tui.present.overlay import Overlay
from tabuleiro_client.tui.present.players import brief_text, player_lines
from tabuleiro_client.tui.screens.board_screen import COMMAND_SIGN, BoardScreen
from tabuleiro_client.tui.screens.room_view import RoomView
from tabuleiro_client.tui.screens.thinking import ExplainScreen
from tabuleiro_client.tui.widgets.bars import TopBar
from tabuleiro_client.tui.widgets.chat import Chat, Entry, EntryKind
from tabuleiro_client.tui.widgets.panel import Moves, Players

TICK_S: Final = 0.1
"""How often clocks are looked at; they are drawn only when they show something else."""


class LiveScreen(BoardScreen, RoomView):
    """The board of ``open_room``."""

    DEFAULT_CSS = """
    LiveScreen #offer, LiveScreen #end, LiveScreen #facts { display: none; height: auto; padding: 0 1; }
    LiveScreen #offer { background: $warning; color: $background; text-style: bold; }
    LiveScreen #end { background: $panel; border-left: ascii $accent; }
    LiveScreen #facts { color: $text-muted; }
    LiveScreen #offer.open, LiveScreen #end.open, LiveScreen #facts.open { display: block; }
    """

    def __init__(self, open_room: OpenRoom) -> None:
        super().__init__(f"room {open_room.room.code}")
        self.open_room = open_room
        self._own_turn: tuple[int, int] | None = None
        self._banners: dict[str, str] = {}
        self._titled: tuple[Game, str] | None = None

    def compose_panel(self) -> Iterable[Widget]:
        yield Players(id="players")
        yield Static("", id="offer", markup=False)
        yield Static("", id="end", markup=False)
        yield Static("", id="facts", classes="aside", markup=False)
        yield Moves(id="moves").add_class("aside")
        yield Chat(id="chat").add_class("aside")

    def on_mount(self) -> None:
        self._frames = FrameLimiter(
            (self.show_board, self.show_words, self.show_moves, self.show_chat), self.context.quiet
        )
        self.run_worker(self._keep_drawn(), name="redrawing", exit_on_error=True)
        self._due_ms: float | None = None
        self.set_interval(TICK_S, self._tick)

    def _tick(self) -> None:
        """Draw clocks, and the next action of a bot when its time has come."""
        self.show_players()
        if not self.model.is_behind:
            self._due_ms = None
            return
        now_ms = time.monotonic() * 1_000
        if self._due_ms is None:
            self._due_ms = now_ms + self.model.pause_ms()
        elif now_ms >= self._due_ms:
            self.model.show_next()
            self._due_ms = now_ms + self.model.pause_ms()
            self.show_all()

    def begin(self) -> None:
        self.part_columns(self.size)
        self.show_all()

    async def _keep_drawn(self) -> None:
        """Draw what happens until this screen is left."""
        # It has then lost some of its widgets already.
        with suppress(NoMatches):
            await self._frames.keep_up()

    def hear(self, change: Change, said: str) -> None:
        """Say below the board what somebody said, where there is no panel for the talk of the room."""
        event = change.step.event.event if isinstance(change, Happened) else None
        if not isinstance(event, Said) or not self.has_class("narrow"):
            return
        if event.account != self.model.mirror.account:
            line = said_line(event.name, event.text, is_player=event.is_player)
            self.model.message = showable(line, self.context.writing)

    def catch_up(self) -> None:
        self._frames.ask()

    @property
    def game_name(self) -> str:
        return self.model.mirror.game.name

    @property
    def is_whole(self) -> bool:
        """True if there is a widget to draw on: a screen that is left loses its first widget first."""
        return self.is_attached and any(isinstance(child, TopBar) for child in self.children)

    def current_view(self) -> BoardView | None:
        return self.model.view if self.is_whole else None

    def make_overlay(self, cursor: Target | None, hover: Target | None) -> Overlay:
        """Return the marks on the position for the cell that the person points at."""
        return self.model.overlay(cursor, hover, shows_legal=self.context.settings.shows_legal)

    def show_all(self) -> None:
        """Draw everything anew, at once."""
        for show in (self.show_board, self.show_words, self.show_moves, self.show_chat):
            show()

    def show_board(self) -> None:
        """Draw the position."""
        model = self.model
        if not self.is_whole:
            return
        self._call_for_attention()
        self.board.can_choose = bool(model.own_seats) and model.mirror.head.phase == "playing"
        self.show_position(model.view, self.make_overlay)

    def show_words(self) -> None:
        """Draw the title, the players, the lines below the board, and the keys that do something now."""
        model = self.model
        if not self.is_whole:
            return
        head, game = model.mirror.head, model.mirror.game
        title = self._title(game, head)
        self.query_one(TopBar).show_title(f"{title}  {head.watchers} watching" if head.watchers else title)
        self.show_players()
        self._show_banner("facts", facts(model.state, model.view, game.sides))
        ending = model.ending_lines()
        self._show_banner("end", "\n".join([*ending, self.next_steps()]) if ending else "")
        self.show_lines()
        self.show_keys()

    def show_moves(self) -> None:
        """Draw the list of turns."""
        model = self.model
        if self.is_whole:
            glyphs = side_glyphs(model.mirror.game, self.context.writing)
            self.query_one(Moves).show(model.turns_shown(), glyphs, model.ply)

    def show_chat(self) -> None:
        """Draw what was said."""
        if self.is_whole:
            self.query_one(Chat).show(self.model.mirror.chat, self.context.writing)

    def show_lines(self) -> None:
        """Write the lines below the board; without room for the panel they hold its end card."""
        model = self.model
        if not self.is_whole:
            return
        is_narrow = self.has_class("narrow")
        ending = model.ending_lines() if model.is_live else []
        notices = () if ending else model.view.notices  # those of the end say it a second time
        turn = "  ".join(part for part in (model.turn_text(), *notices) if part)
        say = model.prompt()
        if is_narrow and ending:
            turn, say = ending[0], "   ".join([*ending[1:], self.next_steps()])
        self.write_line("turn", turn)
        self.write_line("say", model.message or say)
        self.query_one("#say").set_class(bool(model.message), "message")

    def part_columns(self, size: Size) -> None:
        super().part_columns(size)
        self.show_lines()  # the panel with the end card may have gone, or come
        self.show_note()

    def _title(self, game: Game, head: RoomHead) -> str:
        """Return the game with its options, and the room; on this machine codes say nothing to anybody."""
        if self._titled is None or self._titled[0] is not game:
            # Kept, because to say options in few words takes making games of them.
            venue = self.context.session.venue
            is_here = venue is not None and venue.is_local
            is_usual = is_here and game == type(game).from_options({})
            options = "" if is_usual else f" ({brief_options_text(type(game), head.options)})"
            self._titled = (game, f"{game.title}{options}" + ("" if is_here else f"  room {head.room}"))
        return self._titled[1]

    def next_steps(self) -> str:
        """Return the choices after the match, for the end card."""
        return "<- look back   F9 menu   Esc leave"

    def point(self) -> None:
        super().point()
        if self.model.point(self.board.target):
            self.show_all()

    @property
    def can_explain(self) -> bool:
        """True if there is a match to ask a bot about; whether it answers is for the server to say."""
        return self.model.mirror.match is not None and not self.model.is_gone

    def action_explain(self) -> None:
        """Tell what each choice is worth to the bot that plays here, or to the usual one."""
        self.explain(None)

    def explain(self, level: str | None) -> None:
        """Tell what each choice is worth to a level, in the position shown if the match is over."""
        model = self.model
        ply = model.ply if model.mirror.head.phase == "finished" else None
        model.message = "asking a bot what it thinks ..."
        self.ask(self._show_explanation(level, ply), is_quick=False)
        self.show_all()

    async def _show_explanation(self, level: str | None, ply: int | None) -> None:
        game, room, venue = self.model.mirror.game, self.room, self.context.session.venue

        async def explain(wanted: str | None) -> Explanation:
            try:
                return await room.explain(wanted, ply)
            except CommandError as error:
                raise ClientError(refusal_text(error)) from error

        found = await explain(level)
        self.say("")
        levels = () if venue is None else venue.levels(type(game))
        self.app.push_screen(ExplainScreen(game, Explained(found, levels), explain))

    def take_command(self, text: str) -> None:
        """Do what a line that begins with a slash asks for."""
        word, _, rest = text.removeprefix(COMMAND_SIGN).partition(" ")
        if word.lower() == "explain" and self.can_explain:
            self.explain(rest.strip() or None)
        else:
            self.say(f"{shown(text)}: expected /explain, or /explain LEVEL; F9 lists all commands")

    def action_why(self) -> None:
        """Say what is known of the cell that is pointed at."""
        self.model.explain(self.board.target)
        self.show_all()

    def show_players(self) -> None:
        """Draw names and clocks, if they show something else by now."""
        if not self.is_whole:
            return
        model = self.model
        mirror, now_ms = model.mirror, self.room.server_now_ms()
        lines = player_lines(mirror.head, mirror.game, model.own_seats, now_ms, self.context.writing)
        self.query_one(Players).show(lines, is_stone="b" in model.view.piece_names)
        self.write_line("brief", brief_text(lines))
        if self._show_banner("offer", self.banner_text()):
            self.show_note()

    def show_note(self) -> None:
        """Write what waits for an answer, where no panel can say so; else what is known of the cell pointed at."""
        banner = self.banner_text() if self.has_class("narrow") else ""
        self.query_one("#note").set_class(bool(banner), "banner")
        if banner:
            self.write_line("note", banner)
        else:
            super().show_note()

    def banner_text(self) -> str:
        """Return the banner of an offer or a first turn that is waited for; empty if there is neither."""
        return self.model.offer_text() or self.model.first_turn_text(self.room.server_now_ms())

    def _show_banner(self, name: str, text: str) -> bool:
        """Show a banner, or none for an empty text; return whether it is another than before."""
        if self._banners.get(name) == text:
            return False
        self._banners[name] = text
        banner = self.query_one(f"#{name}", Static)
        banner.set_class(bool(text), "open")
        banner.update(text)
        return True

    def _call_for_attention(self) -> None:
        """Call when an own turn begins; by its number, since what comes quickly is drawn together."""
        model = self.model
        match = model.mirror.match
        if match is None or not (model.mirror.is_my_turn and model.own_seats):
            self._own_turn = None
            self.context.rest()
            return
        turn = (match.number, model.mirror.state.turn_number)
        if turn != self._own_turn:
            self._own_turn = turn
            self.context.call_for_attention("your turn - tabuleiro")

    def say(self, text: str) -> None:
        """Say something in the line below the board."""
        self.model.message = text
        self.show_all()

    def look(self, ply: int) -> None:
        """Show the position after ``ply`` actions; the last one is the live one."""
        self.model.look(ply)
        self.model.message = ""
        self.show_all()

    def action_scroll(self, step: int) -> None:
        """Look one action back or on."""
        self.look(self.model.ply + step)

    def action_scroll_turn(self, step: int) -> None:
        """Look one turn back or on."""
        ply, timeline = self.model.ply, self.model.timeline
        self.look(timeline.turn_start(ply) if step < 0 else timeline.next_turn_start(ply))

    def action_scroll_to_start(self) -> None:
        """Look at the start of the match."""
        self.look(0)

    def action_scroll_to_end(self) -> None:
        """Show the present position again."""
        self.look(self.model.timeline.last_ply)

    def action_go_to(self) -> None:
        """Ask where to go."""
        self.query_one(Entry).open_for("turn")

    def on_entry_typed(self, event: Entry.Typed) -> None:
        self.take_line(event.kind, event.text)

    def take_line(self, kind: EntryKind, text: str) -> None:
        """Handle a typed line: chat, or the number of a turn."""
        if kind == "say":
            self.say_to_room(text)
            return
        try:
            self.look(self.model.timeline.ply_of(text))
        except NotationError as error:
            self.say(str(error))
            self.query_one(Entry).refuse("turn", text)

    def action_copy_position(self) -> None:
        """Copy the position shown as text; it is also said, for terminals that do not let us."""
        self.say(self.copied_position(self.model.state))

    def action_copy_code(self) -> None:
        """Copy the code of the room; it is also said, for terminals that do not let us."""
        self.app.copy_to_clipboard(self.room.code)
        self.say(f"the code of this room is {self.room.code} (copied, if your terminal allows it)")

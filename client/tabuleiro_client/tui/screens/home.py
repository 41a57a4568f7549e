"""The first screen: what to play and where, matches to continue, and everything else there is."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tabuleiro.errors import CommandError
from tabuleiro.protocol.codes import ErrorCode
from tabuleiro_client.models.saved_matches import SavedMatch
from tabuleiro_client.text.matches import UNFINISHED
from tabuleiro_client.text.terminal import showable
from tabuleiro_client.tui import keys
from tabuleiro_client.tui.entrance import go_on
from tabuleiro_client.tui.old_matches import ask_about
from tabuleiro_client.tui.places import PLACES, known_servers, open_replays, to_lobby, travel
from tabuleiro_client.tui.present.overlay import NOTHING
from tabuleiro_client.tui.screens.page import PageScreen

if TYPE_CHECKING:
    from tabuleiro_client.models.turns import Turn

HEADINGS_COUNT = 4
SHOWN_MATCHES_COUNT = 6
SHOWN_SERVERS_COUNT = 5
TURNS_INTERVAL_S = 60
HELP_MIN_COLUMNS = 70
PICTURE_MIN_ROWS = 32


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the list. ``go`` leads there, ``None`` for a heading; ``match`` is the one told of, if any."""

    title: str
    help: str = ""
    go: Callable[[], Coroutine[Any, Any, None]] | None = None
    match: SavedMatch | None = None


class HomeScreen(PageScreen):
    """The list of what can be done; what is highlighted is explained beside it."""

    BINDINGS: ClassVar[list[BindingType]] = list(keys.HOME)
    DEFAULT_CSS = """
    HomeScreen OptionList {
        width: 46; height: 1fr; border: none; padding: 1 1 0 1; background: $background;
        scrollbar-size-vertical: 1;
    }
    HomeScreen OptionList:focus { border: none; background-tint: $foreground 0%; }
    HomeScreen OptionList > .option-list--option-disabled { color: $primary; text-style: bold; }
    HomeScreen #about { width: 1fr; padding: 1 2; background: $surface; }
    HomeScreen #name { text-style: bold; color: $accent; margin-bottom: 1; }
    HomeScreen #help { height: auto; }
    HomeScreen #hint { color: $text-muted; margin-top: 1; }
    HomeScreen #picture { margin-top: 2; }
    HomeScreen.short #picture { display: none; }
    HomeScreen.narrow #about { display: none; }
    HomeScreen.narrow OptionList { width: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__("tabuleiro")
        self._entries: list[Entry] = []
        self._shown: object = None
        self._can_ask_about = False
        self._turns: dict[SavedMatch, Turn] = {}

    def compose_body(self) -> Iterable[Widget]:
        with Horizontal():
            yield OptionList(markup=False, id="list")
            with Vertical(id="about"):
                yield Static("", id="name", markup=False)
                yield Static("", id="help", markup=False)
                yield Static("Enter chooses\n? shows the keys\n^p finds any command", id="hint", markup=False)
                yield Vertical(id="picture")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(OptionList).focus()
        self.set_interval(TURNS_INTERVAL_S, self._look_for_turns)

    def on_screen_resume(self) -> None:
        if self.query_one(OptionList).size:
            self._list()
        self._look_for_turns()

    def _look_for_turns(self) -> None:
        """Ask the servers in the background in which matches it is our turn, while this screen is shown."""
        if self.is_current and any(not match.is_local for match in self._open_matches()):
            self.run_worker(self._show_turns(), name="turns", group="turns", exclusive=True)

    async def _show_turns(self) -> None:
        from tabuleiro_client.models.turns import find_turns

        found = await find_turns(self._open_matches(), self.context.identities)
        self._turns = {turn.match: turn for turn in found.waiting}
        self._list()

    def _open_matches(self) -> list[SavedMatch]:
        return [match for match in self.context.saved_matches.all() if not match.is_over]

    def connection_changed(self) -> None:
        # A server may have made us somebody new, or know us no longer.
        if self.is_current and self.query(OptionList) and self.query_one(OptionList).size:
            self._list()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < HELP_MIN_COLUMNS, "narrow")
        is_short = event.size.height < PICTURE_MIN_ROWS
        self.set_class(is_short, "short")
        if not is_short and not self.query("#picture > *"):
            self._make_picture()
        self.call_after_refresh(self._list)

    def _make_picture(self) -> None:
        """Put a board beside the list; what draws it is loaded for windows with room for it only."""
        from tabuleiro_client.tui.sample_positions import sample_view
        from tabuleiro_client.tui.widgets.board import BoardPicture

        picture = BoardPicture()
        self.query_one("#picture").mount(picture)
        self.call_after_refresh(picture.show, sample_view("iris"), lambda cursor, hover: NOTHING)

    def _list(self) -> None:
        """Fill the list with what there is now; the highlight stays on the same entry."""
        found = self.query(OptionList)
        if not found:  # a screen that is being left has lost it already
            return
        options = found.first()
        entries = self._made_entries()
        headings_count = max(HEADINGS_COUNT, sum(entry.go is None for entry in entries))
        has_room = len(entries) + headings_count <= options.size.height
        shown = ([(entry.title, entry.help) for entry in entries], has_room)
        if shown == self._shown:
            return
        self._shown = shown
        place = options.highlighted
        before = self._entries[place].title if place is not None and place < len(self._entries) else ""
        self._entries = entries
        options.clear_options()
        for place, entry in enumerate(self._entries):
            line = self._line(entry)
            is_parted = has_room and place > 0 and entry.go is None
            options.add_option(Option(Text("\n") + line if is_parted else line, disabled=entry.go is None))
        titles = [entry.title for entry in self._entries]
        choosable = [place for place, entry in enumerate(self._entries) if entry.go is not None]
        options.highlighted = titles.index(before) if before in titles else choosable[0]

    def _line(self, entry: Entry) -> Text:
        title = showable(entry.title, self.context.writing)
        return Text(title, no_wrap=True, overflow="crop")

    def _made_entries(self) -> list[Entry]:
        matches = self._open_matches()
        entries = []
        mine = [match for match in matches if match in self._turns][:SHOWN_MATCHES_COUNT]
        others = [match for match in matches if match not in self._turns][: SHOWN_MATCHES_COUNT - len(mine)]
        if mine:
            entries += [Entry("Your turn"), *map(self._match_entry, mine)]
        entries += [Entry("Play on this machine"), *map(self._place, ("bot", "both", "bots"))]
        entries += [Entry("Play online")]
        for url, name in known_servers(self.context)[:SHOWN_SERVERS_COUNT]:
            sentence = f"The rooms of {url} and who is there; you are {name}."
            way = partial(to_lobby, self.app, url, name)
            entries.append(Entry(f"{url.partition('://')[2]} as {name}", sentence, way))
        entries += map(self._place, ("connect", "join"))
        if others:
            entries += [Entry("Continue a match"), *map(self._match_entry, others)]
        if len(matches) > len(mine) + len(others):
            sentence = "Continue one, end it or delete it, in the list of your matches."
            title = f"all {len(matches)} unfinished matches ..."
            entries.append(Entry(title, sentence, partial(open_replays, self.app, UNFINISHED)))
        entries += [
            Entry("Look and learn"),
            *map(self._place, ("tutorial", "rules", "watch", "replays", "settings")),
        ]
        return [*entries, Entry("quit", "Leave the program.", self.app.action_quit)]

    def _place(self, name: str) -> Entry:
        title, sentence, way = PLACES[name]
        return Entry(title, sentence, partial(way, self.app))

    def _match_entry(self, match: SavedMatch) -> Entry:
        turn = self._turns.get(match)
        if turn is not None:
            match = msgspec.structs.replace(match, opponent=turn.opponent, phase="playing")
        who = match.players or f"you ({match.guest}) against {match.against}"
        sentence = (
            f"{match.game}, {match.board}: {who}, room {match.room} on {match.place}. x ends or "
            f"{'deletes' if match.is_local else 'forgets'} it."
        )
        title = match.title
        if turn is not None:
            sentence = f"It is your turn{f', with {turn.left} left' if turn.left else ''}. {sentence}"
            title = f"{title} {turn.left}".rstrip()
        known = match if turn is None else turn.match
        return Entry(title, sentence, partial(self._go_on, known), known)

    async def _go_on(self, match: SavedMatch) -> None:
        self.say(f"looking for room {match.room} ...")
        try:
            await go_on(self.app, match)
        except CommandError as error:
            if error.code != ErrorCode.NO_SUCH_ROOM:
                raise
            await self._put_away(match)
        else:
            self.say("")

    async def _put_away(self, match: SavedMatch) -> None:
        """Take a match whose room is closed off the list; if its server has the record, it is kept for replays."""
        venue = self.context.session.venue
        try:
            assert venue is not None  # it has just answered
            await venue.link.get_record(match.room, None, match.secret)
        except CommandError:
            self.context.saved_matches.forget(match)
            told = f"room {match.room} is gone, and the server keeps no record of it"
        else:
            self.context.saved_matches.keep(msgspec.structs.replace(match, phase="closed"))
            told = f"room {match.room} is closed; what was played there is among the replays (p)"
        self._list()
        self.say(told)

    def _highlighted(self) -> Entry | None:
        place = next((options.highlighted for options in self.query(OptionList)), None)
        return None if place is None else self._entries[place]

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        entry = self._highlighted()
        if entry is not None:
            style = self.context.writing
            self.query_one("#name", Static).update(showable(entry.title, style))
            self.query_one("#help", Static).update(showable(entry.help, style))
            if (entry.match is not None) != self._can_ask_about:
                self._can_ask_about = not self._can_ask_about
                self.refresh_bindings()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        entry = self._highlighted()
        if entry is not None and entry.go is not None:
            self.say("")
            travel(self.app, entry.go())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return True if a key does something now; the footer shows those that do."""
        if action == "back":
            return False
        entry = self._highlighted() if self._entries else None
        return action != "ask_about" or (entry is not None and entry.match is not None)

    def action_open(self, place: str) -> None:
        """Go to a place by its name."""
        self.say("")
        travel(self.app, PLACES[place][2](self.app))

    def action_ask_about(self) -> None:
        """Ask what to do about the highlighted match."""
        entry = self._highlighted()
        if entry is not None and entry.match is not None:
            self.say("")
            travel(self.app, self._ask_about(entry.match))

    async def _ask_about(self, match: SavedMatch) -> None:
        try:
            await ask_about(self.app, match)
        except CommandError as error:
            if error.code != ErrorCode.NO_SUCH_ROOM:
                raise
            await self._put_away(match)
        self._list()

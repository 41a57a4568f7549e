"""The command palette: every place, what the present screen can do, themes and switches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from textual.app import App
from textual.binding import ActiveBinding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.screen import Screen

from tabuleiro_client.tui.context import context_of
from tabuleiro_client.tui.places import PLACES, travel
from tabuleiro_client.tui.themes import THEMES

_KEYS_ONLY = (
    "move(",
    "point(",
    "jump_legal(",
    "cursor_",
    "app.focus",
    "app.help",
    "app.menu",
    "app.quit",
    "back",
    "help",
    "quit",
    "rules",
    "menu",
    "suspend_process",
    "open(",
    "choose",
    "scroll",
    "older",
    "newer",
    "give_up",
    "screen.",
    "command_palette",
)
"""How the actions begin that make no sense as commands, or are in the list anyway."""

_SWITCHES = {
    "is_ascii": "characters: nothing beyond ASCII",
    "shows_legal": "boards: mark what may be chosen",
    "asks_before_sending": "turns: ask before a complete one is sent",
    "lays_forced": "Iris: lay a stone that has one cell left",
    "rings_bell": "bell on your turn",
    "changes_title": "window title on your turn",
}


def commands_of(screen: Screen[Any]) -> list[ActiveBinding]:
    """Return what can be done on ``screen`` now, each once."""
    commands: dict[str, ActiveBinding] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if binding.tooltip and active.enabled and not binding.action.startswith(_KEYS_ONLY):
            commands.setdefault(binding.action, active)  # several keys may do the same
    return list(commands.values())


class PaletteCommands(Provider):
    """Finds commands by their titles."""

    async def discover(self) -> Hits:
        for title, sentence, run in self._commands():
            yield DiscoveryHit(title, run, help=sentence)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, sentence, run in self._commands():
            score = matcher.match(title)
            if score > 0:
                yield Hit(score, matcher.highlight(title), run, help=sentence)

    def _commands(self) -> Iterator[tuple[str, str, Callable[[], Any]]]:
        app, context = self.app, context_of(self.app)
        for node, binding, _, sentence in commands_of(self.screen):
            run = partial(app.run_action, binding.action, node)
            yield f"here: {binding.description}", sentence, run
        for title, sentence, way in PLACES.values():
            yield f"go to: {title}", sentence, partial(_go, app, way)
        for theme in THEMES.values():
            yield f"theme: {theme.title}", "Use these colours.", partial(context.change_settings, theme=theme.name)
        for name, title in _SWITCHES.items():
            is_on = getattr(context.settings, name)
            sentence = "It is on: switch it off." if is_on else "It is off: switch it on."
            yield title, sentence, partial(context.change_settings, **{name: not is_on})
        yield "keys", "Show the keys that work here.", partial(app.run_action, "help")
        yield "quit", "Leave the program; seats in running matches stay yours.", app.action_quit


def _go(app: App[Any], way: Callable[[App[Any]], Any]) -> None:
    travel(app, way(app))

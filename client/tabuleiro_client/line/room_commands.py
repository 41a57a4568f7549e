"""What a person can type in a room beside actions: a table of commands, and the help made from it.

Reading lines, sending what is wished and leaving are left to :mod:`tabuleiro_client.line.match`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

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
        """How it is typed."""
        return f"{self.names[0]} {self.argument}".rstrip()

    def problem(self, rest: str) -> str:
        """What is wrong with ``rest`` after the word; empty if it can be run."""
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
        """The command that ``text`` calls, and what follows its word; ``None`` when it calls none."""
        word, _, rest = text.strip().partition(" ")
        command = self._by_name.get(word.lower())
        return None if command is None else (command, rest.strip())

    def help_lines(self) -> list[str]:
        """Every command with what it does, in columns under the titles of the groups."""
        width = max(len(command.usage) for command in self._commands())
        lines: list[str] = []
        for group in self._groups:
            lines += [group.title] if group.title else []
            indent = _HELP_INDENT if group.title else ""
            lines += [f"{indent}{command.usage:{width}}  {command.help}" for command in group.commands]
        return lines

    def _commands(self) -> Iterable[RoomCommand]:
        return (command for group in self._groups for command in group.commands)

"""The root of the command line: finds the commands, runs one, and turns what goes wrong into an exit status.

Every command is an entry point in the group ``tabuleiro.commands``, so the sides of the program never import
each other and only the module of the command that was typed is loaded. To add a command ``dance``:

1. write a function with typer annotations (``Annotated``, the defaults being plain values, since a command typed
   alone is called without typer) in a module of its own, e.g. ``tabuleiro_client/cli/dance.py``;
   the first line of its docstring is its line in ``tabuleiro --help`` (read from the source, not by importing);
2. add ``dance = "tabuleiro_client.cli.dance:dance"`` to ``[project.entry-points."tabuleiro.commands"]`` in
   pyproject.toml (underscores in a Python name, hyphens in a command name) and install again;
3. raise :class:`~tabuleiro.errors.TabuleiroError` for what the person has to know, ``typer.Exit(status)`` for
   another status; print nothing else for errors.

A ``typer.Typer`` object in place of the function makes a group of commands, listed by its module's docstring,
``tabuleiro dances`` and a colon before it left out.

Exit statuses: 0 done, 1 failed, 2 wrong usage or configuration or a missing extra, 130 stopped by Ctrl-C.
What a command does is left to its module.
"""

from __future__ import annotations

import ast
import gc
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, requires
from importlib.util import find_spec
from inspect import Parameter, isfunction, signature
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from tabuleiro import __version__
from tabuleiro.errors import ConfigError, GameOptionError, TabuleiroError, shown

COMMAND_GROUP = "tabuleiro.commands"
"""The entry point group that holds the commands."""

COMPLETION_VARIABLE = "_TABULEIRO_COMPLETE"
"""The environment variable by which a shell asks what may follow the words typed so far."""

GROUPED_FROM_COUNT = 12
"""With so many options the help of a command has groups."""

_EXTRA = re.compile(r"^([A-Za-z0-9._-]+).*\bextra\s*==\s*['\"]([^'\"]+)['\"]")


def main() -> None:
    """Run the command line of this process and exit with its status."""
    _open_closed_streams()
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    status = exit_status(sys.argv[1:])
    gc.freeze()  # the interpreter would search everything for garbage once more, for a quarter of a second
    sys.exit(status)


def exit_status(arguments: Sequence[str]) -> int:
    """Run one command line (without the program's name) and return the exit status."""
    try:
        status = _run_reporting_errors(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return 1
    except OSError as error:
        # What a command has not put into words itself: an output that takes no more, a path that cannot be one.
        _discard_output()
        place = "" if error.filename is None else f"{shown(str(error.filename))}: "
        return _complain(f"{place}{error.strerror or error}", 1)
    return status


def _open_closed_streams() -> None:
    """Put an empty input and an output that nobody sees in the place of standard streams that are closed."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 (open until the end)


def _run_reporting_errors(arguments: Sequence[str]) -> int:
    try:
        command = command_without_arguments(arguments)
        if command is not None:
            command()
        else:
            typer.main.get_command(make_app(arguments))(list(arguments), prog_name="tabuleiro")
    except typer.Exit as ending:
        return ending.exit_code
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else 0
    except KeyboardInterrupt:
        _discard_output()  # what is left to be written may be what was interrupted
        return 130
    except ModuleNotFoundError as error:
        if _is_completing():
            return 1  # a shell that asks what may follow has no place for a sentence
        extra = extra_that_installs(error.name or "")
        if extra is None:
            raise
        from tabuleiro_client.text.problems import missing_part

        return _complain(missing_part(extra), 2)
    except (ConfigError, GameOptionError) as error:
        return _complain(str(error), 2)
    except TabuleiroError as error:
        return _complain(str(error), 1)
    return 0


def _complain(message: str, status: int) -> int:
    print(f"tabuleiro: {' '.join(message.split())}", file=sys.stderr)
    return status


def _discard_output() -> None:
    """Point standard output nowhere, so that the interpreter's last flush finds no closed pipe."""
    with suppress(OSError, io.UnsupportedOperation):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def command_without_arguments(arguments: Sequence[str]) -> Callable[[], object] | None:
    """Return the function of a command that was typed alone and needs nothing else; ``None`` otherwise.

    There is nothing to read then, and loading what reads options is about an eighth of the work of starting.

    Raises: ModuleNotFoundError as :func:`make_app`.
    """
    if len(arguments) != 1:
        return None
    found = next((entry for entry in entry_points(group=COMMAND_GROUP) if entry.name == arguments[0]), None)
    loaded: object = None if found is None else found.load()
    if not isfunction(loaded):
        return None
    has_defaults = all(
        parameter.default is not Parameter.empty for parameter in signature(loaded).parameters.values()
    )
    return loaded if has_defaults else None


def make_app(arguments: Sequence[str]) -> typer.Typer:
    """Make the application with the command named in ``arguments`` loaded, or with all only listed.

    Raises: ModuleNotFoundError when the command's module needs something that is not installed.
    """
    app = typer.Typer(
        help="Play abstract board games in the terminal, with friends and against bots.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    wanted = next((word for word in _typed_words(arguments) if not word.startswith("-")), None)
    commands = {command.name: command for command in entry_points(group=COMMAND_GROUP)}
    if wanted not in commands:
        for name in sorted(commands):
            line = summary(commands[name])
            app.command(name, help=line, short_help=line)(_listed_only)  # a short help is wrapped, not cut
        return app
    loaded: object = commands[wanted].load()
    if isinstance(loaded, typer.Typer):
        _list_whole_lines(loaded)
        app.add_typer(loaded, name=wanted)
    elif callable(loaded):
        app.command(wanted, cls=_CommandWithGroups)(loaded)
    return app


def _typed_words(arguments: Sequence[str]) -> Sequence[str]:
    """Return the words typed so far when a shell asks what may follow, else the arguments."""
    if not _is_completing():
        return arguments
    return (os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")).split()[1:]


def _is_completing() -> bool:
    return COMPLETION_VARIABLE in os.environ


class _CommandWithGroups(TyperCommand):
    """A command that lists its options in groups in its help, if it has many."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        options = [param for param in self.get_params(ctx) if param.param_type_name == "option"]
        if len(options) < GROUPED_FROM_COUNT:
            super().format_options(ctx, formatter)
            return
        groups: dict[str, list[tuple[str, str]]] = {}
        for option in options:
            record = option.get_help_record(ctx)
            if record is not None:
                groups.setdefault(getattr(option, "rich_help_panel", None) or "Options", []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)


def _list_whole_lines(group: typer.Typer) -> None:
    """Let the list of a group tell the first lines of its commands whole: a line that is only a help is cut."""
    for command in group.registered_commands:
        command.short_help = _first_line(command.callback.__doc__) if command.callback else None


def _first_line(docstring: str | None) -> str:
    return (docstring or "").partition("\n")[0]


def _listed_only() -> None:
    """Stand in for a command that this run only lists."""


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"tabuleiro {__version__}")
        raise typer.Exit


def _root(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Take the options that belong to no command."""


def summary(command: EntryPoint) -> str:
    """Return the first docstring line of a command, read from its source so that nothing is imported.

    Empty when there is no source to read.
    """
    spec = find_spec(command.module)
    if spec is None or spec.origin is None:
        return ""
    try:
        with open(spec.origin, encoding="utf-8") as source:
            module = ast.parse(source.read())
    except (OSError, ValueError, SyntaxError):
        return ""
    documented = next(
        (node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == command.attr), module
    )
    line = _first_line(ast.get_docstring(documented))
    title, colon, told = line.partition("``: ")
    return f"{told[:1].upper()}{told[1:]}" if colon and title.startswith("``") else line


def extra_that_installs(module: str) -> str | None:
    """Return the extra of this distribution that brings the top-level package of ``module``; ``None`` for none."""
    wanted = _normal(module.partition(".")[0])
    try:
        requirements = requires("tabuleiro") or []
    except PackageNotFoundError:
        return None
    for requirement in requirements:
        found = _EXTRA.match(requirement)
        if found is not None and _normal(found[1]) == wanted:
            return found[2]
    return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()

"""Finding the search that analyses positions: the server's side offers it as an entry point, if it is installed.

So the sides of the program do not import each other; what it finds is told by :mod:`tabuleiro.rules.analysis`.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Final, cast

from tabuleiro.errors import ConfigError
from tabuleiro.rules.analysis import Analyser

ANALYSER_GROUP: Final = "tabuleiro.analysers"
"""The entry point group that holds the search, named ``engine``."""


def load_analyser() -> Analyser:
    """The search of this installation. Raises: ConfigError when there is none."""
    for found in entry_points(group=ANALYSER_GROUP, name="engine"):
        try:
            return cast(Analyser, found.load())
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("tabuleiro_server"):
                raise
    raise ConfigError(
        "analyse", "the engine", "the server's side beside the client: pip install 'tabuleiro[bots]'"
    )

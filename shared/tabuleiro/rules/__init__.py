"""The rules of every game; plain values in, plain values out."""

from tabuleiro.rules.base import Game, Outcome, State, Termination
from tabuleiro.rules.perft import perft

__all__ = ["Game", "Outcome", "State", "Termination", "perft"]

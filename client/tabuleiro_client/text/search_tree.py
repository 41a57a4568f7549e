"""Trees of searches as lines and as pictures (SVG): values passed up from the leaves, and the branches cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Final

from tabuleiro.ids import Player
from tabuleiro.rules import Game, State
from tabuleiro.rules.search_tree import SearchTree, TreeNode
from tabuleiro.text import counted


def tree_lines(game: Game, state: State, tree: SearchTree, *, is_ascii: bool = False) -> list[str]:
    """Return a tree as lines, a level of depth being an indent."""
    return [
        *_headlines(game, state, tree),
        "",
        f"{_side(game, tree.root.to_move)} to move: {plain_number(tree.root.value or 0)}",
        *_branches(game, tree.root, "", _ASCII if is_ascii else _LINES),
    ]


def plain_number(value: float) -> str:
    """Return a value without a fraction that it does not need.

    >>> plain_number(12.0), plain_number(-0.25), plain_number(1 / 3)
    ('12', '-0.25', '0.333')
    """
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.3f}".rstrip("0")


def _headlines(game: Game, state: State, tree: SearchTree) -> list[str]:
    at_least = "" if tree.is_all_counted else "more than "
    return [
        f"{game.title}, before turn {state.turn_number}: {game.sides[tree.player]} to move",
        f"position {state.to_position()}",
        f"{tree.engine}, {counted(tree.depth, 'action')} deep; values are for {game.sides[tree.player]}",
        f"{counted(tree.pruned_count, 'position')} looked at with pruning, {at_least}{tree.all_count:,} without",
        "* marks the branch that a value comes from; cut branches cannot change it",
    ]


@dataclass(frozen=True, slots=True)
class _Strokes:
    """The strokes before a branch, the last branch, and below both."""

    branch: str
    last: str
    below: str
    cut: str


_LINES: Final = _Strokes("├─ ", "└─ ", "│  ", "✂")
_ASCII: Final = _Strokes("|- ", "`- ", "|  ", "x")


def _branches(game: Game, node: TreeNode, indent: str, strokes: _Strokes) -> Iterator[str]:
    for place, child in enumerate(node.children):
        is_last = place + 1 == len(node.children) and not node.hidden_count
        yield f"{indent}{strokes.last if is_last else strokes.branch}{_branch_text(game, child, strokes)}"
        yield from _branches(game, child, indent + ("   " if is_last else strokes.below), strokes)
    if node.hidden_count:
        yield f"{indent}{strokes.last}{_hidden_text(node)}"


def _branch_text(game: Game, node: TreeNode, strokes: _Strokes) -> str:
    if node.value is None:
        return f"{node.text} {strokes.cut} cut"
    best, cut = " *" if node.is_best else "", f" {strokes.cut} cut by alpha-beta" if node.is_cut else ""
    mover = f" ({_side(game, node.to_move)} to move)" if node.children else ""
    return f"{node.text}: {_value_text(node)}{mover}{best}{cut}"


def _value_text(node: TreeNode) -> str:
    return "cut" if node.value is None else f"{node.bound} {plain_number(node.value)}".strip()


def _hidden_text(node: TreeNode) -> str:
    """Tell what is not shown below a node."""
    return (
        f"{node.hidden_count} more not shown, {counted(node.hidden_positions_count, 'position')} looked at there"
    )


def _side(game: Game, player: Player | None) -> str:
    return "nobody" if player is None else game.sides[player]


_COLUMN_PX: Final = 220
_LETTER_PX: Final = 8
_ROW_PX: Final = 20
_LEFT_PX: Final = 24
_TOP_PX: Final = 130

_STYLE: Final = """
  text { font: 13px monospace; fill: #222 }
  .head { font-weight: bold }
  line { stroke: #777; stroke-width: 1 }
  .best { stroke: #0a5; stroke-width: 3 }
  .cut { stroke-dasharray: 3 3; stroke: #c33 }
  .cut-text { fill: #c33 }
  .hidden { fill: #777 }
  .most { fill: #cfe8ff; stroke: #247 }
  .least { fill: #ffe2c4; stroke: #742 }
"""


def tree_svg(game: Game, state: State, tree: SearchTree) -> str:
    """Return a tree as a picture: squares take the highest value of their branches, circles the lowest."""
    drawing = _Drawing(game, tree)
    drawing.draw(tree.root, 0)
    heads = _headlines(game, state, tree)[:4]
    heads.append("squares take the highest value, circles the lowest; green: where it comes from; red: cut")
    width = (
        _LEFT_PX
        + _COLUMN_PX * (tree.depth + 1)
        + max(0, _LETTER_PX * max(map(len, heads)) - _COLUMN_PX * tree.depth)
    )
    height = _TOP_PX + _ROW_PX * (drawing.rows_count + 1)
    titles = [_text(_LEFT_PX, 24 + 20 * row, line, "" if row else "head") for row, line in enumerate(heads)]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">',
            f"<title>{escape(heads[0])}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect width="{width}" height="{height}" fill="white"/>',
            *titles,
            *drawing.lines,
            *drawing.nodes,
            "</svg>\n",
        )
    )


class _Drawing:
    """The nodes and lines of a tree from left to right, a row for each leaf."""

    def __init__(self, game: Game, tree: SearchTree) -> None:
        self.rows_count = 0
        self.lines: list[str] = []
        self.nodes: list[str] = []
        self._game = game
        self._player = tree.player

    def draw(self, node: TreeNode, depth: int) -> float:
        """Draw a node and all below; return its height."""
        x = _LEFT_PX + _COLUMN_PX * depth
        heights = [self.draw(child, depth + 1) for child in node.children]
        if node.hidden_count:
            hidden_y = self._next_row()
            self.nodes.append(_text(x + _COLUMN_PX, hidden_y + 4, f"+ {node.hidden_count} more", "hidden"))
            self.nodes[-1] = self.nodes[-1].replace("</text>", f"<title>{_hidden_text(node)}</title></text>")
        y = sum(heights) / len(heights) if heights else self._next_row()
        text = f"{node.text} {_value_text(node)}".strip()
        line_x = x + 14 + _LETTER_PX * len(text)
        for child, height in zip(node.children, heights, strict=True):
            kind = "cut" if child.is_cut else "best" if child.is_best else ""
            self.lines.append(
                f'<line class="{kind}" x1="{line_x}" y1="{y:g}" x2="{x + _COLUMN_PX - 6}" y2="{height:g}"/>'
            )
        shape = "most" if node.to_move == self._player else "least"
        if shape == "most":
            self.nodes.append(f'<rect class="most" x="{x - 6}" y="{y - 6:g}" width="12" height="12"/>')
        else:
            self.nodes.append(f'<circle class="least" cx="{x}" cy="{y:g}" r="6"/>')
        self.nodes.append(_text(x + 10, y + 4, text, "cut-text" if node.is_cut else ""))
        return y

    def _next_row(self) -> float:
        self.rows_count += 1
        return _TOP_PX + _ROW_PX * (self.rows_count - 0.5)


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(text)}</text>'

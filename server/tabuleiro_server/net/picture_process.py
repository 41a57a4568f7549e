"""A process that makes one picture: a position and a size as JSON on standard input, a PNG on standard output.

The drawing is the page's own: QuickJS (dukpy) runs `web/drawing.js`, and resvg makes a picture of what it draws,
with the page's `web/board.css`. Both libraries come with the extra ``pictures``.
"""

from __future__ import annotations

import json
import os
import re
import sys
from importlib.resources import files
from typing import Any, Final
from xml.etree import ElementTree

import dukpy
import resvg_py

_NICENESS: Final = 10

_VARIABLE: Final = re.compile(r"(--[a-z-]+): ([^;]+);")
_USE: Final = re.compile(r"var\((--[a-z-]+)\)")
_EXPORT: Final = re.compile(r"^export ", re.MULTILINE)
_DRAW: Final = """
const drawing = new Drawing(dukpy.layout, dukpy.board);
({ viewBox: drawing.viewBox, trees: [...drawing.ground(), ...drawing.position(dukpy.board)] });
"""


def picture(layout: dict[str, Any], board: dict[str, Any], width_px: int, height_px: int) -> bytes:
    """Return the picture of a position as PNG."""
    folder = files("tabuleiro_server.net") / "web"
    script = _EXPORT.sub("", (folder / "drawing.js").read_text("utf-8"))
    drawn = dukpy.evaljs([script, _DRAW], layout=layout, board=board)
    colours, style = style_of((folder / "board.css").read_text("utf-8"))
    root = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": drawn["viewBox"],
            "width": str(width_px),
            "height": str(height_px),
            "font-family": "sans-serif",
        },
    )
    for tree in drawn["trees"]:
        _append(root, tree)
    svg = ElementTree.tostring(root, encoding="unicode")
    return bytes(resvg_py.svg_to_bytes(svg, style_sheet=style, background=colours["--ground"]))


def style_of(css: str) -> tuple[dict[str, str], str]:
    r"""Return the light colours by name, and the rules for shapes with colours in place of names for resvg.

    >>> style_of(":root { --first: #00f; }\n@media (dark) { }\n.edge { fill: var(--first); }")
    ({'--first': '#00f'}, '.edge { fill: #00f; }')
    """
    light, _, _ = css.partition("@media")
    rules = css[css.index("\n.") :]
    colours = dict(_VARIABLE.findall(light))
    return colours, _USE.sub(lambda found: colours[found.group(1)], rules).strip()


def _append(parent: ElementTree.Element, tree: list[Any]) -> None:
    """Append a tree of `drawing.js`: a tag, its attributes, and its children."""
    tag, attributes, *children = tree
    element = ElementTree.SubElement(parent, tag, {name: str(value) for name, value in attributes.items()})
    for child in children:
        if isinstance(child, list):
            _append(element, child)
        else:
            element.text = str(child)


def main() -> None:
    """Make the picture, behind the server and behind bots that people wait for."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    sys.stdout.buffer.write(picture(**json.load(sys.stdin)))


if __name__ == "__main__":
    main()

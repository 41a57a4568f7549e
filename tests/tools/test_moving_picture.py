"""The moving picture: what stays the same is there once, and is shown exactly while it is there."""

from __future__ import annotations

import io
from xml.etree import ElementTree

from rich.console import Console

from tools.moving_picture import Frame, animated

SVG = "{http://www.w3.org/2000/svg}"


def frame(*lines: str, seconds: float = 1.0) -> Frame:
    paper = io.StringIO()
    console = Console(width=20, record=True, file=paper, color_system="truecolor", force_terminal=True)
    for line in lines:
        console.print(line)
    return Frame(console.export_svg(), seconds)


def shown_at(picture: str, second: float) -> str:
    """The text that is shown then, in the order of the file."""
    root = ElementTree.fromstring(picture)
    found = []
    for group in root.iter(f"{SVG}g"):
        animation = group.find(f"{SVG}animate")
        is_shown = True
        if animation is not None:
            total_s = float(animation.attrib["dur"].removesuffix("s"))
            moments = [float(key) * total_s for key in animation.attrib["keyTimes"].split(";")]
            values = animation.attrib["values"].split(";")
            is_shown = [value for key, value in zip(moments, values, strict=True) if key <= second][-1] == "inline"
        if is_shown:
            found += [text.text or "" for text in group.findall(f"{SVG}text")]
    return " ".join(found).replace("\xa0", " ")


def test_each_frame_is_shown_in_its_time_and_what_stays_is_there_once() -> None:
    picture = animated(
        [frame("[red]title", "one"), frame("[red]title", "two", seconds=2.0), frame("[red]title", "one")], 20, 4
    )
    assert [shown_at(picture, second) for second in (0.5, 1.5, 2.9, 3.5)] == [
        "title one",
        "title two",
        "title two",
        "title one",
    ]
    assert picture.count(">title<") == picture.count(">one<") == 1


def test_what_shows_no_animation_shows_the_first_frame() -> None:
    picture = animated([frame("one"), frame("two")], 20, 4)
    hidden = [group for group in ElementTree.fromstring(picture).iter(f"{SVG}g") if group.get("display") == "none"]
    assert [[text.text for text in group.findall(f"{SVG}text")] for group in hidden] == [["two"]]

"""The lines typed before, gone through with the arrow keys."""

from __future__ import annotations

from tabuleiro_client.tui.line_history import KEPT_COUNT, LineHistory


def history(*lines: str) -> LineHistory:
    made = LineHistory()
    for line in lines:
        made.add(line)
    return made


def test_there_is_nothing_before_the_first_line():
    assert history().older("c3") is None
    assert history().newer() is None


def test_lines_come_last_one_first_and_what_was_not_finished_comes_back():
    lines = history("a1", "b2")
    assert [lines.older("c"), lines.older("b2"), lines.older("a1")] == ["b2", "a1", None]
    assert [lines.newer(), lines.newer(), lines.newer()] == ["b2", "c", None]


def test_the_same_line_twice_in_a_row_is_there_once():
    lines = history("a1", "a1", "b2", "a1")
    assert [lines.older("") for _ in range(4)] == ["a1", "b2", "a1", None]


def test_a_finished_line_and_leaving_go_below_the_last_one():
    lines = history("a1", "b2")
    lines.older("")
    lines.add("c3")
    assert lines.older("") == "c3"
    lines.older("")
    lines.leave()
    assert lines.older("x") == "c3"
    assert lines.newer() == "x"


def test_the_oldest_lines_are_forgotten():
    lines = history(*(str(number) for number in range(KEPT_COUNT + 5)))
    found = []
    while (line := lines.older("")) is not None:
        found.append(line)
    assert (len(found), found[0], found[-1]) == (KEPT_COUNT, str(KEPT_COUNT + 4), "5")

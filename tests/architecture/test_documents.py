"""What the documents say of files, versions and outputs is so."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tabuleiro
from tabuleiro_server.cli.serve import invitation_lines

ROOT = Path(__file__).parents[2]
PAGES = [f"docs/{path.name}" for path in sorted(ROOT.glob("docs/*.md"))]
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "deploy/README.md", *PAGES]
PICTURE_MAX_BYTES = 1_000_000


def text_of(document: str | Path) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def anchors(path: Path) -> set[str]:
    """The anchors that a page gets for its headings."""
    headings = re.findall(r"^#+ (.*)$", text_of(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_somewhere(document: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", text_of(document)):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / document).parent / path if path else ROOT / document
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_every_page_is_linked_from_the_readme() -> None:
    linked = re.findall(r"\]\((docs/\w+\.md)", text_of("README.md"))
    assert set(linked) == set(PAGES)


def test_the_wheel_is_called_what_make_dist_calls_it() -> None:
    for document in DOCUMENTS:
        named = re.findall(r"tabuleiro-([\w.]+?)-py3-none-any\.whl", text_of(document))
        assert set(named) <= {tabuleiro.__version__}, document
    assert re.search(r"^    pipx install \./tabuleiro-.*\.whl$", text_of("README.md"), re.MULTILINE)
    assert re.search(r"^dist:", text_of("Makefile"), re.MULTILINE)


def test_the_first_screen_of_the_readme_has_a_small_moving_picture() -> None:
    found = re.search(r"!\[.*\]\((.*\.svg)\)", text_of("README.md"))
    assert found is not None
    picture = ROOT / found[1]
    assert picture.stat().st_size < PICTURE_MAX_BYTES
    assert text_of(picture).count("<animate ") > 100


def test_the_two_commands_stay_in_the_readme() -> None:
    for command in ("make play", "make test"):
        assert re.search(rf"^    {command}\s", text_of("README.md"), re.MULTILINE), command


def test_the_host_is_told_what_the_page_about_hosting_shows() -> None:
    server: Any = SimpleNamespace(url="ws://127.0.0.1:8765", public_urls=["ws://192.0.2.7:8765"], port=8765)
    shown = [line.removeprefix("    ") for line in text_of("docs/hosting.md").splitlines()]
    told = invitation_lines(server, is_guessed=True, has_page=True)
    start = shown.index(told[0])
    assert shown[start : start + len(told)] == told
    assert shown[start - 2] == f"tabuleiro listens on {server.url}"

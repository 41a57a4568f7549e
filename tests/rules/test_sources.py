"""The rules page: every section of it that the code cites is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CITATION = re.compile(r'RULES\.md,\s+("[^"]+"(?:\s+and\s+"[^"]+")*)')


def sections() -> set[str]:
    """Return the headings of the page, without the registry name in brackets."""
    page = (ROOT / "shared" / "RULES.md").read_text(encoding="utf-8")
    return {re.sub(r" \(`.*`\)$", "", title) for title in re.findall(r"^## (.+)$", page, re.MULTILINE)}


def citations() -> list[tuple[str, str]]:
    """Return the file and the section of every citation in the code."""
    return [
        (str(path.relative_to(ROOT)), re.sub(r"\s+", " ", section))
        for folder in ("shared", "server", "client", "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for cited in CITATION.findall(path.read_text(encoding="utf-8"))
        for section in re.findall(r'"([^"]+)"', cited)
    ]


def test_every_cited_section_of_the_rules_exists() -> None:
    known = sections()
    assert len(citations()) > 30
    assert [each for each in citations() if each[1] not in known] == []


def test_every_source_names_a_section() -> None:
    for folder in ("shared", "server", "client"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert len(re.findall(r"Source: RULES\.md", text)) == len(
                re.findall(r'Source: RULES\.md,\s+"', text)
            ), path

"""`tabuleiro check-vectors`, as typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tabuleiro_client.cli.main import exit_status

VECTORS = Path(__file__).parents[2] / "data" / "vectors"


def test_agreement_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_status(["check-vectors", str(VECTORS / "iris.jsonl")]) == 0
    assert capsys.readouterr() == ("18 games, 1927 plies checked: no difference\n", "")


def test_the_first_difference_is_printed_with_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "changed.jsonl"
    file.write_text(
        (VECTORS / "iris.jsonl").read_text(encoding="utf-8").replace("55,25", "55,26"), encoding="utf-8"
    )
    assert exit_status(["check-vectors", str(file)]) == 1
    assert capsys.readouterr() == (f"{file}: line 1, ply 8: expected legal_counts 26, got 25\n", "")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "there are no games in it"),
        (b"\n{}", "line 2: expected a field 'game', got an object without it"),
        (b"\xff", "line 1, column 1: '\\xff': expected UTF-8 text, or UTF-16 with a byte order mark"),
        (None, "No such file or directory"),
    ],
)
def test_what_cannot_be_checked_is_one_line_and_status_1(
    content: bytes | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "vectors.jsonl"
    if content is not None:
        file.write_bytes(content)
    assert exit_status(["check-vectors", str(file)]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert str(file) in shown.err
    assert shown.err.endswith(f"{message}\n")
    assert shown.err.count("\n") == 1

"""Asking for a file, and writing a record into it. Nothing that is there already is written over."""

from __future__ import annotations

from pathlib import Path

from tabuleiro.notation.formats import RecordFormat, write_record
from tabuleiro.notation.record import MatchRecord
from tabuleiro_client.tui.room_form import Field
from tabuleiro_client.tui.screens.dialog import DialogScreen

_FIELDS = (
    Field("file", "file", "a new one"),
    Field(
        "format",
        "written as",
        "a record can be replayed",
        {RecordFormat.RECORD: "a record", RecordFormat.JSON: "JSON"},
    ),
)


class ExportScreen(DialogScreen[str]):
    """Writes ``record``, whose match is called ``name`` on its server, ``None`` without one; answers the path."""

    def __init__(self, record: MatchRecord, name: str | None) -> None:
        values = {"file": f"{name or record.game}.txt", "format": RecordFormat.RECORD}
        super().__init__("Write this record into a file", _FIELDS, values, {"write": "write"})
        self._record = record
        self._file_name = name

    def answer(self, button: str) -> str | None:
        typed = self.values["file"].strip()
        if not typed:
            self.show_problem("expected the name of a file", "file")
            return None
        try:
            path = Path(typed).expanduser()
            with path.open("x", encoding="utf-8") as file:
                file.write(self._text())
        except FileExistsError:
            self.show_problem("there is such a file already", "file")
        except (OSError, ValueError, RuntimeError) as error:
            # A name may hold what no file name can, or the home of nobody.
            self.show_problem(getattr(error, "strerror", None) or str(error), "file")
        else:
            return str(path)
        return None

    def _text(self) -> str:
        return write_record(self._record, RecordFormat(self.values["format"]), game_id=self._file_name)

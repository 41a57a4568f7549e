"""The box that a form is in: it scrolls, but its keys belong to the fields."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.containers import VerticalScroll


class FormBox(VerticalScroll, can_focus=False, inherit_bindings=False):
    """Scrolls to the field that has the focus, and with the wheel."""

    BINDINGS: ClassVar[list[BindingType]] = []
    DEFAULT_CSS = """
    FormBox { width: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    FormBox .heading { text-style: bold; color: $primary; margin-top: 1; }
    """

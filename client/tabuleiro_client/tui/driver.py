"""The driver of the terminal, made to outlive it: it never waits for one that takes nothing, and sees one go.

The library's own writes through a queue that holds thirty texts: once it is full the next write waits, and with it
the loop that should end the program. What is written, and how, is left to
:mod:`~tabuleiro_client.tui.terminal`.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from contextlib import suppress
from typing import Any, Final

from textual.drivers.linux_driver import LinuxDriver

from tabuleiro_client.text.standard_output import let_go
from tabuleiro_client.tui.terminal import TerminalOutput

MODES_LEFT: Final = "\x1b[?1016l\x1b[?2026l"
"""Takes back what the library sets and leaves: reports of the mouse by pixels, and a picture half drawn."""


class LastingDriver(LinuxDriver):
    """The library's driver with another output. A terminal that is gone ends the program like SIGHUP."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._output: TerminalOutput | None = None
        threading.Thread(target=self._watch_terminal, name="terminal watch", daemon=True).start()

    def write(self, data: str) -> None:
        """Write to the terminal, without waiting for it."""
        assert self._output is not None, "nothing is drawn before the start"
        self._output.write(data)

    def start_application_mode(self) -> None:
        """Take over the terminal."""
        assert sys.__stderr__ is not None
        self._output = TerminalOutput(sys.__stderr__.fileno(), sys.__stderr__.encoding, self._draw_anew)
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def stop_application_mode(self) -> None:
        """Take back every mode; pictures that the terminal has not taken yet would not be seen any more."""
        assert self._output is not None
        self._output.leave_out_pictures()
        super().stop_application_mode()
        self.write(MODES_LEFT)

    def suspend_application_mode(self) -> None:
        """Give the terminal back for a while."""
        self.stop_application_mode()
        self._close_output()

    def close(self) -> None:
        """End the output. A terminal that takes nothing even now is let go, lest a last word wait for it."""
        if not self._close_output():
            let_go(*filter(os.isatty, (1, 2)))

    def run_input_thread(self) -> None:
        """Read what is typed, until told to stop or the terminal is gone."""
        with suppress(OSError):  # the watch tells of it
            super().run_input_thread()

    def _close_output(self) -> bool:
        super().close()
        return self._output is None or self._output.close()

    def _draw_anew(self) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._app.call_later, self._app.refresh)

    def _watch_terminal(self) -> None:
        """Wait for the other side of the terminal to be closed; a system that cannot tell is not asked again.

        The process gets no signal for a terminal that does not control it, and reading one that is gone looks
        like reading nothing, again and again.
        """
        poll = select.poll()
        poll.register(self.fileno, 0)
        if any(event & select.POLLHUP for _, event in poll.poll()):
            os.kill(os.getpid(), signal.SIGHUP)

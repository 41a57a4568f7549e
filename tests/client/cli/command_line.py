"""Running the program's commands: in this process, where nothing has to be imported again, or as a process."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

from structlog.testing import capture_logs

from tabuleiro_client.cli.main import exit_status


async def run(*arguments: str, typed: str = "") -> tuple[int, str, str]:
    """Run a command in a thread of this process; return its status, its output and its errors.

    The event loop goes on meanwhile, and with it a server that the command asks. Signals, closed streams and other
    environments want a process: see :func:`run_program`.
    """
    output, errors, given = io.StringIO(), io.StringIO(), io.TextIOWrapper(io.BytesIO(typed.encode()), "utf-8")

    def run_in_thread() -> int:
        with redirect_stdout(output), redirect_stderr(errors), patch.object(sys, "stdin", given):
            return exit_status(arguments)

    with capture_logs():  # those of the server would be among what is printed
        status = await asyncio.to_thread(run_in_thread)
    return status, output.getvalue(), errors.getvalue()


async def run_program(*arguments: str, typed: str = "", **environment: str) -> tuple[int, str, str]:
    """Run a command as people do, in a process of its own; return its status, its output and its errors."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tabuleiro_client", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
    )
    output, errors = await process.communicate(typed.encode())
    assert process.returncode is not None
    return process.returncode, output.decode(), errors.decode()

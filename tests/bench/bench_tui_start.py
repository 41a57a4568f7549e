"""How long `tabuleiro play` takes from its start until the home screen is drawn, on a terminal of its own.

python -m tests.bench.bench_tui_start
"""

from __future__ import annotations

import os
import pty
import signal
import sys
import tempfile
import time

RUNS = 7
LIMIT_S = 60.0
FIRST_ENTRY = b"against a bot"


def seconds_to_home(folder: str) -> float:
    """Start the program once; return the seconds until the first entry of its home screen is there."""
    started_s = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ |= {"TERM": "xterm-256color", "TABULEIRO_CONFIG_DIR": folder, "TABULEIRO_DATA_DIR": folder}
        os.execv(sys.executable, [sys.executable, "-m", "tabuleiro_client", "play"])
    try:
        drawn = b""
        while FIRST_ENTRY not in drawn and time.perf_counter() - started_s < LIMIT_S:
            drawn += os.read(terminal, 65536)
        return time.perf_counter() - started_s
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        seconds_to_home(folder)  # the first run compiles
        times = sorted(seconds_to_home(folder) for _ in range(RUNS))
    print(f"home screen after {times[0]:.2f} s at best, {times[RUNS // 2]:.2f} s in the middle of {RUNS} runs")


if __name__ == "__main__":
    main()

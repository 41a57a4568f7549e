"""How many files this process may hold open: each connection is one. What they are is not its matter."""

from __future__ import annotations

import sys
from typing import Final

import structlog

OTHER_FILES_COUNT: Final = 64
"""Files beside the connections: the database, its threads, the bots' processes, the log."""

log = structlog.get_logger(__name__)


def allow_open_files(connections_count: int) -> None:
    """Raise this process's soft limit of open files for so many connections, as far as its hard limit goes.

    What is still too little is said in the log: connections beyond it would wait at the door.
    """
    if sys.platform == "win32":
        return
    import resource

    wanted_count = connections_count + OTHER_FILES_COUNT
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted_count:
        return
    allowed_count = wanted_count if hard == resource.RLIM_INFINITY else min(wanted_count, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed_count, hard))
    except (OSError, ValueError):  # some systems have a lower limit than they tell
        allowed_count = soft
    if allowed_count < wanted_count:
        log.warning(
            "too few open files for connections_count",
            allowed_count=allowed_count,
            wanted_count=wanted_count,
            hint="raise the limit (ulimit -n, LimitNOFILE=) or lower connections_count",
        )

"""SQLite: the event log, accounts and the query tables; nothing else imports aiosqlite.

The store knows nothing of what a room is: events and summaries come and go as bytes. What they mean is up to
``room``; who calls when is up to ``runtime``.

``database`` opens the file, ``writer`` turns everything that waits into one transaction, ``event_log`` and
``accounts`` are what the server calls, ``maintenance`` is what the ``tabuleiro db`` commands call, ``salvage``
makes damaged files whole.
"""

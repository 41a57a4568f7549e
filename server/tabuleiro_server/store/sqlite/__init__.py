"""The store in one SQLite file, which one process serves.

``store`` is the port's adapter; ``writer`` turns everything that waits into one transaction; ``queries`` and
``accounts`` hold the SQL, ``schema`` the tables. ``file`` locks the file and watches over it,
``connection`` opens connections to it. ``admin`` and ``repair`` are behind the ``tabuleiro db`` commands.
"""

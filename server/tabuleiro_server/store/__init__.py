"""SQLite: the event log, accounts and rooms; nothing else imports aiosqlite."""

"""Sessions of connected guests: requests, lobby, accounts, and the server's lifecycle."""

"""The commands of the host: serve, db and bots."""

"""What keeps rooms alive: one task a room, their directory, sessions and the life of the server."""

"""Connection to a server: link, entered rooms, lobby, identities, and the client library."""

"""The game server: rooms, storage, bots and the network around them."""

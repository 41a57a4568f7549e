"""The pure room core: what may happen in a room, decided without clock, chance, network or disk."""

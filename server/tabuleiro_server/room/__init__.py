"""The pure room core: decides without clock, chance, network or disk."""

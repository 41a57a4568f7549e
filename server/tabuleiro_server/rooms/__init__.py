"""Rooms in memory and on disk, around the pure room core."""

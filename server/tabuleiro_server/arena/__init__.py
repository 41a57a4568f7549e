"""Engines and built-in levels play each other on this machine: schedule, games, workers, standings, tables."""

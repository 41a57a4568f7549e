"""Bots: their levels, the worker processes that think, and the seats they take."""

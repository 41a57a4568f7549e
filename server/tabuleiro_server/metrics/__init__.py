"""Metrics of the server for its host."""

"""Logs and figures."""

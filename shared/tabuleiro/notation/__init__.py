"""Texts of actions, turns and records: text in, value out, and back."""

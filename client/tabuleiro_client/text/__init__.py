"""Texts for people, shared by the line client, its spoken form and the screens."""

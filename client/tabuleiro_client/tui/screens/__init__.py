"""Screens of the Textual client, one module each."""

"""Screens of the Textual client, one module each; :mod:`tabuleiro_client.tui.registry` lists those with a name."""

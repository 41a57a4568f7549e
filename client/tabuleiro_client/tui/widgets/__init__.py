"""Widgets of the Textual client; what they show is worked out in :mod:`tabuleiro_client.tui.present`."""

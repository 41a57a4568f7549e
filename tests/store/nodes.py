"""Addresses of nodes."""

from __future__ import annotations

from typing import Final

from tabuleiro_server.store.postgres.keeper import NodeAddress

HERE: Final = NodeAddress("here", "ws://here.example.org")
"""Of two nodes at one address each may take the other one's rooms."""

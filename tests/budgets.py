"""Settings of a server that lets one address do as much as it likes: all the guests of a load come from here."""

from __future__ import annotations

from typing import Final

from tabuleiro_server.config import Config

NO_BUDGETS: Final = {
    key: 1_000_000_000
    for key in Config.__struct_fields__
    if key.startswith(("account_", "address_", "new_guests_")) and key.endswith("_count")
}

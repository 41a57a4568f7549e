"""Who may talk in a room, as far as its host can know: nobody tells of those who were muted before we came."""

from __future__ import annotations

from tabuleiro_client.net.mirror import Mirror


class TalkRights:
    """Who was muted since this guest came into the room."""

    def __init__(self) -> None:
        self._muted: frozenset[str] = frozenset()

    def note(self, name: str, *, is_muted: bool) -> None:
        """Take in that somebody is muted now, or may talk again."""
        self._muted = self._muted | {name} if is_muted else self._muted - {name}

    def people(self, mirror: Mirror) -> dict[str, bool]:
        """Whom the host could mute, by name: the players, then who talked last; whether each is muted."""
        seats = (seat.holder for seat in mirror.head.seats)
        known = [(seat.account, seat.name) for seat in seats if seat.kind == "person"]
        known += [(line.account, line.name) for line in reversed(mirror.chat)]
        names = [name for account, name in known if name is not None and account != mirror.account]
        return {name: name in self._muted for name in (*names, *sorted(self._muted))}

"""Two people who play in turn, and what was acknowledged to them."""

from __future__ import annotations

import asyncio

from tabuleiro_client.net.room import EnteredRoom


class Players:
    """Two people in a room, and what the server has acknowledged to them."""

    def __init__(self, *rooms: EnteredRoom) -> None:
        self.rooms = rooms
        self.acknowledged: list[str] = []

    async def play(self, count: int) -> None:
        """Play a number of actions, and wait until both have them. Raises: CommandError when one is refused."""
        for _ in range(count):
            ply = len(self.acknowledged)
            while not any(room.mirror.is_my_turn and len(room.mirror.actions) == ply for room in self.rooms):
                await self._wait_for_one()
            mover = next(room for room in self.rooms if room.mirror.is_my_turn)
            state = mover.mirror.state
            action = state.action_to_string(state.legal_actions()[ply % 2])
            await mover.play([action])
            self.acknowledged.append(action)
            for room in self.rooms:
                while len(room.mirror.actions) <= ply:
                    await room.next_change()

    async def _wait_for_one(self) -> None:
        waits = [asyncio.ensure_future(room.next_change()) for room in self.rooms]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)

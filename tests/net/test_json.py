"""The JSON subprotocol says the same as msgpack, in the same room."""

from __future__ import annotations

from tabuleiro.protocol.events import MatchEnded
from tabuleiro.protocol.messages import Snapshot, WatchRoom
from tabuleiro.protocol.version import SUBPROTOCOL_JSON, SUBPROTOCOL_MSGPACK
from tabuleiro_server.wiring import RunningServer
from tests.net.wire_client import MatchOnTheWire, wire


async def test_a_json_and_a_msgpack_client_play_a_match_and_see_the_same(server: RunningServer) -> None:
    async with (
        wire(server.url, SUBPROTOCOL_MSGPACK) as ana,
        wire(server.url, SUBPROTOCOL_JSON) as rui,
        wire(server.url, SUBPROTOCOL_JSON) as eva,
    ):
        await ana.hello("ana")
        await rui.hello("rui")
        await eva.hello("eva")
        match = await MatchOnTheWire.begin(ana, rui)
        watched = await eva.do(WatchRoom, room=match.room)
        await match.play_out()
        ends = [await client.next_event(MatchEnded) for client in (ana, rui, eva)]
        assert ends[0] == ends[1] == ends[2]
        assert match.state.outcome is not None
        assert (ends[0].winner, ends[0].termination) == (
            match.state.outcome.winner,
            match.state.outcome.termination,
        )
        snapshots = [(await client.do(WatchRoom, room=match.room)).snapshot for client in (ana, rui, eva)]
        assert isinstance(snapshots[0], Snapshot)
        assert len(snapshots[0].actions) == match.ply
        assert snapshots[0] == snapshots[1] == snapshots[2]
        assert watched.seat is None

"""A room on several nodes: small servers that share one room and say where it is, over real sockets."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import msgspec
import pytest
from websockets.asyncio.server import serve
from websockets.typing import Subprotocol

from tabuleiro.errors import CommandError, ConnectionLostError, UnknownOutcomeError
from tabuleiro.ids import RoomCode
from tabuleiro.protocol.messages import (
    Announcement,
    CreateRoom,
    Error,
    Hello,
    JoinRoom,
    Offer,
    Ok,
    Play,
    QuickPlay,
    RoomGone,
    Say,
    Update,
    WatchRoom,
)
from tabuleiro.protocol.version import SUBPROTOCOL_MSGPACK
from tabuleiro_client.net.library import connect
from tabuleiro_client.net.link import Backoff, Link, LinkSettings, LinkState
from tabuleiro_client.net.room import Gone, Happened, Lost, Restored, Said, enter
from tabuleiro_client.net.subscription import LinkRestored
from tests.client.conftest import FaultyServer

SETTINGS = LinkSettings(backoff=Backoff(first_s=0, limit_s=0))
CODE = RoomCode("K7MQ4")
WATCH = WatchRoom(id=0, room=CODE)


class Received(list):
    """The messages of clients, and a way to wait for them."""

    def __init__(self):
        super().__init__()
        self._grown = asyncio.Event()

    def append(self, message):
        super().append(message)
        self._grown.set()

    async def reaches(self, kind, count):
        """Wait for so many messages of a kind."""
        while sum(isinstance(message, kind) for message in self) < count:
            self._grown.clear()
            await self._grown.wait()


class Node(FaultyServer):
    """A node of a cluster; ``stop`` cuts its connections and lets nobody in."""

    def __init__(self, cluster):
        super().__init__()
        self.received = Received()
        self.room = cluster.room
        self.url_told = ""
        self.is_up = True
        self.on_message = lambda message, connection: cluster.answer(self, message)

    async def serve_one(self, connection):
        if self.is_up:
            await super().serve_one(connection)
        else:
            connection.transport.abort()

    async def stop(self):
        self.is_up = False
        await self.cut()

    def sent(self, kind):
        return [message for message in self.received if isinstance(message, kind)]


class Cluster:
    """Nodes over one room, which is at ``owner``.

    ``followed_by`` shows it to watchers, ``None``: the owner does. ``own_answer`` may answer in place of all this.
    """

    def __init__(self, room):
        self.room = room
        self.nodes = []
        self.owner = None
        self.followed_by = None
        self.own_answer = lambda node, message: None

    def elsewhere(self, message, node, *, follow=False):
        url = node.url_told
        return Error(message.id, "elsewhere", f"room {CODE} is at {url} now", url, CODE, follow)

    def answer(self, node, message):
        own = self.own_answer(node, message)
        if own is not None:
            return own
        if isinstance(message, Hello):
            welcome = node.usual_reply(message)
            others = [each.url_told for each in self.nodes if each is not node]
            told = msgspec.structs.replace(welcome.result, node_urls=(node.url_told, *others))
            return msgspec.structs.replace(welcome, result=told)
        if isinstance(message, QuickPlay) or (hasattr(message, "room") and node is not self.owner):
            is_follower = node is self.followed_by and isinstance(message, WatchRoom) and message.follow
            return None if is_follower else self.elsewhere(message, self.owner)
        if isinstance(message, WatchRoom) and self.followed_by is not None:
            return self.elsewhere(message, self.followed_by, follow=True)
        if isinstance(message, JoinRoom):
            return Ok(message.id, node.room.entered())
        return None

    async def move(self, node, *, is_told=True):
        """Move the room to ``node``; without ``is_told`` nobody learns where it is."""
        before, self.owner = self.owner, node
        await before.tell(RoomGone(CODE, "the room moves", node.url_told if is_told else None))


@pytest.fixture
async def cluster(one_room):
    """Three nodes, a, b and c; the room is at b."""
    cluster = Cluster(one_room())
    async with AsyncExitStack() as stack:
        for _ in range(3):
            node = Node(cluster)
            subprotocols = [Subprotocol(SUBPROTOCOL_MSGPACK)]
            listening = await stack.enter_async_context(
                serve(node.serve_one, "127.0.0.1", 0, subprotocols=subprotocols)
            )
            port = next(iter(listening.sockets)).getsockname()[1]
            node.url = node.url_told = f"ws://127.0.0.1:{port}"
            cluster.nodes.append(node)
        cluster.owner = cluster.nodes[1]
        yield cluster


@pytest.fixture
def nodes(cluster):
    return cluster.nodes


@pytest.fixture
async def link(nodes):
    async with Link(nodes[0].url, token="token-of-ana", settings=SETTINGS) as link:
        yield link


async def changes_until(room, kind):
    changes = []
    while not changes or not isinstance(changes[-1], kind):
        changes.append(await anext(room))
    return changes


async def test_entering_a_room_of_another_node_leads_there_as_the_same_guest(cluster, nodes, link):
    a, b, _ = nodes
    async with await enter(link, WATCH) as room:
        await room.play(["b3", "c2"])
        assert cluster.room.actions == room.mirror.actions == ["b3", "c2"]
    assert [hello.token for hello in b.sent(Hello)] == ["token-of-ana"]
    assert (len(a.sent(Play)), len(b.sent(Play))) == (0, 1)


@pytest.mark.parametrize("request_", [JoinRoom(id=0, room=CODE), QuickPlay(id=0, game="virus-wars")], ids=repr)
async def test_sitting_down_is_asked_of_the_node_that_has_the_room(nodes, link, request_):
    async with await enter(link, request_) as room:
        assert room.code == CODE
    assert [message.room for message in nodes[1].sent(JoinRoom)] == [CODE]


async def test_quick_play_is_asked_for_again_when_the_seat_was_taken_meanwhile(cluster, nodes, link):
    a, b, c = nodes

    def is_taken(node, message):
        if node is b and isinstance(message, JoinRoom):
            cluster.owner = c
            return Error(message.id, "seat-taken", "no seat is open")
        return None

    cluster.own_answer = is_taken
    async with await enter(link, QuickPlay(id=0, game="virus-wars")):
        pass
    assert (len(a.sent(QuickPlay)), len(b.sent(JoinRoom)), len(c.sent(JoinRoom))) == (2, 1, 1)


@pytest.mark.parametrize("make", [CreateRoom, QuickPlay])
async def test_a_room_is_made_once_by_the_node_that_one_which_ends_names(cluster, nodes, link, make):
    b = nodes[1]

    def ends(node, message):
        if not isinstance(message, CreateRoom | QuickPlay):
            return None
        if node is b:
            return Ok(message.id, node.room.entered())
        return Error(message.id, "elsewhere", "this node ends", b.url_told)

    cluster.own_answer = ends
    async with await enter(link, make(id=0, game="virus-wars")) as room:
        await room.play(["b3"])
    b.cut_before_reply_to = make
    with pytest.raises(ConnectionLostError, match="the connection broke"):
        await enter(link, make(id=0, game="virus-wars"))
    assert len(b.sent(make)) == 2


async def test_two_rooms_of_one_node_share_one_connection_to_it(nodes, link):
    first, second = await asyncio.gather(enter(link, WATCH), enter(link, WATCH))
    async with first, second:
        assert len(nodes[1].connections) == 1
    await link.close()
    assert nodes[1].connections == []


async def test_a_room_of_the_node_that_is_connected_already_takes_no_other_connection(cluster, nodes):
    """Its address for clients is another one than that by which it was found, as behind one name for all."""
    a, b, _ = nodes
    a.url_told = f"{a.url}/node/a"
    async with Link(a.url, token="token-of-ana", settings=SETTINGS) as home, await enter(home, WATCH) as room:
        await cluster.move(a)
        await room.play(["b3"])
    assert (len(a.sent(Hello)), len(b.sent(Hello))) == (1, 1)


async def test_a_node_is_reached_by_the_path_that_it_has_behind_one_name(nodes, link):
    nodes[1].url_told = f"{nodes[1].url}/node/b"
    async with await enter(link, WATCH):
        assert [connection.request.path for connection in nodes[1].connections] == ["/node/b"]


async def test_a_room_that_is_nowhere_at_last_says_where_it_was_sought(cluster, nodes, link, monkeypatch):
    """Symptom: two nodes that send a client to each other kept it going for ever."""
    monkeypatch.setattr("tabuleiro_client.net.entering.ATTEMPTS", Backoff(first_s=0, attempt_count=1))
    b, c = nodes[1:]

    def sends_on(node, message):
        return cluster.elsewhere(message, c if node is b else b) if isinstance(message, WatchRoom) else None

    cluster.own_answer = sends_on
    with pytest.raises(ConnectionLostError, match=f"the room is not at {c.url} either: we were sent on 4 times"):
        await enter(link, WATCH)
    assert link.state is LinkState.CONNECTED


async def test_a_refusal_of_the_node_that_has_the_room_is_the_answer(cluster, nodes, link):
    def refuse(node, message):
        is_there = node is nodes[1] and isinstance(message, JoinRoom)
        return Error(message.id, "seat-taken", "no seat is open") if is_there else None

    cluster.own_answer = refuse
    with pytest.raises(CommandError, match="no seat is open"):
        await enter(link, JoinRoom(id=0, room=CODE))


@pytest.mark.parametrize("address", ["http://", "ftp://b", "ws://user@b.example.org", "ws://b example"])
async def test_an_address_of_a_node_that_is_none_is_not_tried(cluster, link, monkeypatch, address):
    monkeypatch.setattr("tabuleiro_client.net.entering.ATTEMPTS", Backoff(first_s=0, attempt_count=1))
    cluster.owner.url_told = address
    with pytest.raises(ConnectionLostError, match="which is no address"):
        await enter(link, WATCH)


async def test_a_token_that_was_sent_over_tls_is_not_sent_without_it():
    link = Link("wss://play.example.org", token="secret")
    with pytest.raises(ConnectionLostError, match="an address without TLS"):
        await link.to_node("ws://play.example.org/node/b")


# Rooms that move


async def test_a_room_that_moves_goes_on_at_its_new_node_without_a_word(cluster, nodes, link):
    _, b, c = nodes
    async with await enter(link, WATCH) as room:
        await room.play(["b3", "c2"])
        cluster.room.play(2, "c1")
        await cluster.move(c)
        changes = await changes_until(room, Happened)
        assert [type(change) for change in changes] == [Happened]
        changes = await changes_until(room, Happened)
        assert [type(change) for change in changes] == [Happened]
        await c.opponent_plays("d2")
        await changes_until(room, Happened)
        assert room.mirror.state == cluster.room.state
    assert [message.since for message in b.sent(WatchRoom)] == [None]
    assert [message.since for message in c.sent(WatchRoom)] == [2]


async def test_a_move_that_comes_too_late_for_the_old_node_is_made_once_at_the_new_one(cluster, nodes, link):
    _, b, c = nodes
    async with await enter(link, WATCH) as room:
        cluster.owner = c  # b has not told it yet
        await room.play(["b3", "c2"])
        assert cluster.room.actions == ["b3", "c2"]
        await b.tell(RoomGone(CODE, "the room moves", c.url_told))
        await c.opponent_plays("c1")
        changes = await changes_until(room, Happened)
        assert [type(change) for change in changes] == [Happened]
        await changes_until(room, Happened)
    assert (len(b.sent(Play)), len(c.sent(Play))) == (1, 1)


async def test_a_move_in_flight_when_its_node_dies_is_sent_to_the_next_one_and_made_once(cluster, nodes, link):
    _, b, c = nodes

    async def take_over():
        await room.next_change()  # that the connection is lost
        cluster.owner = c

    async with await enter(link, WATCH) as room:
        b.cut_before_reply_to = Play
        b.lets_in.clear()
        taking_over = asyncio.create_task(take_over())
        playing = asyncio.create_task(room.play(["b3", "c2"]))
        await taking_over
        b.lets_in.set()
        await playing
        assert cluster.room.actions == ["b3", "c2"]
        assert len(b.sent(Play)) + len(c.sent(Play)) == 2


@pytest.mark.parametrize("is_told", [True, False], ids=["with address", "without address"])
async def test_other_requests_wait_for_the_end_of_a_move_and_are_done_once(cluster, nodes, link, is_told):
    _, b, c = nodes
    async with await enter(link, WATCH) as room:
        c.lets_in.clear()
        await cluster.move(c, is_told=is_told)
        saying = asyncio.create_task(room.say("hello"))
        await c.received.reaches(Hello, 1)
        c.lets_in.set()
        await saying
        await room.offer("draw")
    assert (len(c.sent(Say)), len(c.sent(Offer))) == (1, 1)
    assert len(b.sent(Say)) <= 1  # which was refused


async def test_a_broken_node_leads_back_by_the_first_one(cluster, nodes, link):
    a, b, c = nodes
    async with await enter(link, WATCH) as room:
        await room.play(["b3"])
        await b.stop()
        cluster.owner = c
        changes = await changes_until(room, Restored)
        assert [type(change) for change in changes] == [Happened, Lost, Restored]
        await room.play(["c2"])
        assert cluster.room.actions == ["b3", "c2"]
    assert [message.since for message in a.sent(WatchRoom)] == [None, 2]
    assert [message.since for message in c.sent(WatchRoom)] == [2]


async def test_a_room_of_a_dead_node_is_asked_for_until_somebody_has_taken_it_over(cluster, nodes, link):
    a, b, c = nodes
    async with await enter(link, WATCH) as room:
        await b.stop()
        assert isinstance(await anext(room), Lost)
        await a.received.reaches(WatchRoom, 4)  # each of which is sent on to b
        cluster.owner = c
        assert isinstance(await anext(room), Restored)
        await room.play(["b3"])
    assert cluster.room.actions == ["b3"]


async def test_a_room_whose_new_node_cannot_be_reached_comes_back_by_the_first_one(cluster, nodes, link):
    _, b, c = nodes
    async with await enter(link, WATCH) as room:
        await c.stop()
        await b.tell(RoomGone(CODE, "the room moves", c.url_told))
        changes = await changes_until(room, Restored)
        assert [type(change) for change in changes] == [Lost, Restored]
        await room.play(["b3"])
    assert len(b.sent(WatchRoom)) == 2


async def test_a_room_at_a_node_goes_on_while_the_first_connection_is_broken(cluster, nodes, link):
    a, b, _ = nodes
    a.lets_in.clear()
    async with await enter(link, WATCH) as room:
        await a.cut()
        await a.received.reaches(Hello, 2)
        await room.play(["b3"])
        await b.opponent_plays("c2")
        changes = [await anext(room) for _ in range(2)]
        assert [type(change) for change in changes] == [Happened, Happened]
        a.lets_in.set()


async def test_with_every_connection_broken_a_room_comes_back_by_whichever_node_answers(cluster, nodes, link):
    """The first address is that of a node which never comes back."""
    a, b, c = nodes
    async with await enter(link, WATCH) as room:
        await a.stop()
        await b.stop()
        cluster.owner = c
        await changes_until(room, Restored)
        await room.play(["b3"])
        assert cluster.room.actions == ["b3"]


async def test_a_link_comes_back_by_a_node_that_it_has_heard_of_at_another_one(cluster, nodes):
    """When it connected, there was one node."""
    a, b, c = nodes
    cluster.nodes = [a]
    async with Link(a.url, token="token-of-ana", settings=SETTINGS) as link:
        cluster.nodes = nodes
        async with await enter(link, WATCH) as room:
            cluster.owner = c
            await a.stop()
            await b.stop()
            await changes_until(room, Restored)
        assert [hello.token for hello in c.sent(Hello)] == ["token-of-ana"]


async def test_a_room_moves_to_the_first_node_and_stays_when_that_breaks_and_comes_back(cluster, nodes, link):
    a, b, _ = nodes
    async with await enter(link, WATCH) as room:
        await cluster.move(a)
        await room.play(["b3"])
        assert len(a.connections) == 1
        await a.cut()
        await changes_until(room, Restored)
        await room.play(["c2"])
        assert cluster.room.actions == ["b3", "c2"]
    assert [message.actions for message in a.sent(Play)] == [("b3",), ("c2",)]
    assert len(b.sent(Play)) <= 1  # which was refused


async def test_who_has_come_back_by_another_node_is_led_to_the_first_one_all_the_same(cluster, nodes, link):
    a, _, _ = nodes
    async with await enter(link, WATCH) as room:
        told = link.subscribe()
        await a.stop()
        while not isinstance(await anext(told), LinkRestored):
            pass
        a.is_up = True
        await cluster.move(a)
        await room.play(["b3"])
        assert cluster.room.actions == ["b3"]
    assert [message.actions for message in a.sent(Play)] == [("b3",)]


async def test_a_room_that_was_closed_is_not_sought(cluster, nodes, link):
    async with await enter(link, WATCH) as room:
        head = msgspec.structs.replace(cluster.room.head(), phase="closed")
        await nodes[1].tell(Update(head))
        await nodes[1].tell(RoomGone(CODE, "the room is closed"))
        changes = await changes_until(room, Gone)
        assert changes[-1] == Gone("the room is closed")
    assert len(nodes[0].sent(WatchRoom)) == 1


async def test_a_room_that_no_node_knows_any_more_is_gone(cluster, nodes, link):
    def forget(node, message):
        return Error(message.id, "no-such-room", "no room K7MQ4") if isinstance(message, WatchRoom) else None

    async with await enter(link, WATCH) as room:
        cluster.own_answer = forget
        await nodes[1].tell(RoomGone(CODE, "its last player left"))
        assert [change async for change in room] == [Gone("its last player left")]


async def test_words_of_the_node_that_has_the_room_are_changes(nodes, link):
    async with await enter(link, WATCH) as room:
        await nodes[1].tell(Announcement("restart at noon"))
        assert await anext(room) == Said("restart at noon")


async def test_a_request_whose_answer_is_lost_with_its_node_is_not_sent_to_another(cluster, nodes, link):
    _, b, c = nodes
    async with await enter(link, WATCH) as room:
        b.cut_before_reply_to = Offer
        with pytest.raises(UnknownOutcomeError):
            await room.offer("draw")
        cluster.owner = c
        await changes_until(room, Restored)
    assert len(c.sent(Offer)) == 0


# Watching on another node than the owner


async def test_a_room_with_many_watchers_is_watched_on_the_node_that_its_owner_names(cluster, nodes, link):
    _, b, c = nodes
    cluster.followed_by = c
    async with await enter(link, WATCH) as room:
        assert [message.follow for message in c.sent(WatchRoom)] == [True]
        await c.opponent_plays("b3")
        await changes_until(room, Happened)
        await c.tell(c.with_other_digest(Update(cluster.room.head())))
        await anext(room)
    assert [message.follow for message in b.sent(WatchRoom)] == [False]


async def test_what_a_watcher_asks_beyond_watching_is_asked_of_the_owner(cluster, nodes, link):
    _, b, c = nodes
    cluster.followed_by = c
    async with await enter(link, WATCH) as room:
        cluster.followed_by = None
        await room.say("what a move")
    assert (len(b.sent(Say)), len(c.sent(Say))) == (1, 1)


async def test_a_watcher_whom_the_owner_sends_back_learns_why_nothing_else_is_possible(cluster, nodes, link):
    """Symptom: going there and back three times, and then a message for clients that cannot go anywhere."""
    _, b, c = nodes
    cluster.followed_by = c
    async with await enter(link, WATCH) as room:
        with pytest.raises(CommandError, match="so many watchers that nothing but watching is possible"):
            await room.say("what a move")
        await c.opponent_plays("b3")
        await changes_until(room, Happened)
    assert (len(b.sent(Say)), len(c.sent(Say))) == (0, 1)


# What stands on the library


async def test_a_program_with_the_library_follows_a_room_without_doing_anything_for_it(cluster, nodes):
    async with (
        connect(nodes[0].url, name="ana", settings=SETTINGS) as client,
        client.join(CODE) as room,
    ):
        await room.play(["b3", "c2"])
        await cluster.move(nodes[2])
        await nodes[2].opponent_plays("c1", "d2")
        async for state in room.turns():
            assert state == cluster.room.state
            break


async def test_nothing_is_left_behind_when_the_link_is_closed(nodes):
    before = asyncio.all_tasks()
    async with Link(nodes[0].url, name="ana", settings=SETTINGS) as link, await enter(link, WATCH):
        pass
    with pytest.raises(ConnectionLostError, match="the link was closed"):
        await link.to_node(nodes[2].url)
    assert {task for task in asyncio.all_tasks() - before if "link" in task.get_name()} == set()

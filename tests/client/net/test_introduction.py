from __future__ import annotations

import pytest

from tabuleiro.errors import ClientError, CommandError, ConnectionLostError
from tabuleiro.protocol.messages import Error, Hello
from tabuleiro_client.net.identity import Identity, IdentityFolder, introduced_link
from tabuleiro_server.config import Config
from tabuleiro_server.wiring import running_server


@pytest.fixture
def identities(tmp_path):
    return IdentityFolder(tmp_path)


def introduce(server, identities, name=None, ask_name=None):
    return introduced_link(server.url, server="s", identities=identities, name=name, ask_name=ask_name)


def hellos(server):
    return [(message.name, message.token) for message in server.received if isinstance(message, Hello)]


def asking(*answers):
    left = list(answers)

    async def ask(why: str) -> str:
        reasons.append(why)
        return left.pop(0)

    reasons: list[str] = []
    ask.reasons = reasons
    return ask


async def test_a_new_guest_is_kept_and_recognised_the_next_time(server, identities):
    async with introduce(server, identities, "ana") as link:
        assert link.welcome.name == "ana"
    async with introduce(server, identities):
        assert hellos(server) == [("ana", None), (None, "token-1")]


async def test_two_names_on_one_machine_are_two_guests(server, identities):
    async with introduce(server, identities, "ana"), introduce(server, identities, "rui"):
        pass
    async with introduce(server, identities, "ana"):
        assert hellos(server)[-1] == (None, "token-1")


async def test_without_anybody_to_ask_a_name_is_made_up(server, identities):
    async with introduce(server, identities) as link:
        assert link.welcome.name.startswith("guest-")


async def test_a_person_is_asked_again_when_the_name_is_taken(server, identities):
    def refuse_ana(message, connection):
        return Error(message.id, "name-taken", "ana is taken") if message.name == "ana" else None

    server.on_message = refuse_ana
    ask = asking("ana", "eva")
    async with introduce(server, identities, ask_name=ask) as link:
        assert link.welcome.name == "eva"
    assert ask.reasons == ["", "ana is taken"]


async def test_a_name_of_the_command_line_that_is_taken_is_a_clear_error(server, identities):
    server.on_message = lambda message, connection: Error(message.id, "name-taken", "ana is taken")
    with pytest.raises(ClientError, match=r"^ws.*: ana is taken with --name\. If it is yours on another"):
        async with introduce(server, identities, "ana"):
            pass


async def test_nobody_is_asked_for_a_name_for_a_server_that_is_not_there(identities):
    ask = asking("ana")
    with pytest.raises(ConnectionLostError, match="no server listens there"):
        async with introduced_link("ws://127.0.0.1:9", server="s", identities=identities, name=None, ask_name=ask):
            pass
    assert ask.reasons == []


async def test_a_name_that_is_none_is_refused_before_anything_is_sent(server, identities):
    with pytest.raises(ClientError, match="2 to 20 letters"):
        async with introduce(server, identities, "a b"):
            pass
    assert server.connections == []


def refusing(*tokens):
    return lambda message, connection: (
        Error(message.id, "bad-token", "who?") if getattr(message, "token", None) in tokens else None
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("easy-bot", "kept for server and bots"),
        ("expert-2", "kept for server and bots"),
        ("p\N{CYRILLIC SMALL LETTER A}vel", "letters of one script"),
        ("ѕсоре", "looks like one that is taken, choose another with --name"),
    ],
)
async def test_a_new_name_that_could_be_taken_for_another_is_refused_with_the_reason(
    identities, tmp_path, name, reason
):
    async with running_server(Config(db=str(tmp_path / "names.db"), port=0)) as real:
        async with introduce(real, identities, "scope"):
            pass
        with pytest.raises(ClientError, match=reason):
            async with introduce(real, identities, name):
                pass


async def test_a_server_that_forgot_the_guest_makes_a_new_one_and_the_old_token_is_kept(server, identities):
    identities.save(Identity("s", "ana", "old"))
    server.on_message = refusing("old")
    async with introduce(server, identities) as link:
        assert link.welcome.name == "ana"
    assert identities.find("s", "ana") == Identity("s", "ana", "token-1", ("old",))
    (notice,) = identities.notices
    assert "does not know its guest ana any more" in notice


async def test_a_host_who_goes_back_to_the_former_database_knows_the_guest_again(server, identities):
    """Symptom: 'the name ana is taken, and its token is not on this machine', though it was there, put aside."""
    identities.save(Identity("s", "ana", "old"))
    server.on_message = refusing("old")
    async with introduce(server, identities):
        pass
    server.on_message = refusing("token-1")
    async with introduce(server, identities, "ana"):
        assert hellos(server)[-1] == (None, "old")
    assert identities.find("s", "ana") == Identity("s", "ana", "old", ("token-1",))


async def test_a_guest_that_cannot_be_kept_is_one_for_this_time_and_told(server, tmp_path):
    (tmp_path / "home").write_text("a file where the folder should be")
    identities = IdentityFolder(tmp_path / "home")
    async with introduce(server, identities, "ana") as link:
        assert link.welcome.name == "ana"
    (notice,) = identities.notices
    assert "cannot be saved" in notice
    assert "you are ana for this time" in notice


async def test_other_refusals_do_not_touch_the_kept_guest(server, identities):
    identities.save(Identity("s", "ana", "old"))
    server.on_message = lambda message, connection: Error(message.id, "limit-reached", "too many connections")
    with pytest.raises(CommandError, match="too many"):
        async with introduce(server, identities):
            pass
    assert identities.find("s") == Identity("s", "ana", "old")


async def test_an_error_inside_is_not_taken_for_a_refused_token(server, identities):
    identities.save(Identity("s", "ana", "good"))
    with pytest.raises(CommandError, check=lambda error: error.code == "bad-token"):
        async with introduce(server, identities):
            raise CommandError("bad-token", "of something else")
    assert identities.find("s") == Identity("s", "ana", "good")

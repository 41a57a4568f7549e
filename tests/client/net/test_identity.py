from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tabuleiro.errors import ClientError
from tabuleiro_client.net.identity import Identity, IdentityFolder

SERVER = "ws://games.example.org:8765"
ANA = Identity(SERVER, "ana", "secret-a")
RUI = Identity(SERVER, "Rui", "secret-r")


@pytest.fixture
def folder(tmp_path):
    return IdentityFolder(tmp_path)


def files(tmp_path):
    return [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_guest_is_found_again_by_name_in_any_case(folder):
    folder.save(ANA)
    folder.save(RUI)
    assert folder.find(SERVER, "ANA") == ANA
    assert folder.find(SERVER, "rui") == RUI
    assert folder.find(SERVER, "eva") is None
    assert folder.find("ws://other.example.org", "ana") is None


def test_the_one_used_last_is_the_default(folder, tmp_path):
    folder.save(ANA)
    folder.save(RUI)
    for path in files(tmp_path):
        os.utime(path, (1, 1))
    folder.mark_used(ANA)
    assert folder.find(SERVER) == ANA
    folder.save(RUI)
    assert folder.find(SERVER) == RUI


def test_there_is_no_default_on_a_server_never_visited(folder):
    assert folder.find(SERVER) is None


def test_only_the_owner_can_read_the_token(folder, tmp_path):
    folder.save(ANA)
    (path,) = files(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "secret-a" not in repr(ANA)


def test_names_in_any_writing_are_kept(folder):
    names = ["João", "Ξένη", "山田", "a-b", "a_b"]
    for name in names:
        folder.save(Identity(SERVER, name, f"secret of {name}"))
    found = [folder.find(SERVER, name) for name in names]
    assert [identity and identity.token for identity in found] == [f"secret of {name}" for name in names]


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"server": 1}', b"\xff\x00", b'{"server":"s","name":"!","token":"t"}']
)
def test_a_damaged_file_is_kept_aside_and_told_and_the_others_are_found(folder, tmp_path, content):
    folder.save(ANA)
    (path,) = files(tmp_path)
    path.write_bytes(content)
    folder.save(RUI)
    assert folder.find(SERVER, "ana") is None
    (damage,) = folder.notices
    assert damage.kept_as.read_bytes() == content
    assert str(damage.kept_as) in str(damage)
    assert folder.find(SERVER) == RUI


def test_files_kept_aside_do_not_replace_each_other(folder, tmp_path):
    for content in (b"one", b"two"):
        folder.save(ANA)
        next(path for path in files(tmp_path) if path.suffix == ".json").write_bytes(content)
        assert folder.find(SERVER, "ana") is None
    assert {damage.kept_as.read_bytes() for damage in folder.notices} == {b"one", b"two"}


def test_a_failed_write_leaves_the_old_file_and_no_other(folder, tmp_path, monkeypatch):
    folder.save(ANA)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ClientError, match="No space left"):
        folder.save(Identity(SERVER, "ana", "new"))
    assert len(files(tmp_path)) == 1
    assert folder.find(SERVER, "ana") == ANA


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ClientError, match="cannot be saved"):
        IdentityFolder(tmp_path / "file").save(ANA)


def test_a_home_that_cannot_be_read_is_told_and_holds_nobody(tmp_path, monkeypatch):
    folder = IdentityFolder(tmp_path)
    folder.save(ANA)

    def forbidden(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", forbidden)
    assert folder.find(SERVER, "ana") is None
    assert folder.find(SERVER) is None
    assert folder.all() == []
    assert all("Permission denied" in str(notice) for notice in folder.notices)


def test_tokens_of_the_same_address_are_kept_some_of_them():
    renewed = ANA.renewed("b")
    assert (renewed.token, renewed.older_tokens) == ("b", ("secret-a",))
    back = renewed.renewed("secret-a")
    assert (back.token, back.older_tokens) == ("secret-a", ("b",))
    for token in "cdefg":
        back = back.renewed(token)
    assert (back.token, back.older_tokens) == ("g", ("f", "e", "d"))


def test_a_file_of_an_earlier_version_is_read(folder, tmp_path):
    folder.save(ANA)
    (path,) = files(tmp_path)
    assert b"older_tokens" not in path.read_bytes()
    assert folder.find(SERVER) == ANA

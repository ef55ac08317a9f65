"""What a platform keeps on disk is its owner's only, whole whenever its writer was killed, and checked before it is
trusted."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import ssl
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from cluster.server.conftest import in_process
from gangline.api.kinds import NAMESPACE
from gangline.cluster.server.access.identity import CertificateAuthority, Secrets
from gangline.cluster.server.server import Server, ServerSettings
from gangline.cluster.server.store.private_files import private_folder, write_private
from gangline.errors import DataFolderError
from gangline.local import Platform, PlatformSettings, write_kubeconfig


async def started(home: Path) -> Platform:
    """As `gangline up` begins: token, identity, journal, kubeconfig."""
    platform = Platform(PlatformSettings(folder=home / "data"))
    await platform.server.open()
    write_kubeconfig(platform, "https://127.0.0.1:1", home / "kubeconfig")
    return platform


def modes(home: Path) -> dict[str, int]:
    return {str(path.relative_to(home)): stat.S_IMODE(path.stat().st_mode) for path in (home, *sorted(home.rglob("*")))}


FILES = {
    "kubeconfig",
    "data/admin.token",
    "data/lock",
    "data/objects.sqlite",
    "data/objects.sqlite-shm",
    "data/objects.sqlite-wal",
    "data/identity/ca.crt",
    "data/identity/ca.key",
    "data/identity/token.key",
}


async def test_folders_and_files_are_their_owners_only(tmp_path: Path) -> None:
    home, before = tmp_path / "above" / "home", os.umask(0)
    try:
        platform = await started(home)
        found = modes(home)
    finally:
        os.umask(before)
    await platform.server.close()
    assert {name: mode for name, mode in found.items() if name in FILES} == dict.fromkeys(FILES, 0o600)
    assert {name: mode for name, mode in found.items() if name not in FILES} == dict.fromkeys(
        (".", "data", "data/identity"), 0o700
    )


async def test_what_was_open_to_others_is_closed_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    home = tmp_path / "home"
    await (await started(home)).server.close()
    for path in (home, *home.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    platform = await started(home)
    found = modes(home)
    await platform.server.close()
    assert all(mode in (0o600, 0o700) for mode in found.values()), found
    assert f"{home / 'data' / 'objects.sqlite'} was open to others (mode 644); it is now 600" in caplog.messages


async def test_a_folder_that_holds_other_things_keeps_its_mode(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_private(private_folder(home) / "of-somebody", b"")
    os.chmod(home, 0o755)
    await (await started(home)).server.close()
    assert modes(home)["."] == 0o755


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("token.key", b"", "token.key is missing or empty"),
        ("token.key", b"short", "token.key is 5 bytes long, not 32"),
        ("token.key", bytes(32), "token.key is the same byte all over, which a disk leaves and nobody draws"),
        ("ca.crt", b"", "ca.crt is missing or empty"),
        ("ca.crt", b"no certificate", "ca.crt holds no certificate in PEM"),
        ("ca.key", b"no key", "ca.key holds no private key in PEM"),
        ("ca.key", CertificateAuthority.make().pair.key, "ca.key is not the key of ca.crt"),
    ],
)
async def test_secrets_that_cannot_be_trusted_are_refused(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    await (await started(tmp_path)).server.close()
    (tmp_path / "data" / "identity" / name).write_bytes(content)
    with pytest.raises(DataFolderError) as refusal:
        Server(ServerSettings(folder=tmp_path / "data"))
    assert str(refusal.value) == (
        f"{tmp_path}/data/identity/{said}: restore the folder from a copy, or move it away and start again, which "
        f"makes new secrets; "
        "tokens and kubeconfigs given out before are then void."
    )


async def test_an_authority_with_any_byte_changed_is_refused(tmp_path: Path) -> None:
    await (await started(tmp_path)).server.close()
    kept = tmp_path / "data" / "identity" / "ca.crt"
    whole = ssl.PEM_cert_to_DER_cert(kept.read_text())
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        kept.write_text(ssl.DER_cert_to_PEM_cert(bytes(changed)))
        with pytest.raises(DataFolderError, match=r"ca\.crt (is damaged|holds no certificate in PEM)"):
            Server(ServerSettings(folder=tmp_path / "data"))


async def test_an_empty_administrators_token_is_made_anew_and_a_strange_one_refused(tmp_path: Path) -> None:
    await (await started(tmp_path)).server.close()
    kept = tmp_path / "data" / "admin.token"
    kept.write_bytes(b"")
    platform = Platform(PlatformSettings(folder=tmp_path / "data"))
    assert len(platform.token) == 43
    assert kept.read_text() == platform.token
    kept.write_text("guess")
    with pytest.raises(DataFolderError, match=r"admin.token holds no token of this program: move it away"):
        Platform(PlatformSettings(folder=tmp_path / "data"))


def killed_at_every_step(folder: Path) -> list[Path]:
    """First starts of processes that end at their first, second, … call that changes the disk; the homes they leave."""
    script = textwrap.dedent(f"""
        import asyncio, os, pathlib, sys
        from gangline.local import Platform, PlatformSettings, write_kubeconfig

        async def start(home):
            platform = Platform(PlatformSettings(folder=home / "data"))
            await platform.server.open()
            write_kubeconfig(platform, "https://127.0.0.1:1", home / "kubeconfig")

        def end_at(step, home):
            def watch(event, arguments):
                nonlocal step
                creates = event == "open" and arguments[2] & os.O_CREAT
                changes = creates or event in ("os.mkdir", "os.rename", "os.chmod", "sqlite3.connect")
                if changes and str(home) in str(arguments):
                    step -= 1
                    if not step:
                        os._exit(9)

            sys.addaudithook(watch)
            asyncio.run(start(home))
            os._exit(0)

        for step in range(1, 1000):
            home = pathlib.Path({str(folder)!r}) / str(step)
            child = os.fork() or end_at(step, home)
            if not os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
                break
            print(home)
    """)
    out = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    return [Path(line) for line in out.splitlines()]


async def test_a_first_start_killed_at_any_step_leaves_a_folder_that_starts(tmp_path: Path) -> None:
    homes = await asyncio.to_thread(killed_at_every_step, tmp_path)
    assert len(homes) > 10
    for home in homes:
        await (await started(home)).server.close()


@pytest.mark.parametrize(
    "halfway",
    [
        lambda folder: (folder / "objects.sqlite").touch(),
        lambda folder: sqlite3.connect(folder / "objects.sqlite").execute("PRAGMA journal_mode = WAL").close(),
        lambda folder: (folder / "identity" / "token.key").write_bytes(b""),
        lambda folder: (folder / "identity" / "token.key").unlink(),
        lambda folder: shutil.rmtree(folder / "identity"),
        lambda folder: (folder / "identity" / "ca.key.part").write_bytes(b"-----BEGIN"),
        lambda folder: (folder / "admin.token").write_bytes(b""),
    ],
    ids=["empty file", "no tables", "empty key", "no key", "no identity", "half a file", "empty token"],
)
async def test_what_earlier_versions_left_halfway_starts_and_is_made_whole(
    tmp_path: Path, halfway: Callable[[Path], object]
) -> None:
    folder = private_folder(tmp_path / "data")
    Secrets(folder)
    halfway(folder)
    platform = await started(tmp_path)
    whole = {name: (tmp_path / name).stat().st_size for name in FILES if name in modes(tmp_path)}
    assert (await platform.admin.get(NAMESPACE, "default")).name == "default"
    await platform.server.close()
    assert whole.keys() == FILES
    assert all(size for name, size in whole.items() if name.endswith((".token", ".key", ".crt"))), whole


def test_a_secret_that_cannot_be_written_whole_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_private(tmp_path / "secret", b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        DataFolderError, match=r"cannot write .*/secret \(No space left on device\): free space on that disk"
    ):
        write_private(tmp_path / "secret", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
    assert (tmp_path / "secret").read_bytes() == b"old"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        DataFolderError, match=r"cannot make .*/file/home \(Not a directory\): .* folder with GANGLINE_HOME"
    ):
        private_folder(tmp_path / "file" / "home")


@pytest.mark.parametrize("name", ["objects.sqlite", "lock"])
async def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(DataFolderError) as refusal:
        await Server(ServerSettings(folder=tmp_path)).open()
    assert str(refusal.value) == (
        f"cannot open {tmp_path}/{name} (Is a directory): move away what is in its place, or choose another "
        "folder with GANGLINE_HOME."
    )


@pytest.mark.parametrize("name", ["objects.sqlite", "lock", "identity/token.key", "identity/ca.crt"])
async def test_a_pipe_in_the_place_of_a_file_is_named_and_nobody_waits_for_its_other_end(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "identity").mkdir()
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataFolderError, match=rf"{name} \(File exists\): move away what is in its place"):
        await Server(ServerSettings(folder=tmp_path)).open()


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(
        DataFolderError, match=r"cannot make .*/data \(Not a directory\): move away what is in its place"
    ):
        private_folder(tmp_path / "data")


def row(**metadata: object) -> bytes:
    return json.dumps(
        {"metadata": {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": "1", **metadata}}
    ).encode()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"\x00garbage", "configmaps default/a cannot be read: DecodeError("),
        (b"[]", "configmaps default/a cannot be read: ValidationError("),
        (b"{}", "configmaps default/a cannot be read: KeyError('metadata')"),
        (b'{"metadata": 5}', "configmaps default/a cannot be read: ValidationError("),
        (row(resourceVersion="x"), "configmaps default/a cannot be read: ValueError("),
        (row(labels=["x"]), "configmaps default/a cannot be read: ValidationError("),
        (row(name="b"), "configmaps default/a cannot be read: ValueError('it calls itself default/b')"),
        (row(resourceVersion="-5"), "configmaps default/a cannot be read: ValueError('its revision is -5')"),
        (row(resourceVersion="999999"), "configmaps default/a has revision 999999, but the latest should be "),
    ],
)
async def test_a_row_that_says_nothing_sensible_is_told_and_refused(tmp_path: Path, body: bytes, said: str) -> None:
    server = Server(ServerSettings(folder=tmp_path))
    await server.open()
    await server.close()
    change(tmp_path, "INSERT INTO objects VALUES ('', 'configmaps', 'default', 'a', ?)", body)
    with pytest.raises(DataFolderError) as refusal:
        await Server(ServerSettings(folder=tmp_path)).open()
    assert str(refusal.value).startswith(f"{tmp_path} is damaged ({said}")


@pytest.mark.parametrize(
    ("plural", "part"),
    [
        ("clusterroles", {"rules": 5}),
        ("clusterroles", {"rules": [{"verbs": "get"}]}),
        ("clusterroles", {"aggregationRule": 5}),
        ("clusterrolebindings", {"roleRef": []}),
        ("clusterrolebindings", {"subjects": [5]}),
        ("namespaces", {"spec": 5}),
        ("priorityclasses", {"value": "much"}),
    ],
)
async def test_an_object_that_its_kind_cannot_be_is_told_and_refused(
    tmp_path: Path, plural: str, part: dict[str, object]
) -> None:
    server = Server(ServerSettings(folder=tmp_path))
    await server.open()
    resource = next(item for item in server.catalogue if item.plural == plural)
    record = next(iter(server.store.shelf(resource.shelf).listing()))
    await server.close()
    odd = json.dumps(record.object() | part).encode()
    change(tmp_path, "UPDATE objects SET body = ? WHERE plural = ? AND name = ?", odd, plural, record.place[1])
    with pytest.raises(
        DataFolderError, match=rf"is damaged \({plural}[.a-z0-9]* {record.place[1]} cannot be read: WrongType"
    ):
        await Server(ServerSettings(folder=tmp_path)).open()


@pytest.mark.parametrize(
    ("plural", "part"),
    [
        ("pods", {"spec": 5}),
        ("pods", {"status": {"conditions": [[]]}}),
        ("pods", {"spec": {"containers": [{"name": "a", "image": 5}]}}),
        ("events", {"message": [None]}),
        ("events", {"count": "often"}),
    ],
)
async def test_a_pod_or_an_event_that_its_kind_cannot_be_is_refused_too(
    tmp_path: Path, plural: str, part: dict[str, object]
) -> None:
    """However many there are: the server fails at an answer with one of them."""
    server = Server(ServerSettings(folder=tmp_path))
    await server.open()
    api = in_process(server)
    metadata = {"name": "odd", "namespace": "default"}
    if plural == "pods":
        spec = {"containers": [{"name": "a", "image": "b"}]}
        made = await api.post("/api/v1/namespaces/default/pods", {"metadata": metadata, "spec": spec})
    else:
        about = {"kind": "Pod", "name": "a", "namespace": "default"}
        made = await api.post("/api/v1/namespaces/default/events", {"metadata": metadata, "involvedObject": about})
    await server.close()
    assert made.status == 201, made.message
    odd = json.dumps(made.body | part).encode()
    change(tmp_path, "UPDATE objects SET body = ? WHERE plural = ? AND name = 'odd'", odd, plural)
    with pytest.raises(DataFolderError, match=rf"is damaged \({plural} default/odd cannot be read: WrongType"):
        await Server(ServerSettings(folder=tmp_path)).open()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE objects SET body = 'many' WHERE plural = '#revision'", "its revision is no number"),
        ("DELETE FROM objects WHERE plural = '#revision'", "its revision is missing"),
        ("UPDATE objects SET body = '1' WHERE plural = '#revision'", "but the latest should be 1"),
        ("UPDATE objects SET body = '-1' WHERE plural = '#revision'", "its revision is -1"),
        (
            "UPDATE objects SET body = '99999999999999999999' WHERE plural = '#revision'",
            "its revision is 99999999999999999999",
        ),
        ("DROP TABLE objects", "no such table: objects"),
    ],
)
async def test_a_revision_that_cannot_be_is_told_and_refused(tmp_path: Path, statement: str, said: str) -> None:
    server = Server(ServerSettings(folder=tmp_path))
    await server.open()
    await server.close()
    change(tmp_path, statement)
    with pytest.raises(DataFolderError, match=said):
        await Server(ServerSettings(folder=tmp_path)).open()


def change(folder: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(folder / "objects.sqlite") as database:
        database.execute(statement, values)
    database.close()

"""What was acknowledged survives; what cannot be trusted is refused."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from cluster.server.conftest import MAPS, config_map, in_process
from gangline.cluster.server.server import Server, ServerSettings
from gangline.cluster.server.store.journal import WAL_BOUND, SqliteJournal
from gangline.errors import DataFolderError


async def opened(folder: Path) -> Server:
    server = Server(ServerSettings(folder=folder))
    await server.open()
    return server


async def test_a_restart_finds_every_object_and_goes_on_counting(tmp_path: Path) -> None:
    first = await opened(tmp_path)
    api = in_process(first)
    for name in "abc":
        await api.post(MAPS, config_map(name, {"k": name}))
    await api.delete(f"{MAPS}/b")
    before, revision = (await api.get(MAPS)).body, first.revision
    await first.close()
    second = await opened(tmp_path)
    api = in_process(second)
    assert (await api.get(MAPS)).body == before
    made = await api.post(MAPS, config_map("d"))
    assert int(made.body["metadata"]["resourceVersion"]) == revision + 1
    await second.close()


async def test_tokens_and_certificates_outlive_a_restart(tmp_path: Path) -> None:
    first = await opened(tmp_path)
    authority = first.secrets.authority
    await first.close()
    second = await opened(tmp_path)
    assert second.secrets.authority == authority
    await second.close()


def killed_after_fifty_writes(folder: Path) -> list[int]:
    """A server in another process writes until it is killed; the numbers of the writes it was told are done."""
    script = textwrap.dedent(f"""
        import asyncio, json, pathlib
        from gangline.cluster.server.access.identity import administrator
        from gangline.cluster.server.server import Server, ServerSettings
        from gangline.client.wire import Request

        async def main():
            server = Server(ServerSettings(folder=pathlib.Path({str(folder)!r})))
            await server.open()
            send = server.transport(administrator()).send
            for number in range(100000):
                body = json.dumps({{"metadata": {{"name": f"m{{number}}"}}}}).encode()
                await send(Request("POST", {MAPS!r}, body=body))
                print(number, flush=True)

        asyncio.run(main())
    """)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        acknowledged = [int(child.stdout.readline()) for _ in range(50)]
        os.kill(child.pid, signal.SIGKILL)
        return acknowledged + [int(line) for line in child.stdout if line.strip().isdigit() and line.endswith("\n")]


async def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    acknowledged = await asyncio.to_thread(killed_after_fifty_writes, tmp_path)
    server = await opened(tmp_path)
    names = set((await in_process(server).get(MAPS)).names)
    assert {f"m{number}" for number in acknowledged} <= names
    await server.close()


async def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    server = await opened(tmp_path)
    with pytest.raises(DataFolderError, match="is in use by another server: stop that one, or choose another folder"):
        await opened(tmp_path)
    await server.close()


async def test_a_damaged_folder_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    await (await opened(tmp_path)).close()
    file = tmp_path / "objects.sqlite"
    broken = b"not a database at all" * 400
    file.write_bytes(broken)
    for rest in ("objects.sqlite-wal", "objects.sqlite-shm"):
        (tmp_path / rest).unlink(missing_ok=True)
    with pytest.raises(
        DataFolderError, match=r"is damaged .*: restore it from a copy, or move it away and start empty"
    ):
        await opened(tmp_path)
    assert file.read_bytes() == broken


async def test_a_folder_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    await (await opened(tmp_path)).close()
    with sqlite3.connect(tmp_path / "objects.sqlite") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(DataFolderError, match=r"was written by a newer program \(format 99, this one knows 1\)"):
        await opened(tmp_path)


def written_until_the_disk_is_full(folder: Path, limit: int, size: int) -> list[str]:
    """What a server whose files cannot grow beyond a limit answers to ever more writes, and then to a question about
    its health."""
    script = textwrap.dedent(f"""
        import asyncio, json, pathlib, resource, signal
        from gangline.cluster.server.access.identity import administrator
        from gangline.cluster.server.server import Server, ServerSettings
        from gangline.client.wire import Request

        async def main():
            server = Server(ServerSettings(folder=pathlib.Path({str(folder)!r})))
            await server.open()
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
            send = server.transport(administrator()).send
            status, number = 201, 0
            while status == 201:
                body = json.dumps({{"metadata": {{"name": f"m{{number}}"}}, "data": {{"text": "x" * {size}}}}}).encode()
                status = (await send(Request("POST", {MAPS!r}, body=body))).status
                print(status, flush=True)
                number += 1
            print((await send(Request("GET", "/healthz"))).body.decode().strip(), flush=True)

        asyncio.run(main())
    """)
    return subprocess.run(
        [sys.executable, "-B", "-c", script],
        capture_output=True,
        text=True,
        check=True,  # no half compiled module
    ).stdout.splitlines()


@pytest.mark.parametrize(
    ("limit", "size"), [(500_000, 10_000), (40_000_000, 900_000)], ids=["at a commit", "when it is emptied"]
)
async def test_a_full_disk_ends_acknowledgements_and_loses_nothing(tmp_path: Path, limit: int, size: int) -> None:
    *answers, health = await asyncio.to_thread(written_until_the_disk_is_full, tmp_path, limit, size)
    acknowledged = answers.count("201")
    assert acknowledged > 0
    assert answers[acknowledged:] == ["500"]
    assert "the journal cannot be written" in health
    assert "free space or repair the disk, then start again" in health
    server = await opened(tmp_path)
    names = set((await in_process(server).get(MAPS)).names)
    assert {f"m{number}" for number in range(acknowledged)} <= names
    await server.close()


async def test_the_write_ahead_file_stays_within_its_bound_under_steady_writes(tmp_path: Path) -> None:
    largest, done, count = 0, asyncio.Event(), 100

    def durable(revision: int) -> None:
        nonlocal largest
        largest = max(largest, (tmp_path / "objects.sqlite-wal").stat().st_size)
        if revision == count:
            done.set()

    journal = SqliteJournal(tmp_path, durable, lambda error: pytest.fail(str(error)))
    journal.start()
    for number in range(1, count + 1):
        journal.append(number, ("", "configmaps"), ("default", f"m{number % 7}"), b"x" * 1_000_000)
    await done.wait()
    journal.close()
    assert 0 < largest < WAL_BOUND
    assert not (tmp_path / "objects.sqlite-wal").exists()


async def test_the_write_ahead_file_stays_within_its_bound_when_much_is_left_to_write_at_the_end(
    tmp_path: Path,
) -> None:
    sizes = []
    journal = SqliteJournal(
        tmp_path,
        lambda revision: sizes.append((tmp_path / "objects.sqlite-wal").stat().st_size),
        lambda error: pytest.fail(str(error)),
    )
    journal.start()
    for number in range(1, 101):
        journal.append(number, ("", "configmaps"), ("default", f"m{number}"), b"x" * 1_000_000)
    journal.flush()
    journal.close()
    assert max(sizes) < WAL_BOUND


async def test_a_server_whose_files_are_taken_away_stops_instead_of_writing_to_nowhere(tmp_path: Path) -> None:
    server = await opened(tmp_path)
    (tmp_path / "objects.sqlite-wal").unlink()
    await in_process(server).post(MAPS, config_map("a"))
    await server.failed.wait()
    assert str(server.store.broken) == (
        f"{tmp_path}/objects.sqlite-wal is gone (No such file or directory), taken away from a running server. "
        f"Nothing more is written; "
        "restore the folder from a copy, or start empty."
    )
    assert (await in_process(server).post(MAPS, config_map("b"))).status == 500
    await server.close()


async def test_a_write_ahead_file_that_was_left_is_emptied_at_the_next_start(tmp_path: Path) -> None:
    await asyncio.to_thread(killed_after_fifty_writes, tmp_path)
    ahead = tmp_path / "objects.sqlite-wal"
    assert ahead.stat().st_size > 0
    journal = SqliteJournal(tmp_path, lambda revision: None, lambda error: None)
    assert ahead.stat().st_size == 0
    journal.close()

"""`gangline up` as a process: it says when it is ready, keeps what it was told, and stops when asked."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest

from cli.terminal import Process, gangline
from gangline.api.kinds import CONFIG_MAP
from gangline.cli import main
from gangline.client import Client
from gangline.client.kubeconfig import load, transport
from gangline.cluster.server.server import Server, ServerSettings
from gangline.cluster.server.store.private_files import private_folder, write_private


async def up(home: Path, *arguments: str) -> Process:
    return await gangline("up", *arguments, home=home)


def refused(monkeypatch: pytest.MonkeyPatch, home: Path, *arguments: str) -> str | int | None:
    """How it ends where it does not even begin: that needs no process of its own."""
    monkeypatch.setenv("GANGLINE_HOME", str(home))
    monkeypatch.setattr(sys, "argv", ["gangline", "up", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code


async def ready(process: Process) -> list[str]:
    assert process.stdout is not None and process.stderr is not None
    lines: list[str] = []
    while not lines or lines[-1] != "ready":
        line = await process.stdout.readline()
        assert line, (await process.stderr.read()).decode()
        lines.append(line.decode().rstrip())
    return lines


async def test_what_was_written_is_there_after_a_kill(tmp_path: Path) -> None:
    process = await up(tmp_path, "--port", "0")
    shown = await ready(process)
    assert "nodes        4 simulated" in shown
    client = Client(transport(load(tmp_path / "kubeconfig")))
    await client.create(CONFIG_MAP, {"metadata": {"name": "kept", "namespace": "default"}, "data": {"a": "b"}})
    await client.close()
    process.kill()
    await process.wait()

    process = await up(tmp_path, "--port", "0")
    await ready(process)
    client = Client(transport(load(tmp_path / "kubeconfig")))
    assert (await client.get(CONFIG_MAP, "kept", "default")).data == {"a": "b"}
    await client.close()
    process.send_signal(signal.SIGINT)
    assert await process.wait() == 0


async def test_the_dashboard_is_served_beside_it_at_a_free_port_if_its_own_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = await up(tmp_path, "--memory", "--port", "0", "--dashboard-port", str(port))
        shown = await ready(process)
    (line,) = [item for item in shown if item.startswith("dashboard    http://127.0.0.1:")]
    assert line.endswith(f" ({port}: address already in use)")
    async with aiohttp.ClientSession() as session, session.get(line.split()[1]) as answer:
        assert answer.status == 200 and "gangline" in await answer.text()
    process.send_signal(signal.SIGINT)
    assert await process.wait() == 0


async def test_the_dashboard_can_be_switched_off(tmp_path: Path) -> None:
    process = await up(tmp_path, "--memory", "--port", "0", "--no-dashboard")
    assert not [line for line in await ready(process) if line.startswith("dashboard")]
    process.send_signal(signal.SIGINT)
    assert await process.wait() == 0


async def test_a_port_that_is_taken_is_named_with_what_to_do(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = await up(tmp_path, "--memory", "--port", str(port))
        _, error = await process.communicate()
    assert process.returncode == 1
    assert (
        f"error: cannot listen on 127.0.0.1:{port} (Address already in use); choose another port with --port"
        in error.decode()
    )
    assert "Traceback" not in error.decode()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nodes: [{name: a, gpus: many}]", "Expected `int`, got `str` - at `$.nodes[0].gpus`"),
        ("nodes: [{name: a}, {name: a}]", "two nodes are called a"),
    ],
)
def test_a_wrong_nodes_file_is_refused_with_its_place(
    tmp_path: Path, text: str, problem: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nodes.yaml").write_text(text)
    ended = refused(monkeypatch, tmp_path, "--memory", "--port", "0", "--nodes", str(tmp_path / "nodes.yaml"))
    told = capsys.readouterr().err
    assert ended == 1 and problem in told and "Traceback" not in told


async def test_an_address_has_the_connections_it_was_given_and_one_line_says_so(tmp_path: Path) -> None:
    process = await up(tmp_path, "--memory", "--port", "0", "--no-dashboard", "--connections-per-address", "2")
    shown = await ready(process)
    port = int(next(line for line in shown if line.startswith("API server")).rpartition(":")[2])
    held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(50)]
    for reader, _ in held[:48]:
        assert await reader.read() == b""
    for _, writer in held:
        writer.close()
    process.send_signal(signal.SIGTERM)
    assert process.stderr is not None
    told = (await process.stderr.read()).decode().splitlines()
    assert await process.wait() == 0
    assert (
        len(told) == 1 and "127.0.0.1 has 2 connections to the API server, as many as one address may have" in told[0]
    )


def limited(home: Path, size: int) -> subprocess.CompletedProcess[str]:
    """`gangline up` where no file may grow beyond so many bytes, as on a disk that is full. It compiles nothing: what
    it wrote of a module would be cut off there, and every process after it would stumble over that."""
    script = (
        f"import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size})); from gangline.cli import main; main()"
    )
    return subprocess.run(
        [sys.executable, "-B", "-c", script, "up", "--port", "0", "--no-dashboard"],
        cwd=home,
        check=False,
        capture_output=True,
        env=os.environ | {"GANGLINE_HOME": str(home)},
        text=True,
    )


@pytest.mark.parametrize(
    ("size", "said"),
    [(20_000, "opened"), (200_000, "written"), (1_100_000, "written")],
    ids=["at once", "while it is filled", "while components work"],
)
async def test_a_full_disk_is_one_line_and_an_end(tmp_path: Path, size: int, said: str) -> None:
    done = await asyncio.to_thread(limited, tmp_path, size)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith(f"error: {tmp_path}/data: the journal cannot be {said}: disk I/O error. ")


def a_file(home: Path) -> None:
    home.rmdir()
    home.touch()


def no_authority(home: Path) -> None:
    Server(ServerSettings(folder=home / "data"))
    (home / "data" / "identity" / "ca.crt").unlink()


def a_strange_database(home: Path) -> None:
    write_private(private_folder(home / "data") / "objects.sqlite", b"not a database at all" * 400)


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (
            a_file,
            r"error: cannot make .*/home/data \(Not a directory\): move away what is in its place, or choose another "
            r"folder",
        ),
        (
            no_authority,
            r"error: .*/identity/ca.crt is missing or empty: restore the folder from a copy, or move it away and "
            r"start again",
        ),
        (
            a_strange_database,
            r"error: .*/data is damaged \(file is not a database\): restore it from a copy, or move it away and start "
            r"empty",
        ),
    ],
)
def test_a_home_that_cannot_be_used_is_a_sentence(
    tmp_path: Path,
    prepare: Callable[[Path], None],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    prepare(home)
    assert refused(monkeypatch, home, "--port", "0", "--no-dashboard") == 1
    assert re.fullmatch(said + r".*\n", capsys.readouterr().err)


def test_a_part_that_does_not_exist_is_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(monkeypatch, tmp_path, "--memory", "--without", "schedular,operator")
    told = capsys.readouterr().err
    assert "no component is called 'schedular' (did you mean scheduler?); there are: operator, grouper, " in told


async def test_parts_are_left_out_and_requests_written_down(tmp_path: Path) -> None:
    absent = ("--without", "scheduler,binder", "--without", "kubelet")
    audit = tmp_path / "audit.log"
    process = await up(tmp_path, "--memory", "--port", "0", "--no-dashboard", *absent, "--audit-log", str(audit))
    shown = await ready(process)
    assert "nodes        0 simulated" in shown
    assert f"audit log    {audit}" in shown
    process.send_signal(signal.SIGINT)
    assert await process.wait() == 0
    accounts = set(re.findall(r'"username":"system:serviceaccount:[^:"]*:([^"]*)"', audit.read_text()))
    assert {"operator", "grouper"} <= accounts
    assert not {"scheduler", "binder", "kubelet", "installer"} & accounts

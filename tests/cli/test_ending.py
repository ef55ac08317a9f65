"""Ctrl-C and SIGTERM end every process, whatever it is doing; a second one ends it at once."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from gangline.api.kinds import CONFIG_MAP
from gangline.client import Client
from gangline.client.kubeconfig import load, transport

Process = asyncio.subprocess.Process
BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])


async def gangline(home: Path, *arguments: str) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-u",
        "-c",
        "from gangline.cli import main; main()",
        *arguments,
        cwd=home,
        env=os.environ | {"GANGLINE_HOME": str(home)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def says(process: Process, start: str) -> None:
    assert process.stdout is not None and process.stderr is not None
    while line := (await process.stdout.readline()).decode():
        if line.strip().startswith(start):
            return
    pytest.fail((await process.stderr.read()).decode())


async def ended(process: Process, number: signal.Signals) -> tuple[int, str]:
    process.send_signal(number)
    _, error = await process.communicate()
    return process.returncode or 0, error.decode()


async def test_a_platform_that_is_starting(tmp_path: Path) -> None:
    process = await gangline(tmp_path, "up", "--port", "0")
    await says(process, "starting")
    assert await ended(process, signal.SIGINT) == (0, "")


async def test_a_platform_with_open_watches(tmp_path: Path) -> None:
    process = await gangline(tmp_path, "up", "--port", "0", "--dashboard-port", "0")
    await says(process, "ready")
    client = Client(transport(load(tmp_path / "kubeconfig")), retries=0)
    watch = client.watch(CONFIG_MAP, (await client.list(CONFIG_MAP)).revision)
    waiting = asyncio.ensure_future(anext(aiter(watch)))
    await client.list(CONFIG_MAP)
    assert await ended(process, signal.SIGTERM) == (0, "")
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await client.close()


async def test_a_platform_whose_callers_never_end_what_they_ask(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await gangline(tmp_path, "up", "--port", "0", "--dashboard-port", str(port))
    await says(process, "ready")
    _, slow = await asyncio.open_connection("127.0.0.1", port)
    slow.write(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\n")
    reader, quick = await asyncio.open_connection("127.0.0.1", port)
    quick.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    await reader.readuntil(b"ok")
    assert await ended(process, signal.SIGTERM) == (0, "")
    assert not (tmp_path / "data" / "objects.sqlite-wal").exists()
    slow.close()
    quick.close()


async def test_a_demo_in_the_middle_of_a_scene(tmp_path: Path) -> None:
    process = await gangline(tmp_path, "demo")
    await says(process, "[1/6]")
    assert await ended(process, signal.SIGTERM) == (128 + signal.SIGTERM, "")


@pytest.fixture
async def hanging(tmp_path: Path) -> AsyncIterator[asyncio.Event]:
    """A server that takes every request and answers none, and its kubeconfig; set when it has been asked something."""
    asked = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        asked.set()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    place = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    (tmp_path / "kubeconfig").write_text(
        yaml.safe_dump(
            {
                "current-context": "c",
                "contexts": [{"name": "c", "context": {"cluster": "c"}}],
                "clusters": [{"name": "c", "cluster": {"server": place}}],
            }
        )
    )
    yield asked
    server.close()


@pytest.mark.parametrize(
    ("arguments", "number"),
    [
        ("run scheduler", signal.SIGINT),
        ("run operator", signal.SIGTERM),
        ("run binder --leader-elect=false", signal.SIGTERM),
        ("dashboard --port 0", signal.SIGTERM),
        ("get pods", signal.SIGINT),
    ],
)
async def test_a_command_whose_server_never_answers(
    tmp_path: Path, hanging: asyncio.Event, arguments: str, number: signal.Signals
) -> None:
    process = await gangline(tmp_path, *arguments.split())
    await hanging.wait()
    code, error = await ended(process, number)
    assert code == (128 + number if arguments.startswith("get") else 0)
    assert "Traceback" not in error


async def scripted(text: str) -> Process:
    script = (
        "import asyncio, time\nfrom gangline.cli import ending, signals\n"
        "signals.ONCE_MORE, signals.AT_LAST = 0.2, 0.4\n" + textwrap.dedent(text)
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-u", "-c", script, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    await says(process, "begun")
    return process


@BOTH
async def test_a_loop_that_is_blocked(number: signal.Signals) -> None:
    process = await scripted("""
        async def work():
            print("begun")
            time.sleep(1000)

        ending.run(work(), serves=True)
    """)
    assert await ended(process, number) == (1, "error: not stopped 0 s after it was asked to; ended all the same\n")


async def test_tidying_up_that_hangs() -> None:
    process = await scripted("""
        async def work():
            print("begun")
            try:
                await asyncio.sleep(1000)
            finally:
                await asyncio.sleep(1000)

        ending.run(work(), serves=True)
    """)
    assert await ended(process, signal.SIGTERM) == (0, "")


async def test_a_second_signal_ends_at_once() -> None:
    process = await scripted("""
        async def work():
            signals.ONCE_MORE, signals.AT_LAST = 1000, 2000
            print("begun")
            try:
                await asyncio.sleep(1000)
            finally:
                print("tidying")
                time.sleep(1000)

        ending.run(work(), serves=True)
    """)
    process.send_signal(signal.SIGTERM)
    await says(process, "tidying")
    assert await ended(process, signal.SIGINT) == (128 + signal.SIGINT, "")


async def test_a_command_that_is_done_in_time_ends_as_it_would_have() -> None:
    process = await scripted("""
        async def work():
            print("begun")

        ending.run(work())
        print("after")
    """)
    await says(process, "after")
    assert await process.wait() == 0

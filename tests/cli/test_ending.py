"""Ctrl-C and SIGTERM end every process, whatever it is doing; a second one ends it at once."""

from __future__ import annotations

import asyncio
import signal
import sys
import textwrap
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from cli.terminal import Process, gangline
from gangline.api.kinds import CONFIG_MAP
from gangline.cli.deploy.component_process import run_component
from gangline.client import Client
from gangline.client.kubeconfig import load, transport
from gangline.components.options import ComponentOptions

BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
PATIENT = "from gangline.cli import main, signals; signals.ONCE_MORE, signals.AT_LAST = 1000, 2000; main()"
"""Nobody asks a second time, and nobody ends it by force: what ends, ends by itself, however slow the machine is."""
patient = partial(gangline, program=PATIENT)


async def says(process: Process, start: str) -> str:
    """The rest of the first line that starts so."""
    assert process.stdout is not None and process.stderr is not None
    while line := (await process.stdout.readline()).decode():
        if line.strip().startswith(start):
            return line.strip().removeprefix(start).strip()
    pytest.fail((await process.stderr.read()).decode())


async def ended(process: Process, number: signal.Signals) -> tuple[int, str]:
    process.send_signal(number)
    _, error = await process.communicate()
    return process.returncode or 0, error.decode()


async def test_a_platform_that_is_starting(tmp_path: Path) -> None:
    process = await patient("up", "--port", "0", home=tmp_path)
    await says(process, "starting")
    assert await ended(process, signal.SIGINT) == (0, "")


async def test_a_platform_with_open_watches(tmp_path: Path) -> None:
    process = await patient("up", "--port", "0", "--dashboard-port", "0", home=tmp_path)
    await says(process, "ready")
    client = Client(transport(load(tmp_path / "kubeconfig")), retries=0)
    watch = client.watch(CONFIG_MAP, (await client.list(CONFIG_MAP)).revision)
    waiting = asyncio.ensure_future(anext(aiter(watch)))
    await client.list(CONFIG_MAP)
    assert await ended(process, signal.SIGTERM) == (0, "")
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await client.close()


HEAVY = """
import os, signal
from gangline.cli import signals
from gangline.start import main

class Heavy:
    def __del__(self, leave=os._exit):
        leave(99)

signals.ONCE_MORE, signals.AT_LAST = 1000, 2000
signal.memory = Heavy()
main()
"""
"""A program that would begin to take apart what it holds."""


@BOTH
async def test_a_platform_of_any_size_is_gone_without_being_taken_apart(tmp_path: Path, number: signal.Signals) -> None:
    process = await gangline("up", "--port", "0", "--no-dashboard", home=tmp_path, program=HEAVY)
    await says(process, "ready")
    assert await ended(process, number) == (0, "")
    assert not (tmp_path / "data" / "objects.sqlite-wal").exists()


@pytest.mark.parametrize(("words", "code"), [(["--version"], 0), (["nothing"], 2), (["apply", "-f", "none.yaml"], 1)])
async def test_what_a_command_said_and_how_it_ended_is_not_lost_when_it_is_gone_at_once(
    tmp_path: Path, words: list[str], code: int
) -> None:
    process = await gangline(*words, home=tmp_path, program=HEAVY)
    out, error = await process.communicate()
    assert process.returncode == code
    assert out.startswith(b"gangline ") if code == 0 else error.strip()


async def test_a_platform_whose_callers_never_end_what_they_ask(tmp_path: Path) -> None:
    process = await patient("up", "--port", "0", "--dashboard-port", "0", home=tmp_path)
    port = int((await says(process, "dashboard    http://127.0.0.1:")).split()[0])
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
    process = await patient("demo", home=tmp_path)
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
    kubeconfig_of(server, tmp_path)
    yield asked
    server.close()


def kubeconfig_of(server: asyncio.Server, folder: Path) -> Path:
    place = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    contents = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c"}}],
        "clusters": [{"name": "c", "cluster": {"server": place}}],
    }
    (folder / "kubeconfig").write_text(yaml.safe_dump(contents))
    return folder / "kubeconfig"


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
    process = await patient(*arguments.split(), home=tmp_path)
    await hanging.wait()
    code, error = await ended(process, number)
    assert code == (128 + number if arguments.startswith("get") else 0)
    assert "Traceback" not in error


@pytest.mark.parametrize("answers", [False, True], ids=["never answers", "hangs up"])
async def test_a_component_ends_at_whichever_step_it_is_cancelled(tmp_path: Path, answers: bool) -> None:
    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await (reader.readline() if answers else reader.read())
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    kubeconfig = kubeconfig_of(server, tmp_path)
    for steps in range(0, 24, 2):
        options = ComponentOptions(flags={"leader-elect": "false"})
        running = asyncio.create_task(run_component("binder", str(kubeconfig), options))
        for _ in range(steps):
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait({running})
        assert running.cancelled(), f"after {steps} steps"
    server.close()


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


@BOTH
async def test_nobody_waits_for_what_a_thread_still_thinks(number: signal.Signals) -> None:
    process = await scripted("""
        from gangline import cli, start
        signals.ONCE_MORE, signals.AT_LAST = 1000, 2000

        def think():
            print("begun")
            time.sleep(1000)

        async def work():
            await asyncio.to_thread(think)

        cli.main = lambda: ending.run(work(), serves=True)
        start.main()
    """)
    assert await ended(process, number) == (0, "")


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

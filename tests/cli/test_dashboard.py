"""`gangline dashboard` as a process: it says where it serves, whether or not the cluster answers, and names a port that
is taken."""

from __future__ import annotations

import signal
import socket
from pathlib import Path

import aiohttp
import pytest

from cli.terminal import Process, gangline

NOWHERE = """
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""


@pytest.fixture(autouse=True)
def _nowhere_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No other cluster is known."""
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


async def dashboard(home: Path, *arguments: str) -> Process:
    (home / "config").write_text(NOWHERE)
    return await gangline("dashboard", *arguments, home=home)


async def test_it_says_where_it_serves_and_serves_though_the_cluster_does_not_answer(tmp_path: Path) -> None:
    process = await dashboard(tmp_path, "--kubeconfig", "config", "--port", "0")
    assert process.stdout is not None and process.stderr is not None
    line = (await process.stdout.readline()).decode()
    assert line.startswith("dashboard    http://127.0.0.1:") and line.endswith(
        " (of http://127.0.0.1:1; Ctrl-C ends)\n"
    )
    async with aiohttp.ClientSession() as session, session.get(line.split()[1]) as answer:
        assert answer.status == 200 and "The cluster is not reachable." in await answer.text()
    process.send_signal(signal.SIGINT)
    assert await process.wait() == 0 and "Traceback" not in (await process.stderr.read()).decode()


async def test_a_port_that_is_taken_is_named_with_what_to_do(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = await dashboard(tmp_path, "--kubeconfig", "config", "--port", str(port))
        _, error = await process.communicate()
    assert process.returncode == 1
    assert (
        f"error: cannot listen on 127.0.0.1:{port} (Address already in use); choose another port with --port"
        in error.decode()
    )


async def test_without_a_cluster_it_says_how_to_get_one(tmp_path: Path) -> None:
    process = await dashboard(tmp_path)
    _, error = await process.communicate()
    assert (
        process.returncode == 1 and "start a platform with `gangline up`, or pass --kubeconfig FILE" in error.decode()
    )

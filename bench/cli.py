"""How long commands take to start: `make bench BENCH=cli`, one JSON line per command.

Processor seconds of a process of its own, the best of several: what a person waits for on a machine that does nothing
else. Help is measured to its end; a command that asks a cluster, until the cluster has its first request. The aim is
0.15 s."""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
from pathlib import Path

RUNS = 7
AIM = 0.15
HELPS = ("", "get", "explain", "top", "queue set", "doctor", "run", "up")
ASKING = (
    ("tree", "llm"),
    ("get", "gangs"),
    ("get", "pods"),
    ("top", "--once"),
    ("queue", "set", "team", "gpu.quota=8"),
    ("explain", "llm"),
)
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: bench
contexts: [{{name: bench, context: {{cluster: bench, user: bench}}}}]
clusters: [{{name: bench, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
users: [{{name: bench, user: {{token: bench}}}}]
"""


def started(words: tuple[str, ...]) -> int:
    """The process of one call; what it prints is thrown away."""
    program = [sys.executable, "-c", "from gangline.cli import main; main()", *words]
    with open(os.devnull, "w") as nowhere:
        actions = [(os.POSIX_SPAWN_DUP2, nowhere.fileno(), stream) for stream in (1, 2)]
        return os.posix_spawn(sys.executable, program, os.environ, file_actions=actions)


def until_the_end(words: tuple[str, ...]) -> float:
    _, status, used = os.wait4(started(words), 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"gangline {' '.join(words)} ended with {status}")
    return used.ru_utime + used.ru_stime


def until_it_asks(words: tuple[str, ...], kubeconfig: Path) -> float:
    """Processor time until its first request is here; then it is ended."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        kubeconfig.write_text(KUBECONFIG.format(port=server.getsockname()[1]))
        child = started((*words, "--kubeconfig", str(kubeconfig)))
        connection, _ = server.accept()
        with connection:
            connection.recv(1)
            used = sum(int(thread.read_text().split()[0]) for thread in Path(f"/proc/{child}/task").glob("*/schedstat"))
            os.kill(child, 9)
        os.waitpid(child, 0)
    return used / 1e9


def report(call: str, measured: str, seconds: float) -> None:
    line = {"bench": "cli", "call": call, "until": measured, "cpu_seconds": round(seconds, 3), "aim": AIM}
    print(json.dumps(line), flush=True)


def main() -> None:
    for name in HELPS:
        words = (*name.split(), "--help")
        report(" ".join(words), "end", min(until_the_end(words) for _ in range(RUNS)))
    with tempfile.TemporaryDirectory() as folder:
        for words in ASKING:
            used = min(until_it_asks(words, Path(folder) / "kubeconfig") for _ in range(RUNS))
            report(" ".join(words), "first request", used)


if __name__ == "__main__":
    main()

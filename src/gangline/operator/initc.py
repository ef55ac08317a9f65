"""The init container that keeps a start order: waits until the cliques before this one have enough ready pods.

A script of its own: it needs Python and nothing else, not even the rest of gangline, so that its image can be small.
Reads where it is from the pod's downward files and asks the API server with the mounted token. Pods are attributed by
their label, not by their name. Ends with 0 when every clique is ready, with 1 on bad arguments or when it is told to
stop.

    initc --podcliques=llm-0-prefill:2 --podcliques=llm-0-router:1
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

POD_INFO = Path("/var/grove/pod-info")
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
GANG, CLIQUE = "grove.io/podgang", "grove.io/podclique"
PAUSE = 1.0


class UnusableArguments(Exception):
    """Arguments or surroundings that cannot be used; the text says what is wrong."""


def wanted(entries: Iterable[str]) -> dict[str, int]:
    """`name:count` entries → how many ready pods each clique needs."""
    needs: dict[str, int] = {}
    for entry in (part for given in entries for part in given.split(",")):
        name, colon, count = entry.strip().partition(":")
        if not colon or not name.strip() or ":" in count or not count.strip().isdigit() or int(count) <= 0:
            raise UnusableArguments(f"{entry!r} is not name:count with a count above 0, for example llm-0-prefill:2")
        needs[name.strip()] = int(count)
    return needs


def missing(needs: Mapping[str, int], pods: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many ready pods each clique still lacks."""
    ready: dict[str, int] = dict.fromkeys(needs, 0)
    for pod in pods:
        clique = ((pod.get("metadata") or {}).get("labels") or {}).get(CLIQUE, "")
        conditions = (pod.get("status") or {}).get("conditions") or ()
        if clique in ready and any(
            condition.get("type") == "Ready" and condition.get("status") == "True" for condition in conditions
        ):
            ready[clique] += 1
    return {clique: count - ready[clique] for clique, count in needs.items() if ready[clique] < count}


class PodApiServer:
    """The API server, as a pod reaches it."""

    def __init__(self, environment: Mapping[str, str], account: Path = ACCOUNT, info: Path = POD_INFO) -> None:
        host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT", "443")
        if not host:
            raise UnusableArguments("KUBERNETES_SERVICE_HOST is not set: this runs as an init container in a cluster")
        self._account = account
        namespace, gang = _file(info / "namespace"), _file(info / "podgangname")
        query = urllib.parse.urlencode({"labelSelector": f"{GANG}={gang}"})
        address = f"[{host}]" if ":" in host else host
        self._url = f"https://{address}:{port}/api/v1/namespaces/{namespace}/pods?{query}"
        self._trust = ssl.create_default_context(
            cafile=str(account / "ca.crt") if (account / "ca.crt").exists() else None
        )

    def pods(self) -> list[dict[str, Any]]:
        request = urllib.request.Request(
            self._url, headers={"Authorization": f"Bearer {_file(self._account / 'token')}"}
        )
        with urllib.request.urlopen(request, timeout=10, context=self._trust) as answer:
            items: list[dict[str, Any]] = json.load(answer).get("items") or []
            return items


def _file(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError as error:
        raise UnusableArguments(f"cannot read {path}: {error.strerror}") from None


def wait(
    needs: Mapping[str, int],
    pods: Callable[[], Iterable[Mapping[str, Any]]],
    say: Callable[[str], None],
    pause: Callable[[], None],
) -> None:
    """Look again and again until nothing is missing; trouble with the API server is waited out."""
    printed = ""
    while True:
        try:
            lacking = missing(needs, pods())
        except (urllib.error.URLError, TimeoutError, ConnectionError, json.JSONDecodeError) as error:
            lacking, text = {"": 1}, f"the API server does not answer: {error}"
        else:
            text = "waiting for " + ", ".join(f"{count} more of {clique}" for clique, count in lacking.items())
        if not lacking:
            return
        if text != printed:
            say(text)
            printed = text
        pause()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="initc", description="Wait until other cliques of the same gang have ready pods."
    )
    parser.add_argument("-p", "--podcliques", action="append", default=[], metavar="NAME:COUNT", help="may be repeated")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    try:
        needs = wanted(given.podcliques)
        cluster = PodApiServer(os.environ)
        wait(needs, cluster.pods, lambda text: print(text, flush=True), lambda: time.sleep(PAUSE))
    except UnusableArguments as error:
        print(f"initc: {error}", file=sys.stderr)
        return 1
    print("all cliques that start before this one are ready", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

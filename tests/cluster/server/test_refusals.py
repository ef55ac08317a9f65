"""What is wrong with an object of a built-in kind is told as a kube-apiserver 1.35 tells it.

`refusals.json` holds what such a server said: for each path a good object, and changes of it (dotted path → value) with
the causes of the refusal. One server of ours is asked the same."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from cluster.server.conftest import in_process
from gangline.cluster.server.server import Server, ServerSettings

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "refusals.json").read_text())


def changed(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    found = copy.deepcopy(base)
    for path, value in changes.items():
        *parents, last = path.split(".")
        spot: Any = found
        for name, following in zip(parents, path.split(".")[1:], strict=True):
            if isinstance(spot, list):
                spot = spot[int(name)]
            else:
                spot = spot.setdefault(name, [] if following.isdigit() else {})
        if isinstance(spot, list):
            spot[int(last) : int(last) + 1] = [value]
        else:
            spot[last] = value
    return found


@pytest.mark.parametrize("path", RECORDED)
async def test_what_is_wrong_is_told_in_a_kube_apiservers_words(path: str) -> None:
    server = Server(ServerSettings())
    await server.open()
    try:
        api = in_process(server)
        wrong = []
        for changes, told in RECORDED[path]["refused"]:
            answer = await api.post(path, changed(RECORDED[path]["base"], changes), dryRun="All")
            causes = answer.body.get("details", {}).get("causes", [])
            found = [f"{cause['field']}: {cause['message']}" for cause in causes]
            if (answer.status, found) != (422, told):
                wrong.append((changes, told, answer.status, found))
        assert wrong == []
    finally:
        await server.close()

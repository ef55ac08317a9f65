"""What a change of an object of a built-in kind is told is what a kube-apiserver 1.35 tells.

`updates.json` holds what such a server said: for each path an object that was created, and changes of it (dotted path →
value) with the causes of the refusal; none: it was taken. One server of ours is asked the same. Values that a server
prints as it holds them in memory, or chooses by itself, are left out on both sides."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cluster.server.conftest import Answer, Obj, in_process
from cluster.server.test_refusals import changed
from gangline.cluster.server.server import Server, ServerSettings

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "updates.json").read_text())
OWN = ("managedFields", "resourceVersion", "uid")


def comparable(text: str) -> str:
    """Without a difference of two specs below the sentence, an object in the sentence, or an address of a service."""
    text = re.sub(r"Invalid value: \{.*\}: ", "Invalid value: {…}: ", text.partition("\n")[0])
    return re.sub(r'"10\.0\.0\.\d+"', '"10.0.0.…"', text)


def told(answer: Answer) -> list[str]:
    causes = (answer.body.get("details") or {}).get("causes", [])
    return [comparable(f"{cause['field']}: {cause['message']}") for cause in causes]


def update_of(made: Obj, changes: Obj) -> Obj:
    body = changed(made, changes)
    body["metadata"] = {name: value for name, value in body["metadata"].items() if name not in OWN}
    return body


@pytest.mark.parametrize("path", RECORDED)
async def test_a_change_is_taken_or_refused_in_a_kube_apiservers_words(path: str) -> None:
    base, updates = RECORDED[path]["base"], RECORDED[path]["updates"]
    server = Server(ServerSettings())
    await server.open()
    try:
        api = in_process(server)
        made = await api.post(path, base)
        assert made.status == 201, made.message
        wrong = []
        for changes, causes in updates:
            answer = await api.put(f"{path}/{base['metadata']['name']}", update_of(made.body, changes), dryRun="All")
            if (answer.status, told(answer)) != (422 if causes else 200, causes):
                wrong.append((changes, causes, answer.status, told(answer)))
        assert wrong == []
    finally:
        await server.close()


def test_most_kinds_are_asked_and_some_changes_are_taken() -> None:
    assert len(RECORDED) >= 25
    taken = [changes for recorded in RECORDED.values() for changes, causes in recorded["updates"] if not causes]
    assert len(taken) >= 10

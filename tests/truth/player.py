"""How a case of the matrix is played: the whole platform in one process, wait, explain, apply the first remedy as
printed, running."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import yaml

from gangline.api.kinds import CRD, NODE, POD
from gangline.api.meta import Raw
from gangline.cli.connection import ClusterConnection
from gangline.cli.explain import explained
from gangline.cli.objects.apply import apply_meant, kind_of, read_meant
from gangline.errors import AlreadyExists, BadInput
from gangline.rules.verdicts import GangAnswer
from gangline.why.changes import Remedy
from gangline.why.words.printed import printed, printed_fix
from journeys.story import REAL, Story, told

THEIR_PACE = 30.0
"""Seconds that the controllers of a real plane get."""


@dataclass(frozen=True, slots=True)
class TruthCase:
    """`nodes` as in a nodes file; `before` is there and at rest when `objects` come. `says`: what the answer holds;
    `never`: what it does not.

    `runs`: how many pods of `of` have a node after the first remedy; None: no change of objects can start it."""

    name: str
    ask: str
    says: tuple[str, ...]
    objects: tuple[Raw, ...] = ()
    nodes: tuple[Raw, ...] = ({"name": "n", "count": 2, "gpus": 8},)
    before: tuple[Raw, ...] = ()
    node_patches: dict[str, Raw] = field(default_factory=dict)
    after: tuple[Raw, ...] = ()
    """Merge patches of objects once all stand."""
    delete: tuple[Raw, ...] = ()
    never: tuple[str, ...] = ("None", "pg-", "no verdict", "gpu-reservation-")
    runs: int | None = None
    of: str = ""
    without: tuple[str, ...] = ()
    remedy_says: tuple[str, ...] = ()
    started: bool = False
    """It had its nodes already: after the remedy its containers run."""
    only_simulated: str = ""
    """Why no real plane can come to stand so."""


def flat(*given: Raw | list[Raw]) -> tuple[Raw, ...]:
    return tuple(entry for item in given for entry in (item if isinstance(item, list) else [item]))


@asynccontextmanager
async def at_rest(case: TruthCase) -> AsyncIterator[Story]:
    """The cluster of a case when nothing moves any more."""
    nodes = yaml.safe_dump({"nodes": list(case.nodes)})
    async with told(nodes=nodes, without=case.without) as story:
        await story.settles()
        for name, patch in case.node_patches.items():
            await _patch_node(story, name, patch)
        for obj in case.before:
            await _made(story, obj)
        await story.settles()
        for obj in case.objects:
            await _made(story, obj)
        await story.settles()
        for obj in case.after:
            await _patched(story, obj)
        for obj in case.delete:
            await story.remove(obj)
        await story.settles()
        yield story


async def asked(story: Story, ask: str) -> tuple[str, list[tuple[GangAnswer, list[Remedy]]]]:
    """What `gangline explain` says, and the remedies behind it."""
    found = await explained(ClusterConnection(story.client, "default", "the case"), ask)
    return printed([answer for answer, _ in found], "text"), found


async def play(case: TruthCase) -> None:
    async with at_rest(case) as story:
        text, found = await asked(story, case.ask)
        missing = [fact for fact in case.says if fact not in text]
        if REAL and not _whole(case, text, found):
            text, found = await _told_later(story, case)
            missing = [fact for fact in case.says if fact not in text]
        assert not missing, f"not told: {missing}\n{text}"
        wrong = [fact for fact in case.never if fact in text]
        assert not wrong, f"told: {wrong}\n{text}"
        if case.runs is None:
            return
        assert any(remedies for _, remedies in found), f"no remedy\n{text}"
        printed = printed_fix(found, 1, "yaml")
        absent = [fact for fact in case.remedy_says if fact not in printed]
        assert not absent, f"not in the remedy: {absent}\n{text}\n{printed}"
        await apply_printed(story, printed)
        await runs(story, case, f"{text}\n{printed}")


def _whole(case: TruthCase, text: str, found: list[tuple[GangAnswer, list[Remedy]]]) -> bool:
    """Every fact is told, and a remedy where there is one."""
    return all(fact in text for fact in case.says) and (case.runs is None or any(remedies for _, remedies in found))


async def _told_later(story: Story, case: TruthCase) -> tuple[str, list[tuple[GangAnswer, list[Remedy]]]]:
    """On a real plane controllers that are not ours work at their own pace: what is said once they came to it."""
    answers = [await asked(story, case.ask)]

    async def enough() -> bool:
        answers.append(await asked(story, case.ask))
        return _whole(case, *answers[-1])

    with suppress(AssertionError):
        await story.until(enough, case.name, THEIR_PACE)
    return answers[-1]


async def _made(story: Story, obj: Raw) -> None:
    connection = ClusterConnection(story.client, "default", "the case")
    kind = await kind_of(connection, obj)
    obj = await _owned(connection, obj)
    with suppress(*((AlreadyExists,) if kind.kind == CRD.kind else ())):  # a real plane keeps it from case to case
        await story.client.create(kind, obj, obj["metadata"].get("namespace", "default") if kind.namespaced else "")
    if kind.kind == CRD.kind:
        await story.until(lambda: _is_served(connection, obj), f"{obj['metadata']['name']} to be served")
    if "status" in obj and kind.kind not in ("Node",):
        await story.client.patch(
            kind,
            obj["metadata"]["name"],
            obj["metadata"].get("namespace", "default") if kind.namespaced else "",
            {"status": obj["status"]},
            subresource="status",
        )


async def _is_served(connection: ClusterConnection, definition: Raw) -> bool:
    """A real plane serves a new kind a moment after its definition is there."""
    spec = definition["spec"]
    meant = {"apiVersion": f"{spec['group']}/{spec['versions'][0]['name']}", "kind": spec["names"]["kind"]}
    try:
        await kind_of(connection, {**meant, "metadata": {"name": "x"}})
    except BadInput:
        return False
    return True


async def _owned(connection: ClusterConnection, obj: Raw) -> Raw:
    """With the uid of each owner, which only the server knows."""
    owners = [dict(owner) for owner in obj["metadata"].get("ownerReferences") or ()]
    for owner in owners:
        kind = await kind_of(connection, {**owner, "metadata": {"name": owner["name"]}})
        owner["uid"] = (await connection.client.get_raw(kind, owner["name"], "default"))["metadata"]["uid"]
    return {**obj, "metadata": {**obj["metadata"], "ownerReferences": owners}} if owners else obj


async def _patch_node(story: Story, name: str, patch: Raw) -> None:
    status = patch.pop("status", None) if "status" in patch else None
    if patch:
        await story.client.patch(NODE, name, "", patch)
    if status:
        await story.client.patch(NODE, name, "", {"status": status}, subresource="status")


async def apply_printed(story: Story, printed: str) -> None:
    """As `gangline apply -f -` does."""
    connection = ClusterConnection(story.client, "default", "the case")
    for document, how in read_meant(printed, "the remedy"):
        await apply_meant(connection, await kind_of(connection, document), document, how)


async def _patched(story: Story, document: Raw) -> None:
    connection = ClusterConnection(story.client, "default", "the case")
    await apply_meant(connection, await kind_of(connection, document), document, "patch")


async def runs(story: Story, case: TruthCase, what: str) -> None:
    of = case.of or case.ask.rpartition("/")[2]

    async def enough() -> bool:
        pods = [
            pod
            for pod in (await story.client.list(POD, "default")).items
            if pod.name == of or pod.name.startswith(f"{of}-")
        ]
        held = [pod for pod in pods if pod.spec.node_name and not pod.metadata.deleting]
        return sum(not case.started or pod.status.phase == "Running" for pod in held) >= (case.runs or 0)

    await story.until(enough, what)

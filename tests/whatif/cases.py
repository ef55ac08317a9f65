"""Random questions about random clusters, and what really happens: the same changes made on the whole platform, played
until nothing moves. The same for the same number."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from gangline.api import kinds
from gangline.api.kinds import KINDS
from gangline.api.meta import Raw
from gangline.cli.whatif import apply_all
from gangline.client import Client
from gangline.local import Platform, PlatformSettings
from gangline.whatif import WhatifChanges, WhatifQuestion, ask
from gangline.whatif.changes import added, drained, requoted
from gangline.whatif.compare import WhatifAnswer
from gangline.whatif.copy import PlatformCopy
from truth.clusters import GANG, cluster

Fates = dict[str, int]
"""Gang → how many of its pods have a node."""
QUIET_SECONDS, MOST_SECONDS = 3, 30
"""How long nothing may change for a copy to be at rest, and when it is taken as it is."""


@dataclass(frozen=True, slots=True)
class RandomCase:
    """`ground`: the cluster; `files`: what is applied; `changes`: what is asked besides."""

    ground: list[Raw]
    files: list[Raw]
    changes: WhatifChanges


@dataclass(frozen=True, slots=True)
class Agreement:
    told: Fates
    real: Fates

    @property
    def same(self) -> bool:
        return self.told == self.real


def random_case(seed: int) -> RandomCase:
    objects, chance = cluster(seed), random.Random(seed)
    mine = [obj for obj in objects if _gang_of(obj) == GANG]
    ground = [_simulated(obj) for obj in objects if obj not in mine]
    jobs = _as_jobs(ground, chance) if chance.random() < 0.5 else []
    ground = [obj for obj in ground if not jobs or obj["kind"] not in ("Pod", "PodGroup")] + jobs
    nodes = [obj["metadata"]["name"] for obj in ground if obj["kind"] == "Node"]
    gangs = [obj["metadata"]["name"] for obj in ground if obj["kind"] in ("PodGroup", "Job")]
    changes = WhatifChanges(
        drain=(chance.choice(nodes),) if chance.random() < 0.3 else (),
        add_nodes=(f"gpus:{chance.choice([4, 8])},cpu:64={chance.randint(1, 2)}",) if chance.random() < 0.3 else (),
        quota=(f"{chance.choice(['a', 'b', 'org'])}.gpu.quota={chance.choice([0, 4, 16])}",)
        if chance.random() < 0.3
        else (),
        without=(chance.choice(gangs),) if gangs and chance.random() < 0.3 else (),
    )
    files = mine if chance.random() < 0.9 or not changes else []
    return RandomCase(ground, [_fresh(obj) for obj in files], changes)


def _gang_of(obj: Raw) -> str:
    """By the name that users know: of the Job, or of the group itself."""
    meta = obj["metadata"]
    owners = [owner["name"] for owner in meta.get("ownerReferences") or () if owner["kind"] == "Job"]
    if owners or obj["kind"] == "PodGroup":
        return str(owners[0] if owners else meta["name"])
    return str((meta.get("annotations") or {}).get("pod-group-name", ""))


def _as_jobs(ground: Sequence[Raw], chance: random.Random) -> list[Raw]:
    """The work of a cluster as Jobs, whose pods come again when they are gone."""
    sizes = {
        _gang_of(pod): pod["spec"]["containers"][0]["resources"]["requests"] for pod in ground if pod["kind"] == "Pod"
    }
    return [
        _job(group["metadata"]["name"], group["spec"]["queue"], sizes[_gang_of(group)], chance.randint(1, 2))
        for group in ground
        if group["kind"] == "PodGroup"
    ]


def _job(name: str, queue: str, wanted: Raw, pods: int) -> Raw:
    container = _container({"name": "c", "resources": {"requests": wanted}})
    spec = {"schedulerName": "kai-scheduler", "restartPolicy": "Never", "containers": [container]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "backoffLimit": 100,
            "template": {"metadata": {"labels": {"kai.scheduler/queue": queue}}, "spec": spec},
        },
    }


def _simulated(obj: Raw) -> Raw:
    if obj["kind"] != "Node":
        return obj
    return {
        **obj,
        "metadata": {**obj["metadata"], "labels": {**obj["metadata"]["labels"], "gangline.io/simulated": "true"}},
    }


def _fresh(obj: Raw) -> Raw:
    """As somebody writes it into a file."""
    meta = {key: value for key, value in obj["metadata"].items() if key not in ("uid", "creationTimestamp")}
    spec = obj["spec"]
    if obj["kind"] == "Pod":
        spec = {**spec, "containers": [_container(item) for item in spec["containers"]]}
    return {**{key: value for key, value in obj.items() if key != "status"}, "metadata": meta, "spec": spec}


def _container(item: Raw) -> Raw:
    wanted = item["resources"]["requests"]
    limits = {name: amount for name, amount in wanted.items() if "/" in name}
    return {**item, "image": "registry.example/app:1", "resources": {"requests": wanted, "limits": limits}}


async def compared(seed: int) -> Agreement:
    case = random_case(seed)
    source = Platform(PlatformSettings(components=()))
    await source.open()
    try:
        for obj in case.ground:
            kind = kinds.known(obj["apiVersion"], obj["kind"])
            assert kind is not None
            if kind is kinds.JOB:
                await source.admin.create(kind, obj)
            else:
                source.server.plant(kind.group, kind.plural, obj)
        return await _compared(source.admin, case)
    finally:
        await source.stop()


async def _compared(source: Client, case: RandomCase) -> Agreement:
    """Asked of a cluster at rest; then the changes are made on a copy of it before any component looks."""
    apply = partial(apply_all, objects=case.files, namespace="default")
    async with PlatformCopy(source, KINDS) as rested:
        before = await _at_rest(rested)
        _, answer = await ask(rested.client, WhatifQuestion(case.changes, case.files, "default", apply), time.time())
        async with PlatformCopy(rested.client, KINDS, prepare=partial(_really, case=case)) as changed:
            real = await _at_rest(changed)
    return Agreement(_foretold(before, answer, case.changes.without), real)


async def _really(client: Client, case: RandomCase) -> None:
    """The changes, as an administrator makes them."""
    changes = case.changes
    for node in drained(case.ground, changes.drain):
        await client.patch(kinds.NODE, node["metadata"]["name"], "", {"spec": {"unschedulable": True}})
    for queue in requoted(case.ground, changes.quota):
        await client.patch(kinds.QUEUE, queue["metadata"]["name"], "", {"spec": queue["spec"]})
    for pod in await client.list_raw(kinds.POD):
        if pod["spec"].get("nodeName") in changes.drain or _gang_of(pod) in changes.without:
            await client.delete(kinds.POD, pod["metadata"]["name"], "default", grace=0)
    for kind in (kinds.JOB, kinds.POD_GROUP):
        for obj in await client.list_raw(kind):
            if obj["metadata"]["name"] in changes.without or _gang_of(obj) in changes.without:
                await client.delete(kind, obj["metadata"]["name"], "default")
    for obj in added(case.ground, changes.add_nodes):
        await client.create(kinds.NODE, _simulated(obj))
        await client.patch(kinds.NODE, obj["metadata"]["name"], "", {"status": obj["status"]}, subresource="status")
        await client.patch(kinds.NODE, obj["metadata"]["name"], "", {"spec": {"taints": None}})
    await apply_all(client, case.files, "default")


async def _at_rest(copy: PlatformCopy) -> Fates:
    """When nobody moves any more although time passes and something happens, as in every cluster: who was placed a
    moment ago is left alone in the same second, and may have to make room in the next one."""
    found, still = await _placed(copy.client), 0
    first_node = next(iter(await copy.client.list_raw(kinds.NODE)))["metadata"]["name"]
    for turn in range(MOST_SECONDS):
        copy.passes(1.0)
        await copy.client.patch(kinds.NODE, first_node, "", {"metadata": {"labels": {"example.com/turn": str(turn)}}})
        await copy.settles()
        now = await _placed(copy.client)
        still = still + 1 if now == found else 0
        found = now
        if still == QUIET_SECONDS:
            break
    return found


async def _placed(client: Client) -> Fates:
    found: Fates = {}
    for pod in await client.list_raw(kinds.POD):
        leaves = pod["metadata"].get("deletionTimestamp") or (pod.get("status") or {}).get("phase") == "Failed"
        if pod["spec"].get("nodeName") and not leaves and _gang_of(pod):
            found[_gang_of(pod)] = found.get(_gang_of(pod), 0) + 1
    return found


def _foretold(before: Fates, answer: WhatifAnswer, without: Sequence[str]) -> Fates:
    """How many pods each gang has, if the answer is right."""
    after = dict(before)
    for outcome in answer.new:
        after[outcome.name] = after.get(outcome.name, 0) + sum(outcome.nodes.values())
    for outcome in answer.others:
        lost = 0 if outcome.fate in ("starts", "still waits") else outcome.pods
        after[outcome.name] = after.get(outcome.name, 0) - lost + sum(outcome.nodes.values())
    return {gang: count for gang, count in after.items() if count and gang not in without}

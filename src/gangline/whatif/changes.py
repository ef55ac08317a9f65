"""What is asked besides files: nodes that are drained or added, quotas that change, gangs that are gone.

Read from words of the command line, checked against the cluster, and turned into changes of objects. A word that the
cluster does not know is an error with the nearest one it does. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gangline.api import kinds, names
from gangline.api.meta import Raw
from gangline.api.resources import canonical
from gangline.errors import BadInput
from gangline.rules.values.nearest import did_you_mean
from gangline.rules.values.queue_amounts import read_bound, read_priority, read_weight

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
HOSTNAME = "kubernetes.io/hostname"
SHORT = {"gpu": names.NVIDIA_GPU, "gpus": names.NVIDIA_GPU}
USUAL = {"cpu": "64", "memory": "256Gi", "pods": "110"}
"""What a new node has where its shape does not say."""
RESOURCES, SHARES = ("gpu", "cpu", "memory"), ("quota", "limit", "overQuotaWeight")
MOST_NODES = 10_000


@dataclass(frozen=True, slots=True)
class WhatifChanges:
    """Words as they were given."""

    drain: tuple[str, ...] = ()
    add_nodes: tuple[str, ...] = ()
    quota: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.drain or self.add_nodes or self.quota or self.without)


def _of(objects: Sequence[Raw], kind: kinds.Kind[Any]) -> dict[str, Raw]:
    return {str(obj["metadata"]["name"]): obj for obj in objects if obj["kind"] == kind.kind}


# ── nodes ──


def drained(objects: Sequence[Raw], words: Sequence[str]) -> list[Raw]:
    """The nodes as they are once they are cordoned."""
    nodes = _of(objects, kinds.NODE)
    for name in words:
        if name not in nodes:
            raise BadInput(f"--drain {name}: there is no such node{did_you_mean(name, nodes)}")
    return [{**nodes[name], "spec": {**(nodes[name].get("spec") or {}), "unschedulable": True}} for name in words]


def added(objects: Sequence[Raw], words: Sequence[str]) -> list[Raw]:
    """New nodes, with their devices where the node they are like has such."""
    made: list[Raw] = []
    known = _of(objects, kinds.NODE)
    for word in words:
        shape, many = _shape_and_count(word)
        model = _amounts_node(shape, word) if ":" in shape else _like(known, shape, word)
        for _ in range(many):
            name = _fresh_name(known)
            node = _named_node(model, name)
            known[name] = node
            made += [node, *_parts(objects, str(model["metadata"]["name"]), name)]
    return made


def _shape_and_count(word: str) -> tuple[str, int]:
    shape, equals, number = word.rpartition("=")
    if not equals or not shape or not number.isdecimal() or not 0 < int(number) <= MOST_NODES:
        raise BadInput(
            f"--add-nodes {word}: write SHAPE=N, N from 1 to {MOST_NODES}; SHAPE is a node that the new ones are like, "
            f"an instance type, a pool of `gangline up --nodes`, or amounts as in gpus:8,cpu:96,memory:1Ti"
        )
    return shape, int(number)


def _like(nodes: Mapping[str, Raw], shape: str, word: str) -> Raw:
    if shape in nodes:
        return nodes[shape]
    types = {
        str(labels[label]): node
        for label in (INSTANCE_TYPE, names.POOL)
        for node in nodes.values()
        if label in (labels := node["metadata"].get("labels") or {})
    }
    if shape in types:
        return types[shape]
    near = did_you_mean(shape, (*nodes, *types))
    raise BadInput(f"--add-nodes {word}: no node, no instance type and no pool is called {shape!r}{near}")


def _amounts_node(shape: str, word: str) -> Raw:
    has = dict(USUAL)
    for part in shape.split(","):
        name, _, amount = part.strip().partition(":")
        try:
            has[SHORT.get(name, name)] = canonical(amount)
        except ValueError as error:
            raise BadInput(f"--add-nodes {word}: {part!r} is no amount: {error}") from None
    labels = {names.GPU_COUNT_LABEL: has[names.NVIDIA_GPU]} if names.NVIDIA_GPU in has else {}
    return {
        "apiVersion": "v1",
        "kind": kinds.NODE.kind,
        "metadata": {"name": "", "labels": labels},
        "status": {"allocatable": has, "capacity": has},
    }


def _fresh_name(nodes: Mapping[str, Raw]) -> str:
    number = 1
    while f"new-{number}" in nodes:
        number += 1
    return f"new-{number}"


def _named_node(model: Raw, name: str) -> Raw:
    """Like the model, ready and open to everybody whom the model's own taints let in."""
    labels = {**(model["metadata"].get("labels") or {}), HOSTNAME: name}
    spec = model.get("spec") or {}
    own = [taint for taint in spec.get("taints") or () if not str(taint.get("key")).startswith("node.kubernetes.io/")]
    return {
        "apiVersion": "v1",
        "kind": kinds.NODE.kind,
        "metadata": {"name": name, "uid": f"node-{name}", "labels": labels},
        "spec": {"taints": own} if own else {},
        "status": {**(model.get("status") or {}), "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _parts(objects: Sequence[Raw], model: str, name: str) -> list[Raw]:
    """Device slices and NUMA zones as the model has them, all of it free."""
    slices = [
        {
            **obj,
            "metadata": {"name": f"{obj['metadata']['name']}-{name}", "uid": f"slice-{name}"},
            "spec": {**obj["spec"], "nodeName": name, "pool": {**obj["spec"].get("pool", {}), "name": name}},
        }
        for obj in objects
        if obj["kind"] == kinds.RESOURCE_SLICE.kind and (obj.get("spec") or {}).get("nodeName") == model
    ]
    zones = [
        {
            **obj,
            "metadata": {**obj["metadata"], "name": name},
            "zones": [
                {
                    **zone,
                    "resources": [
                        {**amount, "available": amount.get("allocatable")} for amount in zone.get("resources") or ()
                    ],
                }
                for zone in obj.get("zones") or ()
            ],
        }
        for obj in objects
        if obj["kind"] == kinds.NODE_RESOURCE_TOPOLOGY.kind and obj["metadata"]["name"] == model
    ]
    return [*slices, *zones]


# ── queues ──


def requoted(objects: Sequence[Raw], words: Sequence[str]) -> list[Raw]:
    """The queues as they are after `team-a.gpu.quota=64` and the like."""
    queues, changed = _of(objects, kinds.QUEUE), dict[str, Raw]()
    for word in words:
        path, _, value = word.partition("=")
        name, resource, field = _queue_field(queues, path, word)
        number = _amount(resource, field, value, word)
        queue = changed.get(name, queues[name])
        spec = queue.get("spec") or {}
        if field == "priority":
            spec = {**spec, "priority": number}
        else:
            shares = spec.get("resources") or {}
            share = {**(shares.get(resource) or {}), field: number}
            spec = {**spec, "resources": {**shares, resource: share}}
        changed[name] = {**queue, "spec": spec}
    return list(changed.values())


def _queue_field(queues: Mapping[str, Raw], path: str, word: str) -> tuple[str, str, str]:
    """`team.gpu.quota`, `team.quota` and `team.gpu` (of GPUs, their quota), `team.priority`; a queue's name may have
    dots."""
    for name in sorted(queues, key=len, reverse=True):
        if path.startswith(f"{name}."):
            resource, field = _field(path.removeprefix(f"{name}.").split("."), word)
            return name, resource, field
    if path in queues:
        raise BadInput(f"--quota {word}: write what of queue {path} changes, as in {path}.gpu.quota=8")
    name = path.partition(".")[0]
    raise BadInput(f"--quota {word}: there is no queue {name!r}{did_you_mean(name, queues)}")


def _field(parts: list[str], word: str) -> tuple[str, str]:
    if parts == ["priority"]:
        return "", "priority"
    if len(parts) == 1:
        parts = [parts[0], "quota"] if parts[0] in RESOURCES else ["gpu", parts[0]]
    if parts[-1] == "weight":
        parts = [*parts[:-1], "overQuotaWeight"]
    if len(parts) == 2 and parts[0] in RESOURCES and parts[1] in SHARES:
        return parts[0], parts[1]
    fields = [f"{resource}.{share}" for resource in RESOURCES for share in SHARES] + ["priority"]
    raise BadInput(
        f"--quota {word}: a queue has no field {'.'.join(parts)}{did_you_mean('.'.join(parts), fields)} "
        f"(known: {', '.join(fields)})"
    )


def _amount(resource: str, field: str, value: str, word: str) -> float:
    """In the units of `gangline queue set`."""
    try:
        if field == "priority":
            return read_priority(value)
        return read_weight(value) if field == "overQuotaWeight" else read_bound(resource, value)
    except ValueError as error:
        raise BadInput(f"--quota {word}: {error}") from None


# ── gangs ──


def gangs_without(titles: Mapping[str, str], words: Sequence[str]) -> list[str]:
    """The gangs that are meant by their names: as users know them, or as their PodGroups are called; `namespace/name`
    says which of several. `titles`: gang → the name that users know."""
    gangs: list[str] = []
    for word in words:
        meant = [
            uid
            for uid, title in titles.items()
            if word in (title, uid, uid.partition("/")[2], f"{uid.partition('/')[0]}/{title}")
        ]
        spaces = sorted({uid.partition("/")[0] for uid in meant})
        if not meant:
            raise BadInput(f"--without {word}: there is no such gang{did_you_mean(word, titles.values())}")
        if len(spaces) > 1:
            raise BadInput(f"--without {word}: there are several; write {' or '.join(f'{s}/{word}' for s in spaces)}")
        gangs += meant
    return gangs

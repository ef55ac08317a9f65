"""A cluster's objects in the recordings' form: what the README of the suite calls normalisation."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from conformance.grove.lab import Lab
from gangline.api import kinds
from gangline.api.kinds import Kind
from gangline.api.meta import Raw
from gangline.errors import NotFound

NAMESPACED: tuple[Kind[Any], ...] = (
    kinds.POD_CLIQUE_SET,
    kinds.SCALING_GROUP,
    kinds.POD_CLIQUE,
    kinds.POD_GANG,
    kinds.POD_GROUP,
    kinds.VOLCANO_POD_GROUP,
    kinds.POD,
    kinds.SERVICE,
    kinds.SERVICE_ACCOUNT,
    kinds.SECRET,
    kinds.ROLE,
    kinds.ROLE_BINDING,
    kinds.HPA,
    kinds.RESOURCE_CLAIM_TEMPLATE,
    kinds.RESOURCE_CLAIM,
    kinds.COMPUTE_DOMAIN,
)
META = (
    "name",
    "namespace",
    "generateName",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
HASHES = {
    "currentGenerationHash",
    "currentPodCliqueSetGenerationHash",
    "currentPodTemplateHash",
    "podCliqueSetGenerationHash",
    "podTemplateHash",
    "grove.io/pod-template-hash",
}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass
class Snapshot:
    objects: dict[str, Raw] = field(default_factory=dict)
    status: dict[str, Raw] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    uids: dict[str, str] = field(default_factory=dict)


async def take(lab: Lab, namespace: str, cluster_scoped: list[tuple[Kind[Any], str]]) -> Snapshot:
    raws = [
        (kind, raw)
        for kind in NAMESPACED
        for raw in await lab.client.list_raw(kind, namespace)
        if not (kind is kinds.SERVICE_ACCOUNT and raw["metadata"]["name"] == "default")
    ]
    for kind, name in cluster_scoped:
        try:
            raws.append((kind, await lab.client.get_raw(kind, name)))
        except NotFound:
            continue
    pod_names = _pod_names(lab, [raw for kind, raw in raws if kind is kinds.POD])
    found = Snapshot()
    for kind, raw in sorted(raws, key=lambda raw: (raw[0].kind, raw[1]["metadata"]["name"])):
        _add(found, kind, raw, pod_names)
    return found


def _pod_names(lab: Lab, pods: list[Raw]) -> dict[str, str]:
    """Pod names as the recordings write them, by real name."""
    found = {}
    for pod in pods:
        labels, name, uid = pod["metadata"].get("labels", {}), pod["metadata"]["name"], pod["metadata"]["uid"]
        clique, index = labels.get("grove.io/podclique", ""), labels.get("grove.io/podclique-pod-index", "")
        born = lab.born.get(f"{clique}/{index}", [uid])
        turn = born.index(uid)
        found[name] = f"{clique}-<pod-{index}{f'.g{turn}' if turn else ''}>"
    return found


def _add(found: Snapshot, kind: Kind[Any], raw: Raw, pods: dict[str, str]) -> None:
    generation = raw["metadata"].get("generation")
    clean = _replace(raw, pods)
    name = f"{kind.kind}/{clean['metadata']['name']}"
    status = clean.pop("status", None)
    if kind is kinds.SECRET:
        clean["dataKeys"] = sorted((clean.pop("data", None) or {}).keys())
    if kind is kinds.POD_GANG:
        clean["metadata"].get("labels", {}).pop("grove.io/scheduler-backend", None)
        for group in clean["spec"]["podgroups"]:
            group["podReferences"] = sorted(
                group.get("podReferences") or [], key=lambda pod_reference: pod_reference["name"]
            )
    clean["metadata"] = _metadata(clean["metadata"])
    clean = _hide(clean, name, found.hashes)
    found.objects[name] = clean
    found.counts[kind.kind] = found.counts.get(kind.kind, 0) + 1
    found.uids[_label(kind, clean["metadata"]["name"])] = raw["metadata"]["uid"]
    if status:
        found.status[_label(kind, clean["metadata"]["name"])] = _status(
            _hide(status, f"{name}#status", found.hashes), generation
        )


def _label(kind: Kind[Any], name: str) -> str:
    return f"PodGroup.{kind.group}/{name}" if kind.kind == "PodGroup" else f"{kind.kind}/{name}"


def _metadata(meta: Raw) -> Raw:
    kept = {key: meta[key] for key in META if meta.get(key)}
    if "deletionGracePeriodSeconds" in meta:
        kept["deletionGracePeriodSeconds"] = meta["deletionGracePeriodSeconds"]
    for owner in kept.get("ownerReferences", ()):
        owner.pop("uid", None)
    return kept


def _replace(value: Any, pods: dict[str, str]) -> Any:
    """Times, uids and pod names as the recordings write them, everywhere."""
    if isinstance(value, dict):
        return {pods.get(key, key): _replace(item, pods) if key != "uid" else item for key, item in value.items()}
    if isinstance(value, list):
        return [_replace(item, pods) for item in value]
    if isinstance(value, str):
        return pods.get(value) or _UID.sub("<uid>", _TIME.sub("<time>", value))
    return value


def _hide(value: Any, path: str, hashes: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_hide(item, f"{path}/{index}", hashes) for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, item in value.items():
        where = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
        if key in HASHES and isinstance(item, str):
            hashes[where] = item
            found[key] = "<hash>"
        else:
            found[key] = _hide(item, where, hashes)
    return found


def _status(status: Raw, generation: int | None) -> Raw:
    if "observedGeneration" in status:
        status["observedGeneration"] = "<current>" if status["observedGeneration"] == generation else "<behind>"
    return status


def identity(before: Snapshot, after: Snapshot) -> Raw:
    """What became of the objects of the state before."""
    names = sorted({*before.uids, *after.uids})
    return {
        "kept": sum(before.uids.get(name) == after.uids.get(name) for name in names),
        "recreated": [
            name
            for name in names
            if name in before.uids and name in after.uids and before.uids[name] != after.uids[name]
        ],
        "created": [name for name in names if name not in before.uids],
        "deleted": [name for name in names if name not in after.uids],
    }

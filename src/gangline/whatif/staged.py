"""What stands on the stage before the files come, and what is seen of it afterwards. Pure; stage.py acts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gangline.api import kinds, names, resources
from gangline.api.kinds import Kind
from gangline.api.meta import Raw

GROUND: tuple[Kind[Any], ...] = (
    kinds.NAMESPACE,
    kinds.QUEUE,
    kinds.PRIORITY_CLASS,
    kinds.TOPOLOGY,
    kinds.TOPOLOGY_BINDING,
    kinds.STORAGE_CLASS,
    kinds.DEVICE_CLASS,
    kinds.RESOURCE_CLAIM_TEMPLATE,
    kinds.LIMIT_RANGE,
    kinds.RESOURCE_QUOTA,
    kinds.SERVICE_ACCOUNT,
)
"""Kinds that say how workloads are made."""
WORKLOADS: tuple[Kind[Any], ...] = (
    kinds.POD_CLIQUE_SET,
    kinds.POD_CLIQUE,
    kinds.SCALING_GROUP,
    kinds.POD_GANG,
    kinds.JOB,
    kinds.DEPLOYMENT,
    kinds.REPLICA_SET,
    kinds.STATEFUL_SET,
)
"""Kinds that own others; looked for only where files change an object that exists."""
Named = tuple[str, str, str]
"""Kind, namespace and name."""


def key_of(obj: Raw, namespace: str = "") -> Named:
    """`namespace`: where an object is that names none, if its kind has namespaces."""
    meta, known = obj["metadata"], kinds.known(str(obj["apiVersion"]), str(obj["kind"]))
    namespace = "" if known is not None and not known.namespaced else namespace
    return str(obj["kind"]), str(meta.get("namespace") or namespace), str(meta.get("name") or "")


def ground(objects: Sequence[Raw], groups: Iterable[str], existing: Sequence[Raw]) -> list[Raw]:
    """`groups`: API groups of the files, whose definitions are wanted; `existing`: what the files change, and what it
    owns."""
    plain = {kind.kind for kind in GROUND} - {kinds.RESOURCE_QUOTA.kind}
    wanted = set(groups)
    planted = [obj for obj in objects if obj["kind"] in plain]
    planted += [obj for obj in objects if obj["kind"] == kinds.CRD.kind and obj["spec"]["group"] in wanted]
    if not existing:
        planted += [_left(obj) for obj in objects if obj["kind"] == kinds.RESOURCE_QUOTA.kind]
    return [*planted, *_orphaned(existing)]


def _left(quota: Raw) -> Raw:
    """A ResourceQuota over what is still free of it: those who use the rest are not on the stage."""
    used = (quota.get("status") or {}).get("used") or {}
    left = {
        name: f"{max(resources.milli(amount) - resources.milli(used.get(name, 0)), 0)}m"
        for name, amount in ((quota.get("spec") or {}).get("hard") or {}).items()
    }
    return {**quota, "spec": {**(quota.get("spec") or {}), "hard": left}, "status": {"hard": left}}


def _orphaned(existing: Sequence[Raw]) -> list[Raw]:
    """Without owners that are not on the stage: garbage collection would take them for gone."""
    here = {str(obj["metadata"].get("uid")) for obj in existing}
    return [
        {
            **obj,
            "metadata": {
                **obj["metadata"],
                "ownerReferences": [
                    item for item in obj["metadata"].get("ownerReferences") or () if str(item.get("uid")) in here
                ],
            },
        }
        for obj in existing
    ]


def with_owned(objects: Sequence[Raw], roots: Iterable[Named]) -> list[Raw]:
    """The objects of these names, and all that they own."""
    wanted = set(roots)
    owned = {str(obj["metadata"].get("uid")): obj for obj in objects if key_of(obj) in wanted}
    more = True
    while more:
        more = False
        for obj in objects:
            uid = str(obj["metadata"].get("uid"))
            owners = obj["metadata"].get("ownerReferences") or ()
            if uid not in owned and any(str(owner.get("uid")) in owned for owner in owners):
                owned[uid], more = obj, True
    return list(owned.values())


def established(definition: Raw) -> Raw:
    """As a server shows a definition that it serves."""
    conditions = [{"type": kind, "status": "True", "reason": "Accepted"} for kind in ("NamesAccepted", "Established")]
    spec = definition["spec"]
    status = {
        "acceptedNames": spec["names"],
        "conditions": conditions,
        "storedVersions": [version["name"] for version in spec["versions"]],
    }
    meta = {"uid": f"definition-{definition['metadata']['name']}", **definition["metadata"]}
    return {**definition, "metadata": meta, "status": status}


def running(pod: Raw, node: str) -> Raw:
    """As its kubelet would show it once it runs."""
    conditions = [
        {"type": kind, "status": "True"} for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    ]
    containers = [
        {
            "name": container["name"],
            "image": container.get("image", ""),
            "imageID": "",
            "ready": True,
            "started": True,
            "restartCount": 0,
            "state": {"running": {}},
        }
        for container in pod["spec"].get("containers") or ()
    ]
    status = {**(pod.get("status") or {}), "phase": "Running"}
    return {
        **pod,
        "spec": {**pod["spec"], "nodeName": node},
        "status": {**status, "conditions": conditions, "containerStatuses": containers},
    }


def not_judged(pods: Iterable[Raw], schedulers: Sequence[str]) -> list[str]:
    """Pods of other schedulers: who makes them, and who places them."""
    counts: dict[tuple[str, str], int] = {}
    for pod in pods:
        scheduler = str(pod["spec"].get("schedulerName") or names.DEFAULT_SCHEDULER)
        if scheduler not in schedulers and not pod["spec"].get("nodeName"):
            owners = [item for item in pod["metadata"].get("ownerReferences") or () if item.get("controller")]
            maker = str(owners[0]["name"]) if owners else str(pod["metadata"]["name"])
            counts[maker, scheduler] = counts.get((maker, scheduler), 0) + 1
    return [
        f"{maker}: {count} pod{'' if count == 1 else 's'} of {scheduler}, which is not asked here"
        for (maker, scheduler), count in sorted(counts.items())
    ]

"""Replays the pod grouper's cases: objects in, PodGroups, pod marks and events out."""

from __future__ import annotations

from typing import Any

from conformance.kai_services.lab import ACCOUNT, Environment, Lab
from conformance.kai_services.placeholders import Uids, difference
from conformance.kai_services.steps import NAMESPACE, UnknownCase, concerns_pod, do
from gangline.admission.scheduling import kai
from gangline.api.kinds import EVENT, POD, POD_GROUP
from gangline.config import KAI, manner
from gangline.grouper.component import component
from gangline.grouper.settings import from_flags

Raw = dict[str, Any]
KEYS = {"name", "area", "kind", "config", "namespaceLabels", "note", "upstream_panic", "steps"}
RIGHTS = {"chart": False, "chart + get/list/watch on everything": True}
EXTRAS = {
    None: (),
    "PodGroup validating webhook registered for this namespace": ("webhook",),
    "Karta CRD installed": ("karta",),
}


async def check(case: Raw, environment: Environment) -> str:
    """Replay one case; the first difference, or nothing."""
    config = case["config"]
    if case.keys() - KEYS or config.get("rbac") not in RIGHTS or config.get("extra") not in EXTRAS:
        raise UnknownCase("the case has keys or a configuration that are not known")
    extras = EXTRAS[config.get("extra")]
    hooks = [hook for hook in kai.hooks() if hook.plural == "podgroups"] if "webhook" in extras else []
    lab = Lab(environment, hooks=hooks, karta="karta" in extras)
    await lab.open(case.get("namespaceLabels"))
    try:
        await lab.allow(ACCOUNT, everything=RIGHTS[config["rbac"]])
        await lab.start(component(from_flags(config["flags"], manner([KAI]))), ACCOUNT)
        return await _replay(lab, case)
    finally:
        await lab.close()


async def _replay(lab: Lab, case: Raw) -> str:
    uids = Uids()
    for number, step in enumerate(case["steps"], 1):
        for op in step["apply"]:
            await do(lab, uids, op)
            if concerns_pod(op):
                await lab.settle()
        await lab.settle()
        found = await _result(lab, uids)
        problem = _panic(found) if case.get("upstream_panic") else _compare(step["result"], found)
        if problem:
            return f"step {number}: {problem}"
    return ""


async def _result(lab: Lab, uids: Uids) -> Raw:
    groups = await lab.admin.list_raw(POD_GROUP, NAMESPACE)
    pods = await lab.admin.list_raw(POD, NAMESPACE)
    events = await lab.admin.list_raw(EVENT, NAMESPACE)
    found: Raw = {
        "podgroups": [_group(group) for group in groups],
        "pods": [_pod(pod) for pod in pods],
        "events": [(event["type"], event["reason"], _about(event)) for event in events],
    }
    named: Raw = uids.named({key: value for key, value in found.items() if key != "events"})
    return {**{key: sorted(value, key=_name) for key, value in named.items()}, "events": sorted(set(found["events"]))}


def _name(obj: Raw) -> str:
    return str(obj["name"])


def _group(obj: Raw) -> Raw:
    meta = obj["metadata"]
    return {
        "name": meta["name"],
        "namespace": meta["namespace"],
        "labels": meta.get("labels") or {},
        "annotations": meta.get("annotations") or {},
        "ownerReferences": meta.get("ownerReferences") or [],
        "spec": obj.get("spec") or {},
    }


def _pod(obj: Raw) -> Raw:
    meta = obj["metadata"]
    return {"name": meta["name"], "labels": meta.get("labels") or {}, "annotations": meta.get("annotations") or {}}


def _about(event: Raw) -> str:
    return f"{event['involvedObject']['kind']}/{event['involvedObject']['name']}"


def _compare(expected: Raw, found: Raw) -> str:
    events = sorted({(event["type"], event["reason"], event["object"]) for event in expected["events"]})
    for key in ("podgroups", "pods"):
        problem = difference(expected[key], found[key], key)
        if problem:
            return f"{problem}; events {found['events']}"
    return difference([list(event) for event in events], [list(event) for event in found["events"]], "events")


def _panic(found: Raw) -> str:
    """Where upstream panicked we must group, or say in a Warning what is wrong."""
    if found["podgroups"] or any(kind == "Warning" for kind, _, _ in found["events"]):
        return ""
    return "neither a PodGroup nor a Warning event"

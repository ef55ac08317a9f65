"""The subresources only pods have: binding, eviction, log.

Binding and eviction are ordinary updates and deletes with rules of their own; logs come from whoever simulates the pod.
"""

from __future__ import annotations

from typing import Any

from gangline.apiserver.call import Call
from gangline.apiserver.codec import decode_body
from gangline.apiserver.core import Core
from gangline.apiserver.deletes import Options, delete_one
from gangline.apiserver.meta import Obj
from gangline.apiserver.selectors import label_test
from gangline.apiserver.status import bad_request, conflict, not_found, too_many_requests
from gangline.apiserver.writes import change

CREATED = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


async def bind(core: Core, call: Call) -> dict[str, Any]:
    """Give a pod its node."""
    body = decode_body(call.request.body, call.request.content_type, "Binding") or {}
    target = body.get("target") or {}
    if not target.get("name"):
        raise bad_request("target.name: a binding needs the name of a node")
    call.name = call.name or (body.get("metadata") or {}).get("name", "")

    def bound(pod: Obj) -> Obj:
        spec = pod["spec"]
        if pod["metadata"].get("deletionTimestamp"):
            raise conflict("", "pods/binding", call.name, f"pod {call.name} is being deleted, cannot be assigned to a host")
        if spec.get("nodeName"):
            raise conflict("", "pods/binding", call.name, f"pod {call.name} is already assigned to node \"{spec['nodeName']}\"")
        if spec.get("schedulingGates"):
            raise conflict("", "pods/binding", call.name, f"pod {call.name} has non-empty .spec.schedulingGates")
        spec["nodeName"] = target["name"]
        annotations = (body.get("metadata") or {}).get("annotations")
        if annotations:
            pod["metadata"]["annotations"] = {**(pod["metadata"].get("annotations") or {}), **annotations}
        _scheduled(pod, core.now())
        return pod

    await change(core, call, bound)
    return CREATED


def _scheduled(pod: Obj, now: str) -> None:
    conditions = pod.setdefault("status", {}).setdefault("conditions", [])
    conditions[:] = [condition for condition in conditions if condition.get("type") != "PodScheduled"]
    conditions.append({"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now})


async def evict(core: Core, call: Call) -> dict[str, Any]:
    """Delete a pod, unless a disruption budget says no."""
    body = decode_body(call.request.body, call.request.content_type, "Eviction") or {}
    options = body.get("deleteOptions") or {}
    wanted = options.get("preconditions") or {}
    pod = core.read(call.resource, call.place)
    if pod is None:
        raise not_found("", "pods", call.name)
    if not _ignores_budgets(pod):
        _spend_budget(core, call, pod)
    await delete_one(core, call, Options(options.get("gracePeriodSeconds"), options.get("propagationPolicy") or "", None,
                                         wanted.get("uid") or "", wanted.get("resourceVersion") or "", call.dry_run, options))
    return CREATED


def _ignores_budgets(pod: Obj) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed", "Pending", None) or bool(
        pod["metadata"].get("deletionTimestamp"))


def _spend_budget(core: Core, call: Call, pod: Obj) -> None:
    budgets = core.catalogue.find("policy", "v1", "poddisruptionbudgets")
    if budgets is None:
        return
    labels = pod["metadata"].get("labels") or {}
    for record in core.store.shelf(budgets.shelf).listing(call.namespace):
        budget = record.object()
        if not _selects((budget.get("spec") or {}).get("selector"), labels):
            continue
        status = budget.get("status") or {}
        if status.get("disruptionsAllowed", 0) <= 0:
            raise too_many_requests("Cannot evict pod as it would violate the pod's disruption budget.", {})
        status["disruptionsAllowed"] -= 1
        status.setdefault("disruptedPods", {})[call.name] = core.now()
        if not call.dry_run:
            core.write(budgets, record.place, budget)


def _selects(selector: Obj | None, labels: dict[str, str]) -> bool:
    if selector is None:
        return False
    terms = [f"{key}={value}" for key, value in (selector.get("matchLabels") or {}).items()]
    names = {"In": "in", "NotIn": "notin"}
    for term in selector.get("matchExpressions") or []:
        key, operator = term["key"], term["operator"]
        if operator in names:
            terms.append(f"{key} {names[operator]} ({','.join(term.get('values') or [])})")
        else:
            terms.append(key if operator == "Exists" else f"!{key}")
    test = label_test(",".join(terms))
    return test is None or test(labels)

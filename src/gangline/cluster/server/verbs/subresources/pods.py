"""Binding a pod to a node, and evicting it.

Both are ordinary writes with rules of their own: pod_requests.py reads what was sent, budgets.py says whether a pod may
be disrupted.
"""

from __future__ import annotations

from typing import Any

from gangline.cluster.server.admit.chain import CREATE, WriteReview
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.core import Core
from gangline.cluster.server.status import absent, bad_request
from gangline.cluster.server.verbs.delete_options import check_options, check_preconditions
from gangline.cluster.server.verbs.deletes import delete_one
from gangline.cluster.server.verbs.field_owners import track
from gangline.cluster.server.verbs.meta import Obj
from gangline.cluster.server.verbs.subresources.budgets import ask_budgets, ignores_budgets
from gangline.cluster.server.verbs.subresources.pod_requests import (
    check_bindable,
    check_target,
    eviction_options,
    read_binding,
    read_eviction,
    set_condition,
)
from gangline.cluster.server.verbs.write_checks import check_namespace_lives
from gangline.cluster.server.verbs.writes import change

CREATED = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


async def bind(core: Core, call: ServerCall) -> dict[str, Any]:
    """Give a pod its node."""
    body = read_binding(call)
    about, target = body.get("metadata") or {}, body.get("target") or {}
    name = about.get("name")
    check_namespace_lives(core, call, name or "")
    if call.name and name != call.name:
        raise bad_request("name in URL does not match name in Binding object")
    if not name:
        raise bad_request("Name parameter required.")
    check_target(target)
    pods = core.catalogue.find("", "v1", "pods")
    assert pods is not None
    binding = ServerCall(
        call.request,
        call.user,
        "create",
        pods,
        call.namespace,
        call.name or name or "",
        "binding",
        warnings=call.warnings,
    )
    await _admit(core, binding, {"apiVersion": "v1", "kind": "Binding", **body})

    def bound(pod: Obj) -> Obj:
        check_bindable(binding, about, pod)
        pod["spec"]["nodeName"] = target["name"]
        for field in ("annotations", "labels"):
            if about.get(field):
                pod["metadata"][field] = {**(pod["metadata"].get(field) or {}), **about[field]}
        set_condition(pod, {"type": "PodScheduled", "status": "True"}, core.now())
        return pod

    await change(core, binding, bound, admitted=True)
    return CREATED


async def _admit(core: Core, call: ServerCall, body: Obj) -> None:
    """Admission judges what was sent to the subresource, not what it does to the pod."""
    body["metadata"] = {**(body.get("metadata") or {}), "namespace": call.namespace}
    review = WriteReview(
        CREATE,
        call.resource,
        call.namespace,
        call.name,
        body,
        None,
        call.user,
        call.subresource,
        call.dry_run,
        call.warnings,
        query=call.request.query,
    )
    await core.admission.mutate(review)
    await core.admission.validate(review)


async def evict(core: Core, call: ServerCall) -> dict[str, Any]:
    """Delete a pod, unless a disruption budget says no."""
    body = read_eviction(call)
    check_namespace_lives(core, call, call.name)
    if (body.get("metadata") or {}).get("name") != call.name:
        raise bad_request("name in URL does not match name in Eviction object")
    pod = core.read(call.resource, call.place)
    if pod is None:
        raise absent("", "pods", call.name)
    await _admit(core, call, {"apiVersion": "policy/v1", "kind": "Eviction", **body})
    options = eviction_options(call, body.get("deleteOptions") or {})
    if not ignores_budgets(pod):
        ask_budgets(core, call, pod)
    check_preconditions(call, options, pod)
    if not options.dry_run:
        await _mark_evicted(core, call)
        options.revision = ""
    check_options(options)
    await delete_one(core, call, options, admitted=True)
    return CREATED


async def _mark_evicted(core: Core, call: ServerCall) -> None:
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    status_patch = ServerCall(
        call.request, call.user, "patch", call.resource, call.namespace, call.name, "status", warnings=call.warnings
    )

    def marked(pod: Obj) -> Obj:
        old = core.read(call.resource, call.place)
        set_condition(pod, condition, core.now())
        return track(core, status_patch, old, pod)

    await change(core, status_patch, marked, admitted=True)

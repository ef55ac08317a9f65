"""The subresources only pods have: binding, eviction, log, and those that reach into a container.

Binding and eviction are ordinary updates and deletes with rules of their own; logs come from whoever simulates the pod.
"""

from __future__ import annotations

from typing import Any, NoReturn

from gangline.cluster import kinds
from gangline.cluster.schema import BadForm, WrongType
from gangline.cluster.server.admit.chain import CREATE, WriteReview
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.core import Core
from gangline.cluster.server.selectors import selector_test
from gangline.cluster.server.status import (
    bad_request,
    conflict,
    forbidden,
    internal,
    not_found,
    storage_conflict,
    too_many_requests,
)
from gangline.cluster.server.verbs.deletes import DeleteOptions, check_options, check_preconditions, delete_one
from gangline.cluster.server.verbs.meta import Obj
from gangline.cluster.server.verbs.writes import change, track

CREATED = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
MOST_DISRUPTED = 2000


async def bind(core: Core, call: ServerCall) -> dict[str, Any]:
    """Give a pod its node."""
    body = _read(call, "Binding")
    about, target = body.get("metadata") or {}, body.get("target") or {}
    name = about.get("name")
    if call.name and name != call.name:
        raise bad_request("name in URL does not match name in Binding object")
    _check_target(target)
    pods = core.catalogue.find("", "v1", "pods")
    assert pods is not None
    one = ServerCall(
        call.request,
        call.user,
        "create",
        pods,
        call.namespace,
        call.name or name or "",
        "binding",
        warnings=call.warnings,
    )
    await _admit(core, one, {"apiVersion": "v1", "kind": "Binding", **body})

    def bound(pod: Obj) -> Obj:
        _check_bindable(one, about, pod)
        pod["spec"]["nodeName"] = target["name"]
        for field in ("annotations", "labels"):
            if about.get(field):
                pod["metadata"][field] = {**(pod["metadata"].get(field) or {}), **about[field]}
        set_condition(pod, {"type": "PodScheduled", "status": "True"}, core.now())
        return pod

    await change(core, one, bound, admitted=True)
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


def _read(call: ServerCall, kind: str) -> Obj:
    body = call.data(kind) or {}
    if not isinstance(body, dict):
        raise bad_request(f"the object provided is unrecognized (must be of type {kind}): it is not an object")
    try:
        clean, _ = kinds.rules("policy" if kind == "Eviction" else "", "v1", kind).schema.admit(body)
    except (WrongType, BadForm) as error:
        raise bad_request(f'{kind} in version "v1" cannot be handled as a {kind}: {error}') from None
    return clean


def _check_target(target: Obj) -> None:
    if target.get("kind") not in (None, "", "Node"):
        raise bad_request(f'target.kind: Unsupported value: "{target["kind"]}": supported values: "Node", "<empty>"')
    if not target.get("name"):
        raise internal("target.name: Required value")


def _check_bindable(call: ServerCall, wanted: Obj, pod: Obj) -> None:
    about, spec, name = pod["metadata"], pod["spec"], call.name
    if wanted.get("uid") and wanted["uid"] != about["uid"]:
        raise storage_conflict(
            call.resource, call.place, f"UID in precondition: {wanted['uid']}, UID in object meta: {about['uid']}"
        )
    revision = wanted.get("resourceVersion")
    if revision and revision != about["resourceVersion"]:
        raise storage_conflict(
            call.resource,
            call.place,
            f"ResourceVersion in precondition: {revision}, ResourceVersion in object meta: {about['resourceVersion']}",
        )
    if about.get("deletionTimestamp"):
        raise conflict("", "pods/binding", name, f"pod {name} is being deleted, cannot be assigned to a host")
    if spec.get("nodeName"):
        raise conflict("", "pods/binding", name, f'pod {name} is already assigned to node "{spec["nodeName"]}"')
    if spec.get("schedulingGates"):
        raise conflict("", "pods/binding", name, f"pod {name} has non-empty .spec.schedulingGates")


def set_condition(pod: Obj, condition: Obj, now: str) -> None:
    """Put a condition in place of an older one of its type."""
    conditions = [
        item for item in pod.setdefault("status", {}).get("conditions") or [] if item.get("type") != condition["type"]
    ]
    pod["status"]["conditions"] = [*conditions, {**condition, "lastProbeTime": None, "lastTransitionTime": now}]


async def evict(core: Core, call: ServerCall) -> dict[str, Any]:
    """Delete a pod, unless a disruption budget says no."""
    body = _read(call, "Eviction")
    name = (body.get("metadata") or {}).get("name")
    if body.get("kind", "Eviction") != "Eviction":
        raise bad_request(f"not an Eviction object: it is of kind {body['kind']}")
    if name and name != call.name:
        raise bad_request("name in URL does not match name in Eviction object")
    pod = core.read(call.resource, call.place)
    if pod is None:
        raise not_found("", "pods", call.name)
    await _admit(core, call, {"apiVersion": "policy/v1", "kind": "Eviction", **body})
    options = _options(call, body.get("deleteOptions") or {})
    if not _ignores_budgets(pod):
        _ask_budgets(core, call, pod)
    check_preconditions(call, options, pod)
    if not options.dry_run:
        await _mark_evicted(core, call)
        options.revision = ""
    check_options(options)
    await delete_one(core, call, options, admitted=True)
    return CREATED


def _options(call: ServerCall, given: Obj) -> DeleteOptions:
    wanted = given.get("preconditions") or {}
    return DeleteOptions(
        given.get("gracePeriodSeconds"),
        given.get("propagationPolicy") or "",
        None,
        wanted.get("uid") or "",
        wanted.get("resourceVersion") or "",
        call.dry_run or bool(given.get("dryRun")),
        raw=given,
    )


async def _mark_evicted(core: Core, call: ServerCall) -> None:
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    one = ServerCall(
        call.request, call.user, "patch", call.resource, call.namespace, call.name, "status", warnings=call.warnings
    )

    def marked(pod: Obj) -> Obj:
        old = core.read(call.resource, call.place)
        set_condition(pod, condition, core.now())
        return track(core, one, old, pod)

    await change(core, one, marked, admitted=True)


def _ignores_budgets(pod: Obj) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return phase in ("Succeeded", "Failed", "Pending", None) or bool(pod["metadata"].get("deletionTimestamp"))


def _ask_budgets(core: Core, call: ServerCall, pod: Obj) -> None:
    """Take one disruption from the pod's budget, or refuse."""
    budgets = core.catalogue.find("policy", "v1", "poddisruptionbudgets")
    assert budgets is not None
    labels = pod["metadata"].get("labels") or {}
    records = [
        record
        for record in core.store.shelf(budgets.shelf).listing(call.namespace)
        if selector_test((record.object().get("spec") or {}).get("selector"))(labels)
    ]
    if len(records) > 1:
        raise internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    if not records:
        return
    budget = records[0].object()
    if _unhealthy_may_go(pod, budget):
        return
    _check_budget(budget)
    status = budget["status"]
    status["disruptionsAllowed"] -= 1
    status["disruptedPods"] = {**(status.get("disruptedPods") or {}), call.name: core.now()}
    if not call.dry_run:
        core.write(budgets, records[0].place, budget)


def _unhealthy_may_go(pod: Obj, budget: Obj) -> bool:
    ready = any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in (pod.get("status") or {}).get("conditions") or []
    )
    if ready:
        return False
    status = budget.get("status") or {}
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    desired = status.get("desiredHealthy", 0)
    return bool(desired > 0 and status.get("currentHealthy", 0) >= desired)


def _check_budget(budget: Obj) -> None:
    name, status = budget["metadata"]["name"], budget.get("status") or {}
    refusal = "Cannot evict pod as it would violate the pod's disruption budget."
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        told = f"The disruption budget {name} is still being processed by the server."
        raise too_many_requests(
            refusal, {"retryAfterSeconds": 10, "causes": [{"reason": "DisruptionBudget", "message": told}]}
        )
    if len(status.get("disruptedPods") or {}) > MOST_DISRUPTED:
        raise forbidden(
            "policy",
            "poddisruptionbudget",
            name,
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        )
    if status.get("disruptionsAllowed", 0) <= 0:
        told = (
            f"The disruption budget {name} needs {status.get('desiredHealthy', 0)} healthy pods and has "
            f"{status.get('currentHealthy', 0)} currently"
        )
        raise too_many_requests(refusal, {"causes": [{"reason": "DisruptionBudget", "message": told}]})


def connect(core: Core, call: ServerCall) -> NoReturn:
    """What a container is asked through its node; on nodes that are only simulated there is nobody to answer."""
    pod = core.read(call.resource, call.place)
    if pod is None:
        raise not_found("", "pods", call.name)
    node = pod["spec"].get("nodeName")
    if not node:
        raise bad_request(f"pod {call.name} does not have a host assigned")
    raise bad_request(f"pod {call.name} runs on {node}, which is only simulated: nothing can be run or reached there")


def log(core: Core, call: ServerCall) -> bytes:
    """What a pod's container has written, as far as somebody simulates that."""
    pod = core.read(call.resource, call.place)
    if pod is None:
        raise not_found("", "pods", call.name)
    spec = pod["spec"]
    known = [
        item["name"]
        for part in ("initContainers", "containers", "ephemeralContainers")
        for item in spec.get(part) or []
    ]
    asked = call.request.argument("container")
    if asked and asked not in known:
        raise bad_request(f"container {asked} is not valid for pod {call.name}")
    preferred = (pod["metadata"].get("annotations") or {}).get("kubectl.kubernetes.io/default-container")
    if not asked and len(spec["containers"]) > 1 and not preferred:
        names = " ".join(container["name"] for container in spec["containers"])
        raise bad_request(f"a container name must be specified for pod {call.name}, choose one of: [{names}]")
    text = core.logs(pod, asked or preferred or spec["containers"][0]["name"]) if spec.get("nodeName") else b""
    last = call.number("tailLines")
    return text if last is None else b"".join(text.splitlines(keepends=True)[-last:] if last else [])

"""Delete and deletecollection: when an object goes at once, and when it first waits for finalizers, dependents or its
grace period.

`decide` is the pure rule. The garbage collector that acts on orphan and foregroundDeletion is an ordinary client in
cluster/world/."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gangline.cluster.schema import BadForm, WrongType, builtin_schema
from gangline.cluster.server.admit.chain import DELETE, WriteReview
from gangline.cluster.server.call import ServerCall, truth
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.core import Core, unstored, whole
from gangline.cluster.server.status import bad_request, conflict, forbidden, invalid, not_found
from gangline.cluster.server.store.store import Record
from gangline.cluster.server.verbs.kind_rules import ORPHANING
from gangline.cluster.server.verbs.meta import Obj
from gangline.errors import Problem

POLICIES = ("Foreground", "Background", "Orphan")
PROTECTED_NAMESPACES = ("default", "kube-system", "kube-public")


@dataclass(slots=True)
class DeleteOptions:
    grace: int | None = None
    policy: str = ""
    orphan: bool | None = None
    uid: str = ""
    revision: str = ""
    dry_run: bool = False
    dry_run_given: list[str] = field(default_factory=lambda: ["All"])
    raw: dict[str, Any] = field(default_factory=dict)


def read_options(call: ServerCall) -> DeleteOptions:
    """DeleteOptions from the body, or else from the query."""
    request = call.request
    asked = request.argument("dryRun")
    options = DeleteOptions(dry_run=call.dry_run, dry_run_given=[asked] if asked else ["All"])
    if request.body.strip():
        body = call.data("")
        if not isinstance(body, dict):
            raise bad_request("couldn't get version/kind; json parse error: the body is not an object")
        kind = body.get("kind") or "DeleteOptions"
        if kind != "DeleteOptions":
            raise bad_request(
                f'no kind "{kind}" is registered for version "{body.get("apiVersion")}" in scheme '
                '"pkg/runtime/scheme.go:111"'
            )
        try:
            said, _ = builtin_schema("meta", "DeleteOptions").admit(body)
        except (WrongType, BadForm) as error:
            raise bad_request(f'DeleteOptions in version "v1" cannot be handled as a DeleteOptions: {error}') from None
        wanted = said.get("preconditions") or {}
        dry_run, given = options.dry_run or bool(said.get("dryRun")), said.get("dryRun") or options.dry_run_given
        options = DeleteOptions(
            said.get("gracePeriodSeconds"),
            said.get("propagationPolicy") or "",
            said.get("orphanDependents"),
            wanted.get("uid") or "",
            wanted.get("resourceVersion") or "",
            dry_run,
            given,
            body,
        )
    else:
        options.grace = call.number("gracePeriodSeconds")
        options.policy = request.argument("propagationPolicy")
        if request.argument("orphanDependents"):
            options.orphan = truth(request.argument("orphanDependents"))
    check_options(options)
    return options


def check_options(options: DeleteOptions) -> None:
    problems = []
    path = "propagationPolicy"
    if options.dry_run and options.dry_run_given != ["All"]:
        shown = ",".join(f'"{item}"' for item in options.dry_run_given)
        problems.append(
            Problem("dryRun", f'Unsupported value: [{shown}]: supported values: "All"', "FieldValueNotSupported")
        )
    if options.policy and options.orphan is not None:
        problems.append(
            Problem(
                path, f'Invalid value: "{options.policy}": orphanDependents and deletionPropagation cannot be both set'
            )
        )
    if options.policy and options.policy not in POLICIES:
        problems.append(
            Problem(
                path,
                f'Unsupported value: "{options.policy}": supported values: "Foreground", "Background", "Orphan", "nil"',
                "FieldValueNotSupported",
            )
        )
    if problems:
        raise invalid("meta.k8s.io", "DeleteOptions", "", problems)


@dataclass(slots=True)
class DeleteDecision:
    obj: Obj
    """The object with its deletion marks."""
    store: bool
    """It changed and must be written."""
    remove: bool
    """It goes (after being written, if `store`)."""


def decide(obj: Obj, options: DeleteOptions, resource: Resource, now: str, later: str) -> DeleteDecision:
    """What a delete does to an object. `later` is the time when its grace period ends."""
    about = obj["metadata"]
    finalizers = _finalizers(about, options, resource)
    pending = about.get("deletionTimestamp") is not None
    changed = finalizers != (about.get("finalizers") or [])
    about["finalizers"] = finalizers
    if not finalizers:
        del about["finalizers"]
    grace = pod_grace(obj, options) if resource.shelf == ("", "pods") else None
    if grace is not None:
        return _gracefully(obj, grace, pending, changed, now if not grace else later)
    if pending:
        return DeleteDecision(obj, changed, not finalizers)
    if not finalizers:
        return DeleteDecision(obj, False, True)
    _mark(about, now, 0)
    return DeleteDecision(obj, True, False)


def _gracefully(obj: Obj, grace: int, pending: bool, changed: bool, when: str) -> DeleteDecision:
    about = obj["metadata"]
    if pending:
        if grace < (about.get("deletionGracePeriodSeconds") or 0):
            about["deletionGracePeriodSeconds"], about["deletionTimestamp"], changed = grace, when, True
        gone = not about.get("finalizers") and not about.get("deletionGracePeriodSeconds")
        return DeleteDecision(obj, changed, gone)
    _mark(about, when, grace)
    return DeleteDecision(obj, True, not grace and not about.get("finalizers"))


def _mark(about: Obj, when: str, grace: int) -> None:
    about["deletionTimestamp"], about["deletionGracePeriodSeconds"] = when, grace
    if about.get("generation"):
        about["generation"] += 1


def pod_grace(pod: Obj, options: DeleteOptions) -> int:
    """Seconds a pod gets: none while no node holds it, or once it has ended."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    wanted = options.grace if options.grace is not None else spec.get("terminationGracePeriodSeconds", 30)
    if not spec.get("nodeName") or status.get("phase") in ("Succeeded", "Failed"):
        return 0
    return 1 if wanted < 0 else int(wanted)


def _finalizers(about: Obj, options: DeleteOptions, resource: Resource) -> list[str]:
    """The finalizers an object has once the caller's policy is taken into account."""
    present = list(about.get("finalizers") or [])
    orphan = _wants_orphans(present, options, resource)
    foreground = options.policy == "Foreground" or (
        not options.policy and options.orphan is None and "foregroundDeletion" in present
    )
    kept = [name for name in present if name not in ("orphan", "foregroundDeletion")]
    if orphan:
        kept.append("orphan")
    if foreground:
        kept.append("foregroundDeletion")
    return present if sorted(kept) == sorted(present) else kept


def _wants_orphans(present: list[str], options: DeleteOptions, resource: Resource) -> bool:
    if options.orphan is not None:
        return options.orphan
    if options.policy:
        return options.policy == "Orphan"
    return "orphan" in present or resource.shelf in ORPHANING


async def delete(core: Core, call: ServerCall) -> tuple[Record, bool]:
    """Delete one object: its record and whether it is gone."""
    return await delete_one(core, call, read_options(call))


async def delete_one(
    core: Core, call: ServerCall, options: DeleteOptions, *, admitted: bool = False
) -> tuple[Record, bool]:
    resource = call.resource
    while True:
        current = core.store.get(resource.shelf, call.place)
        if current is None:
            raise not_found(resource.shelf[0], resource.plural, call.name)
        obj = whole(resource, current)
        check_preconditions(call, options, obj)
        review = WriteReview(
            DELETE,
            resource,
            call.place[0],
            "" if call.verb == "deletecollection" else call.name,
            None,
            obj,
            call.user,
            dry_run=options.dry_run,
            warnings=call.warnings,
            options=options.raw,
            query=call.request.query,
        )
        if not admitted:
            await core.admission.mutate(review)
            await core.admission.validate(review)
        if core.store.get(resource.shelf, call.place) is current:
            return _carry_out(core, call, current, options)


def _carry_out(core: Core, call: ServerCall, current: Record, options: DeleteOptions) -> tuple[Record, bool]:
    resource, place = call.resource, call.place
    obj = whole(resource, current)
    if resource.shelf == ("batch", "jobs") and not options.policy and options.orphan is None:
        call.warnings.append(
            "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove "
            "them "
            "or set propagationPolicy=Orphan to suppress this warning"
        )
    if resource.kind == "Namespace" and not resource.group:
        return _delete_namespace(core, call, obj, options)
    later = core.now(pod_grace(obj, options)) if resource.kind == "Pod" else core.now()
    decision = decide(obj, options, resource, core.now(), later)
    if options.dry_run:
        return unstored(
            resource, place, dict(decision.obj), current.revision
        ) if decision.store else current, decision.remove
    record = current
    if decision.store:
        record = core.write(resource, place, dict(decision.obj))
    if decision.remove:
        core.remove(resource, place, dict(decision.obj))
    return record, decision.remove


def _delete_namespace(core: Core, call: ServerCall, obj: Obj, options: DeleteOptions) -> tuple[Record, bool]:
    """A namespace is first emptied by its controller, which then takes `kubernetes` off spec.finalizers."""
    resource, place = call.resource, call.place
    if call.name in PROTECTED_NAMESPACES:
        raise forbidden("", "namespaces", call.name, "this namespace may not be deleted")
    current = core.store.get(resource.shelf, place)
    assert current is not None
    if not obj["metadata"].get("deletionTimestamp"):
        obj["metadata"]["deletionTimestamp"] = core.now()
        obj["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}
        return unstored(resource, place, obj, current.revision) if options.dry_run else core.write(
            resource, place, obj
        ), False
    if options.dry_run:
        return current, False
    if not (obj.get("spec") or {}).get("finalizers") and not obj["metadata"].get("finalizers"):
        return core.remove(resource, place, obj), True
    return current, False


def check_preconditions(call: ServerCall, options: DeleteOptions, obj: Obj) -> None:
    resource, about = call.resource, obj["metadata"]
    if options.uid and options.uid != about["uid"]:
        raise conflict(
            resource.shelf[0],
            resource.kind,
            call.name,
            f"the UID in the precondition ({options.uid}) does not match the UID "
            f"in record ({about['uid']}). The object might have been deleted and then recreated",
        )
    if options.revision and options.revision != about["resourceVersion"]:
        raise conflict(
            resource.shelf[0],
            resource.kind,
            call.name,
            f"the ResourceVersion in the precondition ({options.revision}) does "
            f"not match the ResourceVersion in record ({about['resourceVersion']}). "
            "The object might have been modified",
        )

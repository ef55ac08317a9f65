"""Delete: admission is asked, then the object is marked or goes, as deletion.py decides.

The garbage collector that acts on orphan and foregroundDeletion is an ordinary client in cluster/world/."""

from __future__ import annotations

from gangline.cluster.server.admit.chain import DELETE, WriteReview
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.convert.conversion_plan import stored_as
from gangline.cluster.server.core import Core, unstored, whole
from gangline.cluster.server.status import absent, forbidden
from gangline.cluster.server.store.shelf import Record
from gangline.cluster.server.verbs.delete_options import DeleteOptions, check_preconditions, read_options
from gangline.cluster.server.verbs.deletion import decide, pod_grace
from gangline.cluster.server.verbs.meta import Obj

PROTECTED_NAMESPACES = ("default", "kube-system", "kube-public")


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
            raise absent(resource.group, resource.plural, call.name)
        seen = await core.views.shown(resource, current)
        obj = whole(resource, seen)
        kept = await core.views.shown(stored_as(resource), current)
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
            record, is_gone = _carry_out(core, call, kept, options)
            return seen if record is kept else await core.views.shown(resource, record), is_gone


def _carry_out(core: Core, call: ServerCall, current: Record, options: DeleteOptions) -> tuple[Record, bool]:
    resource, place = stored_as(call.resource), call.place
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

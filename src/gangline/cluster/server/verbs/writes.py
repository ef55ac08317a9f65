"""Create, update and patch: from a request to a committed record.

Each write runs the same stations: read the body, note who owns which field, let admission change it, stamp its
metadata, check it, let admission refuse it, commit. An update starts again from the stored object when somebody else
was faster, unless the caller named a revision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gangline.cluster.schema import BadForm, WrongType
from gangline.cluster.server.access.rbac import Action
from gangline.cluster.server.admit.chain import CREATE, UPDATE, WriteReview
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.core import Core, unstored, whole
from gangline.cluster.server.features import drop_disabled
from gangline.cluster.server.status import absent, already_exists, internal, invalid, modified
from gangline.cluster.server.store.shelf import Place, Record, is_deleting
from gangline.cluster.server.verbs import meta
from gangline.cluster.server.verbs.bodies import check_options, read_object
from gangline.cluster.server.verbs.field_owners import track, unreadable_accounts
from gangline.cluster.server.verbs.kind_rules import CustomRules, metadata_questions, rules_for
from gangline.cluster.server.verbs.meta import Obj
from gangline.cluster.server.verbs.write_checks import (
    check_identity,
    check_name,
    check_namespace,
    check_namespace_lives,
    check_revision_given,
    check_revision_of_new,
    check_uid,
    deduplicate_owners,
)
from gangline.cluster.server.wire.codec import decode_json, encode
from gangline.rules.values.names import path_segment_problems

RETRIES = 16
_ODD_ACCOUNTS = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
    "admission controller; please fix your requests: "
)
Change = Callable[[Obj], Obj]
"""From the stored object (a fresh copy) to the wanted one, admitted and with its managed fields."""


@dataclass(slots=True)
class WrittenRecord:
    record: Record
    created: bool = False


async def create(core: Core, call: ServerCall) -> WrittenRecord:
    check_options(call)
    rules = rules_for(call.resource)
    obj = read_object(call, rules)
    check_namespace(call, obj)
    deduplicate_owners(call, obj)
    obj = track(core, call, None, obj)
    return await create_object(core, call, obj)


async def create_object(core: Core, call: ServerCall, obj: Obj) -> WrittenRecord:
    """Store a new object that was read, admitted and tracked."""
    resource, rules = call.resource, rules_for(call.resource)
    namespace = call.namespace if resource.namespaced else ""
    given, uid, now = obj["metadata"].get("name"), core.new_uid(), core.now()
    meta.fill_new(obj, namespace, uid, now, core.suffix)
    name = obj["metadata"].get("name") or ""
    if not resource.namespaced and "generateName" in obj["metadata"]:
        rules.defaults(obj)
    if resource.namespaced:
        check_namespace_lives(core, call, name)
    review = WriteReview(
        CREATE,
        resource,
        namespace,
        name,
        obj,
        None,
        call.user,
        dry_run=call.dry_run,
        warnings=call.warnings,
        query=call.request.query,
    )
    await _mutate_unnamed(core, review, given=bool(given))
    if review.object is not obj:
        obj = _readmitted(review, obj, rules)
        check_namespace(call, obj)
        meta.fill_new(obj, namespace, uid, now, core.suffix)
        name = review.name = obj["metadata"].get("name") or ""
    problems = meta.check(obj, rules.name_problems, standard=not metadata_questions(resource).islower())
    rules.prepare_create(obj)
    drop_disabled(core.settings.features, core.settings.workload_versions, resource, obj, None)
    meta.tidy(obj)
    problems += rules.validate(obj, problems) if isinstance(rules, CustomRules) else rules.validate(obj)
    if problems:
        raise invalid(resource.shelf[0], resource.kind, name, problems)
    review.object = obj
    await core.admission.validate(review)
    call.warnings.extend(rules.warnings(obj, None))
    if not call.dry_run:
        check_revision_of_new(obj)
    place = (namespace, name)
    kept_as, kept = await core.views.kept(resource, obj)
    present = core.store.get(resource.shelf, place)
    if present is not None:
        raise already_exists(resource.group, resource.plural, name, being_deleted=is_deleting(present))
    record = unstored(kept_as, place, kept, 0) if call.dry_run else core.save(kept_as, place, kept)
    return WrittenRecord(await core.views.shown(resource, record), True)


async def _mutate_unnamed(core: Core, review: WriteReview, *, given: bool) -> None:
    """Admission may change an object; a name that the server made up is shown to it only afterwards."""
    if given or review.object is None or not review.name:
        await core.admission.mutate(review)
        return
    del review.object["metadata"]["name"]
    await core.admission.mutate(review)
    review.object["metadata"] = {"name": review.name} | review.object["metadata"]


def _readmitted(review: WriteReview, before: Obj, rules: object) -> Obj:
    """What admission left; an object it replaced is read and defaulted anew."""
    after = review.object
    if after is None or after is before:
        return before
    kind_rules = rules_for(review.resource)
    try:
        clean, _ = kind_rules.schema.admit(after)
    except (WrongType, BadForm) as error:
        raise internal(f"what admission made of the object cannot be read: {error}") from None
    about = clean.setdefault("metadata", {})
    kept = before["metadata"].get("managedFields")
    if about.get("managedFields") != kept and (why := unreadable_accounts(about.get("managedFields"))):
        review.warnings.append(_ODD_ACCOUNTS + why)
        about["managedFields"] = kept
    kind_rules.defaults(clean)
    return clean


async def update(core: Core, call: ServerCall) -> WrittenRecord:
    check_options(call)
    resource, rules = call.resource, rules_for(call.resource)
    if path_segment_problems(call.name):
        raise absent(resource.group, resource.plural, call.name)
    creates = rules.create_on_update and not call.subresource and core.store.get(resource.shelf, call.place) is None
    if creates:
        core.allow(call.user, Action("create", resource.group, resource.plural, "", call.namespace, call.name))
    obj = read_object(call, rules)
    check_namespace(call, obj)
    check_name(call, obj)
    deduplicate_owners(call, obj)
    if resource.namespaced:
        obj["metadata"]["namespace"] = call.namespace
    pristine = encode(obj)

    def replaced(old: Obj) -> Obj:
        check_uid(call, obj, old["metadata"]["uid"])
        check_revision_given(call, obj)
        return track(core, call, old, decode_json(pristine, resource.kind))

    if creates:
        check_uid(call, obj, "")
        return await create_object(core, call, track(core, call, None, obj))
    return await change(core, call, replaced, in_place=False)


async def change(
    core: Core, call: ServerCall, make: Change, *, admitted: bool = False, in_place: bool = True
) -> WrittenRecord:
    """Replace the stored object by what `make` turns it into; `admitted`: admission has already judged what leads to
    it.

    Not `in_place`: it makes a new object, which may share parts with the stored one, and leaves that alone.
    """
    resource, place = call.resource, call.place
    warned = len(call.warnings)
    for _ in range(RETRIES):
        current = core.store.get(resource.shelf, place)
        if current is None:
            raise absent(resource.group, resource.plural, call.name)
        del call.warnings[warned:]
        seen = await core.views.shown(resource, current)
        old = whole(resource, seen)
        apart = in_place or core.admission.changes(resource, UPDATE, call.subresource)
        written = await _attempt(core, call, current, old, make(whole(resource, seen) if apart else old), admitted)
        if written is not None:
            return written
    raise modified(resource.group, resource.plural, call.name)


async def _attempt(
    core: Core, call: ServerCall, current: Record, old: Obj, new: Obj, admitted: bool
) -> WrittenRecord | None:
    """One try; None when the stored object changed meanwhile."""
    resource, rules = call.resource, rules_for(call.resource)
    endpoint = "" if call.subresource == "scale" else call.subresource
    check_identity(call, new, old)
    review = WriteReview(
        UPDATE,
        resource,
        call.place[0],
        call.name,
        new,
        old,
        call.user,
        call.subresource,
        call.dry_run,
        call.warnings,
        query=call.request.query,
        face=call.face,
    )
    if not admitted:
        await core.admission.mutate(review)
        new = _readmitted(review, new, rules)
    meta.keep_identity(new, old)
    drop_disabled(core.settings.features, core.settings.workload_versions, resource, new, old)
    rules.prepare_update(new, old, endpoint)
    new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
    meta.tidy(new)
    problems = meta.check_update(new, old, metadata_questions(resource)) + rules.validate_update(new, old, endpoint)
    if problems:
        raise invalid(resource.shelf[0], resource.kind, call.name, problems)
    review.object = new
    if not admitted:
        await core.admission.validate(review)
    if call.subresource != "binding":
        call.warnings.extend(rules.warnings(new, old))
    changed = new != old
    kept_as, kept = await core.views.kept(resource, new) if changed else (resource, new)
    if core.store.get(resource.shelf, call.place) is not current:
        return None
    record = current
    if changed and call.dry_run:
        record = unstored(kept_as, call.place, kept, current.revision)
    elif changed:
        record = finish(core, kept_as, call.place, kept)
    return WrittenRecord(await core.views.shown(resource, record))


def finish(core: Core, resource: Resource, place: Place, new: Obj) -> Record:
    """Commit an update; an object whose deletion waited only for its last finalizer goes."""
    about = new["metadata"]
    done = (
        about.get("deletionTimestamp") and not about.get("finalizers") and not about.get("deletionGracePeriodSeconds")
    )
    if done and not (resource.shelf == ("", "namespaces") and (new.get("spec") or {}).get("finalizers")):
        last = unstored(resource, place, dict(new), core.store.revision)
        core.remove(resource, place, core.read(resource, place) or new)
        return last
    return core.write(resource, place, new) if about.get("deletionTimestamp") else core.save(resource, place, new)

"""PATCH in its four forms: each becomes a function from the stored object to the wanted one, and then an ordinary
update.

Server-side apply may also create. What a form cannot do to an object is refused with the codes of a kube-apiserver.
"""

from __future__ import annotations

from gangline.client.wire import APPLY_PATCH
from gangline.cluster.server.access.rbac import Action
from gangline.cluster.server.call import ServerCall, truth
from gangline.cluster.server.core import Core
from gangline.cluster.server.patch.apply import ApplyConflict, Untypable
from gangline.cluster.server.patch.apply import apply as server_side_apply
from gangline.cluster.server.status import bad_request, conflict, failure, internal, not_found
from gangline.cluster.server.verbs.bodies import check_options
from gangline.cluster.server.verbs.field_owners import track
from gangline.cluster.server.verbs.kind_rules import rules_for
from gangline.cluster.server.verbs.meta import Obj
from gangline.cluster.server.verbs.patch_reader import patch_form, patcher, read_applied, read_patched, readmitted
from gangline.cluster.server.verbs.write_checks import check_name, check_namespace, deduplicate_owners
from gangline.cluster.server.verbs.writes import WrittenRecord, change, create_object


async def patch(core: Core, call: ServerCall) -> WrittenRecord:
    form = patch_form(call)
    check_options(call, applying=form == APPLY_PATCH)
    if form == APPLY_PATCH:
        return await _apply(core, call)
    make = patcher(call, rules_for(call.resource).schema)

    def patched(old: Obj) -> Obj:
        new = read_patched(call, make(old), old)
        _check_patched(call, new, old)
        deduplicate_owners(call, new)
        return track(core, call, old, new)

    return await change(core, call, patched, in_place=False)


def _check_patched(call: ServerCall, new: Obj, old: Obj) -> None:
    check_name(call, new)
    about = new["metadata"]
    if call.resource.namespaced:
        about.setdefault("namespace", call.namespace)
    check_namespace(call, new)


async def _apply(core: Core, call: ServerCall) -> WrittenRecord:
    resource, rules = call.resource, rules_for(call.resource)
    absent = core.store.get(resource.shelf, call.place) is None
    if absent and call.subresource:
        raise not_found(resource.shelf[0], resource.plural, call.name)
    if absent:
        core.allow(call.user, Action("create", resource.group, resource.plural, "", call.namespace, call.name))
    applied = read_applied(call)
    force = truth(call.request.argument("force"))

    def merged(live: Obj | None) -> Obj:
        try:
            result = server_side_apply(
                live,
                applied,
                call.manager,
                force,
                rules.schema,
                core.now(),
                call.subresource,
                resource.api_version,
                rules.reset(call.subresource),
            )
        except ApplyConflict as error:
            raise failure(409, "Conflict", str(error), {"causes": error.causes}) from None
        except Untypable as error:
            what = f"{_go_place(call)}; {resource.group}/{resource.version}, Kind={resource.kind}"
            raise internal(f"failed to create typed patch object ({what}): {error}") from None
        return readmitted(call, result, live or {}, lambda why: bad_request(f"failed to convert merged object: {why}"))

    if absent:
        new = merged(None)
        new["metadata"].pop("resourceVersion", None)
        if new["metadata"].get("uid"):
            why = f"the provided object specified uid {new['metadata']['uid']}, and no existing object was found"
            raise conflict(resource.shelf[0], resource.plural, call.name, f"uid mismatch: {why}")
        return await create_object(core, call, new)

    def updated(old: Obj) -> Obj:
        new = merged(old)
        check_namespace(call, new)
        return new

    return await change(core, call, updated, in_place=False)


def _go_place(call: ServerCall) -> str:
    return f"/{call.name}"

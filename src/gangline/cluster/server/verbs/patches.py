"""PATCH in its four forms: each becomes a function from the stored object to the wanted one, and then an ordinary
update.

Server-side apply may also create. What a form cannot do to an object is refused with the codes of a kube-apiserver.
"""

from __future__ import annotations

from gangline.client.wire import APPLY_PATCH
from gangline.cluster.schema import WrongType
from gangline.cluster.server.access.rbac import Action
from gangline.cluster.server.call import ServerCall, truth
from gangline.cluster.server.core import Core
from gangline.cluster.server.patch.apply import ApplyConflict, UntypableError
from gangline.cluster.server.patch.apply import apply as server_side_apply
from gangline.cluster.server.status import absent, bad_request, conflict, failure, internal
from gangline.cluster.server.verbs.bodies import check_options
from gangline.cluster.server.verbs.field_owners import track
from gangline.cluster.server.verbs.kind_rules import rules_for
from gangline.cluster.server.verbs.meta import Obj
from gangline.cluster.server.verbs.patch_reader import patch_form, patcher, read_applied, read_patched, readmitted
from gangline.cluster.server.verbs.write_checks import (
    check_name,
    check_namespace,
    check_revision_readable,
    deduplicate_owners,
)
from gangline.cluster.server.verbs.writes import WrittenRecord, change, create_object
from gangline.errors import ApiError


async def patch(core: Core, call: ServerCall) -> WrittenRecord:
    form = patch_form(call)
    if not call.name:
        raise bad_request("name must be provided")
    check_options(call, applying=form == APPLY_PATCH)
    if form == APPLY_PATCH:
        return await _apply(core, call)
    if core.store.get(call.resource.shelf, call.place) is None:
        raise absent(call.resource.group, call.resource.plural, call.name)
    sent = patcher(call, rules_for(call.resource).schema)

    def patched(old: Obj) -> Obj:
        new = read_patched(call, sent.make(old), old, sent.warnings)
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
    check_revision_readable(new)


async def _apply(core: Core, call: ServerCall) -> WrittenRecord:
    resource, rules = call.resource, rules_for(call.resource)
    is_new = core.store.get(resource.shelf, call.place) is None
    if is_new and call.subresource:
        raise absent(resource.group, resource.plural, call.name)
    if is_new:
        core.allow(call.user, Action("create", resource.group, resource.plural, "", call.namespace, call.name))
    doubled: list[str] = []
    applied = read_applied(call, doubled)
    force = truth(call.request.argument("force"))
    kind = f"{resource.group}/{resource.version}, Kind={resource.kind}"

    def unreadable(why: str | WrongType) -> ApiError:
        what = f"({_named(applied)}; {kind}) to proper version: unable to convert unstructured object to {kind}"
        return internal(f"failed to convert new object {what}: {why}")

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
        except UntypableError as error:
            raise internal(f"failed to create typed patch object ({_named(applied)}; {kind}): {error}") from None
        call.warnings.extend(doubled)
        new = readmitted(call, result, live or {}, unreadable)
        check_namespace(call, new)
        check_name(call, new)
        check_revision_readable(new)
        return new

    if is_new:
        new = merged(None)
        new["metadata"].pop("resourceVersion", None)
        if new["metadata"].get("uid"):
            why = f"the provided object specified uid {new['metadata']['uid']}, and no existing object was found"
            raise conflict(resource.group, resource.plural, call.name, f"uid mismatch: {why}")
        return await create_object(core, call, new)

    return await change(core, call, merged, in_place=False)


def _named(applied: Obj) -> str:
    """Which object a refusal speaks of: what the applied one says of itself."""
    about = applied.get("metadata")
    namespace, name = (
        value if isinstance(about, dict) and isinstance(value := about.get(key), str) else ""
        for key in ("namespace", "name")
    )
    return f"{namespace}/{name}"

"""The scale subresource: how many replicas, read from and written to wherever the kind keeps them."""

from __future__ import annotations

import copy
from dataclasses import replace

from gangline.client.wire import APPLY_PATCH
from gangline.cluster import kinds
from gangline.cluster.server.admit.chain import ScaleFace
from gangline.cluster.server.call import ServerCall, truth
from gangline.cluster.server.core import Core, whole
from gangline.cluster.server.patch.apply import ApplyConflict
from gangline.cluster.server.patch.apply import apply as server_side_apply
from gangline.cluster.server.status import failure
from gangline.cluster.server.verbs.bodies import check_options, read_object
from gangline.cluster.server.verbs.field_owners import track
from gangline.cluster.server.verbs.kind_rules import rules_for
from gangline.cluster.server.verbs.meta import Obj
from gangline.cluster.server.verbs.patch_reader import patch_form, patcher, read_applied, read_patched
from gangline.cluster.server.verbs.reads import get
from gangline.cluster.server.verbs.subresources.scale_object import (
    GROUP,
    KIND,
    SCALE,
    check_fields,
    check_replicas,
    check_scale_identity,
    check_scale_uid,
    put_value,
    replica_paths,
    scale_of,
    seen_through,
    settled,
    timeless,
    with_scale,
)
from gangline.cluster.server.verbs.write_checks import check_name, check_namespace, check_uid
from gangline.cluster.server.verbs.writes import Change, change


async def scale(core: Core, call: ServerCall) -> Obj:
    """Get, put or patch the scale of an object."""
    resource = call.resource
    if call.verb == "get":
        return scale_of(resource, whole(resource, await core.views.shown(resource, get(core, call))))
    call.face = ScaleFace(
        lambda obj: scale_of(resource, obj, must=False), lambda obj, face: with_scale(resource, obj, face)
    )
    applying = call.verb == "patch" and patch_form(call) == APPLY_PATCH
    check_options(call, applying)
    written = await change(core, call, _applied(core, call) if applying else _changed(core, call))
    return scale_of(resource, whole(resource, written.record))


def _changed(core: Core, call: ServerCall) -> Change:
    """A put or a patch: the Scale it makes of the present one, written back, with who wrote it."""
    resource, about = call.resource, replace(call, resource=SCALE)
    rules = kinds.rules(GROUP, "v1", KIND)
    sent = patcher(call, rules.schema) if call.verb == "patch" else None
    body = None if sent else read_object(about, rules)
    if body is not None:
        check_namespace(call, body)
        check_name(call, body)

    def scaled(obj: Obj) -> Obj:
        now = scale_of(resource, obj, must=False)
        new = read_patched(about, sent.make(now), now, sent.warnings) if sent else body
        assert isinstance(new, dict)
        check_uid(call, new, obj["metadata"]["uid"])
        check_scale_identity(call, new, obj)
        check_replicas(call, new)
        old = copy.deepcopy(obj)
        return timeless(track(core, call, old, with_scale(resource, obj, new)))

    return scaled


def _applied(core: Core, call: ServerCall) -> Change:
    """Server-side apply: it owns the number of replicas of the object behind the Scale."""
    resource, rules = call.resource, rules_for(call.resource)
    doubled: list[str] = []
    wanted = read_applied(replace(call, resource=SCALE), doubled)
    check_fields(call, wanted)
    wanted.setdefault("metadata", {})
    check_namespace(call, wanted)
    mine: Obj = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": call.name}}
    if (wanted.get("spec") or {}).get("replicas") is not None:
        put_value(mine, replica_paths(resource)[0], wanted["spec"]["replicas"])

    def applied(obj: Obj) -> Obj:
        try:
            new = server_side_apply(
                obj,
                mine,
                call.manager,
                truth(call.request.argument("force")),
                rules.schema,
                core.now(),
                call.subresource,
                resource.api_version,
            )
        except ApplyConflict as error:
            seen = [cause | {"message": seen_through(resource, cause["message"])} for cause in error.causes]
            raise failure(409, "Conflict", seen_through(resource, str(error)), {"causes": seen}) from None
        call.warnings.extend(doubled)
        check_scale_identity(call, wanted, obj)
        check_scale_uid(call, wanted, obj)
        check_replicas(call, wanted)
        return timeless(settled(call, obj, new))

    return applied

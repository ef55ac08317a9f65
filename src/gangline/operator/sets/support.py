"""What a set needs beside its cliques, groups and gangs.

That is access, a token, services, autoscalers, ComputeDomains and claims. Pure: each function gives the writes that
make one kind as wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import (
    COMPUTE_DOMAIN,
    HPA,
    POD,
    POD_CLIQUE_SET,
    RESOURCE_CLAIM,
    ROLE,
    ROLE_BINDING,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    Kind,
)
from gangline.api.meta import Object, Raw
from gangline.operator.desired import claims, mnnvl, services
from gangline.operator.desired.bounds import number
from gangline.operator.memory.lookups import cliques_of_set, external_template
from gangline.operator.memory.settled import wish_of
from gangline.operator.plan import Create, Delete, Patch, Step, WritePlan, changed, delete
from gangline.operator.sets import access, autoscalers
from gangline.operator.sets.look import SetObjects
from gangline.rules.objects.finalizers import patch_that_removes

if TYPE_CHECKING:
    from gangline.operator.operator import Operator
    from gangline.runtime import Reader


def token(op: Operator, read: Reader, pcs: PodCliqueSet) -> list[Step]:
    """The init container's token; a Secret under Grove's former name goes once nobody mounts it any more."""
    secrets = op.tokens.of(pcs)
    if secrets.current is None:
        return [Create(SECRET, access.token_secret(pcs), "ERR_CREATE_SECRET", taken="ERR_SECRET_CONFLICT")]
    former = secrets.former
    if former is None or not secrets.current.filled:
        return []
    pods = (pod for clique in cliques_of_set(read, pcs) for pod in read.owned(POD, clique.uid))
    mounted = any(_mounts(pod, former.name) for pod in pods)
    return [] if mounted else [Delete(SECRET, former.name, former.namespace, former.uid, "ERR_DELETE_SECRET")]


def _mounts(pod: Pod, secret: str) -> bool:
    return any((volume.get("secret") or {}).get("secretName") == secret for volume in pod.spec.volumes)


def token_ready(op: Operator, pcs: PodCliqueSet) -> bool:
    """Whether cliques may be made: where one waits for another, its init container needs the token first."""
    return not op.settings.manner.token_first or op.tokens.of(pcs).ready


def access_objects(read: Reader, pcs: PodCliqueSet) -> list[Step]:
    return [
        *_ensure(read, SERVICE_ACCOUNT, pcs, [access.service_account(pcs)], "ERR_SYNC_SERVICEACCOUNT"),
        *_ensure(read, ROLE, pcs, [access.role(pcs)], "ERR_SYNC_ROLE"),
        *_ensure(read, ROLE_BINDING, pcs, [access.role_binding(pcs)], "ERR_SYNC_ROLEBINDING"),
    ]


def service_objects(op: Operator, read: Reader, look: SetObjects) -> list[Step]:
    pcs = look.pcs
    live = {obj.name: obj for obj in read.owned(SERVICE, pcs.uid)}
    wish, steps, code = wish_of(pcs), list[Step](), "ERR_SYNC_PODCLIQUESET_SERVICE"
    for replica in range(look.size):
        service = live.pop(names.set_replica(pcs.name, replica), None)
        if service is None:
            steps.append(Create(SERVICE, services.service(pcs, replica), code))
        elif not is_settled(op, SERVICE, service, wish):
            patch = changed(SERVICE, service, services.service(pcs, replica))
            if patch is not None:
                steps.append(Patch(SERVICE, service.name, service.namespace, patch, code=code))
            else:
                op.settled.note(SERVICE, service, wish)
    surplus = [
        obj
        for obj in live.values()
        if beyond_size(obj, pcs) and not obj.metadata.deleting and not op.settings.manner.keep_services
    ]
    return steps + [delete(SERVICE, obj, "ERR_DELETE_PODCLIQUESET_SERVICE") for obj in surplus]


def autoscaler_objects(read: Reader, look: SetObjects) -> list[Step]:
    pcs, wanted = look.pcs, list(autoscalers.autoscalers(look.pcs, look.size))
    return [*_ensure(read, HPA, pcs, wanted, "ERR_SYNC_HPA"), *_surplus(read, HPA, pcs, wanted, "ERR_DELETE_HPA")]


def compute_domains(op: Operator, read: Reader, look: SetObjects) -> list[Step]:
    if not op.settings.auto_mnnvl:
        return []
    pcs, wanted = look.pcs, list(mnnvl.compute_domains(look.pcs, look.size))
    if not wanted and op.settings.manner.keep_compute_domains:
        return []
    keep = {obj["metadata"]["name"] for obj in wanted}
    steps: list[Step] = list(_ensure(read, COMPUTE_DOMAIN, pcs, wanted, "ERR_SYNC_COMPUTEDOMAIN", update=False))
    for domain in read.owned(COMPUTE_DOMAIN, pcs.uid):
        if domain.name not in keep:
            patch = patch_that_removes(domain, names.COMPUTE_DOMAIN_FINALIZER)
            if patch is not None:
                steps.append(
                    Patch(COMPUTE_DOMAIN, domain.name, domain.namespace, patch, code="ERR_DELETE_COMPUTEDOMAIN")
                )
            elif not domain.metadata.deleting:
                steps.append(delete(COMPUTE_DOMAIN, domain, "ERR_DELETE_COMPUTEDOMAIN"))
    return steps


def shared_claims(read: Reader, look: SetObjects, plan: WritePlan) -> list[Step]:
    pcs, sharing = look.pcs, look.pcs.spec.template.resource_sharing
    if not sharing:
        return []
    level = claims.ClaimLevel(
        POD_CLIQUE_SET, pcs, pcs.name, sharing, pcs.spec.replicas, look.size, {}, names.SET_REPLICA
    )
    try:
        return claims.writes(
            level,
            read.owned(RESOURCE_CLAIM, pcs.uid),
            pcs,
            partial(external_template, read),
            create_code="ERR_SYNC_PCS_RESOURCE_CLAIM",
            delete_code="ERR_DELETE_PCS_RESOURCE_CLAIM",
        )
    except claims.MissingTemplate as error:
        plan.errors.append(("ERR_SYNC_PCS_RESOURCE_CLAIM", str(error)))
        return []


def _ensure(
    read: Reader, kind: Kind[Any], pcs: PodCliqueSet, wanted: Iterable[Raw], code: str, *, update: bool = True
) -> list[Step]:
    """Creates and patches that make the set's objects of a kind as wanted."""
    live = {obj.name: obj for obj in read.owned(kind, pcs.uid)}
    steps: list[Step] = []
    for obj in wanted:
        child = live.get(obj["metadata"]["name"])
        if child is None:
            steps.append(Create(kind, obj, code))
        elif update and not child.metadata.deleting:
            patch = changed(kind, child, obj)
            if patch is not None:
                steps.append(Patch(kind, child.name, child.namespace, patch, code=code))
    return steps


def _surplus(read: Reader, kind: Kind[Any], pcs: PodCliqueSet, wanted: Sequence[Raw], code: str) -> list[Step]:
    keep = {obj["metadata"]["name"] for obj in wanted}
    return [
        delete(kind, obj, code)
        for obj in read.owned(kind, pcs.uid)
        if obj.name not in keep and not obj.metadata.deleting
    ]


def is_settled(op: Operator, kind: Kind[Any], live: Object | None, wish: tuple[object, ...]) -> bool:
    return live is not None and op.settled.check(kind, live, wish)


def beyond_size(obj: Object, pcs: PodCliqueSet) -> bool:
    """Whether an object belongs to a replica that the set no longer has."""
    index = number(obj.labels.get(names.SET_REPLICA, ""))
    return index is None or index >= pcs.spec.replicas

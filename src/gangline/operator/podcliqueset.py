"""PodCliqueSet → everything it owns: access, services, autoscalers, claims, cliques, scaling groups, gangs.

The first controller of the journey. Pure thought: desired/*, rollout, termination, status. Stages keep upstream's
order, so that what cannot be made stops what depends on it, and lastErrors says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import ClusterTopologyBinding, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang
from gangline.api.kinds import (
    COMPUTE_DOMAIN,
    HPA,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    ROLE,
    ROLE_BINDING,
    SCALING_GROUP,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    TOPOLOGY_BINDING,
    Kind,
)
from gangline.api.meta import Condition, Object, Raw, condition
from gangline.errors import GanglineError, NotFound, list_problems
from gangline.operator import adoption, gangs, measures, progress, rollout, status, termination
from gangline.operator.act import act, in_short
from gangline.operator.backends import NoBackend
from gangline.operator.desired import access, autoscalers, claims, mnnvl, services, topology
from gangline.operator.desired.bounds import GROUPS_IN_A_GANG, Backlog, horizon, number
from gangline.operator.desired.cliques import standalone_clique
from gangline.operator.desired.gangs import pod_gang
from gangline.operator.desired.groups import scaling_group
from gangline.operator.desired.hashes import set_hash
from gangline.operator.desired.layout import (
    CliquePlace,
    asks_for_gang,
    gang_place,
    group_replicas,
    groups_in_base_gang,
    missing_gangs,
    places_by_replica,
    pods_in_base_gang,
)
from gangline.operator.desired.remembered import remembered
from gangline.operator.guard import guarded
from gangline.operator.look import (
    INDEXES,
    Operator,
    asked_again,
    cliques_of_set,
    crowd,
    external_template,
    set_heard,
    set_key,
    wish_of,
)
from gangline.operator.plan import (
    Create,
    Delete,
    EventNote,
    Patch,
    Step,
    WritePlan,
    changed,
    condition_raw,
    delete,
    missing_finalizer,
    with_condition,
    without_finalizer,
)
from gangline.operator.tell import HELD_BACK, LONGEST, error_list, status_patch
from gangline.operator.trims import TRIMS
from gangline.operator.unseen import UnseenWrites
from gangline.rules import wishes
from gangline.rules.values.times import seconds
from gangline.runtime import Again, Context, Controller, Key, Reader, Watch, itself, owner
from gangline.runtime.clock import timestamp

NAME = "podcliqueset"
INVALID = "SpecInvalid"
GROWING = 5.0
"""Seconds until a set that is not whole yet is looked at again, if nothing else happens."""


@dataclass(slots=True)
class SetObjects:
    """What is, for one set."""

    pcs: PodCliqueSet
    cliques: dict[str, PodClique]
    """Every clique of the set, standalone and grouped, by name."""
    groups: dict[str, PodCliqueScalingGroup]
    gangs: dict[str, PodGang]
    binding: ClusterTopologyBinding | None
    set_hash: str
    progress: Raw | None
    doom: termination.Doom = field(default_factory=termination.Doom)
    backlog: Backlog = field(default_factory=Backlog)
    places: Sequence[tuple[CliquePlace, ...]] = ()
    """The standalone cliques that the set asks for, of every replica that is looked at."""
    missing: Sequence[str] = ()
    """Gangs that are made now."""

    @property
    def size(self) -> int:
        """How many replicas are looked at: those that are there, and the next ones."""
        return len(self.places)

    @property
    def partial(self) -> bool:
        """More is asked for than is looked at."""
        return self.size < self.pcs.spec.replicas

    def living_clique(self, name: str) -> PodClique | None:
        clique = self.cliques.get(name)
        return clique if clique is not None and not clique.metadata.deleting else None

    def living_group(self, name: str) -> PodCliqueScalingGroup | None:
        group = self.groups.get(name)
        return group if group is not None and not group.metadata.deleting else None


async def reconcile(op: Operator, unseen: UnseenWrites, ctx: Context, key: Key) -> Again | None:
    pcs = ctx.read.get(POD_CLIQUE_SET, key.name, key.namespace)
    if pcs is None:
        op.pace.forget(key)
        unseen.forget(key)
        return None
    if pcs.metadata.deleting:
        await _release(ctx, pcs)
        return None
    if not unseen.caught_up(key, ctx.read):
        measures.waits(NAME, measures.UNSEEN)
        return None
    rest = op.pace.wait(key, pcs.metadata.generation, ctx.clock.now())
    if rest:
        measures.waits(NAME, measures.PACE)
        return Again(rest)
    if await _adopt(ctx, pcs):
        return None
    pcs = await op.tokens.look(ctx, pcs)
    now = timestamp(ctx.clock.now())
    pcs = await _note_hash(ctx, pcs, now)
    look = _look(ctx.read, op, pcs)
    look.doom = _doom(look, ctx.clock.now())
    look.progress = rollout.next_replica(_view(op, look, None), look.doom.now, now)
    plan = think(op, ctx.read, look, now)
    failures = await act(ctx, plan, unseen.of(key) if look.partial else None)
    errors = [*plan.errors, *((failure.code, str(failure)) for failure in failures if not failure.stale)]
    late = await _tell(op, ctx, look, errors, now)
    grows = look.partial and bool(look.missing)
    op.pace.done(key, pcs.metadata.generation, ctx.clock.now(), 0 if grows else look.size)
    if failures:
        raise GanglineError(in_short(failures))
    if not _token_ready(op, pcs):
        return op.tokens.next_look(pcs)
    return _again(look.doom.wait, late, GROWING if look.partial else None)


def _again(doom: float | None, late: float | None, grows: float | None) -> Again | None:
    """When the next gang may have to end, an update is late, or more replicas may be made."""
    reasons = ((doom, measures.TERMINATION), (late, measures.DEADLINE), (grows, measures.BACKLOG))
    waits = [(wait, why) for wait, why in reasons if wait is not None]
    for _, why in waits:
        measures.waits(NAME, why)
    return Again(min(waits)[0]) if waits else None


async def _adopt(ctx: Context, pcs: PodCliqueSet) -> bool:
    """A set that Grove's own operator made gets our hashes before anything else is thought about it."""
    if not adoption.upstream(pcs.status.current_generation_hash):
        return False
    groups = {group.name: group for group in ctx.read.owned(SCALING_GROUP, pcs.uid)}
    stages = adoption.adoption(
        pcs, cliques_of_set(ctx.read, pcs), groups, lambda clique: ctx.read.owned(POD, clique.uid)
    )
    failures = await act(ctx, WritePlan(stages=[stage for stage in stages if stage]))
    if failures:
        raise GanglineError("; ".join(str(failure) for failure in failures))
    return bool(stages)


async def _note_hash(ctx: Context, pcs: PodCliqueSet, now: str) -> PodCliqueSet:
    """A new template hash is written down before anything acts on it."""
    new = set_hash(pcs)
    if pcs.status.current_generation_hash == new:
        return pcs
    begun = rollout.set_progress(pcs, new, now)
    patch: Raw = {
        "status": {
            "currentGenerationHash": new,
            "replicas": pcs.spec.replicas,
            "updatedReplicas": 0,
            "availableReplicas": pcs.status.available_replicas,
        }
    }
    if begun != pcs.status.update_progress:
        patch["status"]["updateProgress"] = dict.fromkeys(pcs.status.update_progress or {}) | (begun or {})
    return await ctx.client.patch(POD_CLIQUE_SET, pcs.name, pcs.namespace, patch, subresource="status")


async def _release(ctx: Context, pcs: PodCliqueSet) -> None:
    """ComputeDomains carry a finalizer of ours; everything else is left to garbage collection."""
    for domain in ctx.read.owned(COMPUTE_DOMAIN, pcs.uid):
        await _free_domain(ctx, domain)
    patch = without_finalizer(pcs, names.SET_FINALIZER)
    if patch is not None:
        await ctx.client.patch(POD_CLIQUE_SET, pcs.name, pcs.namespace, patch)


async def _free_domain(ctx: Context, domain: Object) -> None:
    """Let a ComputeDomain go; one that is gone, or whose kind is served no more, is let go already."""
    patch = without_finalizer(domain, names.COMPUTE_DOMAIN_FINALIZER)
    try:
        if patch is not None:
            await ctx.client.patch(COMPUTE_DOMAIN, domain.name, domain.namespace, patch)
        if not domain.metadata.deleting:
            await ctx.client.delete(COMPUTE_DOMAIN, domain.name, domain.namespace, uid=domain.uid)
    except NotFound:
        return


def _look(read: Reader, op: Operator, pcs: PodCliqueSet) -> SetObjects:
    look = SetObjects(
        pcs,
        {clique.name: clique for clique in cliques_of_set(read, pcs)},
        {group.name: group for group in read.owned(SCALING_GROUP, pcs.uid)},
        {gang.name: gang for gang in read.owned(POD_GANG, pcs.uid)},
        op.binding(read, pcs),
        set_hash(pcs),
        pcs.status.update_progress,
    )
    waiting = (gang for gang in look.gangs.values() if gang.status.phase in ("", gangs.PENDING))
    unplaced = (max(0, clique.spec.replicas - clique.status.scheduled_replicas) for clique in look.cliques.values())
    look.backlog = Backlog(sum(1 for _ in waiting), sum(unplaced), crowd(read))
    template = pcs.spec.template
    step = look.backlog.step(
        2 + len(template.cliques) + len(template.pod_clique_scaling_groups), pods_in_base_gang(pcs), pcs.spec.replicas
    )
    look.places = places_by_replica(pcs, horizon(pcs.spec.replicas, _replicas_there(look), step))
    sizes = _group_sizes(look)
    largest = max(
        (*sizes.values(), *(group_replicas(config) for config in template.pod_clique_scaling_groups)), default=0
    )
    scaled = look.backlog.step(1, 1, largest)
    look.missing = missing_gangs(pcs, look.size, sizes, look.gangs.keys(), scaled)
    return look


def _replicas_there(look: SetObjects) -> Iterator[int]:
    """The replicas that something is there of."""
    labels = (obj.labels.get(names.SET_REPLICA, "") for obj in (*look.cliques.values(), *look.groups.values()))
    of_gangs = (name.removeprefix(f"{look.pcs.name}-").partition("-")[0] for name in look.gangs)
    return (index for text in (*labels, *of_gangs) if (index := number(text)) is not None)


def _group_sizes(look: SetObjects) -> dict[str, int]:
    return {name: group.spec.replicas for name, group in look.groups.items()}


def _view(op: Operator, look: SetObjects, observed: int | None) -> status.SetView:
    gangs = sorted((gang for gang in look.gangs.values() if not gang.metadata.deleting), key=lambda gang: gang.name)
    return status.SetView(
        look.pcs,
        look.living_clique,
        look.living_group,
        gangs,
        look.set_hash,
        look.progress,
        observed,
        op.settings.topology_aware,
        look.binding,
        look.places,
    )


def _doom(look: SetObjects, now: float) -> termination.Doom:
    """Which replicas of the set must end as gangs."""
    grace = termination.delay(look.pcs)
    waits: dict[int, float] = {}
    for replica in range(look.size):
        cliques = [look.living_clique(place.name) for place in look.places[replica]]
        groups = [
            group
            for config in look.pcs.spec.template.pod_clique_scaling_groups
            if (group := look.living_group(names.scaling_group(look.pcs.name, replica, config.name))) is not None
        ]
        wait = termination.set_replica(cliques, groups, grace, now)
        if wait is not None:
            waits[replica] = wait
    return termination.set_replicas(waits)


# --- think
# -----------------------------------------------------------------------------------------------------------------


def think(op: Operator, read: Reader, look: SetObjects, now: str) -> WritePlan:
    """Everything the set should own, in stages."""
    plan, pcs = WritePlan(), look.pcs
    first = _token(op, read, pcs)
    patch = missing_finalizer(pcs, names.SET_FINALIZER)
    if patch is not None:
        first.append(Patch(POD_CLIQUE_SET, pcs.name, pcs.namespace, patch))
    first += [
        *_access(read, pcs),
        *_services(op, read, look),
        *_autoscalers(read, look),
        *_domains(op, read, look),
        *_claims(read, look, plan),
        *_terminate(look, plan, now),
    ]
    plan.errors += _too_large(pcs)
    plan.stage(first)
    if plan.errors or not _token_ready(op, pcs):
        return plan
    plan.stage(_cliques(op, look, plan))
    plan.stage([*_groups(look, plan), *_gangs(op, read, look, plan)])
    return plan


def _too_large(pcs: PodCliqueSet) -> list[tuple[str, str]]:
    """A gang that no PodGang could hold."""
    groups = groups_in_base_gang(pcs)
    if groups <= GROUPS_IN_A_GANG:
        return []
    return [
        (
            "ERR_CREATE_OR_PATCH_PODGANG",
            f"the base gang of each replica would have {groups} groups, and at most {GROUPS_IN_A_GANG} fit "
            "into a PodGang: lower minAvailable of the set's scaling groups",
        )
    ]


def _ensure(
    read: Reader, kind: Kind[Any], pcs: PodCliqueSet, wanted: Iterable[Raw], code: str, *, update: bool = True
) -> list[Step]:
    """Creates and patches that make the set's objects of a kind as wanted."""
    live = {obj.name: obj for obj in read.owned(kind, pcs.uid)}
    steps: list[Step] = []
    for obj in wanted:
        found = live.get(obj["metadata"]["name"])
        if found is None:
            steps.append(Create(kind, obj, code))
        elif update and not found.metadata.deleting:
            patch = changed(kind, found, obj)
            if patch is not None:
                steps.append(Patch(kind, found.name, found.namespace, patch, code=code))
    return steps


def _fine(op: Operator, kind: Kind[Any], live: Object | None, wish: tuple[object, ...]) -> bool:
    return live is not None and op.settled.check(kind, live, wish)


def _surplus(read: Reader, kind: Kind[Any], pcs: PodCliqueSet, wanted: Sequence[Raw], code: str) -> list[Step]:
    keep = {obj["metadata"]["name"] for obj in wanted}
    return [
        delete(kind, obj, code)
        for obj in read.owned(kind, pcs.uid)
        if obj.name not in keep and not obj.metadata.deleting
    ]


def _access(read: Reader, pcs: PodCliqueSet) -> list[Step]:
    return [
        *_ensure(read, SERVICE_ACCOUNT, pcs, [access.service_account(pcs)], "ERR_SYNC_SERVICEACCOUNT"),
        *_ensure(read, ROLE, pcs, [access.role(pcs)], "ERR_SYNC_ROLE"),
        *_ensure(read, ROLE_BINDING, pcs, [access.role_binding(pcs)], "ERR_SYNC_ROLEBINDING"),
    ]


def _token(op: Operator, read: Reader, pcs: PodCliqueSet) -> list[Step]:
    """The init container's token; a Secret under Grove's former name goes once nobody mounts it any more."""
    found = op.tokens.of(pcs)
    if found.current is None:
        return [Create(SECRET, access.token_secret(pcs), "ERR_CREATE_SECRET", taken="ERR_SECRET_CONFLICT")]
    former = found.former
    if former is None or not found.current.filled:
        return []
    pods = (pod for clique in cliques_of_set(read, pcs) for pod in read.owned(POD, clique.uid))
    mounted = any(_mounts(pod, former.name) for pod in pods)
    return [] if mounted else [Delete(SECRET, former.name, former.namespace, former.uid, "ERR_DELETE_SECRET")]


def _mounts(pod: Pod, secret: str) -> bool:
    return any((volume.get("secret") or {}).get("secretName") == secret for volume in pod.spec.volumes)


def _token_ready(op: Operator, pcs: PodCliqueSet) -> bool:
    """Whether cliques may be made: where one waits for another, its init container needs the token first."""
    return not op.settings.manner.token_first or op.tokens.of(pcs).ready


def _services(op: Operator, read: Reader, look: SetObjects) -> list[Step]:
    pcs = look.pcs
    live = {obj.name: obj for obj in read.owned(SERVICE, pcs.uid)}
    wish, steps, code = wish_of(pcs), list[Step](), "ERR_SYNC_PODCLIQUESET_SERVICE"
    for replica in range(look.size):
        found = live.pop(names.set_replica(pcs.name, replica), None)
        if found is None:
            steps.append(Create(SERVICE, services.service(pcs, replica), code))
        elif not _fine(op, SERVICE, found, wish):
            patch = changed(SERVICE, found, services.service(pcs, replica))
            if patch is not None:
                steps.append(Patch(SERVICE, found.name, found.namespace, patch, code=code))
            else:
                op.settled.note(SERVICE, found, wish)
    surplus = [
        obj
        for obj in live.values()
        if _beyond(obj, pcs) and not obj.metadata.deleting and not op.settings.manner.keep_services
    ]
    return steps + [delete(SERVICE, obj, "ERR_DELETE_PODCLIQUESET_SERVICE") for obj in surplus]


def _autoscalers(read: Reader, look: SetObjects) -> list[Step]:
    pcs, wanted = look.pcs, list(autoscalers.autoscalers(look.pcs, look.size))
    return [*_ensure(read, HPA, pcs, wanted, "ERR_SYNC_HPA"), *_surplus(read, HPA, pcs, wanted, "ERR_DELETE_HPA")]


def _domains(op: Operator, read: Reader, look: SetObjects) -> list[Step]:
    if not op.settings.auto_mnnvl:
        return []
    pcs, wanted = look.pcs, list(mnnvl.compute_domains(look.pcs, look.size))
    if not wanted and op.settings.manner.keep_compute_domains:
        return []
    keep = {obj["metadata"]["name"] for obj in wanted}
    steps: list[Step] = list(_ensure(read, COMPUTE_DOMAIN, pcs, wanted, "ERR_SYNC_COMPUTEDOMAIN", update=False))
    for domain in read.owned(COMPUTE_DOMAIN, pcs.uid):
        if domain.name not in keep:
            patch = without_finalizer(domain, names.COMPUTE_DOMAIN_FINALIZER)
            if patch is not None:
                steps.append(
                    Patch(COMPUTE_DOMAIN, domain.name, domain.namespace, patch, code="ERR_DELETE_COMPUTEDOMAIN")
                )
            elif not domain.metadata.deleting:
                steps.append(delete(COMPUTE_DOMAIN, domain, "ERR_DELETE_COMPUTEDOMAIN"))
    return steps


def _claims(read: Reader, look: SetObjects, plan: WritePlan) -> list[Step]:
    pcs, sharing = look.pcs, look.pcs.spec.template.resource_sharing
    if not sharing:
        return []
    level = claims.Level(POD_CLIQUE_SET, pcs, pcs.name, sharing, pcs.spec.replicas, look.size, {}, names.SET_REPLICA)
    live = read.owned(RESOURCE_CLAIM, pcs.uid)
    there = {claim.name for claim in live}
    try:
        wanted = list(claims.claims(level, claims.internal_templates(pcs), partial(external_template, read)))
    except claims.MissingTemplate as error:
        plan.errors.append(("ERR_SYNC_PCS_RESOURCE_CLAIM", str(error)))
        return []
    steps: list[Step] = [
        Create(RESOURCE_CLAIM, claim, "ERR_SYNC_PCS_RESOURCE_CLAIM")
        for claim in wanted
        if claim["metadata"]["name"] not in there
    ]
    return steps + [
        delete(RESOURCE_CLAIM, claim, "ERR_DELETE_PCS_RESOURCE_CLAIM")
        for claim in claims.surplus(level, live)
        if not claim.metadata.deleting
    ]


def _terminate(look: SetObjects, plan: WritePlan, now: str) -> list[Step]:
    """Replicas of the set that end as gangs: all their cliques go, their scaling groups say so."""
    steps: list[Step] = []
    for replica in look.doom.now:
        mine = [
            clique
            for clique in look.cliques.values()
            if clique.labels.get(names.SET_REPLICA) == str(replica) and not clique.metadata.deleting
        ]
        steps += [delete(POD_CLIQUE, clique, "ERR_DELETE_PCS_REPLICA") for clique in mine]
        for group in look.groups.values():
            if group.labels.get(names.SET_REPLICA) == str(replica):
                steps.append(_terminating(group, now))
        plan.events.append(
            EventNote(
                POD_CLIQUE_SET,
                look.pcs,
                "PodCliqueSetReplicaDeleteSuccessful",
                f"replica {replica} was below its minimum for longer than {look.pcs.spec.template.termination_delay}; "
                "its cliques start again",
            )
        )
    return steps


def _terminating(group: PodCliqueScalingGroup, now: str) -> Patch:
    new = Condition(
        type=status.TERMINATING,
        status="True",
        reason="GangTerminationActive",
        message="the set's replica is ended as a gang",
    )
    others = [condition_raw(item) for item in group.status.conditions if item.type != status.TERMINATING]
    body = {"conditions": [*others, with_condition(group.status.conditions, new, now)]}
    return Patch(SCALING_GROUP, group.name, group.namespace, {"status": body}, "status", "ERR_DELETE_PCS_REPLICA")


def _cliques(op: Operator, look: SetObjects, plan: WritePlan) -> list[Step]:
    pcs, steps, wish = look.pcs, list[Step](), wish_of(look.pcs)
    for places in look.places:
        for place in places:
            live = look.cliques.get(place.name)
            if not _fine(op, POD_CLIQUE, live, wish):
                found = _clique(pcs, live, standalone_clique(pcs, place, live), plan)
                steps += found
                if live is not None and not found:
                    op.settled.note(POD_CLIQUE, live, wish)
    extra = [
        clique
        for clique in look.cliques.values()
        if clique.labels.get(names.COMPONENT) == names.FOR_STANDALONE_CLIQUE
        and _beyond(clique, pcs)
        and not clique.metadata.deleting
    ]
    plan.events += [
        EventNote(POD_CLIQUE_SET, pcs, "PodCliqueDeleteSuccessful", f"deleted PodClique {clique.name}")
        for clique in extra
    ]
    return steps + [delete(POD_CLIQUE, clique, "ERR_DELETE_PODCLIQUE") for clique in extra]


def _clique(pcs: PodCliqueSet, live: PodClique | None, wanted: Raw, plan: WritePlan) -> list[Step]:
    if live is None:
        plan.events.append(
            EventNote(
                POD_CLIQUE_SET, pcs, "PodCliqueCreateSuccessful", f"created PodClique {wanted['metadata']['name']}"
            )
        )
        return [Create(POD_CLIQUE, wanted, "ERR_CREATE_PODCLIQUE")]
    patch = changed(POD_CLIQUE, live, wanted) if not live.metadata.deleting else None
    return (
        [Patch(POD_CLIQUE, live.name, live.namespace, patch, code="ERR_CREATE_OR_UPDATE_PODCLIQUE")]
        if patch is not None
        else []
    )


def _beyond(obj: Object, pcs: PodCliqueSet) -> bool:
    """Whether an object belongs to a replica that the set no longer has."""
    index = number(obj.labels.get(names.SET_REPLICA, ""))
    return index is None or index >= pcs.spec.replicas


def _groups(look: SetObjects, plan: WritePlan) -> list[Step]:
    pcs, steps, configs = look.pcs, list[Step](), look.pcs.spec.template.pod_clique_scaling_groups
    for replica in range(look.size):
        for config in configs:
            name = names.scaling_group(pcs.name, replica, config.name)
            live = look.groups.get(name)
            wanted = scaling_group(pcs, replica, config, live)
            if live is None:
                steps.append(Create(SCALING_GROUP, wanted, "ERR_CREATE_PODCLIQUESCALINGGROUP"))
                plan.events.append(
                    EventNote(
                        POD_CLIQUE_SET, pcs, "PodCliqueScalingGroupCreateSuccessful", f"created scaling group {name}"
                    )
                )
            elif (patch := changed(SCALING_GROUP, live, wanted)) is not None and not live.metadata.deleting:
                steps.append(Patch(SCALING_GROUP, name, pcs.namespace, patch, code="ERR_SYNC_PODCLIQUESCALINGGROUP"))
    known = {config.name for config in configs}
    extra = [
        group
        for group in look.groups.values()
        if not group.metadata.deleting and (_beyond(group, pcs) or _config_name(group, pcs) not in known)
    ]
    plan.events += [
        EventNote(POD_CLIQUE_SET, pcs, "PodCliqueScalingGroupDeleteSuccessful", f"deleted scaling group {group.name}")
        for group in extra
    ]
    return steps + [delete(SCALING_GROUP, group, "ERR_DELETE_PODCLIQUESCALINGGROUP") for group in extra]


def _config_name(group: PodCliqueScalingGroup, pcs: PodCliqueSet) -> str:
    """What a scaling group is called in its set."""
    return group.name.removeprefix(f"{names.set_replica(pcs.name, int(group.labels[names.SET_REPLICA]))}-")


def _gangs(op: Operator, read: Reader, look: SetObjects, plan: WritePlan) -> list[Step]:
    """Gangs that are missing, made empty; podgang.py fills them. Gangs that nobody asks for go."""
    pcs = look.pcs
    try:
        selection = op.registry.for_set(pcs)
    except NoBackend as error:
        plan.errors.append(("ERR_CREATE_OR_PATCH_PODGANG", str(error)))
        return []
    sizes = _group_sizes(look)
    missing = [place for name in look.missing if (place := gang_place(pcs, name)) is not None]
    levels = op.levels(read, pcs)
    steps: list[Step] = [
        Create(POD_GANG, pod_gang(pcs, place, lambda name: (), selection.chosen, levels), "ERR_CREATE_PODGANG")
        for place in missing
    ]
    extra = [
        gang for name, gang in look.gangs.items() if not gang.metadata.deleting and not asks_for_gang(pcs, name, sizes)
    ]
    plan.events += [
        EventNote(POD_CLIQUE_SET, pcs, "PodGangDeleteSuccessful", f"deleted PodGang {gang.name}") for gang in extra
    ]
    return steps + [
        Delete(POD_GANG, gang.name, gang.namespace, gang.uid, "ERR_DELETE_EXCESS_PODGANG") for gang in extra
    ]


# --- tell
# --------------------------------------------------------------------------------------------------------------------


async def _tell(op: Operator, ctx: Context, look: SetObjects, errors: list[tuple[str, str]], now: str) -> float | None:
    """Write the set's status; gives the seconds after which an update that does not move counts as stuck."""
    pcs = look.pcs
    view = _view(op, look, pcs.status.observed_generation if errors else pcs.metadata.generation)
    new = status.set_status(view, now)
    moves = progress.progressing(view, new.get("updateProgress") or {}, now)
    others = [item for item in new["conditions"] if item["type"] not in (progress.PROGRESSING, INVALID, HELD_BACK)]
    new["conditions"] = [*others, *([moves] if moves else []), *_invalid(op, pcs, now), *_held_back(op, look, now)]
    new["lastErrors"] = error_list(pcs.status.last_errors, errors, now)
    if (
        moves
        and moves["reason"] == progress.STUCK
        and not status.is_reason(pcs.status.conditions, progress.PROGRESSING, progress.STUCK)
    ):
        ctx.events.tell(POD_CLIQUE_SET, pcs, progress.STUCK, moves["message"], warning=True)
    patch = status_patch(POD_CLIQUE_SET, pcs, new)
    if patch is not None:
        await ctx.client.patch(POD_CLIQUE_SET, pcs.name, pcs.namespace, patch, subresource="status")
    return progress.remaining(moves, wishes.progress_deadline(pcs.annotations), ctx.clock.now())


def _invalid(op: Operator, pcs: PodCliqueSet, now: str) -> list[Raw]:
    """That a set was stored before its checks, and what they would say; it is worked on as far as possible all the
    same."""
    found = [] if op.settings.manner.plain_conditions else remembered(pcs, "faults", lambda: list(op.faults(pcs)))
    if not found:
        return []
    told = Condition(
        type=INVALID,
        status="True",
        reason="WouldBeRefused",
        message=list_problems(found)[:LONGEST],
        observed_generation=pcs.metadata.generation,
    )
    return [with_condition(pcs.status.conditions, told, now)]


def _held_back(op: Operator, look: SetObjects, now: str) -> list[Raw]:
    """That not everything is made yet that the set asks for, because so much of it waits already."""
    pcs, there = look.pcs, sum(number(name.removeprefix(f"{look.pcs.name}-")) is not None for name in look.gangs)
    if op.settings.manner.plain_conditions or not look.partial or look.missing:
        return []
    told = Condition(
        type=HELD_BACK,
        status="True",
        reason="TooManyWaiting",
        observed_generation=pcs.metadata.generation,
        message=(
            f"{there} of {pcs.spec.replicas} replicas are there, and {look.backlog.gangs} gangs with "
            f"{look.backlog.pods} pods wait to be "
            "placed: more are made once fewer wait"
        ),
    )
    return [with_condition(pcs.status.conditions, told, now)]


# --- the controller
# --------------------------------------------------------------------------------------------------------------


def _clique_matters(before: PodClique | None, after: PodClique | None) -> bool:
    if before is None or after is None:
        return after is None
    return asked_again(before, after) or _essence(before) != _essence(after)


def _essence(clique: PodClique) -> tuple[object, ...]:
    """What of a clique's status the set looks at."""
    found = clique.status
    breach = condition(found.conditions, status.BREACHED)
    return (
        found.ready_replicas,
        found.scheduled_replicas,
        found.updated_replicas,
        found.current_pod_template_hash,
        found.current_pod_clique_set_generation_hash,
        found.update_progress,
        breach and breach.status,
        breach and seconds(breach.last_transition_time),
    )


def _group_matters(before: PodCliqueScalingGroup | None, after: PodCliqueScalingGroup | None) -> bool:
    if before is None or after is None:
        return after is None
    old, new = before.status, after.status
    return asked_again(before, after) or (
        old.available_replicas,
        old.updated_replicas,
        old.current_pod_clique_set_generation_hash,
        old.update_progress,
        old.conditions,
    ) != (
        new.available_replicas,
        new.updated_replicas,
        new.current_pod_clique_set_generation_hash,
        new.update_progress,
        new.conditions,
    )


def _gang_matters(before: PodGang | None, after: PodGang | None) -> bool:
    return before is None or after is None or before.status != after.status


def _gone_or_edited(before: Object | None, after: Object | None) -> bool:
    """A child that someone removed or changed; not every kind counts generations."""
    return after is None or (before is not None and (asked_again(before, after) or _content(before) != _content(after)))


def _content(obj: Object) -> tuple[object, ...]:
    return tuple(getattr(obj, part, None) for part in ("spec", "rules", "subjects", "automount_service_account_token"))


def _sets_of_binding(binding: ClusterTopologyBinding, read: Reader) -> Iterable[Key]:
    return [
        Key(pcs.namespace, pcs.name) for pcs in read.list(POD_CLIQUE_SET) if topology.topology_name(pcs) == binding.name
    ]


def _sets_in_trouble(template: Object, read: Reader) -> Iterable[Key]:
    """Sets that may have waited for a ResourceClaimTemplate."""
    return [
        Key(pcs.namespace, pcs.name)
        for pcs in read.list(POD_CLIQUE_SET)
        if any(error.code == "ERR_SYNC_PCS_RESOURCE_CLAIM" for error in pcs.status.last_errors)
    ]


def controller(op: Operator) -> Controller:
    unseen = UnseenWrites(POD_GANG)
    mine: Callable[[Kind[Any]], Watch] = lambda kind: Watch(kind, owner(POD_CLIQUE_SET), _gone_or_edited)  # noqa: E731
    return Controller(
        NAME,
        partial(guarded, POD_CLIQUE_SET, partial(reconcile, op, unseen)),
        (
            Watch(POD_CLIQUE_SET, itself, set_heard(op)),
            Watch(POD_CLIQUE, set_key, _clique_matters),
            Watch(SCALING_GROUP, set_key, _group_matters),
            Watch(POD_GANG, set_key, _gang_matters),
            Watch(TOPOLOGY_BINDING, _sets_of_binding),
            Watch(RESOURCE_CLAIM_TEMPLATE, _sets_in_trouble),
            *map(mine, (SERVICE_ACCOUNT, ROLE, ROLE_BINDING, SERVICE, HPA, COMPUTE_DOMAIN, RESOURCE_CLAIM)),
        ),
        indexes=INDEXES,
        workers=op.settings.workers.pod_clique_set,
        started=op.running.append,
        selectors=op.selectors,
        trims=TRIMS,
    )

"""The first thing that keeps a gang from running, looked for from the outside in: its state, its pods, its
scheduler, its queue, its room.

Each cause comes with the changes that may clear it. They are not tried here: remedies.py applies them to a copy of
the objects, asks this file again, and so finds what stands behind the first obstacle.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gangline.api import kinds, names
from gangline.api.meta import Raw, condition
from gangline.rules.schedulers import SERVED
from gangline.rules.verdicts import HELD, of_group
from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.resources import GPU
from gangline.scheduler.model.status import Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.session import Session
from gangline.scheduler.why.trial import everyone
from gangline.scheduler.why.verdict import counted, spoken
from gangline.why import members, queues, room
from gangline.why.amounts import listed
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.components import binding, lease_of, lease_text, no_scheduler, no_shard, overlooked, pool_of
from gangline.why.fixes import (
    closed_nodes,
    lower_minimum,
    more_nodes,
    priority_changes,
    relaxed,
    suspended_others,
    undelayed,
)
from gangline.why.objects import ClusterObjects, dig
from gangline.why.replay import AtRest, at_rest
from gangline.why.states import living, state_of
from gangline.why.subjects import Subject, find

NEAR = 0.6


def cause_of(objects: ClusterObjects, subject: Subject, titles: dict[str, str]) -> Cause:
    """What is to be said of a workload first. Never nothing."""
    state = state_of(objects, subject)
    if state is not None and state.code != "surplus":
        return state
    cause = _before_scheduling(objects, subject, titles) if state is None else None
    if cause is not None:
        return cause
    if subject.group is None:
        return state or _elsewhere(objects, subject)
    hidden = [
        kind.resource
        for kind in (kinds.POD, kinds.NODE, kinds.QUEUE, kinds.POD_GROUP)
        if kind.resource in objects.unread
    ]
    if hidden:
        return state or _as_written(subject, hidden)
    rest = at_rest(objects, pool_of(subject))
    waiting = in_the_way(objects, subject, rest, titles)
    if state is None:
        held = sum(bool(pod.spec.node_name) for pod in living(subject))
        of = counted(len(living(subject)), "pod")
        return replace(waiting, facts=(*waiting.facts, f"{held} of its {of} have nodes")) if held else waiting
    return Cause(
        state.code, state.why, (f"they wait: {waiting.why}", *waiting.facts), waiting.fixes, state.state, waiting.needs
    )


def _as_written(subject: Subject, hidden: Sequence[str]) -> Cause:
    """For whoever may not read the cluster: what the scheduler wrote on the PodGroup."""
    assert subject.group is not None
    first, *more = of_group(subject.group, subject.name).text.splitlines()
    why = first.removeprefix(f"{subject.name} waits: ").removeprefix(f"{subject.name}: ")
    note = (
        f"you may not read {listed(hidden)} of the whole cluster: this is what the scheduler wrote, and nothing "
        f"was tried"
    )
    return Cause("as-written", why, (*(line.strip() for line in more), note))


def _before_scheduling(objects: ClusterObjects, subject: Subject, titles: dict[str, str]) -> Cause | None:
    """What keeps the scheduler from even looking at it."""
    base = members.base_gang(objects, subject)
    if base:
        return _behind_base(objects, subject, base, titles)
    return (
        _missing_kind(objects, subject)
        or members.scheduler_cause(objects, subject)
        or _held_by_backend(subject)
        or no_shard(objects, subject)
        or members.missing_pods(objects, subject)
        or members.gated_pods(objects, subject)
        or members.ungrouped(objects, subject)
        or binding(objects, subject)
    )


def _behind_base(objects: ClusterObjects, subject: Subject, base: str, titles: dict[str, str]) -> Cause:
    """A scaled gang: the set's base gang goes first, so what keeps that one keeps this one."""
    [first] = find(objects, f"gang/{base}", subject.namespace)
    cause = cause_of(objects, first, titles)
    return Cause(
        "base-gang",
        f"its base gang {base} does not run yet, and goes first; {base} {cause.state}: {cause.why}",
        (f"its pods are behind the gate of gangline's operator until {base} has its nodes",),
        cause.fixes,
        pods_change=True,
    )


def _missing_kind(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """What our scheduler needs is not installed; of no concern to who names another scheduler."""
    named = {pod.spec.scheduler_name or names.DEFAULT_SCHEDULER for pod in subject.pods}
    if named and not named & set(SERVED):
        return None
    absent = [
        kind
        for kind in (kinds.POD_GROUP, kinds.QUEUE)
        if not objects.serves(kind) and kind.resource not in objects.unread
    ]
    if not absent:
        return None
    return Cause(
        "no-crds",
        f"the server does not serve {listed([kind.resource for kind in absent])}: the scheduler half is not installed",
        ("`gangline install` brings its CustomResourceDefinitions",),
    )


def _held_by_backend(subject: Subject) -> Cause | None:
    """A gang that another scheduler's backend holds, or that nobody translates."""
    gang = subject.gang
    if gang is None:
        return None
    whole = condition(gang.status.conditions, "Initialized")
    backend = gang.labels.get(names.SCHEDULER_BACKEND, "")
    if whole is not None and whole.status == "False" and whole.reason in HELD:
        return Cause(
            "backend", whole.message or whole.reason, (f"its backend is {backend} (label {names.SCHEDULER_BACKEND})",)
        )
    return None


def _elsewhere(objects: ClusterObjects, subject: Subject) -> Cause:
    """A gang without a PodGroup of ours: what its own conditions say."""
    gang = subject.gang
    if gang is not None:
        backend = gang.labels.get(names.SCHEDULER_BACKEND, "") or "default"
        for kind in ("Initialized", "Scheduled", "Ready"):
            found = condition(gang.status.conditions, kind)
            if found is not None and found.status != "True":
                return Cause(
                    "outside" if backend != "kai" else "not-ready",
                    found.message or found.reason,
                    (
                        f"its scheduler is reached by backend {backend}; condition {kind}: {found.reason}",
                        *_outside_scheduler(objects, subject),
                    ),
                )
    if subject.kind == "set":
        note = lease_text(objects, ("gangline-operator", "grove-operator-leader-election"))
        return Cause(
            "not-ready", f"the operator has made no gang for it yet: is it running? {note}", tuple(_problems(subject))
        )
    return Cause(
        "no-pods", f"it has no pods yet; nobody has made them for {subject.top_kind or subject.kind}/{subject.name}"
    )


def _outside_scheduler(objects: ClusterObjects, subject: Subject) -> Iterator[str]:
    """Whether the scheduler that its pods name shows a sign of life."""
    for name in sorted({pod.spec.scheduler_name for pod in subject.pods if pod.spec.scheduler_name}):
        silent = lease_of(objects, (name, f"{name}-scheduler")) is None
        told = lease_text(objects, (name, f"{name}-scheduler"))
        yield f"scheduler {name}: {told}" + ("; is it running?" if silent else "")


def _problems(subject: Subject) -> Iterator[str]:
    for item in dig(subject.top, "status", "conditions") or ():
        yield f"condition {item.get('type')}: {item.get('message') or item.get('reason')}"
    for item in dig(subject.top, "status", "lastErrors") or ():
        yield str(item.get("description"))


# ── with the scheduler's own model ──


def in_the_way(objects: ClusterObjects, subject: Subject, rest: AtRest, titles: dict[str, str]) -> Cause:
    gang = rest.cluster.gangs.get(subject.gang_uid)
    absent = no_scheduler(objects, pool_of(subject))
    if absent is not None:
        return absent
    if gang is None:
        return Cause("unread", "its PodGroup cannot be read by the scheduler")
    nominated = _nominated(objects, gang, rest)
    if nominated is not None:
        return nominated
    if rest.started(gang.uid) and not gang.pending:
        return _after_evictions(rest, gang, titles) or overlooked(objects, subject)
    session = Session(rest.cluster, rest.settings, rest.now)
    try:
        session.action = "explain"
        return _waiting(session, objects, subject, gang, rest, titles)
    finally:
        session.close()


def _nominated(objects: ClusterObjects, gang: GangInfo, rest: AtRest) -> Cause | None:
    mine = [nomination for nomination in rest.first.nominations if nomination.task in gang.tasks]
    if not mine:
        return None
    nodes = sorted({item.node for item in mine})
    leaving = [pod.name for pod in objects.all(kinds.POD) if pod.metadata.deleting and pod.spec.node_name in nodes]
    told = f": pods {listed(leaving)} are leaving" if leaving else ""
    return Cause("nominated", f"room is being made for it on {listed(nodes)}{told}, then it starts", transient=True)


def _after_evictions(rest: AtRest, gang: GangInfo, titles: dict[str, str]) -> Cause | None:
    mine = [evict for evict in rest.evicted.values() if evict.preemptor == gang.uid]
    if not mine:
        return None
    return Cause(
        "making-room",
        f"the next cycles make room for it by {mine[0].action}: {counted(len(mine), 'pod')} are evicted",
        transient=True,
    )


def _waiting(
    session: Session, objects: ClusterObjects, subject: Subject, gang: GangInfo, rest: AtRest, titles: dict[str, str]
) -> Cause:
    tasks = session.wanted(gang, simulation=False)
    found = _of_gang(objects, subject, gang) or _of_queue(session, objects, subject, gang)
    if found is not None:
        return found
    if not tasks:
        return Cause("not-ready", "it has no pods that a scheduler may place yet")
    needs = room.asks(tasks, session.cluster.names.names)
    cause = (
        _of_bounds(session, objects, subject, gang, tasks)
        or _of_topology(session, objects, subject, gang)
        or _of_things(session, objects, subject, gang, tasks)
        or _of_room(session, objects, subject, gang, tasks, titles)
        or _behind(session, objects, subject, gang, tasks, titles)
    )
    return replace(cause, needs=cause.needs or needs)


def _of_gang(objects: ClusterObjects, subject: Subject, gang: GangInfo) -> Cause | None:
    if gang.problems:
        return Cause("broken", f"its PodGroup makes no sense: {gang.problems[0]} (spec.subGroups)")
    if gang.record.skipped:
        body: Raw = {"spec": {"schedulingBackoff": -1}}
        change = ObjectChange(
            kinds.POD_GROUP, gang.name, body, gang.namespace, word=f"the PodGroup of {subject.kind}/{subject.name}"
        )
        return Cause(
            "gave-up",
            "it did not fit once and asked not to be tried again in this node pool (spec.schedulingBackoff)",
            fixes=((change,),),
        )
    if not gang.count(Status.PENDING) and gang.count(Status.GATED):
        return members.gated_pods(objects, subject) or Cause("gate", "its pods are behind scheduling gates")
    return None


# ── the queue ──


def _of_queue(session: Session, objects: ClusterObjects, subject: Subject, gang: GangInfo) -> Cause | None:
    name = gang.queue
    queue = session.queues.get(name)
    if queue is not None and queue.is_leaf:
        return None
    leaves = sorted(item.name for item in session.queues.values() if item.is_leaf)
    if queue is not None:
        below = sorted(item.name for item in session.queues.values() if item.parent == name)
        return Cause(
            "queue",
            f"queue {name} has child queues ({listed(below)}), so it takes no work itself",
            fixes=tuple((_moved(subject, leaf),) for leaf in below if leaf in leaves),
        )
    if name in session.cluster.queues:
        return _broken_parent(session, objects, name)
    live = objects.raw(kinds.QUEUE, name)
    if live is not None:
        pool = dig(live, "metadata", "labels", names.NODE_POOL) or "default"
        return Cause(
            "queue",
            f"queue {name} belongs to node pool {pool}, not to that of the gang ({pool_of(subject) or 'default'})",
            fixes=tuple((_moved(subject, leaf),) for leaf in leaves[:2]),
        )
    near = [leaf for leaf in leaves if _alike(leaf, name)]
    hint = (
        f"; did you mean {near[0]}?"
        if near
        else f"; there are {listed(leaves, 6)}"
        if leaves
        else "; there is no queue at all"
    )
    made = ObjectChange(kinds.QUEUE, name, _new_queue(session), how="new") if name else None
    fixes = [
        *((_moved(subject, leaf),) for leaf in near[:1]),
        *([(made,)] if made is not None else []),
        *((_moved(subject, leaf),) for leaf in leaves[:1] if leaf not in near),
    ]
    return Cause("queue", f"queue {name or '(none)'} does not exist{hint}", fixes=tuple(fixes))


def _alike(left: str, right: str) -> bool:
    return difflib.SequenceMatcher(None, left, right).ratio() >= NEAR


def _moved(subject: Subject, queue: str) -> ObjectChange:
    assert subject.group is not None
    word = (
        f"the PodGroup of {subject.kind}/{subject.name}" if subject.top is not None or subject.gang is not None else ""
    )
    return ObjectChange(kinds.POD_GROUP, subject.group.name, {"spec": {"queue": queue}}, subject.namespace, word=word)


def _new_queue(session: Session) -> Raw:
    unlimited = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    tops = sorted(queue.name for queue in session.queues.values() if not queue.parent and not queue.is_leaf)
    parent = names.DEFAULT_PARENT_QUEUE if names.DEFAULT_PARENT_QUEUE in tops else (tops[0] if tops else "")
    return {
        "spec": {
            "resources": {"cpu": unlimited, "memory": unlimited, "gpu": unlimited},
            **({"parentQueue": parent} if parent else {}),
        }
    }


def _broken_parent(session: Session, objects: ClusterObjects, name: str) -> Cause:
    """The first queue upwards whose parent is not there, or the circle."""
    seen, at = [name], name
    while True:
        parent = str(dig(objects.raw(kinds.QUEUE, at), "spec", "parentQueue") or "")
        if parent in seen:
            return Cause(
                "queue",
                f"the parents of queue {name} run in a circle: {' → '.join([*seen, parent])} (spec.parentQueue)",
                fixes=((ObjectChange(kinds.QUEUE, at, {"spec": {"parentQueue": ""}}),),),
            )
        if objects.raw(kinds.QUEUE, parent) is None:
            made = ObjectChange(
                kinds.QUEUE,
                parent,
                {
                    "spec": {
                        "resources": {
                            item: {"quota": -1, "limit": -1, "overQuotaWeight": 1} for item in ("cpu", "memory", "gpu")
                        }
                    }
                },
                how="new",
            )
            return Cause(
                "queue",
                f"queue {at} has the parent {parent or '(none)'} (spec.parentQueue), which does not exist",
                fixes=((made,),),
            )
        seen.append(parent)
        at = parent


def _of_bounds(
    session: Session, objects: ClusterObjects, subject: Subject, gang: GangInfo, tasks: Sequence[TaskInfo]
) -> Cause | None:
    found = queues.excesses(session, gang, tasks)
    if not found:
        refusal = session.over_capacity(gang, list(tasks))
        if refusal is None:
            return None
        return Cause("refused", f"plugin {refusal.plugin} refuses: {'; '.join(refusal.messages) or refusal.reason}")
    first = found[0]
    code = "limit" if first.bound == "limit" else "quota"
    firm = "" if first.bound == "limit" else f"; it cannot be preempted ({queues.firmness(gang)})"
    lower = lower_minimum(session, subject, gang, found)
    fixes = [
        queues.raised(objects, found),
        *([lower] if lower else []),
        *suspended_others(session, objects, gang, first.account.uid, titles={}),
    ]
    return Cause(
        code,
        f"{queues.excess_text(first)}{firm}",
        tuple(queues.excess_text(item) for item in found[1:]),
        tuple(fix for fix in fixes if fix),
        proof={"queues": [queues.figures(item) for item in found]},
    )


# ── topology, and things it names ──


def _of_topology(session: Session, objects: ClusterObjects, subject: Subject, gang: GangInfo) -> Cause | None:
    for member in everyone(gang.root):
        rule = member.topology
        if rule is None or not rule.topology:
            continue
        tree = session.cluster.topology(rule.topology)
        there = sorted(session.cluster.topologies)
        wanted = [level for level in (rule.required, rule.preferred) if level]
        if tree is None:
            made = ObjectChange(
                kinds.TOPOLOGY,
                rule.topology,
                {"spec": {"levels": [{"nodeLabel": level} for level in wanted]}},
                how="new",
            )
            known = f"; there are {listed(there)}" if there else "; there is none"
            return Cause(
                "topology",
                f"topology {rule.topology} does not exist{known}",
                fixes=(relaxed(subject, gang, unknown=True), (made,)),
            )
        for level in wanted:
            if tree.level(level) is None:
                return Cause(
                    "topology",
                    f"topology {rule.topology} has no level {level}; it has "
                    f"{listed(_levels(objects, rule.topology), 8)}",
                    fixes=(relaxed(subject, gang, unknown=True),),
                )
        if rule.required and not any(rule.required in node.labels for node in session.cluster.nodes.values()):
            labelled = tuple(
                ObjectChange(
                    kinds.NODE, name, {"metadata": {"labels": {rule.required: f"{rule.required.rpartition('/')[2]}-1"}}}
                )
                for name in sorted(session.cluster.nodes)
            )
            return Cause(
                "topology",
                f"no node has the label {rule.required} of the level that it must stay within (topology "
                f"{rule.topology})",
                fixes=(labelled, relaxed(subject, gang)),
            )
    return None


def _levels(objects: ClusterObjects, topology: str) -> list[str]:
    return [str(item.get("nodeLabel")) for item in dig(objects.raw(kinds.TOPOLOGY, topology), "spec", "levels") or ()]


def _of_things(
    session: Session, objects: ClusterObjects, subject: Subject, gang: GangInfo, tasks: Sequence[TaskInfo]
) -> Cause | None:
    """What pods name and nobody has: claims, volumes, config maps."""
    for task in tasks:
        cause = (
            _of_volumes(session, objects, task) or _of_maps(session, task) or _of_claims(session, objects, gang, task)
        )
        if cause is not None:
            return cause
    return None


def _of_volumes(session: Session, objects: ClusterObjects, task: TaskInfo) -> Cause | None:
    for name in task.record.volumes:
        claim = session.cluster.volume_claims.get((task.namespace, name))
        live = objects.raw(kinds.PVC, name, task.namespace)
        if claim is None or live is None:
            made = ObjectChange(
                kinds.PVC,
                name,
                {"spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}},
                task.namespace,
                "new",
            )
            return Cause(
                "volume",
                f"PersistentVolumeClaim {name}, which pod {task.name} names, does not exist in namespace "
                f"{task.namespace}",
                fixes=((made,),),
                pods_change=True,
            )
        if claim.deleted:
            said = "is lost" if dig(live, "status", "phase") == "Lost" else "is being deleted"
            return Cause("volume", f"PersistentVolumeClaim {name} of pod {task.name} {said}")
        if not claim.bound and (not claim.waits or claim.nodes == ()):
            return _unbound(objects, name, live, task)
    return None


def _unbound(objects: ClusterObjects, name: str, live: Raw, task: TaskInfo) -> Cause:
    storage = str(dig(live, "spec", "storageClassName") or "")
    known = objects.raw(kinds.STORAGE_CLASS, storage) is not None
    why = (
        f"PersistentVolumeClaim {name} of pod {task.name} is not bound (status.phase: "
        f"{dig(live, 'status', 'phase') or 'Pending'})"
    )
    detail = (
        f"StorageClass {storage} does not exist"
        if storage and not known
        else f"no PersistentVolume fits, and its StorageClass {storage or '(none)'} has made none"
    )
    size = dig(live, "spec", "resources", "requests", "storage") or "1Gi"
    volume: Raw = {
        "spec": {
            "capacity": {"storage": size},
            "accessModes": dig(live, "spec", "accessModes") or ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": f"/mnt/{name}"},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "name": name,
                "namespace": task.namespace,
            },
            **({"storageClassName": storage} if storage else {}),
        }
    }
    return Cause(
        "volume",
        f"{why}: {detail}",
        (f"it asks for {size}",),
        ((ObjectChange(kinds.PV, f"{name}-volume", volume, how="new"),),),
        pods_change=True,
    )


def _of_maps(session: Session, task: TaskInfo) -> Cause | None:
    missing = [name for name in task.record.config_maps if (task.namespace, name) not in session.cluster.config_maps]
    if not missing:
        return None
    made = tuple(ObjectChange(kinds.CONFIG_MAP, name, {"data": {}}, task.namespace, "new") for name in missing)
    return Cause(
        "config-map",
        f"ConfigMap {listed(missing)}, which pod {task.name} needs, does not exist in namespace {task.namespace}",
        fixes=(made,),
    )


def _of_claims(session: Session, objects: ClusterObjects, gang: GangInfo, task: TaskInfo) -> Cause | None:
    devices = session.cluster.devices
    for name in (*task.record.missing_claims, *task.record.claims):
        claim = devices.records.get((task.namespace, name))
        if claim is None:
            return _no_claim(session, objects, task, name)
        for request in claim.requests:
            if claim.allocated is None and not request.choices and request.device_class not in devices.classes:
                made = ObjectChange(kinds.DEVICE_CLASS, request.device_class, {"spec": {}}, how="new")
                return Cause(
                    "device-class",
                    f"DeviceClass {request.device_class}, which ResourceClaim {name} asks for, does not exist",
                    (f"there are {listed(sorted(devices.classes)) or 'none'}",),
                    ((made,),),
                )
    refusals = session.hooks.before_task(task, gang)
    claims = [refusal for refusal in refusals or () if "claim" in refusal.reason]
    if claims:
        return Cause("claim", claims[0].reason, fixes=_labelled_claim(session, gang, task, claims[0].reason))
    return None


def _labelled_claim(
    session: Session, gang: GangInfo, task: TaskInfo, reason: str
) -> tuple[tuple[ObjectChange, ...], ...]:
    if "queue label" not in reason:
        return ()
    label = session.settings.queue_label
    return tuple(
        (ObjectChange(kinds.RESOURCE_CLAIM, name, {"metadata": {"labels": {label: gang.queue}}}, task.namespace),)
        for name in task.record.claims
    )


def _no_claim(session: Session, objects: ClusterObjects, task: TaskInfo, name: str) -> Cause:
    pod = objects.get(kinds.POD, task.name, task.namespace)
    reference = (
        next(
            (
                resource_claim
                for resource_claim in pod.spec.resource_claims
                if name in (resource_claim.name, resource_claim.resource_claim_name)
            ),
            None,
        )
        if pod
        else None
    )
    template = reference.resource_claim_template_name if reference is not None else None
    device_class = next(iter(sorted(session.cluster.devices.classes)), "gpu.nvidia.com")
    spec: Raw = {"devices": {"requests": [{"name": "device", "exactly": {"deviceClassName": device_class}}]}}
    if template and objects.raw(kinds.RESOURCE_CLAIM_TEMPLATE, template, task.namespace) is None:
        made = ObjectChange(kinds.RESOURCE_CLAIM_TEMPLATE, template, {"spec": {"spec": spec}}, task.namespace, "new")
        return Cause(
            "claim",
            f"ResourceClaimTemplate {template}, which pod {task.name} names, does not exist in namespace "
            f"{task.namespace}",
            fixes=((made,),),
            pods_change=True,
        )
    if template:
        return Cause(
            "claim",
            f"the ResourceClaim of template {template} for pod {task.name} has not been made yet",
            transient=True,
        )
    body: Raw = {
        "metadata": {"labels": {session.settings.queue_label: task.gang.queue}} if task.gang is not None else {},
        "spec": spec,
    }
    made = ObjectChange(kinds.RESOURCE_CLAIM, name, body, task.namespace, "new")
    return Cause(
        "claim",
        f"ResourceClaim {name}, which pod {task.name} names, does not exist in namespace {task.namespace}",
        fixes=((made,),),
    )


# ── room ──


def _of_room(
    session: Session,
    objects: ClusterObjects,
    subject: Subject,
    gang: GangInfo,
    tasks: list[TaskInfo],
    titles: dict[str, str],
) -> Cause | None:
    found = room.find_room(session, objects, gang, tasks)
    if found is None:
        return None
    if not found.nodes and objects.raws(kinds.NODE):
        return _no_pool_nodes(objects, subject, found, session, gang)
    head = room.headline(found, session)
    facts = [line for line in room.lines(found) if _said(line) not in head]
    busy = any(not fact.lasting for told in found.facts.values() for fact in told)
    resource = _scarce(session, found)
    makes_room = list(_why_nobody(session, gang, tasks, titles, resource)) if busy else []
    fixes = [*closed_nodes(objects, found)]
    if busy:
        fixes += [
            undelayed(subject, gang, session.now),
            queues.unprotected(session, gang),
            queues.entitled(session, gang, tasks),
        ]
    fixes += [
        relaxed(subject, gang) if found.rule is not None else (),
        *more_nodes(session, objects, found, gang),
        lower_minimum(session, subject, gang, (), found.placed),
    ]
    if busy:
        fixes += [
            *priority_changes(session, objects, subject, gang),
            *suspended_others(session, objects, gang, "", titles),
        ]
    code = "room" if busy else "nodes"
    return Cause(code, head, (*facts, *makes_room), tuple(fix for fix in fixes if fix), proof=found.proof())


def _no_pool_nodes(
    objects: ClusterObjects, subject: Subject, found: room.NoRoom, session: Session, gang: GangInfo
) -> Cause:
    """All nodes belong to other node pools."""
    pools: dict[str, list[str]] = {}
    for node in objects.raws(kinds.NODE):
        pools.setdefault((node["metadata"].get("labels") or {}).get(names.NODE_POOL) or "default", []).append(
            node["metadata"]["name"]
        )
    mine = pool_of(subject)
    told = "; ".join(
        f"{counted(len(nodes), 'node')} in pool {pool} ({listed(nodes)})" for pool, nodes in sorted(pools.items())
    )
    moved = [
        (ObjectChange(kinds.NODE, name, {"metadata": {"labels": {names.NODE_POOL: mine or None}}}),)
        for name in sorted(name for nodes in pools.values() for name in nodes)[:3]
    ]
    return Cause(
        "no-nodes",
        f"there is no node in its node pool {mine or 'default'} (label {names.NODE_POOL}): {told}",
        fixes=(*moved, *more_nodes(session, objects, found, gang)),
    )


def _said(line: str) -> str:
    """A line of the proof without the nodes it speaks of."""
    return next((line[line.index(verb) :] for verb in (" has ", " is ") if verb in line), line)


def _scarce(session: Session, found: room.NoRoom) -> int:
    names_known = session.cluster.names.names
    lacking = [fact.resource for told in found.facts.values() for fact in told if fact.code == "busy" and fact.resource]
    return names_known.index(max(set(lacking), key=lacking.count)) if lacking else GPU


def _why_nobody(
    session: Session, gang: GangInfo, tasks: Sequence[TaskInfo], titles: dict[str, str], resource: int
) -> Iterator[str]:
    """Why those who hold the room keep it."""
    yield from queues.standing(session, gang, tasks)
    why = queues.why_no_reclaim(session, gang, tasks)
    if why:
        yield why
    delay = gang.record.preemption_delay
    if delay and session.now < gang.created + delay:
        yield (
            f"it makes nobody leave before {spoken(gang.created + delay - session.now)} have passed "
            f"(preemptionDelay {spoken(delay)})"
        )
    yield from queues.holders(session, gang, titles, resource)


def _behind(
    session: Session,
    objects: ClusterObjects,
    subject: Subject,
    gang: GangInfo,
    tasks: Sequence[TaskInfo],
    titles: dict[str, str],
) -> Cause:
    """There is room, and the cycle does not give it to this gang."""
    refusal = next((told for told in session.refused(gang.uid)), None)
    ahead = sorted((other for other in session.waiting_gangs() if other.queue == gang.queue), key=session.gang_key)
    before = [other for other in ahead if session.gang_key(other) < session.gang_key(gang)]
    if before:
        who = ", ".join(f"{titles.get(other.uid, other.name)} (priority {other.priority})" for other in before[:3])
        return Cause(
            "behind",
            f"gangs before it in queue {gang.queue} take the room: {who}; it has priority {gang.priority}",
            fixes=tuple(priority_changes(session, objects, subject, gang)),
        )
    if refusal is not None:
        return Cause("refused", "; ".join(refusal.messages) or refusal.reason)
    return overlooked(objects, subject)

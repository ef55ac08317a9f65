"""What the reconcilers have in common: the operator's settings and backends, and how objects of one set are found in
the cache.

Indexes: cliques by set and by base gang, pods by gang. A value of an index is `namespace/name`.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import (
    ClusterTopologyBinding,
    GangPack,
    GangTopology,
    PodClique,
    PodCliqueSet,
    PodGang,
    PodReference,
)
from gangline.api.kinds import (
    HPA,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    ROLE,
    ROLE_BINDING,
    SERVICE,
    SERVICE_ACCOUNT,
    TOPOLOGY_BINDING,
    Kind,
)
from gangline.api.meta import Object, Raw, condition
from gangline.errors import NotFound, Problem
from gangline.operator.act import WriteFailure
from gangline.operator.backends import ALIASES, NoBackend, Registry, Selection
from gangline.operator.backends.contract import Backend, Facts, GroupInfo, ParentInfo, PodGangInfo
from gangline.operator.desired import topology
from gangline.operator.desired.bounds import UNPLACED
from gangline.operator.desired.layout import gang_place
from gangline.operator.outside import OutsideBackends
from gangline.operator.plan import Apply
from gangline.operator.probes import Probes
from gangline.operator.selections import count
from gangline.operator.silence import SchedulerSilence
from gangline.operator.tokens import TokenSecrets
from gangline.rules.sets import OperatorSettings
from gangline.runtime import Cache, Context, Key, Reader
from gangline.runtime.controller import RunningController

log = logging.getLogger(__name__)
OURS = f"{names.MANAGED_BY}={names.GROVE_OPERATOR}"
_MADE_HERE = (POD, SERVICE, SERVICE_ACCOUNT, ROLE, ROLE_BINDING, HPA, RESOURCE_CLAIM)
SELECTORS: dict[Kind[Any], tuple[str, str]] = dict.fromkeys(_MADE_HERE, (OURS, ""))
"""What the operator makes, and only that."""


@dataclass(slots=True)
class Operator:
    """One operator: its settings and its backends."""

    settings: OperatorSettings
    alone: str = ""
    """The one backend that this process serves; empty: all that run inside the operator."""
    registry: Registry = field(init=False)
    followed: tuple[Backend, ...] = field(init=False)
    """The backends whose kinds are in this process's memory: the operator prepares pods for all of them."""
    asked: tuple[Kind[Any], ...] = field(init=False)
    """Their kinds."""
    written: tuple[Kind[Any], ...] = field(init=False)
    """Those that they write."""
    settled: SettledChildren = field(default_factory=lambda: SettledChildren())
    pace: SetPace = field(default_factory=lambda: SetPace())
    probes: Probes = field(default_factory=Probes)
    tokens: TokenSecrets = field(default_factory=TokenSecrets)
    silence: SchedulerSilence = field(default_factory=SchedulerSilence)
    outside: OutsideBackends = field(default_factory=OutsideBackends)
    faults: Callable[[PodCliqueSet], Sequence[Problem]] = lambda pcs: ()
    """What admission would refuse of a set today; handed in by the composition root."""
    running: list[RunningController] = field(default_factory=list)
    """Its controllers at work."""
    gone: dict[Kind[Any], int] = field(default_factory=dict)
    """Kinds that a write found to be served no more, and what was last seen of them: a watch may outlive its kind."""

    def __post_init__(self) -> None:
        self.configure(self.settings)

    def configure(self, settings: OperatorSettings) -> None:
        """What holds from now on; raises NoBackend where it names one that does not exist."""
        self.registry = Registry(settings, heard=count)
        for name, why in self.registry.unusable.items():
            log.error("backend %s is left out: %s", name, why)
        self.settings = settings
        self.followed = tuple(backend for backend in self.registry if not self.alone or backend.name == self.alone)
        self.written = tuple(dict.fromkeys(kind for backend in self.followed for kind in backend.writes))
        self.asked = tuple(
            dict.fromkeys((*self.written, *(kind for backend in self.followed for kind in backend.reads)))
        )

    @property
    def selectors(self) -> dict[Kind[Any], tuple[str, str]]:
        return SELECTORS if self.settings.narrow else {}

    def serves(self, backend: str) -> bool:
        """Whether gangs of this backend are translated here."""
        return (
            backend == self.alone
            if self.alone
            else backend not in {ALIASES.get(name, name) for name in self.settings.outside}
        )

    def facts(self, read: Reader) -> Facts:
        there = frozenset(
            kind for kind in self.asked if served(read, kind) and self.gone.get(kind) != revision(read, kind)
        )
        return Facts(there, self.settings.manner, {}, read, isinstance(read, Cache), self.probes.dropped)

    def note_gone(self, read: Reader, failures: Iterable[WriteFailure]) -> None:
        """A write that met no such kind tells that it is served no more, until its informer has seen it again."""
        for failure in failures:
            if isinstance(failure.error, NotFound) and isinstance(failure.step, Apply):
                self.gone[failure.step.kind] = revision(read, failure.step.kind)

    async def ask(self, ctx: Context, pcs: PodCliqueSet | None) -> None:
        """Find out what the API server really keeps of a backend's objects, before any is made."""
        try:
            backend = self.registry.for_set(pcs).backend if pcs is not None else None
        except NoBackend:
            return
        if pcs is not None and backend is not None:
            await self.probes.ask(ctx.client, ctx.clock, backend, self.facts(ctx.read), pcs.namespace)

    def binding(self, read: Reader, pcs: PodCliqueSet) -> ClusterTopologyBinding | None:
        name = topology.topology_name(pcs)
        return read.get(TOPOLOGY_BINDING, name) if name else None

    def levels(self, read: Reader, pcs: PodCliqueSet) -> topology.Levels | None:
        """Known domains, or None where topology-aware scheduling is off."""
        return topology.levels(self.binding(read, pcs)) if self.settings.topology_aware else None


class SetPace:
    """Keeps a large set from being looked at for every change of every child: a few times a second are enough."""

    SMALL = 50
    PER_REPLICA = 0.002

    def __init__(self) -> None:
        self._last: dict[Key, tuple[int, float, int]] = {}

    def wait(self, key: Key, generation: int, now: float) -> float:
        """Seconds until the next look; 0 for a set that was small, or that was itself changed."""
        seen = self._last.get(key)
        if seen is None or seen[2] < self.SMALL or seen[0] != generation:
            return 0.0
        rest = seen[1] + seen[2] * self.PER_REPLICA - now
        return rest if 0 < rest <= seen[2] * self.PER_REPLICA else 0.0

    def done(self, key: Key, generation: int, now: float, size: int) -> None:
        """A look at so many replicas is over."""
        self._last[key] = (generation, now, size)

    def forget(self, key: Key) -> None:
        self._last.pop(key, None)


class SettledChildren:
    """Children that were found to be as wanted, so that the next look at an unchanged one costs nothing."""

    MOST = 50_000

    def __init__(self) -> None:
        self._seen: OrderedDict[tuple[str, str], tuple[object, ...]] = OrderedDict()

    def check(self, kind: Kind[Any], live: Object, wish: tuple[object, ...]) -> bool:
        """Whether this revision of the child was fine under the same wish."""
        return self._seen.get((kind.resource, live.uid)) == (live.metadata.resource_version, wish)

    def note(self, kind: Kind[Any], live: Object, wish: tuple[object, ...]) -> None:
        self._seen[kind.resource, live.uid] = (live.metadata.resource_version, wish)
        if len(self._seen) > self.MOST:
            self._seen.popitem(last=False)


def wish_of(pcs: PodCliqueSet) -> tuple[object, ...]:
    """Everything of a set that its children are made from, as a value that can be compared."""
    meta = pcs.metadata
    return meta.uid, meta.generation, tuple(sorted(meta.labels.items())), tuple(sorted(meta.annotations.items()))


def served(read: Reader, kind: Kind[Any]) -> bool:
    """Whether the API server serves a kind: its informer has been answered."""
    return revision(read, kind) > 0


def revision(read: Reader, kind: Kind[Any]) -> int:
    return read.revision(kind) if isinstance(read, Cache) else 0


# --- indexes
# -------------------------------------------------------------------------------------------------------------


def by_set(obj: Object) -> Iterable[str]:
    owner = obj.labels.get(names.PART_OF)
    return [f"{obj.namespace}/{owner}"] if owner else []


def by_gang(obj: Object) -> Iterable[str]:
    gang = obj.labels.get(names.POD_GANG)
    return [f"{obj.namespace}/{gang}"] if gang else []


def by_base_gang(obj: Object) -> Iterable[str]:
    gang = obj.labels.get(names.BASE_POD_GANG)
    return [f"{obj.namespace}/{gang}"] if gang else []


def by_waiting(pod: Pod) -> Iterable[str]:
    """Pods that wait for a node, whichever set they are of."""
    return (
        [] if pod.spec.node_name or pod.metadata.deleting or pod.status.phase in ("Succeeded", "Failed") else [UNPLACED]
    )


INDEXES = (
    (POD_CLIQUE, "set", by_set),
    (POD_CLIQUE, "gang", by_gang),
    (POD_CLIQUE, "base gang", by_base_gang),
    (POD, "gang", by_gang),
    (POD, UNPLACED, by_waiting),
    (POD_GANG, "set", by_set),
)


# --- which keys a change concerns
# ----------------------------------------------------------------------------------------


def set_key(obj: Object, read: Reader) -> list[Key]:
    """The set that an object is part of."""
    owner = obj.labels.get(names.PART_OF)
    return [Key(obj.namespace, owner)] if owner else []


def gang_key(obj: Object, read: Reader) -> list[Key]:
    gang = obj.labels.get(names.POD_GANG)
    return [Key(obj.namespace, gang)] if gang else []


def asked_again(before: Object | None, after: Object | None) -> bool:
    """Whether someone changed what is wanted: spec, labels, annotations, finalizers, deletion; a status alone does not
    count."""
    if before is None or after is None:
        return True
    old, new = before.metadata, after.metadata
    return (
        old.generation != new.generation
        or old.labels != new.labels
        or old.annotations != new.annotations
        or old.deletion_timestamp != new.deletion_timestamp
        or old.finalizers != new.finalizers
    )


def set_heard(op: Operator) -> Callable[[Object | None, Object | None], bool]:
    """Which changes of a set are acted upon."""
    return wanted_again if op.settings.manner.marks_unheard else asked_again


def wanted_again(before: Object | None, after: Object | None) -> bool:
    """Whether someone changed the spec, asked for another look, or deleted the object; labels and annotations do not
    count."""
    if before is None or after is None:
        return True
    old, new = before.metadata, after.metadata
    return (
        old.generation != new.generation
        or old.deletion_timestamp != new.deletion_timestamp
        or old.annotations.get(names.RECONCILE_TRIGGER) != new.annotations.get(names.RECONCILE_TRIGGER)
    )


# --- reading
# ---------------------------------------------------------------------------------------------------------------


def set_of(read: Reader, obj: Object) -> PodCliqueSet | None:
    name = obj.labels.get(names.PART_OF)
    return read.get(POD_CLIQUE_SET, name, obj.namespace) if name else None


def cliques_of_set(read: Reader, pcs: PodCliqueSet) -> list[PodClique]:
    return read.by(POD_CLIQUE, "set", f"{pcs.namespace}/{pcs.name}")


def pods_of_gang(read: Reader, gang: Object) -> list[Pod]:
    return read.by(POD, "gang", f"{gang.namespace}/{gang.name}")


def crowd(read: Reader) -> int:
    """How many pods of all sets wait for a node."""
    return read.count(POD, UNPLACED, UNPLACED)


def cliques_of_gang(read: Reader, gang: Object) -> list[PodClique]:
    return living(read.by(POD_CLIQUE, "gang", f"{gang.namespace}/{gang.name}"))


def pods_of_life(read: Reader, gang: Object) -> list[Pod]:
    """Pods of a gang as it lives now: those of a clique that was ended are of an earlier life, although they may still
    be there."""
    uids = {clique.uid for clique in cliques_of_gang(read, gang)}
    return [
        pod for pod in pods_of_gang(read, gang) if any(owner.uid in uids for owner in pod.metadata.owner_references)
    ]


def external_template(read: Reader, namespace: str, name: str) -> Raw | None:
    resource_claim_template = read.get(RESOURCE_CLAIM_TEMPLATE, name, namespace)
    return (resource_claim_template.spec or {}).get("spec") or {} if resource_claim_template is not None else None


def living(objects: Iterable[PodClique]) -> list[PodClique]:
    return [obj for obj in objects if not obj.metadata.deleting]


def initialized(gang: PodGang) -> bool:
    found = condition(gang.status.conditions, "Initialized")
    return found is not None and found.status == "True"


# --- a gang for its backend
# --------------------------------------------------------------------------------------------------


def gang_info(
    gang: PodGang,
    pcs: PodCliqueSet,
    selection: Selection,
    facts: Facts,
    live: Sequence[tuple[Kind[Any], Object]] = (),
    pods: Sequence[Pod] = (),
) -> PodGangInfo:
    """The backend-neutral description of a gang, from objects that are already here."""
    spec = gang.spec
    parents = {
        name: config.name for config in spec.topology_constraint_group_configs for name in config.pod_group_names
    }
    members: dict[str, list[Pod]] = {}
    for pod in pods:
        members.setdefault(pod.labels.get(names.POD_CLIQUE, ""), []).append(pod)
    place = gang_place(pcs, gang.name)
    templates = {member.name: member.template for member in place.members} if place is not None else {}
    before = _former_places(facts.read, spec.reuse_reservation_ref)
    prefix = f"{names.set_replica(pcs.name, place.replica)}-" if place is not None else ""
    groups = tuple(
        GroupInfo(
            group.name,
            group.min_replicas,
            tuple(members.get(group.name, ())),
            _pack(group.topology_constraint),
            parents.get(group.name, ""),
            templates.get(group.name),
            before.get(group.name.removeprefix(prefix), ()),
        )
        for group in spec.podgroups
    )
    return PodGangInfo(
        gang.name,
        gang.namespace,
        gang.uid,
        groups,
        tuple(
            ParentInfo(config.name, config.pod_group_names, _pack(config.topology_constraint))
            for config in spec.topology_constraint_group_configs
        ),
        _pack(spec.topology_constraint),
        gang.annotations.get(names.TOPOLOGY_NAME, ""),
        spec.priority_class_name,
        spec.reuse_reservation_ref,
        selection.scheduler_name,
        _passed_on(gang.labels),
        _passed_on(gang.annotations),
        tuple(live),
        pcs,
        facts,
    )


def _former_places(read: Reader | None, earlier: PodReference | None) -> dict[str, tuple[str, ...]]:
    """The nodes of an earlier gang, by group; a group's name counts without its set and replica."""
    found: dict[str, dict[str, None]] = {}
    for pod in (
        read.by(POD, "gang", f"{earlier.namespace}/{earlier.name}") if read is not None and earlier is not None else ()
    ):
        if pod.spec.node_name:
            prefix = f"{pod.labels.get(names.PART_OF, '')}-{pod.labels.get(names.SET_REPLICA, '')}-"
            group = pod.labels.get(names.POD_CLIQUE, "").removeprefix(prefix)
            found.setdefault(group, {})[pod.spec.node_name] = None
    return {group: tuple(sorted(nodes)) for group, nodes in found.items()}


def _passed_on(marks: Mapping[str, str]) -> dict[str, str]:
    """A gang's labels or annotations as its translation carries them."""
    return {key: value for key, value in marks.items() if key not in (names.SCHEDULER_BACKEND, names.LAST_APPLIED)}


def _pack(constraint: GangTopology | None) -> GangPack | None:
    return constraint.pack_constraint if constraint is not None else None


def bound(pods: Iterable[Pod]) -> bool:
    return any(pod.spec.node_name and not pod.metadata.deleting for pod in pods)


def selection_of(op: Operator, read: Reader, pcs: PodCliqueSet, gang: PodGang | None) -> Selection:
    """The backend of a gang: its set's, but a gang that has bound pods stays with the one that it started with."""
    chosen = op.registry.for_set(pcs)
    was = gang.labels.get(names.SCHEDULER_BACKEND, "") if gang is not None else ""
    if gang is None or was in ("", chosen.backend.name) or not bound(pods_of_gang(read, gang)):
        return chosen
    return op.registry.kept(was, gang.labels.get(names.SCHEDULER_NAME, "")) or chosen


def live_objects(op: Operator, read: Reader, gang: PodGang) -> list[tuple[Kind[Any], Object]]:
    """What any backend has written for a gang."""
    return [(kind, obj) for kind in op.written for obj in read.owned(kind, gang.uid)]

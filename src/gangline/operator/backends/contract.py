"""What a scheduler backend is: a pure translation of one PodGang for one scheduler.

The six abilities of the documents' SchedulerBackend are here by these names: Name → `name`, Matches → `matches`, Sync
→ `gang_objects` (the shell applies what is returned, and removes what is not: Delete), CheckGangReady →
`gang_status`, GetSchedulingGateName → `gate`. A backend never talks to a cluster: what must be asked is gathered by
the shell and handed in as `Facts`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gangline import extend
from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import CliqueTemplate, GangPack, PodCliqueSet, PodReference
from gangline.api.kinds import Kind
from gangline.api.meta import Object, Raw, spec_of
from gangline.config import NATIVE, Manner
from gangline.errors import GanglineError, Problem

if TYPE_CHECKING:
    from gangline.runtime import Reader

Kinds = tuple[Kind[Any], ...]

OWN_MINIMA = "own minima"
MINIMA_FIRST = "own minima, surplus gated"
SURPLUS_GATED = "surplus gated"
SIZE = "minimum is size"
NO_GANG = "none"
GANG, PARENT, GROUP = "gang", "group of groups", "group"
"""The levels at which topology may be asked for."""
EVERY = (GANG, PARENT, GROUP)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a scheduler can express."""

    gang: bool = True
    groups: str = OWN_MINIMA
    """How each group's own minimum is kept: by the scheduler (of some the surplus must be kept away until then), by
    gating the surplus until the rest is placed, by admitting exactly the minimum, or not at all."""
    topology: bool = False
    """It has topology objects of its own, which a ClusterTopologyBinding can name."""
    required: tuple[str, ...] = ()
    """The levels at which pods can be bound to one domain."""
    preferred: tuple[str, ...] = ()
    """The levels at which a domain can be wished for."""
    both: bool = False
    """A level can have a bound and a wish at once."""
    queue: bool = False
    reuse: bool = True
    """It takes a preference for the places of an earlier gang."""
    places: bool = True
    """It places pods itself; a layer of quota leaves that to whichever scheduler the pods name."""

    @property
    def gates_surplus(self) -> bool:
        """Whether pods above a group's minimum wait until the minimum is placed."""
        return self.groups in (MINIMA_FIRST, SURPLUS_GATED, SIZE)


@dataclass(frozen=True, slots=True)
class Facts:
    """What the shell knows about the cluster and the manner."""

    served: frozenset[Kind[Any]] = frozenset()
    manner: Manner = NATIVE
    config: Mapping[str, Any] = field(default_factory=dict)
    """The `config` of the profile that chose the backend."""
    read: Reader | None = None
    """What is in the cluster, where a check needs it."""
    known: bool = False
    """Whether `served` is the whole truth, or the cluster has not been asked."""
    dropped: frozenset[tuple[Kind[Any], str]] = frozenset()
    """Fields of spec that the server drops without a word, because their feature is off."""

    def serves(self, *kinds: Kind[Any]) -> bool:
        return all(kind in self.served for kind in kinds)

    def keeps(self, kind: Kind[Any], field: str) -> bool:
        return (kind, field) not in self.dropped


@dataclass(frozen=True, slots=True)
class GroupInfo:
    """One group of equal pods in a gang."""

    name: str
    minimum: int
    pods: tuple[Pod, ...] = ()
    constraint: GangPack | None = None
    parent: str = ""
    """The group of groups it belongs to, if any."""
    template: CliqueTemplate | None = None
    """What its pods are made from."""
    places: tuple[str, ...] = ()
    """Nodes of the same group of an earlier gang, whose places would rather be used again."""

    @property
    def size(self) -> int:
        """How many pods it is meant to have."""
        return max(self.minimum, len(self.pods), self.template.spec.replicas if self.template else 0)

    @property
    def usual_minimum(self) -> int:
        """Its minimum when no update has released the gang."""
        if self.minimum or self.template is None:
            return self.minimum
        spec = self.template.spec
        return spec.replicas if spec.min_available is None else spec.min_available


@dataclass(frozen=True, slots=True)
class ParentInfo:
    """A topology constraint over some groups of a gang."""

    name: str
    groups: tuple[str, ...]
    constraint: GangPack | None = None


@dataclass(frozen=True, slots=True)
class PodGangInfo:
    """A gang as every backend sees it."""

    name: str
    namespace: str
    uid: str
    groups: tuple[GroupInfo, ...] = ()
    parents: tuple[ParentInfo, ...] = ()
    constraint: GangPack | None = None
    topology: str = ""
    """The ClusterTopologyBinding that its constraints are from."""
    priority_class: str = ""
    reuse: PodReference | None = None
    scheduler_name: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    live: tuple[tuple[Kind[Any], Object], ...] = ()
    """What the backend has written for it before."""
    pcs: PodCliqueSet | None = None
    facts: Facts = Facts()
    lessened: bool = False
    """Its last change only took pods away."""

    @property
    def minimum(self) -> int:
        return sum(group.minimum for group in self.groups)

    @property
    def released(self) -> bool:
        """Every minimum is zero: an update lets the gang go. Most schedulers cannot say that, so the former minima
        stay."""
        return self.minimum == 0

    @property
    def usual_minimum(self) -> int:
        return sum(group.usual_minimum for group in self.groups) if self.released else self.minimum

    @property
    def constrained(self) -> bool:
        below = any(group.constraint is not None for group in self.groups) or any(
            parent.constraint is not None for parent in self.parents
        )
        return self.constraint is not None or below


@dataclass(frozen=True, slots=True)
class GangObject:
    """One object of the scheduler's own, as it should be."""

    kind: Kind[Any]
    obj: Raw
    once: Raw = field(default_factory=dict)
    """Parts that are set at creation and then belong to users or the scheduler."""
    again: bool = False
    """What is set once is set another time: its user asks for something else."""
    owns: tuple[str, ...] = ()
    """Fields of spec that are removed when the translation no longer has them."""
    fixed: tuple[str, ...] = ()
    """Fields of spec that cannot change: where one must, the object is deleted and made anew. With any of these, a
    field that the server dropped is not asked for again."""


@dataclass(frozen=True, slots=True)
class GangState:
    """What the scheduler says about a gang, beyond what its pods show."""

    why: str = ""
    """Why it is not scheduled, in the scheduler's words."""
    reason: str = ""
    lost: tuple[str, ...] = ()
    """Wishes that this scheduler cannot express."""
    blocked: bool = False
    """`why` is not the scheduler's word but a cause outside the gang: it becomes an event too, and is looked at
    again."""
    ready: bool = True
    """Whether its pods may be let go once all are there. While not, their gates hold, also those of pods that come
    later, and `why` is shown; asked again whenever something of the gang or of its objects changes, and every few
    seconds."""
    score: float | None = None
    """How well the gang is placed, from 0 to 1, where the scheduler says so itself."""
    start: Raw | None = None
    """When it starts, where the scheduler promises that, as it stands in a PodGang's status."""
    again: float | None = None
    """Seconds after which a scheduler that would not look at a waiting gang by itself is asked to: its object is
    touched."""


class CannotTranslate(GanglineError):
    """A gang that this backend cannot express now; the text says why and what to do."""


class Backend(ABC):
    """A scheduler's backend. A subclass says `name`, `gate` and `gang_objects`; everything else has a default."""

    name: str
    """What the annotation grove.io/scheduler-backend says, and its line in the table or its entry point."""
    gate: str
    """The scheduling gate behind which its pods wait until their gang is complete."""
    scheduler_name: str = ""
    """What its scheduler is usually called; pods that name none get this."""
    reads: Kinds = ()
    """Kinds that it looks up."""
    writes: Kinds = ()
    """Kinds that it makes: watched, owned by the PodGang, removed when it no longer gives them."""
    capabilities: Capabilities = Capabilities()
    """What its scheduler can express."""
    generations: Mapping[str, Capabilities] = {}
    """What it can express in each generation of its scheduler's API, by a name for people; empty: there is only one."""
    held: tuple[str, ...] = ()
    """Annotations of a pod that go when its gate is lifted."""
    gave_up: Mapping[str, float] = {}
    """Reasons of failed pods that only a new pod can heal, and how many seconds old a pod must be by then."""
    finalizers: tuple[str, ...] = ()
    """What its scheduler leaves on pods for the owner of their group to take off once they have ended."""

    def matches(self, scheduler_name: str) -> bool:
        """Whether pods that name this scheduler may be its own."""
        return bool(scheduler_name) and scheduler_name == self.scheduler_name

    def check(self, pcs: PodCliqueSet, facts: Facts) -> Iterable[Problem]:
        """The problems that this backend sees in a set; asked at admission."""
        return ()

    @abstractmethod
    def gang_objects(self, gang: PodGangInfo, facts: Facts) -> Iterable[GangObject]:
        """The scheduler's own objects of a gang, as they should be; raises CannotTranslate where that cannot be
        said."""

    def prepare_pod(self, pod: Raw, gang: PodGangInfo) -> Raw:
        """A pod just before it is made."""
        return pod

    def gang_status(self, gang: PodGangInfo, read: Reader) -> GangState:
        """What the scheduler says about a gang, and whether its pods may be let go."""
        return GangState()

    def capabilities_for(self, facts: Facts) -> Capabilities:
        """What its scheduler can express in this cluster."""
        return self.capabilities

    def probes(self, facts: Facts) -> Iterable[GangObject]:
        """Objects to create in a dry run, to learn which fields the server drops: then ask `facts.keeps(kind,
        field)`."""
        return ()

    def links(self, gang: Callable[[], PodGangInfo]) -> Mapping[str, str]:
        """Annotations that name the gang's object on each of its pods, also on those that run when it is made anew."""
        return {}

    def notes(self, gang: Callable[[], PodGangInfo], facts: Facts) -> Mapping[str, str]:
        """Annotations of the PodGang in which it remembers something of it."""
        return {}

    def may_be_held(self, pod: Pod, facts: Facts) -> bool:
        """Whether a surplus pod may wait behind its gate until the minimum is placed."""
        return True

    def domains_of(
        self, pod: Pod, facts: Facts, gang: Callable[[], PodGangInfo], labels: Callable[[str], Mapping[str, str]]
    ) -> Mapping[str, str]:
        """Labels of nodes that a pod needs when it is let go."""
        return {}


def unusable(name: str, given: type[Backend]) -> str:
    """Why a class that a package brings cannot be the backend of this name; empty: it can."""
    why = extend.unusable(given, Backend)
    if why or given.name == name:
        return why
    return f"{given.__qualname__} of {given.__module__} says that its name is {given.name!r}, not {name!r}"


def live_spec(gang: PodGangInfo, kind: Kind[Any], name: str) -> Raw | None:
    """The spec of an object that was written for the gang before, or None."""
    for item, obj in gang.live:
        if item == kind and obj.name == name and not obj.metadata.deleting:
            return spec_of(obj)
    return None


def with_metadata(pod: Raw, labels: Mapping[str, str], annotations: Mapping[str, str]) -> Raw:
    """A pod with more labels and annotations."""
    meta = pod["metadata"]
    return pod | {
        "metadata": meta
        | {
            "labels": {**(meta.get("labels") or {}), **labels},
            "annotations": {**(meta.get("annotations") or {}), **annotations},
        }
    }


def group_of(pod: Raw, gang: PodGangInfo) -> GroupInfo | None:
    """The group that a pod belongs to, by its label."""
    name = (pod["metadata"].get("labels") or {}).get(names.POD_CLIQUE)
    return next((group for group in gang.groups if group.name == name), None)


def above_minimum(pod: Raw, gang: PodGangInfo) -> bool:
    """Whether a pod is surplus, by its index: its group reaches its minimum without it."""
    group = group_of(pod, gang)
    if group is None:
        return True
    return int(pod["metadata"]["labels"].get(names.POD_INDEX) or 0) >= (
        group.usual_minimum if gang.released else group.minimum
    )


def setting(gang: PodGangInfo, key: str, config: str = "") -> str:
    """What a set says under a key, as label or annotation, on itself or on a clique; else what the profile says."""
    places: list[Mapping[str, str]] = [gang.labels, gang.annotations]
    if gang.pcs is not None:
        places += labels_and_annotations(gang.pcs)
    own = next((place[key] for place in places if place.get(key)), "")
    return own or str(gang.facts.config.get(config) or "")


def labels_and_annotations(pcs: PodCliqueSet) -> list[Mapping[str, str]]:
    """Labels and annotations of a set and of its cliques."""
    templates = pcs.spec.template.cliques
    return [
        pcs.labels,
        pcs.annotations,
        *(template.labels for template in templates),
        *(template.annotations for template in templates),
    ]


def first_condition(status: Any, type: str, state: str) -> Raw | None:
    """The condition of a type and state in a plain status."""
    conditions = (status or {}).get("conditions") or ()
    return next(
        (condition for condition in conditions if condition.get("type") == type and condition.get("status") == state),
        None,
    )

"""What a viewer may see, and a view narrowed to that.

Pods of other namespaces still count on their nodes, without a name: a GPU that somebody has is not free. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from gangline.api.core import Pod
from gangline.api.meta import Object
from gangline.dashboard.look import ClusterView, IdleGpus, KnownIdle, PodFact

STRANGER = "a pod of another namespace"
T = TypeVar("T", bound=Object)


class Viewer(msgspec.Struct, frozen=True):
    """Who looks, as the cluster knows them."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()


class ViewScope(msgspec.Struct, frozen=True):
    """`namespaces`: those whose pods may be listed; None: all. Nodes and queues belong to no namespace."""

    namespaces: frozenset[str] | None = None
    nodes: bool = True
    queues: bool = True
    viewer: str = ""
    leaves: bool = False
    """Can log out."""

    def shows(self, namespace: str) -> bool:
        return self.namespaces is None or namespace in self.namespaces


EVERYTHING = ViewScope()
NOTHING = ViewScope(frozenset(), False, False)


def namespaces_of(view: ClusterView) -> frozenset[str]:
    """Every namespace that has something to show."""
    kinds: tuple[Sequence[Object], ...] = (view.gangs, view.groups, view.sets, view.jobs)
    return frozenset(obj.namespace for objects in kinds for obj in objects) | {fact.pod.namespace for fact in view.pods}


def narrowed(view: ClusterView, scope: ViewScope) -> ClusterView:
    if scope == EVERYTHING:
        return view
    kinds = (("nodes", scope.nodes), ("queues", scope.queues))
    hidden = tuple(kind for kind, seen in kinds if not seen)
    source = msgspec.structs.replace(view.source, hidden=hidden, viewer=scope.viewer, leaves=scope.leaves)
    return msgspec.structs.replace(
        view,
        source=source,
        pods=[fact if scope.shows(fact.pod.namespace) else nameless(fact) for fact in view.pods],
        nodes=view.nodes if scope.nodes else (),
        queues=view.queues if scope.queues else (),
        gangs=_shown(view.gangs, scope),
        groups=_shown(view.groups, scope),
        sets=_shown(view.sets, scope),
        cliques=_shown(view.cliques, scope),
        scaling_groups=_shown(view.scaling_groups, scope),
        jobs=_shown(view.jobs, scope),
        events=[item for item in view.events if scope.shows(str(item.involved_object.get("namespace") or ""))],
        idle=_idle(view.idle, scope),
    )


def _shown(objects: Iterable[T], scope: ViewScope) -> list[T]:
    return [obj for obj in objects if scope.shows(obj.namespace)]


def nameless(fact: PodFact) -> PodFact:
    """It holds what it holds, and says nothing else."""
    pod = msgspec.convert({"metadata": {"name": STRANGER}, "status": {"phase": fact.pod.status.phase}}, Pod)
    return msgspec.structs.replace(fact, pod=pod, gang=("", ""), group=("", ""), part="")


def _idle(idle: KnownIdle, scope: ViewScope) -> KnownIdle:
    if not scope.nodes:
        return KnownIdle()
    return msgspec.structs.replace(idle, parts=tuple(_unnamed(part, scope) for part in idle.parts))


def _unnamed(part: IdleGpus, scope: ViewScope) -> IdleGpus:
    visible = not part.gang or scope.shows(part.gang.partition("/")[0])
    return part if visible else msgspec.structs.replace(part, gang="")

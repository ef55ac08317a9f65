"""What the operator keeps of the objects that it follows.

There are thousands of similar ones: fields that it never reads are dropped, and equal values are shared.

Nodes are only their labels. Pods lose containers, tolerations and all volumes but secrets (nobody here reads them
back); labels and owners are shared. Pure."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from sys import intern
from typing import Any, TypeVar

import msgspec

from gangline.api import names
from gangline.api.core import Node, NodeSpec, NodeStatus, Pod, PodSpec
from gangline.api.grove import PodClique
from gangline.api.kinds import NODE, POD, POD_CLIQUE, POD_GANG, SERVICE, Kind
from gangline.api.meta import Metadata, Object, OwnerReference, Raw

T = TypeVar("T", bound=Object)
MOST = 256
_known_owners: OrderedDict[str, tuple[OwnerReference, ...]] = OrderedDict()
_specs: OrderedDict[str, Raw] = OrderedDict()
_BARE = {"containers": (), "init_containers": (), "tolerations": (), "topology_spread_constraints": ()}


def shared(obj: T) -> T:
    """The object with texts and owners that are the same as equal ones of others."""
    return msgspec.structs.replace(obj, **_common(obj))


def _common(obj: Object) -> dict[str, Any]:
    return {"api_version": intern(obj.api_version), "kind": intern(obj.kind), "metadata": _metadata(obj.metadata)}


def _metadata(metadata: Metadata) -> Metadata:
    return msgspec.structs.replace(
        metadata,
        labels=_texts(metadata.labels),
        annotations=_texts(metadata.annotations),
        namespace=intern(metadata.namespace),
        creation_timestamp=intern(metadata.creation_timestamp or "") or None,
        finalizers=tuple(map(intern, metadata.finalizers)),
        owner_references=_owners(metadata.owner_references),
    )


def _owners(given: tuple[OwnerReference, ...]) -> tuple[OwnerReference, ...]:
    """The same tuple for siblings: most objects here have one owner, and come after each other."""
    uid = given[0].uid if given else ""
    known = _known_owners.get(uid)
    if known != given:
        known = _known_owners[uid] = given
        if len(_known_owners) > MOST:
            _known_owners.popitem(last=False)
    return known


def _texts(texts: Mapping[str, str]) -> dict[str, str]:
    return {intern(key): intern(value) for key, value in texts.items()}


def bare_pod(pod: Pod) -> Pod:
    """What of a pod concerns its clique and its gang."""
    secrets = tuple(volume for volume in pod.spec.volumes if "secret" in volume)
    spec: PodSpec = msgspec.structs.replace(pod.spec, **_BARE, volumes=secrets)
    return msgspec.structs.replace(pod, **_common(pod), spec=spec)


def clique_of_template(clique: PodClique) -> PodClique:
    """The clique with the pod spec of the one before it with the same template, where it is equal."""
    template = clique.labels.get(names.TEMPLATE_HASH, "")
    known = _specs.get(template)
    if known is None or known != clique.spec.pod_spec:
        known = _specs[template] = clique.spec.pod_spec
        if len(_specs) > MOST:
            _specs.popitem(last=False)
    spec = msgspec.structs.replace(clique.spec, pod_spec=known)
    return msgspec.structs.replace(clique, **_common(clique), spec=spec)


def bare_node(node: Node) -> Node:
    """Where a node is: its labels."""
    return msgspec.structs.replace(node, **_common(node), spec=NodeSpec(), status=NodeStatus())


TRIMS: dict[Kind[Any], Callable[[Any], Any]] = {
    NODE: bare_node,
    POD: bare_pod,
    POD_CLIQUE: clique_of_template,
    POD_GANG: shared,
    SERVICE: shared,
}

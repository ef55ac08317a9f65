"""How objects of one set are found in the cache, which is this process's memory of the cluster.

Indexes: cliques by set, gang and base gang, pods by gang, gangs by set. A value of an index is `namespace/name`. What
only one kind looks for is in its own look.py. Pure: reads what is already here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodCliqueSet
from gangline.api.kinds import POD, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, RESOURCE_CLAIM_TEMPLATE
from gangline.api.meta import Object, Raw
from gangline.operator.desired.bounds import WAITING
from gangline.rules.pods.beginning import waits_to_begin

if TYPE_CHECKING:
    from gangline.runtime import Reader


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
    """Pods that wait to begin, whichever set they are of."""
    ended = pod.status.phase in ("Succeeded", "Failed")
    return [WAITING] if waits_to_begin(pod) and not (pod.metadata.deleting or ended) else []


def crowd(read: Reader) -> int:
    """How many pods of all sets wait to begin."""
    return read.count(POD, WAITING, WAITING)


INDEXES = (
    (POD_CLIQUE, "set", by_set),
    (POD_CLIQUE, "gang", by_gang),
    (POD_CLIQUE, "base gang", by_base_gang),
    (POD, "gang", by_gang),
    (POD, WAITING, by_waiting),
    (POD_GANG, "set", by_set),
)


def set_of(read: Reader, obj: Object) -> PodCliqueSet | None:
    name = obj.labels.get(names.PART_OF)
    return read.get(POD_CLIQUE_SET, name, obj.namespace) if name else None


def cliques_of_set(read: Reader, pcs: PodCliqueSet) -> list[PodClique]:
    return read.by(POD_CLIQUE, "set", f"{pcs.namespace}/{pcs.name}")


def external_template(read: Reader, namespace: str, name: str) -> Raw | None:
    resource_claim_template = read.get(RESOURCE_CLAIM_TEMPLATE, name, namespace)
    return (resource_claim_template.spec or {}).get("spec") or {} if resource_claim_template is not None else None

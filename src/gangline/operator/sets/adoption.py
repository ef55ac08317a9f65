"""Taking over sets that Grove's own operator made: its hashes become ours, and no pod is touched.

Upstream's hashes cannot be computed here. Where every clique still is what the set's template asks for, nothing has
changed but the way of counting: so pods, cliques, scaling groups and at last the set get our hash in place of
upstream's. A set that was changed meanwhile, or is in the middle of an update, is not adopted; it is updated as any
other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet
from gangline.api.kinds import POD, POD_CLIQUE, POD_CLIQUE_SET, SCALING_GROUP
from gangline.api.meta import Raw
from gangline.operator.desired.cliques import grouped_clique, standalone_clique
from gangline.operator.desired.hashes import clique_hash, set_hash
from gangline.operator.desired.layout import place_of
from gangline.operator.plan import Patch, Step, changed
from gangline.operator.status import update_open

_UPSTREAM_LETTERS = set("456789bcdf")
_SHORTEST = 14


def upstream(hash: str | None) -> bool:
    """Whether a hash is one of Grove's own: longer than ours, and of ten letters only."""
    return hash is not None and len(hash) >= _SHORTEST and set(hash) <= _UPSTREAM_LETTERS


def unchanged(pcs: PodCliqueSet, cliques: Iterable[PodClique], groups: Mapping[str, PodCliqueScalingGroup]) -> bool:
    """Whether every clique is what the set's template asks for, apart from its hash."""
    return all(_as_template(pcs, clique, groups) for clique in cliques if not clique.metadata.deleting)


def _as_template(pcs: PodCliqueSet, clique: PodClique, groups: Mapping[str, PodCliqueScalingGroup]) -> bool:
    place = place_of(pcs, clique)
    if place is None:
        return True
    owner = groups.get(place.group_name)
    if place.group is not None and owner is None:
        return False
    wanted = grouped_clique(pcs, owner, place, clique) if owner is not None else standalone_clique(pcs, place, clique)
    wanted["metadata"]["labels"][names.TEMPLATE_HASH] = clique.labels.get(names.TEMPLATE_HASH, "")
    return changed(POD_CLIQUE, clique, wanted) is None


def adoption(
    pcs: PodCliqueSet,
    cliques: Sequence[PodClique],
    groups: Mapping[str, PodCliqueScalingGroup],
    pods: Callable[[PodClique], Sequence[Pod]],
) -> list[list[Step]]:
    """The writes that take a set over, in stages; none where it is ours already or must be updated anyway."""
    progress = pcs.status.update_progress
    if not upstream(pcs.status.current_generation_hash) or update_open(progress) or not unchanged(pcs, cliques, groups):
        return []
    new, relabelled = set_hash(pcs), list[Step]()
    for clique in cliques:
        place = place_of(pcs, clique)
        if place is not None and not clique.metadata.deleting:
            relabelled += [
                _relabel(POD, pod, clique_hash(pcs, place.template))
                for pod in pods(clique)
                if pod.labels.get(names.TEMPLATE_HASH) == clique.labels.get(names.TEMPLATE_HASH)
            ]
    owners: list[Step] = []
    for clique in cliques:
        place = place_of(pcs, clique)
        if place is not None and not clique.metadata.deleting:
            own = clique_hash(pcs, place.template)
            owners += [_relabel(POD_CLIQUE, clique, own), _restate(POD_CLIQUE, clique, new, own)]
    owners += [_restate(SCALING_GROUP, group, new, "") for group in groups.values() if not group.metadata.deleting]
    last: list[Step] = [
        Patch(POD_CLIQUE_SET, pcs.name, pcs.namespace, {"status": {"currentGenerationHash": new}}, "status")
    ]
    return [relabelled, owners, last]


def _relabel(kind: Any, obj: Any, hash: str) -> Patch:
    return Patch(kind, obj.name, obj.namespace, {"metadata": {"labels": {names.TEMPLATE_HASH: hash}}})


def _restate(kind: Any, obj: Any, set_hash: str, template_hash: str) -> Patch:
    """A status with our hashes wherever it has upstream's."""
    status: Raw = {}
    if obj.status.current_pod_clique_set_generation_hash:
        status["currentPodCliqueSetGenerationHash"] = set_hash
    if template_hash and obj.status.current_pod_template_hash:
        status["currentPodTemplateHash"] = template_hash
    if obj.status.update_progress is not None:
        status["updateProgress"] = {"podCliqueSetGenerationHash": set_hash} | (
            {"podTemplateHash": template_hash} if template_hash else {}
        )
    return Patch(kind, obj.name, obj.namespace, {"status": status}, "status")

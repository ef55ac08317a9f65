"""ResourceClaims that the replicas of a set, a scaling group or a clique share, and their way into pods.

Each level makes the claims it declares: one for all its replicas, or one per replica. A filter limits which pods get
a claim, never which claims are made. A claim's spec is written once; a claim of a replica that is gone is surplus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gangline.api import names
from gangline.api.grove import PodCliqueSet, ResourceSharing
from gangline.api.kinds import RESOURCE_CLAIM, Kind
from gangline.api.meta import Object, Raw
from gangline.operator.desired import podspec
from gangline.operator.desired.bounds import number
from gangline.operator.desired.layout import CliquePlace
from gangline.operator.desired.metadata import default_labels, metadata
from gangline.operator.plan import Create, Step, delete

ALL_REPLICAS, PER_REPLICA = "AllReplicas", "PerReplica"
Lookup = Callable[[str, str], Raw | None]
"""(namespace, name) → the spec of an external ResourceClaimTemplate, or None."""


@dataclass(frozen=True, slots=True)
class ClaimLevel:
    """One owner of shared claims: a set, a scaling group or a clique."""

    kind: Kind[Any]
    owner: Object
    set_name: str
    sharing: Sequence[ResourceSharing]
    replicas: int
    """How many the owner asks for."""
    size: int
    """How many of them are looked at."""
    labels: dict[str, str]
    index_label: str

    def selector(self) -> dict[str, str]:
        return default_labels(self.set_name) | {names.COMPONENT: names.FOR_CLAIM} | self.labels


class MissingTemplate(Exception):
    """A shared claim names a template that is not there."""


def claims(level: ClaimLevel, internal: Mapping[str, Raw], external: Lookup) -> Iterator[Raw]:
    """The claims of a level; raises MissingTemplate where one cannot be built."""
    for entry in level.sharing:
        spec = _spec(level, entry, internal, external)
        replicas: Iterable[int | None] = [None] if entry.scope == ALL_REPLICAS else range(level.size)
        for replica in replicas:
            marks = level.selector() | ({} if replica is None else {level.index_label: str(replica)})
            name = names.shared_claim(level.owner.name, entry.name, replica)
            yield {"metadata": metadata(name, level.kind, level.owner, marks), "spec": spec}


def writes(
    level: ClaimLevel,
    live: Sequence[Object],
    pcs: PodCliqueSet,
    external: Lookup,
    *,
    create_code: str,
    delete_code: str,
) -> list[Step]:
    """The writes that make the claims of a level as wanted; raises MissingTemplate where one cannot be built."""
    there = {claim.name for claim in live}
    steps: list[Step] = [
        Create(RESOURCE_CLAIM, claim, create_code)
        for claim in claims(level, internal_templates(pcs), external)
        if claim["metadata"]["name"] not in there
    ]
    return steps + [
        delete(RESOURCE_CLAIM, claim, delete_code) for claim in surplus(level, live) if not claim.metadata.deleting
    ]


def internal_templates(pcs: PodCliqueSet) -> dict[str, Raw]:
    """The set's own claim templates: name → claim spec."""
    return {
        str(resource_claim_template.get("name", "")): (resource_claim_template.get("templateSpec") or {}).get("spec")
        or {}
        for resource_claim_template in pcs.spec.template.resource_claim_templates
    }


def _spec(level: ClaimLevel, entry: ResourceSharing, internal: Mapping[str, Raw], external: Lookup) -> Raw:
    if not entry.namespace and entry.name in internal:
        return internal[entry.name]
    namespace = entry.namespace or level.owner.namespace
    template = external(namespace, entry.name)
    if template is None:
        raise MissingTemplate(
            f"resourceSharing of {level.owner.name} names ResourceClaimTemplate {namespace}/{entry.name}, which does "
            f"not exist; create it, or add {entry.name} to the set's resourceClaimTemplates"
        )
    return template


def surplus(level: ClaimLevel, live: Iterable[Object]) -> list[Object]:
    """Claims of replicas that the level no longer has."""
    return [
        claim
        for claim in live
        if all(claim.labels.get(key) == value for key, value in level.selector().items())
        and level.index_label in claim.labels
        and _beyond(claim.labels[level.index_label], level.replicas)
    ]


def _beyond(label: str, replicas: int) -> bool:
    index = number(label)
    return index is None or index >= replicas


def names_for_pod(pcs: PodCliqueSet, place: CliquePlace, index: int) -> list[str]:
    """The claims a pod uses, in the order set, scaling group, clique; shared by all before shared per replica."""
    clique = place.template.name
    group = place.group.name if place.group else ""
    claim_names = _names(
        pcs.name,
        place.replica,
        [item for item in pcs.spec.template.resource_sharing if _passes(item.filter, clique, group)],
    )
    if place.group is not None:
        claim_names += _names(
            place.group_name,
            place.group_replica,
            [item for item in place.group.resource_sharing if _passes(item.filter, clique, "")],
        )
    return claim_names + _names(place.name, index, place.template.resource_sharing)


def _names(owner: str, replica: int, sharing: Sequence[ResourceSharing]) -> list[str]:
    shared = [names.shared_claim(owner, item.name, None) for item in sharing if item.scope == ALL_REPLICAS]
    return shared + [names.shared_claim(owner, item.name, replica) for item in sharing if item.scope == PER_REPLICA]


def _passes(given: Raw | None, clique: str, group: str) -> bool:
    if given is None:
        return True
    return clique in (given.get("childCliqueNames") or ()) or bool(
        group and group in (given.get("childScalingGroupNames") or ())
    )


def with_claims(spec: Raw, claim_names: Sequence[str]) -> Raw:
    """The pod spec with claims on every container and init container."""
    if not claim_names:
        return spec
    spec = spec | {
        "resourceClaims": [
            *(spec.get("resourceClaims") or ()),
            *({"name": name, "resourceClaimName": name} for name in claim_names),
        ]
    }
    for name in claim_names:
        spec = podspec.each_container(spec, _adder(name))
    return spec


def _adder(name: str) -> Callable[[Raw], Raw]:
    return lambda container: podspec.with_claim(container, name)

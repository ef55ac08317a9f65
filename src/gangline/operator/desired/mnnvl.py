"""Multi-node NVLink: which MNNVL group a clique belongs to, the claim its GPU containers get, and the ComputeDomains
of a set.

The annotation `grove.io/mnnvl-group` is looked for at the clique, then its scaling group, then the set; the first
that has it decides, `none` included. Only cliques that ask for GPUs take part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.api.kinds import POD_CLIQUE_SET
from gangline.api.meta import Raw
from gangline.operator.desired import podspec
from gangline.operator.desired.layout import group_containing
from gangline.operator.desired.metadata import labels, metadata


def effective_group(*layers: Mapping[str, str]) -> str:
    """The group the most specific layer names; empty for none."""
    group = next((layer[names.MNNVL_GROUP] for layer in layers if names.MNNVL_GROUP in layer), "")
    return "" if group == names.MNNVL_OPT_OUT else group


def with_domain(spec: Raw, domain: str) -> Raw:
    """The pod spec with the claim of a ComputeDomain on its GPU containers."""
    claims = spec.get("resourceClaims") or []
    if not podspec.wants_gpus(spec):
        return spec
    if all(claim.get("name") != names.MNNVL_CLAIM for claim in claims):
        claims = [*claims, {"name": names.MNNVL_CLAIM, "resourceClaimTemplateName": domain}]
    return podspec.each_container(spec | {"resourceClaims": claims}, _with_claim)


def _with_claim(container: Raw) -> Raw:
    return podspec.with_claim(container, names.MNNVL_CLAIM) if podspec.wants_gpu(container) else container


def groups(pcs: PodCliqueSet) -> tuple[str, ...]:
    """Every MNNVL group that some GPU clique of the set belongs to, in order of appearance."""
    distinct: dict[str, None] = {}
    for template in pcs.spec.template.cliques:
        group = group_containing(pcs, template.name)
        layers = [template.annotations, *([group.annotations] if group else []), pcs.annotations]
        wanted = effective_group(*layers)
        if wanted and podspec.wants_gpus(template.spec.pod_spec):
            distinct[wanted] = None
    return tuple(distinct)


def compute_domains(pcs: PodCliqueSet, size: int) -> Iterator[Raw]:
    """The ComputeDomains of the first replicas of a set."""
    for replica in range(size):
        for group in groups(pcs):
            yield _compute_domain(pcs, replica, group)


def _compute_domain(pcs: PodCliqueSet, replica: int, group: str) -> Raw:
    name = names.compute_domain(pcs.name, replica, group)
    marks = labels(pcs.name, names.FOR_COMPUTE_DOMAIN, name) | {
        names.SET_REPLICA: str(replica),
        names.MNNVL_GROUP: group,
    }
    return {
        "metadata": metadata(name, POD_CLIQUE_SET, pcs, marks, finalizer=names.COMPUTE_DOMAIN_FINALIZER),
        "spec": {"numNodes": 0, "channel": {"resourceClaimTemplate": {"name": name}}},
    }

"""A place of the layout → the PodClique that should stand there.

Replicas come from the template only when the clique is made; later they belong to its autoscaler or user.
"""

from __future__ import annotations

from collections.abc import Mapping

from gangline.api import names
from gangline.api.grove import CliqueTemplate, PodClique, PodCliqueScalingGroup, PodCliqueSet
from gangline.api.kinds import POD_CLIQUE_SET, SCALING_GROUP
from gangline.api.meta import Raw, as_raw
from gangline.operator.desired import mnnvl, podspec
from gangline.operator.desired.hashes import clique_hash
from gangline.operator.desired.layout import CliquePlace, template_of
from gangline.operator.desired.metadata import default_labels, metadata
from gangline.operator.desired.startup import starts_after
from gangline.operator.memory.remembered import remembered
from gangline.rules.objects.typed import plain


def standalone_clique(pcs: PodCliqueSet, place: CliquePlace, live: PodClique | None = None) -> Raw:
    group = mnnvl.effective_group(place.template.annotations, pcs.annotations)
    meta = metadata(
        place.name,
        POD_CLIQUE_SET,
        pcs,
        _labels(pcs, place, names.FOR_STANDALONE_CLIQUE),
        annotations=_annotations(place),
        finalizer=names.CLIQUE_FINALIZER,
    )
    return {"metadata": meta, "spec": _spec(pcs, place, group, live)}


def grouped_clique(
    pcs: PodCliqueSet, owner: PodCliqueScalingGroup, place: CliquePlace, live: PodClique | None = None
) -> Raw:
    group = mnnvl.effective_group(place.template.annotations, owner.annotations)
    own = {names.SCALING_GROUP: place.group_name, names.SCALING_GROUP_REPLICA: str(place.group_replica)}
    if place.base_gang:
        own[names.BASE_POD_GANG] = place.base_gang
    meta = metadata(
        place.name,
        SCALING_GROUP,
        owner,
        _labels(pcs, place, names.FOR_GROUPED_CLIQUE) | own,
        annotations=_annotations(place),
        finalizer=names.CLIQUE_FINALIZER,
    )
    spec = _spec(pcs, place, group, live)
    variables = _group_variables(pcs, place)
    spec["podSpec"] = podspec.each_container(
        spec["podSpec"], lambda container: podspec.with_variables(container, variables)
    )
    return {"metadata": meta, "spec": spec}


def _labels(pcs: PodCliqueSet, place: CliquePlace, component: str) -> dict[str, str]:
    return (
        place.template.labels
        | default_labels(pcs.name)
        | {
            names.APP_NAME: place.name,
            names.COMPONENT: component,
            names.SET_REPLICA: str(place.replica),
            names.POD_GANG: place.gang,
            names.TEMPLATE_HASH: clique_hash(pcs, place.template),
        }
    )


def _annotations(place: CliquePlace) -> Mapping[str, str]:
    return {key: value for key, value in place.template.annotations.items() if key != names.TOPOLOGY_NAME}


def _spec(pcs: PodCliqueSet, place: CliquePlace, mnnvl_group: str, live: PodClique | None) -> Raw:
    template = place.template.spec
    spec: Raw = {
        "roleName": template.role_name,
        "podSpec": _pod_spec(pcs, place.template),
        "replicas": template.replicas if live is None else live.spec.replicas,
    }
    if template.min_available is not None:
        spec["minAvailable"] = template.min_available
    if template.auto_scaling_config is not None:
        spec["autoScalingConfig"] = as_raw(template.auto_scaling_config)
    parents = starts_after(pcs, place)
    if parents:
        spec["startsAfter"] = list(parents)
    if mnnvl_group:
        spec["podSpec"] = mnnvl.with_domain(spec["podSpec"], names.compute_domain(pcs.name, place.replica, mnnvl_group))
    return spec


def _pod_spec(pcs: PodCliqueSet, template: CliqueTemplate) -> Raw:
    """The template's pod spec without what it gives empty: pods are made from it, and nobody asks for an empty
    value."""
    completed: Raw = remembered(pcs, f"pod {template.name}", lambda: plain("core", "PodSpec", template.spec.pod_spec))
    return completed


def _group_variables(pcs: PodCliqueSet, place: CliquePlace) -> list[Raw]:
    members = place.group.clique_names if place.group else ()
    size = sum(template.spec.replicas for name in members if (template := template_of(pcs, name)) is not None)
    return [
        podspec.from_label("GROVE_PCSG_NAME", names.SCALING_GROUP),
        podspec.value("GROVE_PCSG_TEMPLATE_NUM_PODS", str(size)),
        podspec.from_label("GROVE_PCSG_INDEX", names.SCALING_GROUP_REPLICA),
    ]

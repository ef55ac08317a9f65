"""Hashes that tell whether a template changed.

A clique's hash covers what ends in its pods: labels, annotations, pod spec and the set's priority class. A set's hash
covers the hashes of all its cliques in order, so replicas, minima, topology and scaling settings never start an
update. Values are opaque to everyone else.
"""

from __future__ import annotations

import msgspec

from gangline.api import names
from gangline.api.grove import CliqueTemplate, PodCliqueSet
from gangline.operator.memory.remembered import remembered


def _content(pcs: PodCliqueSet, template: CliqueTemplate) -> str:
    pod_spec = {**template.spec.pod_spec, "priorityClassName": pcs.spec.template.priority_class_name}
    return msgspec.json.encode([template.labels, template.annotations, pod_spec], order="deterministic").decode()


def clique_hash(pcs: PodCliqueSet, template: CliqueTemplate) -> str:
    return remembered(pcs, f"hash {template.name}", lambda: names.letters(12, _content(pcs, template)))


def set_hash(pcs: PodCliqueSet) -> str:
    return remembered(
        pcs, "hash", lambda: names.letters(12, *(_content(pcs, template) for template in pcs.spec.template.cliques))
    )

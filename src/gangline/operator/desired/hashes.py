"""Hashes that tell whether a template changed.

A clique's hash covers what ends in its pods: labels, annotations, pod spec and the set's priority class. A set's hash
covers the hashes of all its cliques in order, so replicas, minima, topology and scaling settings never start an
update. Values are opaque to everyone else.
"""

from __future__ import annotations

import msgspec

from gangline.api import names
from gangline.api.grove import CliqueTemplate, PodCliqueSet


def template_hash(template: CliqueTemplate, priority_class: str) -> str:
    pod_spec = {**template.spec.pod_spec, "priorityClassName": priority_class}
    content = [template.labels, template.annotations, pod_spec]
    return names.letters(12, msgspec.json.encode(content, order="deterministic").decode())


def clique_hash(pcs: PodCliqueSet, template: CliqueTemplate) -> str:
    return template_hash(template, pcs.spec.template.priority_class_name)


def set_hash(pcs: PodCliqueSet) -> str:
    return names.letters(12, *(clique_hash(pcs, template) for template in pcs.spec.template.cliques))

"""Hashes that tell whether a template changed.

A clique's hash covers what ends in its pods: labels, annotations, pod spec and the set's priority class. A set's hash
covers the hashes of all its cliques in order, so replicas, minima, topology and scaling settings never start an
update. Values are opaque to everyone else.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import msgspec

from gangline.api import names
from gangline.api.grove import CliqueTemplate, PodCliqueSet


def _content(pcs: PodCliqueSet, template: CliqueTemplate) -> str:
    pod_spec = {**template.spec.pod_spec, "priorityClassName": pcs.spec.template.priority_class_name}
    return msgspec.json.encode([template.labels, template.annotations, pod_spec], order="deterministic").decode()


def clique_hash(pcs: PodCliqueSet, template: CliqueTemplate) -> str:
    return _remembered(pcs, template.name, lambda: names.letters(12, _content(pcs, template)))


def set_hash(pcs: PodCliqueSet) -> str:
    return _remembered(pcs, "", lambda: names.letters(12, *(_content(pcs, template) for template in pcs.spec.template.cliques)))


_known: OrderedDict[tuple[str, int, str], str] = OrderedDict()
MOST = 4096


def _remembered(pcs: PodCliqueSet, name: str, compute: Callable[[], str]) -> str:
    """A generation of a stored set never changes, so its hashes are worked out once."""
    key = (pcs.uid, pcs.metadata.generation, name)
    if not pcs.uid or not pcs.metadata.generation:
        return compute()
    found = _known.get(key)
    if found is None:
        found = _known[key] = compute()
        if len(_known) > MOST:
            _known.popitem(last=False)
    return found

"""Answers of metrics.k8s.io: the pods and nodes that are asked about, and what metrics.py says of them.

dispatch.py asks, where `ServerSettings.resource_metrics` lets the group be served."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.core import Core, whole
from gangline.cluster.server.status import not_found
from gangline.cluster.server.verbs import reads
from gangline.cluster.server.verbs.usage.metrics import GROUP, metrics_list, node_metrics, pod_metrics, runs

Obj = dict[str, Any]


def usage(core: Core, call: ServerCall) -> Obj:
    """Metrics of one object, or of all that a list selects."""
    about = core.catalogue.find("", "v1", call.resource.plural)
    assert about is not None
    plain = replace(call, resource=about)
    if call.verb == "get":
        measured = _measured(core, about, [whole(about, reads.get(core, plain))])
        if not measured:
            raise not_found(GROUP, "podmetrics", call.name)
        return measured[0]
    page = reads.listing(core, plain)
    objects = [whole(about, record) for record in page.records]
    return metrics_list(call.resource.list_kind, _measured(core, about, objects), page.revision)


def _measured(core: Core, about: Resource, objects: list[Obj]) -> list[Obj]:
    now = core.now()
    if about.plural == "pods":
        return [pod_metrics(pod, now) for pod in objects if runs(pod)]
    pods: defaultdict[str, list[Obj]] = defaultdict(list)
    for record in core.store.shelf(("", "pods")).listing():
        pod = record.object()
        if runs(pod):
            pods[pod["spec"]["nodeName"]].append(pod)
    return [node_metrics(node, pods[node["metadata"]["name"]], now) for node in objects]

"""Where the idle GPUs of a cluster go, from its objects: the scheduler's own cycle says who does not get them and why.

Asked by `gangline idle` and by the page. Takes as long as a few cycles; the objects stay as they are. Pure."""

from __future__ import annotations

from gangline.api import kinds, names
from gangline.scheduler.time.idle import IdleReport, idle_gpus
from gangline.why.objects import ClusterObjects
from gangline.why.replay import at_rest


def idle_of(objects: ClusterObjects) -> dict[str, IdleReport]:
    """By node pool; "" are the nodes without one."""
    pools = sorted({node.labels.get(names.NODE_POOL, "") for node in objects.all(kinds.NODE)})
    reports = {}
    for pool in pools:
        rest = at_rest(objects, pool)
        reports[pool] = idle_gpus(rest.cluster, rest.last)
    return reports

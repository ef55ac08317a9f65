"""What the platform installs into a fresh cluster: two default queues and four priority classes.

Created when absent and never changed afterwards, so that what an administrator made of them stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gangline.api import names
from gangline.api.kinds import PRIORITY_CLASS, QUEUE, Kind
from gangline.api.meta import Raw

PRIORITIES = {"train": 50, "build-preemptible": 75, "build": 100, "inference": 125}
EVERYTHING = {"quota": 0, "limit": -1, "overQuotaWeight": 1}


def default_objects() -> Iterable[tuple[Kind[Any], Raw]]:
    """Kind and object, parents first."""
    for name, value in PRIORITIES.items():
        yield PRIORITY_CLASS, {"metadata": {"name": name}, "value": value, "globalDefault": False}
    yield QUEUE, queue(names.DEFAULT_PARENT_QUEUE)
    yield QUEUE, queue(names.DEFAULT_QUEUE, names.DEFAULT_PARENT_QUEUE)


def queue(name: str, parent: str = "") -> Raw:
    """A queue that is promised nothing and may use everything."""
    spec: Raw = {"resources": {resource: dict(EVERYTHING) for resource in ("cpu", "gpu", "memory")}}
    return {"metadata": {"name": name}, "spec": spec | ({"parentQueue": parent} if parent else {})}

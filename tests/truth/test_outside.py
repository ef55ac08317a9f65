"""A gang that waits for another scheduler: whether that one shows a sign of life."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.api import kinds
from gangline.api.kinds import Kind
from gangline.api.meta import Raw
from gangline.why.answers import titles_of
from gangline.why.causes import cause_of
from gangline.why.objects import ClusterObjects
from gangline.why.subjects import find

LABELS = {"grove.io/podgang": "x", "grove.io/scheduler-backend": "default"}
WAITING = {"type": "Scheduled", "status": "False", "reason": "MinimumNotScheduled", "message": "0 of 1 pods"}


def notes(scheduler: str, judged: Raw | None, leases: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What is added to the cause of gang x, one pod of which waits for that scheduler."""
    where = {"namespace": "default", "labels": LABELS}
    gang = {"metadata": {"name": "x", **where}, "spec": {"podgroups": []}, "status": {"conditions": [WAITING]}}
    pod: Raw = {
        "metadata": {"name": "x-a", "uid": "x-a", **where},
        "spec": {"schedulerName": scheduler, "containers": [{"name": "main"}]},
        "status": {"phase": "Pending", "conditions": [] if judged is None else [judged]},
    }
    held = [
        {
            "metadata": {"name": name, "namespace": "kube-system"},
            "spec": {"holderIdentity": "a", "renewTime": "1970-01-01T00:00:00.000000Z"},
        }
        for name in leases
    ]
    listed: list[tuple[Kind[Any], list[Raw]]] = [(kinds.POD, [pod]), (kinds.POD_GANG, [gang]), (kinds.LEASE, held)]
    objects = ClusterObjects.of(listed, 5.0, {})
    [subject] = find(objects, "podgang/x", "default")
    return cause_of(objects, subject, titles_of(objects)).facts


REACHED = "its scheduler is reached by backend default; condition Scheduled: MinimumNotScheduled"
FULL = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/4 nodes are available"}
GATED = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": "blocked by gates"}


def test_a_scheduler_that_has_answered_is_not_asked_whether_it_runs() -> None:
    assert notes("default-scheduler", FULL) == (REACHED,)


@pytest.mark.parametrize("judged", [None, GATED])
def test_one_that_has_said_nothing_and_holds_no_lease_may_not_run(judged: Raw | None) -> None:
    silent = "scheduler volcano: there is no Lease volcano; is it running?"
    assert notes("volcano", judged) == (REACHED, silent)


def test_the_default_scheduler_is_known_by_the_lease_of_kube_scheduler() -> None:
    silent = "scheduler default-scheduler: there is no Lease kube-scheduler; is it running?"
    assert notes("default-scheduler", None) == (REACHED, silent)
    alive = "scheduler default-scheduler: Lease kube-system/kube-scheduler was renewed 5 s ago by a"
    assert notes("default-scheduler", None, ("kube-scheduler",)) == (REACHED, alive)

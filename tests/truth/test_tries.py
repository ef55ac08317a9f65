"""Changes that are tried one after the other: what was tried before leaves no trace, and what is spare is left out."""

from __future__ import annotations

import pytest

from gangline.api import kinds
from gangline.why.changes import ObjectChange
from gangline.why.remedies import Tries, outcome
from gangline.why.subjects import find
from truth.clusters import GANG, cluster, judged_cluster, objects_of
from truth.spread_clusters import spread_cluster

MOVED = 41380
"""A cluster where a gang starts if another one moves, which the scheduler remembers."""
SPARE = (41235, 41386)
"""Clusters where a change is spare only once another one is left out."""


def test_what_was_tried_before_leaves_no_trace() -> None:
    objects = objects_of(cluster(MOVED))
    (subject,) = find(objects, GANG, "default")
    n2, n3 = (ObjectChange(kinds.NODE, name, {"metadata": {"labels": {"type": "b200"}}}) for name in ("n2", "n3"))
    ends = [outcome(objects, subject, changes, Tries())[2] for changes in ((n3,), (n2,), (n2, n3), (n3,))]
    assert ends == [True, False, True, True]


@pytest.mark.parametrize("number", SPARE)
def test_a_change_that_is_spare_once_another_is_gone_is_left_out(number: int) -> None:
    judged = judged_cluster(spread_cluster(number))
    assert judged is not None and judged.works and judged.minimal, judged and judged.text

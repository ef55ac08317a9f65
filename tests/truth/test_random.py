"""On random clusters the told cause holds when it is counted again, and the first remedy starts the gang. `make
bench BENCH=truth` tries two thousand of them."""

from __future__ import annotations

import pytest

from truth.clusters import judged, judged_cluster
from truth.spread_clusters import spread_cluster
from truth.wide_clusters import wide_cluster


@pytest.mark.parametrize("seed", range(9000, 9025))
def test_the_told_cause_holds_and_the_first_remedy_starts_the_gang(seed: int) -> None:
    checked = judged(seed)
    assert checked is None or (checked.wrong, checked.works) == ("", True), checked.text


@pytest.mark.parametrize("seed", range(9000, 9025))
def test_it_holds_where_there_is_more_to_trip_over(seed: int) -> None:
    checked = judged_cluster(wide_cluster(seed))
    assert checked is None or (checked.wrong, checked.works) == ("", True), checked.text


@pytest.mark.parametrize("seed", range(9000, 9025))
def test_it_holds_where_pods_are_spread_over_domains(seed: int) -> None:
    checked = judged_cluster(spread_cluster(seed))
    assert checked is None or (checked.wrong, checked.works) == ("", True), checked.text

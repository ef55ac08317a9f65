"""The pure parts of the league: what a run says, how rows shrink, how gangs are written for each scheduler, and the
page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bench.league.figures import Timeline, middle, quantile, summary, without_leases, writes
from bench.league.page import page
from bench.league.peers import Gangline, peers
from bench.league.rows import GPUS, RACK, ROWS, scaled

REPOSITORY = Path(__file__).parents[1]


def played(*gangs: tuple[float, list[float]], size: int = 2) -> Timeline:
    """Gangs by when they were created and when their pods were bound."""
    timeline = Timeline()
    for number, (created, bound) in enumerate(gangs):
        timeline.expect(f"g{number}", size)
        timeline.created(f"g{number}", created)
        for pod, at in enumerate(bound):
            timeline.bound(f"g{number}", f"g{number}-{pod}", at)
    return timeline


def test_a_gang_is_whole_when_its_last_pod_is_bound_and_counts_from_its_first_pod() -> None:
    found = summary(played((1.0, [2.0, 3.0]), (1.5, [4.0, 4.5])), began=1.0, end=9.0)
    assert (found["whole"], found["partial"], found["seconds"]) == (2, 0, 3.5)
    assert (found["p50"], found["p99"]) == (3.0, 3.0)


def test_a_gang_that_never_becomes_whole_is_partial_until_the_end() -> None:
    found = summary(played((0.0, [1.0, 1.25]), (0.0, [2.0])), began=0.0, end=10.0)
    assert (found["whole"], found["partial"]) == (1, 1)
    assert found["partial_gang_seconds"] == 0.25 + 8.0


def test_a_single_is_never_partial() -> None:
    assert summary(played((0.0, [1.0]), size=1), 0.0, 5.0)["partial_gang_seconds"] == 0.0


def test_a_pod_that_goes_away_again_takes_its_gang_back() -> None:
    timeline = played((0.0, [1.0, 2.0]))
    assert timeline.whole == 1
    timeline.unbound("g0", "g0-1")
    assert timeline.whole == 0


def test_gangs_that_cannot_run_are_timed_until_each_is_told_why() -> None:
    timeline = played((0.0, []), (0.0, []))
    timeline.told("g0", 1.0)
    timeline.told("g0", 8.0)
    found = summary(timeline, 0.0, 9.0, waits=True)
    assert (found["told"], found["seconds"], found["whole"]) == (1, 1.0, 0)


def test_of_nothing_there_is_no_quantile() -> None:
    assert quantile([], 0.5) is None


def test_writes_are_counted_by_verb_and_kind_and_reads_are_not() -> None:
    metrics = """# TYPE apiserver_request_total counter
apiserver_request_total{code="201",group="",resource="pods",subresource="binding",verb="POST",version="v1"} 7
apiserver_request_total{code="409",group="",resource="pods",subresource="binding",verb="POST",version="v1"} 1
apiserver_request_total{code="200",group="",resource="pods",subresource="",verb="LIST",version="v1"} 90
"""
    assert writes(metrics) == {"POST pods/binding": 8}


def test_a_lease_that_is_renewed_is_no_write_that_keeps_a_scheduler_from_rest() -> None:
    assert without_leases({"PATCH leases": 3, "POST pods/binding": 2}) == {"POST pods/binding": 2}


def test_of_several_runs_the_median_stands() -> None:
    runs = [{"row": "r", "peer": "p", "seconds": seconds} for seconds in (9.0, 2.0, 3.0)]
    assert middle(runs) == [{"row": "r", "peer": "p", "seconds": 3.0, "runs": 3}]


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.name)
def test_a_smaller_row_keeps_its_shape(row: Any) -> None:
    small = scaled(row, 0.25)
    assert small.pods <= row.pods and small.nodes <= max(row.nodes, 2 * RACK)
    assert (small.fits == small.gangs) == (row.fits == row.gangs)
    assert small.fits * small.size * small.gpus <= small.nodes * GPUS


@pytest.mark.parametrize("peer", peers().values(), ids=lambda peer: peer.name)
def test_each_scheduler_is_told_of_a_gang_before_its_pods_name_it(peer: Any) -> None:
    row = ROWS["gangs-of-8"]
    told = [obj["metadata"]["name"] for _, obj in peer.gang(row, "g")]
    pod = peer.member(row, "g", 3)
    assert pod["metadata"]["name"] == "g-3" and pod["spec"]["schedulerName"] == peer.scheduler_name
    assert not told or told == ["g"]
    assert '"g"' in json.dumps(pod)


def test_a_row_that_a_scheduler_cannot_express_is_not_run_in_the_words_of_its_backend() -> None:
    table = peers()
    assert "cannot keep" in table["kube-scheduler"].not_run(ROWS["racks"])
    assert table["gangline"].not_run(ROWS["racks"]) == ""


def test_schedulers_whose_programs_are_given_by_path_say_so() -> None:
    assert "--kai" in peers()["kai"].missing()


def test_every_component_of_ours_is_a_process_of_its_own() -> None:
    ours = peers()["gangline"]
    assert isinstance(ours, Gangline)
    assert [program.name for program in ours.programs] == [
        "grouper",
        "scheduler",
        "binder",
        "podgroup-controller",
        "queue-controller",
    ]


def line(peer: str, seconds: float, **more: Any) -> dict[str, Any]:
    return {
        "row": "gangs-of-8",
        "peer": peer,
        "seconds": seconds,
        "p50": 1.0,
        "p99": 2.0,
        "gangs": 4,
        "fits": 4,
        "whole": 4,
        "partial": 0,
        "partial_gang_seconds": 0.5,
        "cpu_seconds": 1.0,
        "server_cpu_seconds": 2.0,
        "writes_per_pod": 1.5,
        "memory_mib": {"a": 10, "b": 20},
    } | more


def test_the_page_puts_the_fastest_first_and_says_how_we_stand() -> None:
    text = page([line("gangline", 3.0), line("volcano", 2.0), {"row": "racks", "peer": "volcano", "why": "no racks"}])
    assert text.index("| volcano | 2.0 |") < text.index("| gangline | 3.0 |")
    assert "gangline takes 1.50 × the time of the fastest other (volcano)." in text
    assert "30 in 2" in text
    assert "- **volcano**, racks: no racks" in text


def test_the_page_says_what_must_be_known_of_the_runs() -> None:
    assert "Two seasons, not one." in page([line("gangline", 3.0), {"note": "Two seasons, not one."}])


def test_whoever_did_not_finish_stands_last_and_is_nobodys_measure() -> None:
    text = page([line("gangline", 3.0), line("volcano", 2.0, whole=1)])
    assert text.index("| gangline | 3.0 |") < text.index("| volcano | 2.0 (not all) |")
    assert "No other finished." in text


def test_the_page_is_as_printed_from_its_results() -> None:
    lines = (REPOSITORY / "bench" / "league" / "results.jsonl").read_text().splitlines()
    assert (REPOSITORY / "docs" / "league.md").read_text() == page(map(json.loads, lines)), "run `make docs`"

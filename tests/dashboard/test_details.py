"""Pages of one gang, one queue, one node, and what an address that leads nowhere says."""

from __future__ import annotations

import msgspec

from dashboard.seen import Given, event, gang, group, look, meta, node, owned_by, pod, queue, verdict
from gangline.api import names
from gangline.api.kinds import POD_CLIQUE, POD_CLIQUE_SET
from gangline.dashboard.look import KnownShares
from gangline.dashboard.model import GangPage, GangsPage, MissingPage, NodePage, QueuePage, QueuesPage
from gangline.dashboard.pages import page
from gangline.dashboard.views import document


def clique(name: str, replicas: int, of: str) -> Given:
    return POD_CLIQUE, {
        "metadata": meta(name, labels={names.PART_OF: of}),
        "spec": {"replicas": replicas, "minAvailable": 1},
    }


def llm() -> list[Given]:
    return [
        (POD_CLIQUE_SET, {"metadata": meta("llm"), "spec": {"replicas": 2}}),
        clique("llm-0-w", 2, "llm"),
        clique("llm-1-w", 2, "llm"),
        gang("llm-0", {"llm-0-w": 2}, of="llm"),
        gang("llm-1", {"llm-1-w": 2}, of="llm"),
        group(
            "pg-llm-0",
            2,
            owner=owned_by("PodGang", "llm-0"),
            why=verdict("pg-llm-0", "4 GPUs short", "n grew", "m ended"),
        ),
        pod("llm-0-w-a", gpus=4, gang="llm-0", clique="llm-0-w", on="n"),
        pod("llm-0-w-b", gpus=4, gang="llm-0", clique="llm-0-w"),
        pod("llm-1-w-a", gpus=4, gang="llm-1", clique="llm-1-w"),
        event("llm-0-w-b", "older", "2026-01-01T00:10:00Z"),
        event("pg-llm-0", "newer", warning=True),
        event("elsewhere", "not mine"),
    ]


def test_a_gang_shows_its_verdict_with_proof_and_every_remedy() -> None:
    found = page(look(*llm()), ["gang", "work", "llm-0"], {})
    assert isinstance(found, GangPage) and found.gang.why is not None
    assert found.gang.why.headline == "llm-0 waits: 4 GPUs short" and found.gang.why.proof == (
        "needs     16 GPUs for 2 pods",
    )
    assert [remedy.text for remedy in found.gang.why.remedies] == ["n grew", "m ended"]
    assert "It would start if" in document(found)


def test_a_gang_shows_its_own_part_of_the_sets_tree() -> None:
    found = page(look(*llm()), ["gang", "work", "llm-0"], {})
    assert isinstance(found, GangPage)
    (worker,) = found.tree.below
    assert (found.tree.kind, found.tree.name, worker.name) == ("set", "llm", "llm-0-w")
    assert [(item.name, item.state, item.node) for item in worker.below] == [
        ("llm-0-w-a", "Running", "n"),
        ("llm-0-w-b", "Pending", ""),
    ]


def test_a_gang_shows_its_events_newest_first() -> None:
    found = page(look(*llm()), ["gang", "work", "llm-0"], {})
    assert isinstance(found, GangPage) and [item.message for item in found.events] == ["newer", "older"]
    assert "⚠ Told" in document(found) and "newer (×2)" in document(found)


def test_a_gang_without_a_set_shows_its_groups_and_pods() -> None:
    found = page(
        look(group("g", 1, owner=owned_by("Job", "train")), pod("a", "g", on="n")), ["gang", "work", "train"], {}
    )
    assert isinstance(found, GangPage) and (found.tree.kind, found.tree.name) == ("Job", "train")
    assert [item.name for item in found.tree.below] == ["a"]


def test_a_gang_that_no_scheduler_of_ours_judged_says_what_its_conditions_say() -> None:
    found = page(
        look(gang("chat-0", {"w": 1}, said="0/4 nodes are available"), pod("a", gang="chat-0", clique="w")),
        ["gang", "work", "chat-0"],
        {},
    )
    assert isinstance(found, GangPage) and found.gang.why is not None and not found.gang.why.judged
    assert found.gang.why.headline == "chat-0 is Pending: 0/4 nodes are available"


def test_a_running_gang_says_why_its_surplus_waits() -> None:
    found = page(
        look(group("g", 1, why=verdict("g", "full")), pod("a", "g", on="n"), pod("b", "g")), ["gang", "work", "g"], {}
    )
    assert (
        isinstance(found, GangPage) and found.gang.state == "running" and "Why the rest of it waits" in document(found)
    )


def test_the_name_of_a_set_shows_its_gang_or_the_list_of_its_gangs() -> None:
    given = look(*llm(), gang("other-0", {"x": 1}, of="other"))
    [several, one] = [page(given, ["gang", "work", name], {}) for name in ("llm", "other")]
    assert isinstance(several, GangsPage) and [line.name for line in several.gangs.rows] == ["llm-0", "llm-1"]
    assert '<option value="llm" selected' in document(several)
    assert isinstance(one, GangPage) and one.gang.name == "other-0"


def test_an_unknown_gang_is_answered_with_what_may_have_been_meant() -> None:
    given = look(*llm())
    for name, near in (("llm-0-w-b", ["work/llm-0"]), ("lml-0", ["work/llm-0"])):
        found = page(given, ["gang", "work", name], {})
        assert isinstance(found, MissingPage) and [shown for _, shown in found.near][: len(near)] == near
    text = document(page(given, ["gang", "work", "lml-0"], {}))
    assert (
        "There is no gang lml-0 in namespace work." in text
        and 'href="/gang/work/llm-0"' in text
        and "To the overview" in text
    )


def test_a_queue_shows_where_it_stands_what_is_below_and_the_gangs_inside() -> None:
    found = page(
        look(
            queue("company"),
            queue("research", "company", quota=8, held=12),
            queue("vision", "research"),
            queue("other"),
            group("w", 1, "vision"),
            pod("w-0", "w"),
            group("r", 1, "research"),
            pod("r-0", "r", on="n"),
            group("x", 1, "other"),
            pod("x-0", "x"),
        ),
        ["queue", "research"],
        {},
    )
    assert isinstance(found, QueuePage) and found.path == ("company", "research")
    assert [item.name for item in found.below] == ["research", "vision"]
    assert [row.name for row in found.waiting.rows] == ["w"] and [row.name for row in found.running.rows] == ["r"]
    assert "No queue next to it has unused quota." in document(found)


def test_all_queues_have_a_page_with_what_each_may_use_now() -> None:
    seen = look(queue("company", quota=16), queue("research", "company", quota=8, held=12))
    known = msgspec.structs.replace(seen, shares=KnownShares({"company": 16.0, "research": 14.5}, seen.source.now - 5))
    found = page(known, ["queues"], {})
    assert isinstance(found, QueuesPage)
    assert [(line.name, line.gpu.fair) for line in found.queues.rows] == [("company", 16.0), ("research", 14.5)]
    text = document(found)
    assert "fair share 14.5" in text and "Worked out 5 s ago" in text and 'aria-current="page">Queues</a>' in text
    waiting = document(page(seen, ["queues"], {}))
    assert "Fair shares are being worked out." in waiting and "fair share 0" not in waiting
    assert "There is no queue." in document(page(look(), ["queues"], {}))


def test_what_is_said_of_every_pod_of_a_gang_is_one_line() -> None:
    said = [event(f"g-{number}", "0/4 nodes are available", warning=True) for number in range(5)]
    later = event("g-0", "0/4 nodes are available", "2026-01-01T00:59:30Z", warning=True)
    pods = [pod(f"g-{number}", "g", 8) for number in range(5)]
    found = page(look(group("g", 5), *pods, *said, later), ["gang", "work", "g"], {})
    assert isinstance(found, GangPage)
    assert [(line.about, line.message) for line in found.events] == [
        ("Pod g-0", "0/4 nodes are available"),
        ("5 pods", "0/4 nodes are available"),
    ]


def test_the_pods_of_a_gang_are_counted_once() -> None:
    pods = [pod("g-0", "g", on="n"), pod("g-1", "g", on="n", phase="Pending"), pod("g-2", "g")]
    text = document(page(look(group("g", 3), *pods), ["gang", "work", "g"], {}))
    assert "1 of 3 running, 1 starting, 1 waiting" in text


def test_a_node_shows_its_pods_and_the_gang_of_each() -> None:
    pods = [pod("a", "g", 2, on="n"), pod("alone", on="n"), pod("keeper", gpus=1, on="n", share="x")]
    found = page(look(node("n", 8), group("g", 1), *pods), ["node", "n"], {})
    assert isinstance(found, NodePage)
    assert [(row.name, row.gpus, row.gang) for row in found.pods.rows] == [
        ("a", 2, "g"),
        ("keeper", 0, ""),
        ("alone", 0, ""),
    ]
    assert "keeps a GPU that others share" in document(found)


def test_an_unknown_queue_node_or_address_says_what_there_is() -> None:
    given = look(node("node-1"), queue("team-a"))
    assert 'href="/queue/team-a"' in document(page(given, ["queue", "team-b"], {}))
    assert 'href="/node/node-1"' in document(page(given, ["node", "node-9"], {}))
    there = "/gang/NAMESPACE/NAME, /gang/NAMESPACE/NAME/timeline, /queue/NAME and /node/NAME"
    assert there in document(page(given, ["pods"], {}))
    assert "This cluster has no queues." in document(page(look(), ["queue", "a"], {}))


def test_a_promised_start_is_told_beside_the_verdict() -> None:
    kind, obj = group("g", why=verdict("g", "4 GPUs short"))
    obj["status"] = {"start": {"expected": "2026-01-01T01:30:00Z", "latest": "2026-01-01T02:00:00Z"}}
    given = look(node("n"), (kind, obj), pod("a", "g", 8))
    text = "starts by 02:00 UTC at the latest, probably at 01:30 UTC"
    assert text in document(page(given, ["gang", "work", "g"], {})) and text in document(page(given, [], {}))

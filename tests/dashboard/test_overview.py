"""The overview: what waits and why comes first, then free room, queues, who holds the GPUs, and the nodes."""

from __future__ import annotations

import msgspec
import pytest

from dashboard.seen import event, gang, group, look, node, owned_by, pod, queue, verdict
from gangline.api import names
from gangline.api.kinds import TOPOLOGY
from gangline.dashboard.look import ClusterView
from gangline.dashboard.model import Overview
from gangline.dashboard.pages import FIRST, map_page, overview, page
from gangline.dashboard.views import document


def seen(given: ClusterView, **query: str) -> Overview:
    return overview(given, query)


def test_a_waiting_gang_stands_first_with_its_verdict() -> None:
    found = document(
        seen(
            look(
                node("n", 8),
                group("runs", 1),
                pod("runs-0", "runs", 4, on="n"),
                group("big", 2, why=verdict("big", "4 GPUs short", "n grew")),
                pod("big-0", "big", 8),
                pod("big-1", "big", 8),
            )
        )
    )
    assert found.index(">Waiting") < found.index(">Running")
    assert "4 GPUs short" in found and "would start if n grew" in found and ">2 min</td>" in found


def test_a_gang_waits_until_each_of_its_groups_has_its_minimum() -> None:
    objects = [
        node("n", 8),
        gang("llm-0", {"prefill": 1, "decode": 1}),
        pod("a", gang="llm-0", clique="prefill", on="n"),
        pod("b", gang="llm-0", clique="prefill", on="n"),
        pod("c", gang="llm-0", clique="decode"),
    ]
    assert [row.name for row in seen(look(*objects)).waiting.rows] == ["llm-0"]
    whole = [*objects[:-1], pod("c", gang="llm-0", clique="decode", on="n")]
    assert [(row.name, row.state) for row in seen(look(*whole)).running.rows] == [("llm-0", "running")]


def test_a_job_whose_first_pods_succeeded_does_not_wait() -> None:
    found = seen(
        look(
            group("g", 2, owner=owned_by("Job", "train")),
            pod("a", "g", phase="Succeeded", on="n"),
            pod("b", "g", on="n"),
        )
    )
    assert [(row.title, row.kind, row.state) for row in found.running.rows] == [("train", "Job", "running")]


def test_a_gang_that_has_ended_is_counted_and_not_listed() -> None:
    found = seen(look(group("g", 1), pod("a", "g", phase="Succeeded", on="n")))
    assert (found.counts.ended, found.waiting.total, found.running.total) == (1, 0, 0)


def test_a_gang_below_a_pod_gang_is_one_gang_not_two() -> None:
    found = seen(
        look(
            gang("llm-0", {"w": 1}),
            group("pg-llm-0", 1, owner=owned_by("PodGang", "llm-0"), why=verdict("pg-llm-0", "no room")),
            pod("a", "pg-llm-0", 1, gang="llm-0", clique="w"),
        )
    )
    assert [(row.name, row.queue, row.why.headline if row.why else "") for row in found.waiting.rows] == [
        ("llm-0", "q", "llm-0 waits: no room")
    ]


def test_remedies_call_other_gangs_as_their_users_do() -> None:
    found = seen(
        look(
            group("g", 1, why=verdict("g", "full", "gang pg-train-1f (queue q, holding 4 GPUs) ended")),
            pod("a", "g", 1),
            group("pg-train-1f", 1, owner=owned_by("Job", "train")),
            pod("b", "pg-train-1f", 4, on="n"),
        )
    )
    why = found.waiting.rows[0].why
    assert why is not None and [remedy.text for remedy in why.remedies] == [
        "gang train (queue q, holding 4 GPUs) ended"
    ]


def test_who_waits_longest_and_who_holds_most_come_first() -> None:
    late = group("late", 1)
    late[1]["metadata"]["creationTimestamp"] = "2026-01-01T00:59:00Z"
    found = seen(
        look(
            late,
            pod("l", "late"),
            group("early", 1),
            pod("e", "early"),
            group("small", 1),
            pod("s", "small", 1, on="n"),
            group("large", 1),
            pod("b", "large", 4, on="n"),
        )
    )
    assert [row.name for row in found.waiting.rows] == ["early", "late"]
    assert [row.name for row in found.running.rows] == ["large", "small"]


def test_queues_are_a_tree_and_say_who_borrows_and_whose_quota_is_unused() -> None:
    found = seen(
        look(
            queue("company", quota=16, held=14),
            queue("research", "company", quota=8, held=12, asked=20),
            queue("serving", "company", quota=8, held=2),
        )
    )
    assert [(row.name, row.depth, row.borrows, row.unused) for row in found.queues.rows] == [
        ("company", 0, 0, 2),
        ("research", 1, 4, 0),
        ("serving", 1, 0, 6),
    ]
    assert [(loan.queue, loan.gpus, loan.lenders) for loan in found.loans] == [("research", 4, (("serving", 6),))]
    text = document(found)
    assert "borrows 4 GPUs: it uses 12 and its quota is 8." in text and "(6 GPUs)" in text
    assert "GPUs of research: 12 in use, 20 requested, quota 8, limit –" in text


def test_a_limit_beyond_the_width_of_a_bar_is_told_in_words_and_not_drawn_at_its_end() -> None:
    text = document(seen(look(queue("far", quota=8, limit=48), queue("near", quota=8, limit=6))))
    assert "quota 8, limit 48" in text and "quota 8, limit 6" in text
    assert text.count('class="limit"') == 1 and text.count('class="quota"') == 2


def test_gangs_that_wait_equally_long_come_in_the_order_of_their_numbers() -> None:
    found = seen(look(*(item for n in (10, 9, 1) for item in (group(f"g-{n}", 1), pod(f"g-{n}-0", f"g-{n}", 1)))))
    assert [row.name for row in found.waiting.rows] == ["g-1", "g-9", "g-10"]


def test_a_queue_without_its_parent_or_in_a_circle_is_still_shown_with_what_is_wrong() -> None:
    found = seen(look(queue("lost", "nowhere"), queue("a", "b"), queue("b", "a")))
    assert {row.name: row.problem for row in found.queues.rows} == {
        "lost": "its parent nowhere does not exist",
        "a": "it is its own ancestor",
        "b": "",
    }


def test_a_chain_of_very_many_queues_is_shown() -> None:
    chain = [queue(f"q{number}", f"q{number - 1}" if number else "") for number in range(1500)]
    assert seen(look(*chain)).queues.total == 1500


def test_each_gpu_is_used_shared_or_free() -> None:
    half = {names.GPU_FRACTION: "0.5"}
    found = seen(
        look(
            node("n", 4),
            pod("whole", gpus=1, on="n"),
            pod("reserve", gpus=1, on="n", share="x"),
            pod("a", on="n", notes=half, share="x"),
            pod("b", on="n", notes={names.GPU_FRACTION: "0.25"}, share="x"),
            pod("gone", gpus=4, on="n", phase="Succeeded"),
        )
    )
    line = found.nodes.rows[0]
    assert [(device.state, device.used) for device in line.devices] == [
        ("used", 1),
        ("shared", 0.75),
        ("free", 0),
        ("free", 0),
    ]
    assert line.devices[1].pods == ("work/a", "work/b") and (line.free, line.spare) == (2, 0.25)
    assert "n: 4 GPUs, 1 used, 1 shared, 2 free" in document(found)


def test_a_pod_that_asks_for_gpu_memory_has_that_part_of_a_device() -> None:
    kind, machine = node("n", 1)
    machine["metadata"]["labels"] = {names.GPU_MEMORY_LABEL: "40000"}
    held = queue("q", held=0.25, asked=0)
    notes = {names.GPU_MEMORY: "10000"}
    found = seen(look((kind, machine), held, group("g", 1, "q"), pod("a", "g", on="n", notes=notes, share="x")))
    assert [(device.state, device.used) for device in found.nodes.rows[0].devices] == [("shared", 0.25)]
    assert [(row.name, row.gpus_held) for row in found.running.rows] == [("g", 0.25)]
    assert [(row.gpu.allocated, row.gpu.requested) for row in found.queues.rows] == [(0.25, 0.25)]


def test_an_annotation_that_asks_for_a_billion_devices_costs_nothing() -> None:
    notes = {names.GPU_FRACTION: "0.5", names.GPU_FRACTION_DEVICES: "1000000000"}
    found = seen(look(node("n", 8), pod("a", on="n", notes=notes), pod("b", gpus=10**9, on="n")))
    assert len(found.nodes.rows[0].devices) == 256 and found.room.free == 0


def test_free_room_is_told_in_pieces() -> None:
    found = seen(
        look(
            node("a", 8),
            node("b", 8),
            node("c", 8),
            pod("x", gpus=6, on="b"),
            pod("y", gpus=6, on="c"),
            node("shut", 8, cordoned=True),
            node("plain", 0),
        )
    )
    room = found.room
    assert (room.free, room.largest, room.largest_node, room.whole_nodes, room.gpu_nodes, room.closed) == (
        12,
        8,
        "a",
        1,
        3,
        8,
    )
    assert [(piece.gpus, piece.nodes) for piece in room.pieces] == [(8, 1), (2, 2)]
    text = document(found)
    assert (
        "8 on 1 node" in text
        and "2 on 2 nodes" in text
        and "8 GPUs on nodes that take no pods" in text
        and "✕ cordoned" in text
    )


def test_free_room_is_told_for_each_level_of_a_topology() -> None:
    racks = (
        TOPOLOGY,
        {
            "metadata": {"name": "t"},
            "spec": {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]},
        },
    )
    found = seen(
        look(racks, node("a", 8, rack="r1"), node("b", 8, rack="r2"), node("c", 4, rack="r2"), pod("x", gpus=8, on="a"))
    )
    assert [(domain.level, domain.name, domain.free, domain.domains) for domain in found.room.domains] == [
        ("rack", "r2", 12, 2)
    ]


def test_pods_of_no_gang_are_told_as_holders() -> None:
    found = seen(look(node("n", 8), pod("alone", gpus=2, on="n"), group("g", 1), pod("g-0", "g", 1, on="n")))
    assert found.counts.gpus_outside == 2 and "Pods of no gang hold 2 GPUs more." in document(found)


def test_long_tables_are_cut_and_say_how_many_are_not_shown() -> None:
    many = [group(f"g{number:03}", 1) for number in range(120)] + [
        pod(f"p{number:03}", f"g{number:03}") for number in range(120)
    ]
    first, last = seen(look(*many)), seen(look(*many), waiting="100")
    assert len(first.waiting.rows) == FIRST and (last.waiting.rows[0].name, len(last.waiting.rows)) == ("g100", 10)
    text = document(first)
    assert "1–10 of 120 gangs; 110 not shown." in text and 'href="?waiting=10#waiting"' in text


def test_the_first_look_says_how_many_gpus_are_waited_for_and_never_counts_one_twice() -> None:
    shared = {"gpu-fraction": "0.5"}
    view = look(
        node("n", 4),
        node("shut", 4, cordoned=True),
        group("g", 2),
        group("h"),
        pod("a", "g", 8),
        pod("b", "g", 8),
        pod("c", "h", 1, on="n"),
        pod("d", "h", on="n", notes=shared, device="x"),
    )
    found, drawn = seen(view), map_page(view, {}).counts
    counts, room = found.counts, found.room
    assert counts.gpus_wanted == 16.0 and "for 16 GPUs, 2 pods without a node" in document(found)
    assert counts.gpus == counts.gpus_used + counts.gpus_shared + room.free + room.closed == 8
    assert (drawn.used, drawn.shared, drawn.free, drawn.closed) == (1, 1, room.free, room.closed) == (1, 1, 2, 4)


@pytest.mark.parametrize("wrong", ["-1", "x", "9" * 30, "120", "²"])
def test_a_wrong_place_in_a_table_is_its_beginning(wrong: str) -> None:
    assert seen(look(node("a")), nodes=wrong).nodes.start == 0


def test_the_search_finds_gangs_queues_and_nodes_and_is_kept_while_paging() -> None:
    objects = [
        group("llama", 1),
        pod("a", "llama"),
        group("other", 1),
        pod("b", "other"),
        queue("llama-q"),
        node("llama-node"),
        node("n"),
    ]
    found = seen(look(*objects), q=" LLama ")
    assert [row.name for row in found.waiting.rows] == ["llama"] and [row.name for row in found.nodes.rows] == [
        "llama-node"
    ]
    assert found.queues.total == 1 and found.counts.waiting == 2
    assert 'value="LLama"' in document(found) and "No gang like “LLama” runs." in document(found)


def test_nodes_are_in_the_order_people_count() -> None:
    assert [row.name for row in seen(look(node("n-10"), node("n-2"), node("n-1"))).nodes.rows] == ["n-1", "n-2", "n-10"]


HOSTILE = '<script>alert("x")</script>'


def test_whatever_a_cluster_says_is_escaped() -> None:
    bad = HOSTILE
    given = look(
        node(bad),
        group(bad, 1, bad, why=verdict(bad, bad, bad)),
        pod(bad, bad, 1),
        queue(bad, quota=1, held=2),
        event(bad, bad),
        gang(f"{bad}-0", {bad: 1}, of=bad, said=bad),
        server=bad,
        problem=bad,
        troubles=(bad,),
        absent=(bad,),
        reading=(bad,),
    )
    addresses: list[list[str]] = [
        [],
        ["gang", "work", bad],
        ["gang", "work", f"{bad}-0"],
        ["queue", bad],
        ["node", bad],
    ]
    for path in [*addresses, ["gang", bad, "x"], [bad]]:
        text = document(page(given, path, {"q": bad}))
        assert "<script>alert" not in text and "&lt;script&gt;" in text


@pytest.mark.parametrize(
    "why",
    ["", "no json", "[]", "7", '{"remedies": 3, "position": "x"}', '{"text": null, "remedies": [1, {"text": 5}]}'],
)
def test_a_verdict_that_is_nonsense_does_not_hide_the_gang(why: str) -> None:
    found = seen(look(group("g", 1, why=why), pod("a", "g")))
    assert [row.name for row in found.waiting.rows] == ["g"] and document(found)


def test_the_data_is_what_the_page_is_made_from() -> None:
    found = seen(
        look(
            node("n", 8),
            group("g", 1, why=verdict("g", "full", "it grew")),
            pod("a", "g", 1),
            queue("q", quota=1, held=2),
        )
    )
    again = msgspec.json.decode(msgspec.json.encode(found), type=Overview)
    assert again == found and document(again) == document(found)


def test_a_cluster_that_does_not_answer_is_said_plainly() -> None:
    heard = look().source.now - 65
    text = document(seen(look(heard=heard, problem="no route")))
    assert "The cluster is not reachable. </strong>What is shown is what it said last. no route" in text
    assert "last heard from the cluster <time>1 min 5 s ago</time>" in text
    assert "It has not answered yet." in document(seen(look(heard=None, problem="refused")))
    assert "last heard from the cluster <time>just now</time>" in document(seen(look()))


def test_what_is_not_installed_may_not_be_read_or_is_still_read_is_said() -> None:
    text = document(
        seen(
            look(
                absent=("podgangs.scheduler.grove.io", "podgroups.scheduling.run.ai", "queues.scheduling.run.ai"),
                troubles=("pods: forbidden",),
                reading=("nodes",),
            )
        )
    )
    assert "This cluster serves neither PodGangs nor PodGroups" in text
    assert "This cluster does not serve queues.scheduling.run.ai." in text
    assert "Cannot be read: </strong>pods: forbidden" in text and "Reading nodes for the first time" in text


def test_tables_pictures_and_controls_have_words_for_who_cannot_see_them() -> None:
    text = document(seen(look(node("n", 2), queue("q", quota=1), group("g"), pod("a", "g"))))
    assert text.count('<th scope="col"') == text.count("<th ") > 10
    assert all(
        f"<{item} " not in text or f'role="{role}"' in text for item, role in (("svg", "img"), ("form", "search"))
    )
    assert 'lang="en"' in text and 'aria-label="Waiting gangs"' in text and 'href="#main"' in text
    assert text.count("<svg") == text.count('role="img" aria-label=')


def test_used_free_and_out_of_reach_are_all_gpus_together() -> None:
    shown = seen(look(node("n", 8), node("m", 8, cordoned=True), group("g"), pod("a", "g", 3, on="n")))
    used = shown.counts.gpus_used + shown.counts.gpus_shared
    assert used + shown.room.free + shown.room.closed == shown.counts.gpus == 16
    assert "<small>5 on 1 node, 8 more on closed nodes</small>" in document(shown)


def test_memory_is_said_in_the_units_in_which_it_is_written() -> None:
    given = node("n", 8)
    given[1]["status"]["allocatable"]["memory"] = "1Ti"
    text = document(seen(look(given)))
    assert "1 TiB of 1 TiB" in text and " GB" not in text


def test_a_gang_whose_pods_failed_and_are_gone_did_not_end_well() -> None:
    kind, obj = group("g", owner=owned_by("CronJob", "nightly"))
    obj["status"] = {"conditions": [{"type": "Phase", "status": "True", "reason": "Failed"}]}
    shown = seen(look((kind, obj)))
    assert (shown.counts.failed, shown.counts.ended) == (1, 0)
    assert [row.failure for row in shown.failed.rows] == ["its pods failed, and are gone"]


def test_nodes_that_take_no_pods_come_first_and_the_others_by_number() -> None:
    found = seen(look(node("node-10"), node("node-2"), node("node-7", cordoned=True)))
    assert [line.name for line in found.nodes.rows] == ["node-7", "node-2", "node-10"]

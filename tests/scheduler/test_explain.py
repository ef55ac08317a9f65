"""Why a gang waits, and what would start it. The sentences are user interface: they are asserted word by word."""

from __future__ import annotations

import pytest

from gangline.rules.values.times import spoken
from gangline.scheduler.model.status import Status
from gangline.scheduler.records import TaintRecord, TopologyRule
from gangline.scheduler.why.explain import explain_waiting
from gangline.scheduler.why.verdict import Verdict, amount
from scheduler.scene import Scene

BLOCK = "example.com/block"
IN_ONE_BLOCK = TopologyRule("dc", BLOCK)


def blocks(**sizes: int) -> Scene:
    """Blocks of so many nodes with 8 GPUs each."""
    scene = Scene().topology("dc", BLOCK, "kubernetes.io/hostname").queue("team-a").queue("research")
    for name, number in sizes.items():
        for place in range(number):
            scene.node(f"{name}-{place}", labels={BLOCK: f"block-{name}"})
    return scene


def said(verdict: Verdict) -> list[str]:
    return [remedy.text for remedy in verdict.remedies]


def test_a_gang_that_is_too_large_for_what_is_free_says_how_much_is_missing() -> None:
    verdict = Scene().nodes(3).queue("q").gang("q/llm-0", 4, gpus=8).explain("llm-0")
    assert (verdict.cause, verdict.headline) == ("room", "llm-0 waits: 8 GPUs short")
    assert verdict.needs == "32 GPUs for 4 pods" and verdict.areas[0].text() == "all nodes  24 free"
    assert said(verdict) == ["it needed 3 pods instead of 4", "there was 1 more node with 8 free GPUs"]


def test_the_whole_text_has_headline_needs_proof_remedies_and_place_in_line() -> None:
    scene = blocks(a=3, b=2).gang("research/train-9", 8, on="b-0").gang("team-a/llm-0", 4, gpus=8, rule=IN_ONE_BLOCK)
    assert (
        scene.explain("llm-0").text(waited=130)
        == """\
llm-0 waits (2 min 10 s): 8 GPUs short in one block
  needs     32 GPUs for 4 pods on nodes of one example.com/block
  block-a  24 free   block-b  8 free
  would start if   it needed 3 pods instead of 4
              or   example.com/block were preferred instead of required
              or   there was 1 more node with 8 free GPUs in block-a
  next try  when one of these changes; queue position 1 of 1 in team-a"""
    )


def test_a_closed_node_with_the_missing_room_is_named() -> None:
    scene = blocks(a=3).queue("other")
    for name in ("node-17", "node-18"):
        scene.node(name, labels={BLOCK: "block-a"}, ready=False, ready_reason="node is unschedulable")
    verdict = scene.gang("team-a/llm-0", 4, gpus=8, rule=IN_ONE_BLOCK).explain("llm-0")
    assert verdict.headline == "llm-0 waits: 8 GPUs short in one block"
    assert verdict.areas[0].text() == "block-a  24 free (cordoned: 2 nodes)"
    assert said(verdict)[0] == "node-17 or node-18 were uncordoned"


def test_when_several_closed_nodes_are_needed_their_number_is_told() -> None:
    scene = Scene().nodes(1).queue("q")
    for place in range(3):
        scene.node(f"c{place}", ready=False, ready_reason="node is unschedulable")
    assert said(scene.gang("q/llm-0", 3, gpus=8).explain("llm-0"))[0] == "2 of 3 nodes in all nodes were uncordoned"


def test_the_smallest_gang_whose_end_makes_room_is_named_with_its_queue() -> None:
    scene = (
        blocks(a=4)
        .gang("research/large", 24, on=["a-0", "a-1", "a-2"], priority=200)
        .gang("research/small", 8, on="a-3", priority=200)
        .gang("team-a/llm-0", 1, gpus=8)
    )
    assert "gang small (queue research, borrowing 8 GPUs) ended" in said(scene.explain("llm-0"))


def test_the_sub_group_that_could_do_with_fewer_pods_is_named() -> None:
    verdict = (
        Scene()
        .nodes(3)
        .queue("q")
        .gang("q/llm-0", 4, gpus=8, groups={"prefill": (1, None), "decode": (3, None)})
        .explain("llm-0")
    )
    assert verdict.headline == "llm-0 waits: 8 GPUs short" and verdict.needs == "32 GPUs for 4 pods"
    assert said(verdict)[0] == "decode needed 2 pods instead of 3"


def test_a_sub_group_with_a_rule_of_its_own_is_judged_by_it() -> None:
    scene = blocks(a=2, b=2).gang("team-a/llm-0", 4, gpus=8, groups={"leader": (1, None), "worker": (3, IN_ONE_BLOCK)})
    verdict = scene.explain("llm-0")
    assert verdict.headline == "llm-0 waits: 8 GPUs short in one block" and verdict.needs.startswith(
        "24 GPUs for 3 pods"
    )


def test_room_that_is_scattered_is_not_called_short() -> None:
    scene = (
        Scene()
        .nodes(3)
        .queue("q")
        .gang("q/half", 3, gpus=4, on=["n0", "n1", "n2"], priority=200)
        .gang("q/llm-0", 1, gpus=8)
    )
    assert scene.explain("llm-0").headline == "llm-0 waits: no node has 8 GPUs free for 1 of 1 pod; the most is 4 GPUs"


def test_a_pod_larger_than_every_node_can_never_start() -> None:
    assert Scene().nodes(2).queue("q").gang("q/llm-0", 1, gpus=16).explain("llm-0").headline == (
        "llm-0 waits: no node has 16 GPUs; the largest has 8 GPUs"
    )


def test_nodes_that_may_not_be_used_at_all_say_why() -> None:
    scene = Scene().nodes(2, taints=(TaintRecord("dedicated", "NoSchedule", "team-b"),)).queue("q").gang("q/llm-0", 1)
    assert scene.explain("llm-0").headline == (
        "llm-0 waits: none of 2 nodes may be used by it (node(s) had untolerated taint {dedicated: team-b})"
    )


def test_cpu_can_be_what_is_short() -> None:
    verdict = Scene().nodes(1, gpus=8, cpu=4).queue("q").gang("q/llm-0", 3, gpus=1, cpu=2).explain("llm-0")
    assert verdict.headline == "llm-0 waits: 2 cores of CPU short" and verdict.resource == "cpu"


def test_a_queue_at_its_limit_is_named_with_its_numbers() -> None:
    scene = Scene().nodes(2).queue("a", limit=4).gang("a/other", 2, on="n0").gang("a/big", 6)
    verdict = scene.explain("big")
    assert (verdict.cause, verdict.headline) == (
        "OverLimit",
        "big waits: queue a may use 4 GPUs; 6 more asked, 2 in use",
    )
    assert said(verdict) == ["the limit of queue a were 8 GPUs", "it needed 2 pods instead of 6"]


def test_every_queue_on_the_way_up_is_named_and_raised_together() -> None:
    scene = Scene().nodes(2).queue("org", limit=4).queue("a", parent="org", limit=2).gang("a/big", 6)
    verdict = scene.explain("big")
    assert verdict.headline == (
        "big waits: queue a may use 2 GPUs; 6 more asked, 0 in use; queue org may use 4 GPUs; 6 more asked, 0 in use"
    )
    assert said(verdict) == ["the limit of queue a were 6 GPUs and the limit of queue org were 6 GPUs"]


def test_a_new_node_is_no_remedy_where_no_node_may_be_used() -> None:
    scene = Scene().nodes(2, taints=(TaintRecord("dedicated", "NoSchedule", "team-b"),)).queue("q").gang("q/llm-0", 1)
    assert not [text for text in said(scene.explain("llm-0")) if "more node" in text]


def test_a_limit_can_be_met_by_ending_a_gang_of_that_queue() -> None:
    scene = Scene().nodes(2).queue("a", limit=4).gang("a/other", 2, on="n0").gang("a/big", 4)
    assert said(scene.explain("big"))[1] == "gang other (queue a, holding 2 GPUs) ended"


def test_work_that_cannot_be_preempted_stays_within_quota() -> None:
    verdict = Scene().nodes(2).queue("a", quota=2).gang("a/build", 3, priority=100).explain("build")
    assert (
        verdict.headline
        == "build waits: queue a has a quota of 2 GPUs for work that cannot be preempted; 3 more asked, 0 in use"
    )
    assert said(verdict)[:2] == ["the quota of queue a were 3 GPUs", "it could be preempted"]


def test_a_queue_that_is_not_there_or_not_a_leaf() -> None:
    scene = Scene().nodes(1).queue("root").queue("leaf", parent="root").queue("lost", parent="nowhere")
    scene.gang("none/a", 1).gang("root/b", 1).gang("lost/c", 1)
    assert scene.explain("a").headline == "a waits: queue none does not exist"
    assert scene.explain("b").headline == "b waits: queue root has child queues, so it takes no work itself"
    assert scene.explain("c").headline == "c waits: queue lost has a missing or circular parent"


def test_a_gang_that_is_not_complete_says_what_is_missing() -> None:
    scene = Scene().nodes(1).queue("q").gang("q/llm-0", 2, needs=4)
    assert scene.explain("llm-0").headline == "llm-0 waits: 2 more pods must be there before it can start"


def test_gated_pods_are_told() -> None:
    scene = Scene().nodes(1).queue("q").gang("q/llm-0", 2, status=Status.GATED)
    assert scene.explain("llm-0").headline == "llm-0 waits: 2 more pods must be there (2 are gated) before it can start"


def test_a_broken_tree_is_the_cause() -> None:
    scene = Scene().nodes(1).queue("q").gang("q/llm-0", 1, problems=("sub-group a is listed twice",))
    assert scene.explain("llm-0").headline == "llm-0 waits: sub-group a is listed twice"


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (TopologyRule("nowhere", BLOCK), "topology nowhere does not exist"),
        (TopologyRule("dc", "example.com/floor"), "topology dc has no level example.com/floor"),
    ],
)
def test_a_rule_about_what_does_not_exist(rule: TopologyRule, why: str) -> None:
    assert blocks(a=1).gang("team-a/llm-0", 1, rule=rule).explain("llm-0").headline == f"llm-0 waits: {why}"


def test_a_gang_that_only_waits_for_pods_to_leave_says_where() -> None:
    scene = Scene().nodes(1).queue("q").gang("q/old", 8, on="n0", status=Status.RELEASING).gang("q/llm-0", 1, gpus=8)
    assert scene.explain("llm-0").headline == "llm-0 waits: pods are leaving n0, then it starts"


def test_explaining_changes_nothing_and_says_the_same_again() -> None:
    scene = blocks(a=3, b=2).gang("research/train-9", 8, on="b-0").gang("team-a/llm-0", 4, gpus=8, rule=IN_ONE_BLOCK)
    cluster = scene.cluster()
    before = cluster.state()
    first = explain_waiting(cluster, scene.settings, scene.now)
    assert cluster.state() == before and explain_waiting(cluster, scene.settings, scene.now) == first


def test_remedies_are_kept_while_cause_and_proof_stay_the_same() -> None:
    scene = Scene().nodes(3).queue("q").gang("q/llm-0", 4, gpus=8)
    cluster = scene.cluster()
    first = explain_waiting(cluster, scene.settings, scene.now)
    again = explain_waiting(cluster, scene.settings, scene.now, known=first)
    assert again["llm-0"].remedies is first["llm-0"].remedies


def test_without_steps_the_cause_is_still_told() -> None:
    scene = blocks(a=3, b=2).gang("team-a/llm-0", 4, gpus=8, rule=IN_ONE_BLOCK)
    verdict = explain_waiting(scene.cluster(), scene.settings, scene.now, steps=0)["llm-0"]
    assert verdict.headline == "llm-0 waits: 8 GPUs short in one block"


def test_a_gang_that_is_placed_gets_no_verdict() -> None:
    scene = Scene().nodes(1).queue("q").gang("q/done", 2, on="n0")
    assert explain_waiting(scene.cluster(), scene.settings, scene.now) == {}


def test_a_verdict_as_data_holds_its_text() -> None:
    data = Scene().nodes(3).queue("q").gang("q/llm-0", 4, gpus=8).explain("llm-0").as_dict()
    assert data["cause"] == "room" and data["short"] == 8 and data["text"].startswith("llm-0 waits: 8 GPUs short\n")
    assert data["remedies"][1] == {"kind": "nodes", "text": "there was 1 more node with 8 free GPUs"}


def test_words_for_amounts_and_times() -> None:
    told = [amount(8, "gpu"), amount(1, "gpu"), amount(1500, "cpu"), amount(2**36, "memory"), amount(1000, "rdma/hca")]
    assert told == ["8 GPUs", "1 GPU", "1.5 cores of CPU", "64 GiB of memory", "1 rdma/hca"]
    assert [spoken(item) for item in (0, 59, 130, 3600, 90061)] == ["0 s", "59 s", "2 min 10 s", "1 h", "1 d 1 h"]


# --- a remedy that is told works --------------------------------------------------------------------------------------


def starts(scene: Scene, gang: str = "llm-0") -> bool:
    outcome = scene.decide()
    return any(task.startswith(gang) for task in (*outcome.bound, *outcome.waiting))


def kinds(verdict: Verdict) -> dict[str, str]:
    return {remedy.kind: remedy.text for remedy in verdict.remedies}


def test_with_the_node_that_was_asked_for_it_starts() -> None:
    scene = Scene().nodes(3).queue("q").gang("q/llm-0", 4, gpus=8)
    assert kinds(scene.explain("llm-0"))["nodes"] == "there was 1 more node with 8 free GPUs" and not starts(scene)
    assert starts(scene.node("new"))


def test_with_fewer_pods_it_starts() -> None:
    assert (
        kinds(Scene().nodes(3).queue("q").gang("q/llm-0", 4, gpus=8).explain("llm-0"))["fewer"]
        == "it needed 3 pods instead of 4"
    )
    assert starts(Scene().nodes(3).queue("q").gang("q/llm-0", 4, gpus=8, needs=3))


def test_when_the_named_gang_has_ended_it_starts() -> None:
    def scene(*others: str) -> Scene:
        made = Scene().nodes(2).queue("q").queue("other")
        for name, node in (("a", "n0"), ("b", "n1")):
            if name in others:
                made.gang(f"other/{name}", 4 if name == "b" else 8, on=node, priority=200)
        return made.gang("q/llm-0", 1, gpus=8)

    assert kinds(scene("a", "b").explain("llm-0"))["end"] == "gang b (queue other, borrowing 4 GPUs) ended"
    assert not starts(scene("a", "b")) and starts(scene("a"))


def test_when_the_rule_is_relaxed_it_starts() -> None:
    scene = blocks(a=2, b=2).gang("team-a/llm-0", 3, gpus=8, rule=IN_ONE_BLOCK)
    assert "relax" in kinds(scene.explain("llm-0")) and not starts(scene)
    assert starts(blocks(a=2, b=2).gang("team-a/llm-0", 3, gpus=8, rule=TopologyRule("dc", preferred=BLOCK)))


def test_when_the_limit_is_raised_to_what_is_said_it_starts() -> None:
    scene = Scene().nodes(2).queue("a", limit=4).gang("a/llm-0", 6)
    assert kinds(scene.explain("llm-0"))["limit"] == "the limit of queue a were 6 GPUs" and not starts(scene)
    assert starts(Scene().nodes(2).queue("a", limit=6).gang("a/llm-0", 6))


def test_more_nodes_are_no_remedy_where_every_node_is_refused_for_something_else_than_room() -> None:
    scene = Scene().nodes(2).queue("a").gang("a/picky", 1, task={"node_selector": {"zone": "moon"}})
    verdict = scene.explain("picky")
    assert (
        verdict.headline
        == "picky waits: none of 2 nodes may be used by it (node(s) didn't match Pod's node affinity/selector)"
    )
    assert verdict.remedies == ()

"""KAI: the whole tree in one PodGroup. More of it in tests/operator/test_operator_backends.py; its scheduler half is
ours."""

from __future__ import annotations

from backends.scene import DECODE, EMPTY, GROVE, PREFILL, a_gang, a_pod, a_set, live, objects, released
from gangline.api.grove import GangPack
from gangline.api.kinds import POD_GROUP
from gangline.operator.backends.contract import Facts
from gangline.operator.backends.kai import KaiBackend


def test_a_gang_is_one_pod_group_with_a_sub_group_per_group() -> None:
    [made] = objects(KaiBackend(), a_gang(priority_class="high"))
    assert (made["apiVersion"], made["metadata"]["name"]) == ("scheduling.run.ai/v2alpha2", "pg-llm-0-u1")
    assert made["spec"] == {
        "minMember": 6,
        "queue": "default-queue",
        "priorityClassName": "high",
        "topologyConstraint": {},
        "stalenessGracePeriod": "4h",
        "subGroups": [{"name": PREFILL, "minMember": 2}, {"name": DECODE, "minMember": 4}],
    }


def test_a_pod_names_its_group_and_sub_group_and_keeps_the_grouper_away() -> None:
    meta = KaiBackend().prepare_pod(a_pod(DECODE), a_gang())["metadata"]
    assert meta["labels"]["kai.scheduler/subgroup-name"] == DECODE
    assert meta["annotations"] == {
        "own": "note",
        "kai.scheduler/skip-podgrouper": "true",
        "pod-group-name": "pg-llm-0-u1",
    }


def test_bounds_and_wishes_reach_all_three_levels_and_nothing_is_lost() -> None:
    both = GangPack(required="example.com/block", preferred="example.com/rack")
    gang = a_gang(topology="t", constraint=both, parent=both, decode=both)
    [made] = objects(KaiBackend(), gang)
    wanted = {
        "topology": "t",
        "requiredTopologyLevel": "example.com/block",
        "preferredTopologyLevel": "example.com/rack",
    }
    assert made["spec"]["topologyConstraint"] == wanted
    assert [sub_group.get("topologyConstraint") for sub_group in made["spec"]["subGroups"]] == [wanted, None, wanted]
    assert KaiBackend().gang_status(gang, EMPTY).lost == ()


def test_while_every_minimum_is_zero_kai_is_told_so() -> None:
    [made] = objects(KaiBackend(), released(a_gang()))
    assert [sub_group["minMember"] for sub_group in made["spec"]["subGroups"]] == [0, 0]


def test_kais_own_grace_never_undercuts_the_sets_termination_delay() -> None:
    assert (
        objects(KaiBackend(), a_gang(annotations={"kai.scheduler/staleness-grace-period": "5m"}))[0]["spec"][
            "stalenessGracePeriod"
        ]
        == "5m"
    )
    assert objects(KaiBackend(), a_gang(pcs=a_set(terminationDelay="20m")))[0]["spec"]["stalenessGracePeriod"] == "20m"
    under_compat = a_gang(Facts(manner=GROVE), pcs=a_set(labels={"kai.scheduler/queue": "q"}))
    assert "stalenessGracePeriod" not in objects(KaiBackend(), under_compat)[0]["spec"]


def test_kai_ends_no_gang_of_which_the_operator_may_end_a_part_or_nothing() -> None:
    parts = a_set(podCliqueScalingGroups=[{"name": "pd", "cliqueNames": ["prefill"], "replicas": 2, "minAvailable": 1}])
    for pcs in (parts, a_set(annotations={"gangline.io/gang-termination": "disabled"})):
        assert objects(KaiBackend(), a_gang(pcs=pcs))[0]["spec"]["stalenessGracePeriod"] == "-1s"


def test_the_schedulers_condition_explains_why_a_gang_waits() -> None:
    status = {
        "schedulingConditions": [
            {"type": "UnschedulableOnNodePool", "status": "True", "reason": "NoRoom", "message": "0/2 nodes"}
        ]
    }
    said = KaiBackend().gang_status(a_gang(live=(live(POD_GROUP, "pg-llm-0-u1", status=status),)), EMPTY)
    assert (said.reason, said.why) == ("NoRoom", "0/2 nodes")

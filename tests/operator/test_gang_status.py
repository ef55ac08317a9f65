"""What a gang says of itself: phase and conditions, from its pods, its cliques and what its scheduler says."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodGang
from gangline.api.meta import Raw
from gangline.operator.backends.contract import GangState, GroupInfo, PodGangInfo
from gangline.operator.gangs.conditions import GangView
from gangline.operator.gangs.tell import events_of, gang_status, unanswered
from operator_world import pod as pod_on

NOW = "2026-01-01T00:00:00Z"


def pod(number: int, *, placed: bool = True, ready: bool = True, **more: Any) -> Pod:
    return pod_on(number, node="n" if placed else "", ready=ready, **more)


def clique(replicas: int) -> PodClique:
    return msgspec.convert({"metadata": {"name": "workers"}, "spec": {"replicas": replicas}}, PodClique)


def gang(*true: str, **more: Any) -> PodGang:
    """`true`: conditions that were true when its status was last written."""
    known = [{"type": type, "status": "True", "reason": "Before"} for type in true]
    return msgspec.convert({"metadata": {"name": "g", **more}, "status": {"conditions": known}}, PodGang)


def view(*pods: Pod, minimum: int = 2, replicas: int = 2, before: PodGang | None = None, **more: Any) -> GangView:
    group = GroupInfo("workers", minimum, pods)
    info = PodGangInfo("g", "default", "uid", (group,), scheduler_name="kai-scheduler")
    return GangView(before or gang(), info, {"workers": clique(replicas)}, **more)


def said(view: GangView) -> dict[str, tuple[str, str, str]]:
    return {
        item["type"]: (item["status"], item["reason"], item["message"]) for item in gang_status(view, NOW)["conditions"]
    }


def conditions_of(status: Raw) -> dict[str, str]:
    return {item["type"]: item["status"] for item in status["conditions"]}


def test_a_gang_whose_minimum_is_ready_runs_and_says_nothing_of_troubles_it_never_had() -> None:
    status = gang_status(view(pod(0), pod(1)), NOW)
    assert status["phase"] == "Running"
    assert conditions_of(status) == {"Initialized": "True", "Scheduled": "True", "Ready": "True"}


def test_a_gang_whose_minimum_is_placed_and_not_ready_is_starting() -> None:
    status = gang_status(view(pod(0), pod(1, ready=False)), NOW)
    assert status["phase"] == "Starting"
    assert conditions_of(status) == {"Initialized": "True", "Scheduled": "True", "Ready": "False"}


def test_pods_above_the_minimum_are_not_waited_for() -> None:
    assert gang_status(view(pod(0), pod(1), pod(2, placed=False), replicas=3), NOW)["phase"] == "Running"


@pytest.mark.parametrize("lost", [pod(1, leaving=True), pod(1, phase="Failed")], ids=["leaving", "failed"])
def test_pods_that_leave_or_failed_do_not_count_towards_the_minimum(lost: Pod) -> None:
    status = gang_status(view(pod(0), lost), NOW)
    assert status["phase"] == "Pending"
    assert said(view(pod(0), lost))["Ready"] == ("False", "MinimumNotReady", "ready pods: workers 1/2")


def test_a_pod_that_is_missing_is_counted_against_the_size_of_its_clique() -> None:
    assert said(view(pod(0), pod(1), replicas=3))["Initialized"] == (
        "False",
        "PodGangPodsCreationPending",
        "workers has 2 of 3 pods",
    )


def test_a_clique_that_does_not_exist_yet_is_named() -> None:
    info = PodGangInfo("g", "default", "uid", (GroupInfo("workers", 1),))
    assert said(GangView(gang(), info, {}))["Initialized"][2] == "PodClique workers does not exist yet"


def test_a_gang_is_not_initialized_before_the_objects_of_its_backend_are_there() -> None:
    waiting = view(pod(0), pod(1), untranslated="no Queue is called team-a")
    assert said(waiting)["Initialized"] == ("False", "PodGangPodsCreationPending", "no Queue is called team-a")


def test_in_groves_manner_a_gang_that_was_initialized_stays_so() -> None:
    def initialized(sticky: bool) -> str:
        return said(view(pod(0), pod(1), replicas=3, before=gang("Initialized"), sticky=sticky))["Initialized"][0]

    assert (initialized(sticky=True), initialized(sticky=False)) == ("True", "False")


def test_a_backend_that_holds_the_gates_is_named_with_its_cause_and_before_all_else() -> None:
    held = view(pod(0), backend="backend kueue", says=GangState("quota is used up", ready=False), replicas=3)
    assert said(held)["Initialized"] == ("False", "BackendNotReady", "backend kueue holds the gates: quota is used up")
    silent = view(pod(0), backend="backend kueue", says=GangState(ready=False))
    assert said(silent)["Initialized"][2] == "backend kueue holds the gates: it does not say why"


def test_what_the_scheduler_says_comes_before_what_is_only_missing() -> None:
    waits = [pod(0, placed=False), pod(1, placed=False)]
    refused = view(*waits, says=GangState("3 GPUs short", "NotEnoughGPUs"))
    assert said(refused)["Scheduled"] == ("False", "NotEnoughGPUs", "3 GPUs short")
    assert said(view(*waits))["Scheduled"] == ("False", "MinimumNotScheduled", "waiting for the scheduler: workers 0/2")


def test_a_clique_scaled_below_its_minimum_is_the_cause_whatever_the_scheduler_says() -> None:
    assert said(view(pod(0), replicas=1, says=GangState("3 GPUs short")))["Scheduled"] == (
        "False",
        "ScaledBelowMinimum",
        "workers is scaled to 1 pods, below its minimum of 2: it cannot run until it is scaled up",
    )


def test_a_scheduler_that_gives_no_sign_is_asked_for_by_name() -> None:
    status, reason, message = said(view(pod(0, placed=False), pod(1, placed=False), silent=True))["Scheduled"]
    assert (status, reason) == ("False", "SchedulerSilent")
    assert message.endswith("is kai-scheduler running?")


def test_a_gang_that_ran_and_fell_below_its_minimum_is_unhealthy_until_it_is_ready_again() -> None:
    fallen = [pod(0), pod(1, ready=False)]
    assert "Unhealthy" not in said(view(*fallen))
    below = ("True", "BelowMinimum", "below minimum: workers 1/2")
    assert said(view(*fallen, before=gang("Ready")))["Unhealthy"] == below
    assert said(view(*fallen, before=gang("Unhealthy")))["Unhealthy"] == below
    assert said(view(pod(0), pod(1), before=gang("Unhealthy")))["Unhealthy"][:2] == ("False", "MinimumReady")


def test_a_disruption_is_told_with_the_reason_of_the_first_pod_and_withdrawn_when_it_is_over() -> None:
    hit = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    status = said(view(pod(0), pod(1, conditions=[hit]), pod(2, conditions=[{**hit, "reason": "Other"}])))
    assert status["DisruptionTarget"] == ("True", "PreemptionByScheduler", "2 pods are being disrupted, first c-1")
    spared = {**hit, "status": "False"}
    over = said(view(pod(0), pod(1, conditions=[spared]), before=gang("DisruptionTarget")))
    assert over["DisruptionTarget"] == ("False", "NoDisruption", "no pod is being disrupted")


def test_wishes_that_a_scheduler_cannot_express_are_listed() -> None:
    dropped = view(pod(0), pod(1), says=GangState(lost=("a topology", "an order")))
    assert said(dropped)["WishesDropped"] == ("True", "BackendCannotExpress", "a topology; an order")
    assert said(view(pod(0), pod(1), before=gang("WishesDropped")))["WishesDropped"][0] == "False"


def test_a_change_of_backend_waits_for_bound_pods_and_says_so() -> None:
    labelled = gang(labels={"grove.io/scheduler-backend": "kai"})
    assert said(view(pod(0), pod(1), asked="volcano", before=labelled))["BackendChangePending"] == (
        "True",
        "PodsBound",
        "the set asks for backend volcano; the gang stays with kai while its pods are bound",
    )
    assert said(view(pod(0), pod(1), before=gang("BackendChangePending")))["BackendChangePending"][0] == "False"


def test_the_score_of_the_scheduler_comes_first_and_ours_waits_until_the_gang_is_placed() -> None:
    placed, waiting = (pod(0), pod(1)), (pod(0, placed=False), pod(1, placed=False))
    assert gang_status(view(*placed, score=0.5, says=GangState(score=0.9)), NOW)["placementScore"] == 0.9
    assert gang_status(view(*placed, score=0.5), NOW)["placementScore"] == 0.5
    assert "placementScore" not in gang_status(view(*waiting, score=0.5), NOW)


def test_a_promised_start_is_told_only_of_a_gang_that_waits() -> None:
    promised = GangState(start={"earliest": NOW})
    assert gang_status(view(pod(0, placed=False), says=promised), NOW)["start"] == {"earliest": NOW}
    assert "start" not in gang_status(view(pod(0), pod(1), says=promised), NOW)


def test_a_cause_outside_the_gang_is_an_event_once() -> None:
    blocked = GangState("no Queue is called team-a", blocked=True)
    new = gang_status(view(pod(0, placed=False), pod(1, placed=False), says=blocked), NOW)
    [event] = events_of(gang(), new, blocked)
    assert (event.reason, event.message) == ("MinimumNotScheduled", "no Queue is called team-a")
    told = msgspec.convert({"metadata": {"name": "g"}, "status": {"conditions": new["conditions"]}}, PodGang)
    assert events_of(told, new, blocked) == []
    own_words = GangState("3 GPUs short")
    unblocked = gang_status(view(pod(0, placed=False), pod(1, placed=False), says=own_words), NOW)
    assert events_of(gang(), unblocked, own_words) == []


def judged(reason: str) -> Pod:
    """A pod without a node, and why."""
    return pod(0, placed=False, conditions=[{"type": "PodScheduled", "status": "False", "reason": reason}])


@pytest.mark.parametrize(
    ("pods", "waits"),
    [
        ([pod(0, placed=False)], True),
        ([], False),
        ([pod(0)], False),
        ([pod(0, placed=False, phase="Failed")], False),
        ([pod(0, placed=False), pod(1)], False),
        ([pod(0, placed=False, leaving=True)], False),
        ([judged("Unschedulable")], False),
        ([judged("SchedulingGated")], True),
    ],
)
def test_a_scheduler_is_silent_while_it_has_placed_refused_and_ended_no_pod(pods: list[Pod], waits: bool) -> None:
    assert unanswered(pods, GangState()) is waits


def test_a_scheduler_that_says_something_on_its_own_object_is_not_silent() -> None:
    waiting = [pod(0, placed=False)]
    assert not unanswered(waiting, GangState("3 GPUs short", "NotEnoughGPUs"))
    assert unanswered(waiting, GangState("no Queue", "NoQueue", blocked=True)), "that is our word, not the scheduler's"

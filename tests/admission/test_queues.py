"""Queues on their way in and out: every queue says what it may use; none goes while others hang below it."""

from __future__ import annotations

from typing import Any

from gangline.admission.scheduling import kai, queues
from gangline.admission.scheduling.settings import AdmissionSettings
from gangline.api.meta import Raw
from gangline.config import KAI, manner
from gangline.rules.hooks import HookReview

CHECKING = AdmissionSettings(quota_checks=True)


def queue(
    name: str, cpu: float = 0, gpu: float = 0, memory: float = 0, children: tuple[str, ...] = (), **spec: Any
) -> Raw:
    quotas = {"cpu": {"quota": cpu}, "gpu": {"quota": gpu}, "memory": {"quota": memory}}
    return {
        "metadata": {"name": name},
        "spec": {"resources": quotas, **spec},
        "status": {"childQueues": list(children)},
    }


def asked(
    which: Raw, *others: Raw, operation: str = "CREATE", old: Raw | None = None, settings: AdmissionSettings = CHECKING
) -> tuple[tuple[int, str] | None, list[str]]:
    find = {other["metadata"]["name"]: other for other in others}.get
    review = HookReview(operation, which, old)
    denied = queues.problem(review, settings, find)
    return ((denied.code, denied.message) if denied else None), queues.warnings(review, settings, find)


def test_a_queue_must_say_its_resources_even_if_there_are_none() -> None:
    words = "resources must be specified: say spec.resources, even if it is empty"
    assert asked({"metadata": {"name": "q"}, "spec": {}}) == ((403, words), [words])
    assert asked({"metadata": {"name": "q"}, "spec": {"resources": {}}}) == (None, [])


def test_a_duration_that_nobody_can_read_is_a_bad_request() -> None:
    assert asked(queue("q", preemptMinRuntime="soon")) == (
        (400, "spec.preemptMinRuntime must be a duration such as 90s or 1h30m, not 'soon'"),
        [],
    )


def test_quotas_are_not_compared_unless_asked_for() -> None:
    assert asked(queue("b", cpu=2000, parentQueue="a"), queue("a", cpu=1000), settings=AdmissionSettings()) == (
        None,
        [],
    )


def test_a_queue_that_does_not_fit_into_its_parent_is_warned_about() -> None:
    _, warnings = asked(
        queue("c", cpu=600, gpu=2.5, parentQueue="a"), queue("a", cpu=1000, gpu=2, children=("b",)), queue("b", cpu=600)
    )
    assert warnings == [
        "the gpu quota of c (2.5) is more than that of its parent a (2)",
        "the cpu quotas below a (1200) are more than its own (1000)",
    ]


def test_quotas_that_fit_exactly_are_fine_seen_from_below_and_from_above() -> None:
    parent = queue("a", cpu=1000, gpu=2, memory=8, children=("b", "c"))
    first, second = queue("b", cpu=1000, gpu=2, memory=8, parentQueue="a"), queue("c", parentQueue="a")
    assert asked(first, parent, second) == (None, [])
    grown = queue("a", cpu=2000, gpu=4, memory=9, children=("b", "c"))
    assert asked(parent, first, second, operation="UPDATE", old=grown) == (None, [])


def test_a_resource_that_is_written_as_null_has_no_quota() -> None:
    bare = queue("a", children=("b",))
    bare["spec"]["resources"] = {"cpu": None}
    _, warnings = asked(bare, queue("b", cpu=600), operation="UPDATE", old=queue("a", cpu=1000, children=("b",)))
    assert "the cpu quotas below a (600) are more than its own (0)" in warnings


def test_a_parent_that_is_lowered_below_its_children_is_warned_about() -> None:
    old, new = queue("a", cpu=2000, gpu=4, children=("b", "c")), queue("a", cpu=500, gpu=1, children=("b", "c"))
    _, warnings = asked(new, queue("b", cpu=900, gpu=2), queue("c", cpu=400), operation="UPDATE", old=old)
    assert warnings == [
        "the cpu quota of b (900) is more than that of its parent (500)",
        "the cpu quotas below a (1300) are more than its own (500)",
        "the gpu quotas below a (2) are more than its own (1)",
    ]


def test_a_parent_that_is_not_there_is_not_found() -> None:
    assert asked(queue("q", parentQueue="ghost")) == ((404, "queue 'ghost', the parent of q, was not found"), [])


def test_a_queue_with_queues_below_it_stays() -> None:
    below = [queue(name, parentQueue="a") for name in "bc"]
    refusal, _ = asked(queue("a", children=("b", "c")), *below, operation="DELETE")
    assert refusal == (403, "queue a still has queues below it: b, c; delete or move those first")
    assert asked(queue("a"), operation="DELETE") == (None, [])


def test_queues_that_went_or_hang_elsewhere_by_now_do_not_hold_their_parent() -> None:
    assert asked(queue("a", children=("b", "c")), queue("c", parentQueue="x"), operation="DELETE") == (None, [])


def test_deleting_is_checked_unless_upstream_is_imitated() -> None:
    operations = {hook.plural: hook.operations for hook in kai.hooks()}
    imitated = {hook.plural: hook.operations for hook in kai.hooks(AdmissionSettings(manner=manner([KAI])))}
    assert "DELETE" in operations["queues"]
    assert "DELETE" not in imitated["queues"]

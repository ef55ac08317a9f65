"""What controllers make of a change is there when the change is tried."""

from __future__ import annotations

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.why.changes import ObjectChange, applied
from gangline.why.fixes.consequences import consequences
from gangline.why.objects import dig
from truth.clusters import objects_of

OTHER = {"key": "team", "value": "a", "effect": "NoSchedule"}
CORDONED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n"},
    "spec": {"unschedulable": True, "taints": [CORDONED, OTHER]},
    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
}


def taints_after(body: Raw) -> list[Raw]:
    change = ObjectChange(kinds.NODE, "n", body)
    after = consequences(applied(objects_of([NODE]), [change]))
    return dig(after.raw(kinds.NODE, "n"), "spec", "taints") or []


def test_a_node_that_is_opened_loses_the_taint_of_its_cordon_and_keeps_the_others() -> None:
    assert taints_after({"spec": {"unschedulable": False}}) == [OTHER]


def test_a_node_that_stays_cordoned_keeps_it() -> None:
    assert taints_after({"metadata": {"labels": {"a": "b"}}}) == [CORDONED, OTHER]

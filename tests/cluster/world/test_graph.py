"""What the garbage collector decides, object by object."""

from __future__ import annotations

from typing import Any

import msgspec

from cluster.world.making import when
from gangline.api.kinds import CONFIG_MAP, NODE
from gangline.api.meta import Object
from gangline.cluster.world.upkeep.owner_graph import (
    Disown,
    Drop,
    Free,
    Graph,
    Item,
    Keep,
    OwnerState,
    Press,
    Release,
    judge,
    owner_state,
)


def item(
    name: str,
    *owners: str,
    blocking: bool = False,
    finalizers: tuple[str, ...] = (),
    deleting: bool = False,
    namespace: str = "default",
    kind: Any = CONFIG_MAP,
) -> Item:
    meta: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{name}",
        "finalizers": finalizers,
        "ownerReferences": [
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "name": owner,
                "uid": f"uid-{owner}",
                "blockOwnerDeletion": blocking,
            }
            for owner in owners
        ],
    }
    if deleting:
        meta["deletionTimestamp"] = when(0)
    return Item(kind, msgspec.convert({"metadata": meta}, Object))


def graph(*items: Item) -> Graph:
    made = Graph()
    for entry in items:
        made.put(entry)
    return made


def verdict(of: Item, *others: Item, **asked: OwnerState) -> object:
    """The verdict on an object among others; owners that are not among them are as the server answered."""
    known = graph(of, *others)
    states = {owner.uid: owner_state(known, of, owner, True) for owner in of.owners}
    return judge(known, of, states | {f"uid-{name}": state for name, state in asked.items()})


def test_an_object_whose_owner_is_there_stays() -> None:
    assert verdict(item("c", "o"), item("o")) == Keep()


def test_an_object_whose_owner_is_gone_goes() -> None:
    assert verdict(item("c", "o"), o=OwnerState.ABSENT) == Drop("Background")


def test_an_owner_with_the_same_uid_in_another_namespace_is_no_owner() -> None:
    assert verdict(item("c", "o"), item("o", namespace="other")) == Drop("Background")


def test_an_object_keeps_the_owner_that_is_left() -> None:
    assert verdict(item("c", "o", "o2"), item("o2"), o=OwnerState.ABSENT) == Disown(("uid-o",))


def test_a_cluster_wide_object_is_not_deleted_for_a_misplaced_owner() -> None:
    assert verdict(item("n", "o", namespace="", kind=NODE), item("o")) == Keep()


def test_an_owner_waits_for_dependents_that_block_it() -> None:
    owner = item("o", finalizers=("foregroundDeletion",), deleting=True)
    child = item("c", "o", blocking=True)
    assert verdict(owner, child) == Press((child,))
    assert verdict(child, owner) == Drop("Background")


def test_an_owner_does_not_wait_for_dependents_that_do_not_block_it() -> None:
    assert verdict(item("o", finalizers=("foregroundDeletion",), deleting=True), item("c", "o")) == Release(
        "foregroundDeletion"
    )


def test_foreground_deletion_goes_on_below() -> None:
    owner, grandchild = item("o", finalizers=("foregroundDeletion",), deleting=True), item("g", "c", blocking=True)
    assert verdict(item("c", "o", blocking=True), owner, grandchild) == Drop("Foreground")


def test_objects_that_wait_for_each_other_are_untied() -> None:
    owner = item("o", "c", finalizers=("foregroundDeletion",), deleting=True, blocking=True)
    assert verdict(item("c", "o", blocking=True), owner) == Drop("Foreground", unblock=True)


def test_an_owner_that_orphans_lets_its_dependents_go() -> None:
    child = item("c", "o")
    assert verdict(item("o", finalizers=("orphan",), deleting=True), child) == Free((child,))


def test_a_graph_forgets_what_it_no_longer_needs() -> None:
    known = graph(item("o"), item("c", "o"))
    known.put(item("c"))
    assert known.dependents("uid-o") == []
    known.remove("uid-c")
    assert list(known.items) == ["uid-o"]

"""Running sums: whatever comes, changes and goes, the total is the one a full count gives, written as Kubernetes writes
it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gangline.controllers.queue_tree import FIELDS, QueueTree
from gangline.controllers.sums import MemberSum, amounts, printed, resource_list_patch, total

QUANTITIES = st.sampled_from(["0", "1", "250m", "1500m", "1Gi", "512Mi", "100M", "3"])
LISTS = st.dictionaries(st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), QUANTITIES, max_size=3)


@given(st.lists(st.tuples(st.sampled_from("abcd"), LISTS), max_size=30))
def test_a_running_sum_equals_a_full_count_after_any_history(history: list[tuple[str, dict[str, str]]]) -> None:
    running, members = MemberSum(), dict[str, dict[str, str]]()
    for member, part in history:
        changed = running.set(member, amounts(part))
        assert changed == (amounts(members.get(member, {})) != amounts(part))
        members[member] = part
    counted = total(amounts(part) for part in members.values())
    assert {name: value.nanos for name, value in running.amounts.items()} == {
        name: value.nanos for name, value in counted.items()
    }


def test_sums_are_written_in_the_form_of_their_parts() -> None:
    running = MemberSum()
    running.set("a", amounts({"memory": "512Mi", "cpu": "500m", "nvidia.com/gpu": "0.25"}))
    running.set("b", amounts({"memory": "512Mi", "cpu": "500m"}))
    assert printed(running.amounts) == {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "250m"}
    running.drop("a")
    assert printed(running.amounts) == {"cpu": "500m", "memory": "512Mi"}


def test_a_resource_asked_for_at_zero_is_still_named() -> None:
    running = MemberSum()
    running.set("a", amounts({"cpu": "0"}))
    assert printed(running.amounts) == {"cpu": "0"}


def test_a_merge_patch_removes_what_is_no_longer_there() -> None:
    assert resource_list_patch({"cpu": "1", "memory": "1Gi"}, {"cpu": "2"}) == {"memory": None, "cpu": "2"}
    assert resource_list_patch({"cpu": "1"}, {}) is None


TREE_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("queue"), st.sampled_from("wxyz"), st.sampled_from(["", "w", "x", "y", "z"])),
        st.tuples(st.just("drop"), st.sampled_from("wxyz"), st.just("")),
        st.tuples(st.just("group"), st.sampled_from("abc"), st.sampled_from("wxyz")),
        st.tuples(st.just("gone"), st.sampled_from("abc"), st.just("")),
    ),
    max_size=40,
)


@given(TREE_STEPS)
def test_a_queue_tree_fed_step_by_step_equals_one_counted_anew_even_through_rings(
    steps: list[tuple[str, str, str]],
) -> None:
    tree, parents, groups = QueueTree(), dict[str, str](), dict[str, tuple[str, int]]()
    for number, (what, name, where) in enumerate(steps):
        if what == "queue":
            parents[name] = where
            tree.set_queue(name, where)
        elif what == "drop":
            parents.pop(name, None)
            tree.drop_queue(name)
        elif what == "group":
            groups[name] = (where, number + 1)
            tree.set_group(name, where, {"requested": amounts({"cpu": str(number + 1)})})
        else:
            groups.pop(name, None)
            tree.drop_group(name)
        if number % 3 == 0:
            tree.totals("w")
    for queue in "wxyz":
        asked = sum(cpu for where, cpu in groups.values() if queue in _line(where, parents))
        assert tree.totals(queue)["requested"] == ({"cpu": str(asked)} if asked else {})
        assert tree.children(queue) == sorted(child for child, parent in parents.items() if parent == queue)


def _line(queue: str, parents: dict[str, str]) -> list[str]:
    line: list[str] = []
    while queue and queue not in line:
        line.append(queue)
        queue = parents.get(queue, "")
    return line


def test_a_change_of_one_group_concerns_only_the_queues_above_it() -> None:
    tree = QueueTree()
    for queue, parent in (("root", ""), ("left", "root"), ("right", "root")):
        tree.set_queue(queue, parent)
    assert tree.set_group("g", "left", {name: amounts({"cpu": "1"}) for name in FIELDS}) == ["left", "root"]
    assert tree.set_group("g", "left", {name: amounts({"cpu": "1"}) for name in FIELDS}) == []
    assert sorted(set(tree.set_group("g", "right", {"requested": amounts({"cpu": "1"})}))) == ["left", "right", "root"]

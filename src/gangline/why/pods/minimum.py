"""How many pods of which group are lacking, and the change that asks for fewer."""

from __future__ import annotations

import msgspec

from gangline.api import kinds, names
from gangline.scheduler.why.verdict import counted
from gangline.why.changes import ObjectChange
from gangline.why.workloads import Subject


def lacking_pods(short: dict[str, int], leaves: dict[str, int]) -> str:
    return "; ".join(
        f"{counted(number, 'more pod')}{f' of {leaf}' if leaf else ''} must be there "
        f"({leaves[leaf] - number} of {leaves[leaf]} are)"
        for leaf, number in sorted(short.items())
    )


def lowered_leaves(subject: Subject, short: dict[str, int]) -> tuple[ObjectChange, ...]:
    """Sub-groups of a PodGroup that a person made, each with the minimum that its pods can meet."""
    group = subject.group
    if group is None or subject.gang is not None or subject.top is not None:
        return ()
    enough = {item.name: (item.min_member or 0) - short.get(item.name, 0) for item in group.spec.sub_groups}
    if any(enough[name] <= 0 for name in short):
        return ()
    fewer = [
        {**msgspec.to_builtins(item), **({"minMember": enough[item.name]} if item.name in short else {})}
        for item in group.spec.sub_groups
    ]
    return (ObjectChange(kinds.POD_GROUP, group.name, {"spec": {"subGroups": fewer}}, subject.namespace),)


def lowered(subject: Subject, minimum: int) -> tuple[ObjectChange, ...]:
    """The gang's minimum, where it is said and where it stands."""
    group = subject.group
    if group is None or subject.gang is not None:
        return ()
    changes = []
    if subject.top_kind == "Job":
        changes.append(
            ObjectChange(
                kinds.JOB,
                subject.top["metadata"]["name"],  # type: ignore[index]
                {"metadata": {"annotations": {names.BATCH_MIN_MEMBER: str(minimum)}}},
                subject.namespace,
            )
        )
    elif subject.top is not None and subject.top_kind != "Pod":
        return ()
    word = f"PodGroup/{group.name}" if subject.top is None else f"the PodGroup of {subject.top_kind}/{subject.name}"
    changes.append(
        ObjectChange(kinds.POD_GROUP, group.name, {"spec": {"minMember": minimum}}, subject.namespace, word=word)
    )
    return tuple(changes)

"""Which group a pod is in, with and without a mark."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.kai import PodGroup
from gangline.rules.gangs.memberships import OWNED, group_name_of, unmarked_for

JOB = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "j"}


def pod(owner: dict[str, Any] | None = None, **annotations: str) -> Pod:
    meta = {"name": "p", "namespace": "ns", "uid": "1", "annotations": annotations}
    return msgspec.convert({"metadata": meta | ({"ownerReferences": [owner]} if owner else {})}, Pod)


def group(name: str, **annotations: str) -> PodGroup:
    return msgspec.convert({"metadata": {"name": name, "namespace": "ns", "annotations": annotations}}, PodGroup)


OWN, WHOLE, PART = group("pg-p-1"), group("pg-train-j", **{names.MEMBERS: OWNED}), group("pg-train-j")


@pytest.mark.parametrize(
    ("case", "groups", "name"),
    [
        (pod(None, **{names.POD_GROUP_NAME: "g"}), [], "g"),
        (pod(JOB, **{names.POD_GROUP_NAME: "g"}), [WHOLE], "g"),
        (pod(), [], ""),
        (pod(), [OWN], "pg-p-1"),
        (pod(JOB), [WHOLE], "pg-train-j"),
        (pod(JOB), [PART], ""),
        (pod(JOB), [WHOLE, OWN], "pg-p-1"),
        (pod(JOB, **{names.SKIP_GROUPER: "true"}), [WHOLE], ""),
    ],
)
def test_a_pod_is_in_the_group_it_is_marked_for_else_in_its_own_else_in_one_that_has_all_of_its_owner(
    case: Pod, groups: list[PodGroup], name: str
) -> None:
    assert group_name_of(case, {item.name: item for item in groups}.get) == name


def test_a_pod_without_a_mark_is_found_by_each_group_it_may_be_in() -> None:
    assert unmarked_for(pod(JOB)) == ["ns/pg-p-1", "ns/pg-train-j"]
    assert unmarked_for(pod(JOB, **{names.POD_GROUP_NAME: "g"})) == []

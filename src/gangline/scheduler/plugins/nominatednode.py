"""A pod that was told to expect a certain node goes there if it can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..model.node import Node
from ..model.task import Task
from ..scores import NOMINATED_NODE

if TYPE_CHECKING:
    from ..session import Session


class NominatedNode:
    name = "nominatednode"

    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        pass

    def node_score(self, task: Task, node: Node) -> float:
        return NOMINATED_NODE if task.record.nominated_node == node.name else 0.0

    shape_score = node_score

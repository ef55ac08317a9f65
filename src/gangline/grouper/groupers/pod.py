"""A pod that stands for itself. The driver and the executors of one Spark application share a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper.groupers.base import base
from gangline.grouper.groupers.contract import Grouper
from gangline.grouper.grouping import Grouping
from gangline.grouper.look import GrouperView

SPARK_NAME, SPARK_SELECTOR = "spark-app-name", "spark-app-selector"


class BarePodGrouper(Grouper):
    kinds = ("v1 Pod",)

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        grouping = base(pod, owner, read)
        if is_spark(pod):
            return replace(grouping, name=pod.labels[SPARK_SELECTOR])
        return grouping


def is_spark(pod: Pod) -> bool:
    return SPARK_NAME in pod.labels and SPARK_SELECTOR in pod.labels

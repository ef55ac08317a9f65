"""Replays the recorded status cases: what the PodGroup and Queue controllers write, step by step.

Called by run.py for area `status`. Compared are the PodGroups of the namespace and the queues that the case itself
made."""

from __future__ import annotations

import re
from typing import Any

from conformance.kai_services.lab import Environment, Lab
from conformance.kai_services.placeholders import Uids, difference
from conformance.kai_services.steps import NAMESPACE, do
from gangline.api.kinds import POD_GROUP, QUEUE
from gangline.config import KAI, manner
from gangline.controllers.component import pod_group_controller, queue_controller

Raw = dict[str, Any]
_SCHEDULER = re.compile(r"--scheduler-name=(\S+)")


async def check(case: Raw, environment: Environment) -> str:
    """The first difference between what upstream wrote and what we write; empty when there is none."""
    lab = Lab(environment)
    await lab.open(case.get("namespaceLabels"))
    try:
        await lab.start(pod_group_controller((_scheduler(case),), manner([KAI])))
        await lab.start(queue_controller())
        return await _steps(lab, case)
    finally:
        await lab.close()


async def run_status(case: Raw, environment: Environment) -> tuple[bool, str]:
    reason = await check(case, environment)
    return not reason, reason


def _scheduler(case: Raw) -> str:
    found = _SCHEDULER.search(" ".join((case.get("config") or {}).get("flags") or ()))
    return found[1] if found else "kai-scheduler"


async def _steps(lab: Lab, case: Raw) -> str:
    uids = Uids()
    for number, step in enumerate(case["steps"], 1):
        for op in step["apply"]:
            await do(lab, uids, op)
            await lab.settle()
        found = uids.named({"podgroups": await _groups(lab), "queues": await _queues(lab)})
        text = difference(step["result"], found, f"step {number}")
        if text:
            return text
    return ""


async def _groups(lab: Lab) -> list[Raw]:
    listed = await lab.admin.list_raw(POD_GROUP, NAMESPACE)
    return [
        {"name": entry["metadata"]["name"], "spec": entry.get("spec") or {}, "status": entry.get("status") or {}}
        for entry in sorted(listed, key=lambda item: str(item["metadata"]["name"]))
    ]


async def _queues(lab: Lab) -> list[Raw]:
    listed = await lab.admin.list_raw(QUEUE)
    ours = (entry for entry in listed if entry["metadata"]["name"] not in lab.environment.data["queues"])
    return [
        {
            "name": entry["metadata"]["name"],
            "parentQueue": (entry.get("spec") or {}).get("parentQueue"),
            "status": entry.get("status") or {},
        }
        for entry in sorted(ours, key=lambda item: str(item["metadata"]["name"]))
    ]

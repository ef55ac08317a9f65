"""PodDisruptionBudget → BudgetRecord.

How many pods may go is what its controller counted last; while it has not seen the newest spec, none may."""

from __future__ import annotations

from typing import Any

from gangline.api.meta import Raw
from gangline.scheduler.objects.affinity import requirements
from gangline.scheduler.records import BudgetRecord


def budget_record(budget: Raw) -> BudgetRecord:
    meta, status = budget["metadata"], budget.get("status") or {}
    selector = (budget.get("spec") or {}).get("selector")
    seen = _count(status.get("observedGeneration")) >= _count(meta.get("generation"))
    return BudgetRecord(
        name=str(meta["name"]),
        namespace=str(meta.get("namespace") or ""),
        selector=None if selector is None else requirements(selector),
        allowed=max(_count(status.get("disruptionsAllowed")), 0) if seen else 0,
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0

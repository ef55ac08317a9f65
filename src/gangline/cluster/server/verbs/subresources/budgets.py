"""Disruption budgets: whether an eviction may take a pod, and the disruption it takes from the budget.

The eviction of pods.py asks. The budgets themselves are kept by a controller, a client like any other.
"""

from __future__ import annotations

from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.core import Core
from gangline.cluster.server.selectors import selector_test
from gangline.cluster.server.status import forbidden, internal, too_many_requests
from gangline.cluster.server.verbs.meta import Obj

MOST_DISRUPTED = 2000


def ignores_budgets(pod: Obj) -> bool:
    phase = (pod.get("status") or {}).get("phase")
    return phase in ("Succeeded", "Failed", "Pending", None) or bool(pod["metadata"].get("deletionTimestamp"))


def ask_budgets(core: Core, call: ServerCall, pod: Obj) -> None:
    """Take one disruption from the pod's budget, or refuse."""
    budgets = core.catalogue.find("policy", "v1", "poddisruptionbudgets")
    assert budgets is not None
    labels = pod["metadata"].get("labels") or {}
    records = [
        record
        for record in core.store.shelf(budgets.shelf).listing(call.namespace)
        if selector_test((record.object().get("spec") or {}).get("selector"))(labels)
    ]
    if len(records) > 1:
        raise internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    if not records:
        return
    budget = records[0].object()
    if _unhealthy_may_go(pod, budget):
        return
    _check_budget(budget)
    status = budget["status"]
    status["disruptionsAllowed"] -= 1
    status["disruptedPods"] = {**(status.get("disruptedPods") or {}), call.name: core.now()}
    if not call.dry_run:
        core.write(budgets, records[0].place, budget)


def _unhealthy_may_go(pod: Obj, budget: Obj) -> bool:
    ready = any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in (pod.get("status") or {}).get("conditions") or []
    )
    if ready:
        return False
    status = budget.get("status") or {}
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    desired = status.get("desiredHealthy", 0)
    return bool(desired > 0 and status.get("currentHealthy", 0) >= desired)


def _check_budget(budget: Obj) -> None:
    name, status = budget["metadata"]["name"], budget.get("status") or {}
    refusal = "Cannot evict pod as it would violate the pod's disruption budget."
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        message = f"The disruption budget {name} is still being processed by the server."
        raise too_many_requests(
            refusal, {"retryAfterSeconds": 10, "causes": [{"reason": "DisruptionBudget", "message": message}]}
        )
    if len(status.get("disruptedPods") or {}) > MOST_DISRUPTED:
        raise forbidden(
            "policy",
            "poddisruptionbudget",
            name,
            "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
        )
    if status.get("disruptionsAllowed", 0) <= 0:
        message = (
            f"The disruption budget {name} needs {status.get('desiredHealthy', 0)} healthy pods and has "
            f"{status.get('currentHealthy', 0)} currently"
        )
        raise too_many_requests(refusal, {"causes": [{"reason": "DisruptionBudget", "message": message}]})

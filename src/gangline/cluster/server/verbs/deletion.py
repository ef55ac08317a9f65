"""What a delete does to an object: it goes at once, or first waits for finalizers, dependents or its grace period.

The pure rule: `decide` is asked by deletes.py, which writes and removes.
"""

from __future__ import annotations

from dataclasses import dataclass

from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.verbs.delete_options import DeleteOptions
from gangline.cluster.server.verbs.kind_rules import ORPHANING
from gangline.cluster.server.verbs.meta import Obj


@dataclass(slots=True)
class DeleteDecision:
    obj: Obj
    """The object with its deletion marks."""
    store: bool
    """It changed and must be written."""
    remove: bool
    """It goes (after being written, if `store`)."""


def decide(obj: Obj, options: DeleteOptions, resource: Resource, now: str, later: str) -> DeleteDecision:
    """What a delete does to an object. `later` is the time when its grace period ends."""
    about = obj["metadata"]
    finalizers = _finalizers(about, options, resource)
    pending = about.get("deletionTimestamp") is not None
    changed = finalizers != (about.get("finalizers") or [])
    about["finalizers"] = finalizers
    if not finalizers:
        del about["finalizers"]
    grace = pod_grace(obj, options) if resource.shelf == ("", "pods") else None
    if grace is not None:
        return _gracefully(obj, grace, pending, changed, now if not grace else later)
    if pending:
        return DeleteDecision(obj, changed, not finalizers)
    if not finalizers:
        return DeleteDecision(obj, False, True)
    _mark(about, now, 0)
    return DeleteDecision(obj, True, False)


def _gracefully(obj: Obj, grace: int, pending: bool, changed: bool, when: str) -> DeleteDecision:
    about = obj["metadata"]
    if pending:
        if grace < (about.get("deletionGracePeriodSeconds") or 0):
            about["deletionGracePeriodSeconds"], about["deletionTimestamp"], changed = grace, when, True
        gone = not about.get("finalizers") and not about.get("deletionGracePeriodSeconds")
        return DeleteDecision(obj, changed, gone)
    _mark(about, when, grace)
    return DeleteDecision(obj, True, not grace and not about.get("finalizers"))


def _mark(about: Obj, when: str, grace: int) -> None:
    about["deletionTimestamp"], about["deletionGracePeriodSeconds"] = when, grace
    if about.get("generation"):
        about["generation"] += 1


def pod_grace(pod: Obj, options: DeleteOptions) -> int:
    """Seconds a pod gets: none while no node holds it, or once it has ended."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    wanted = options.grace if options.grace is not None else spec.get("terminationGracePeriodSeconds", 30)
    if not spec.get("nodeName") or status.get("phase") in ("Succeeded", "Failed"):
        return 0
    return 1 if wanted < 0 else int(wanted)


def _finalizers(about: Obj, options: DeleteOptions, resource: Resource) -> list[str]:
    """The finalizers an object has once the caller's policy is taken into account."""
    present = list(about.get("finalizers") or [])
    orphan = _wants_orphans(present, options, resource)
    foreground = options.policy == "Foreground" or (
        not options.policy and options.orphan is None and "foregroundDeletion" in present
    )
    kept = [name for name in present if name not in ("orphan", "foregroundDeletion")]
    if orphan:
        kept.append("orphan")
    if foreground:
        kept.append("foregroundDeletion")
    return present if sorted(kept) == sorted(present) else kept


def _wants_orphans(present: list[str], options: DeleteOptions, resource: Resource) -> bool:
    if options.orphan is not None:
        return options.orphan
    if options.policy:
        return options.policy == "Orphan"
    return "orphan" in present or resource.shelf in ORPHANING

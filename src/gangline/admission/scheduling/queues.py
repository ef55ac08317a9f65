"""Queues on their way in and out: every queue says what it may use, and none goes while others hang below it.

With quota checks on, quotas that do not fit into those of the parent are warned about. Other queues are asked for by
name through a function that is handed in. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gangline.admission.scheduling.podgroups import bad_duration
from gangline.admission.scheduling.settings import AdmissionSettings
from gangline.api.meta import Raw
from gangline.rules.hooks import Denied, HookReview

DURATIONS = ("preemptMinRuntime", "reclaimMinRuntime")
NO_RESOURCES = "resources must be specified: say spec.resources, even if it is empty"
CPU, GPU, MEMORY = "cpu", "gpu", "memory"

Find = Callable[[str], Raw | None]
"""A queue by name, if it is there."""


def problem(review: HookReview, settings: AdmissionSettings, find: Find) -> Denied | None:
    spec = review.obj.get("spec") or {}
    if review.operation == "DELETE":
        return _has_children(review, find)
    if review.same_spec:
        return None
    unreadable = bad_duration(spec, DURATIONS)
    if unreadable:
        return unreadable
    if spec.get("resources") is None:
        return Denied(NO_RESOURCES)
    if not settings.quota_checks or not spec.get("parentQueue"):
        return None
    parent = find(spec["parentQueue"])
    if parent is None:
        return Denied(
            f"queue {spec['parentQueue']!r}, the parent of {_name(review.obj)}, was not found",
            code=404,
            reason="NotFound",
        )
    if (parent.get("spec") or {}).get("resources") is None:
        return Denied(f"queue {_name(parent)}, the parent of {_name(review.obj)}, has no resources")
    return None


def _hangs_below(queue: Raw | None, parent: str) -> bool:
    return (
        queue is not None
        and not queue["metadata"].get("deletionTimestamp")
        and (queue.get("spec") or {}).get("parentQueue") == parent
    )


def _has_children(review: HookReview, find: Find) -> Denied | None:
    """Its status names them, and may be behind: those that went, are going or hang elsewhere by now do not count."""
    named = (review.obj.get("status") or {}).get("childQueues") or []
    below = [name for name in named if _hangs_below(find(name), _name(review.obj))]
    if not below:
        return None
    return Denied(
        f"queue {_name(review.obj)} still has queues below it: {', '.join(below)}; delete or move those first"
    )


def warnings(review: HookReview, settings: AdmissionSettings, find: Find) -> list[str]:
    spec = review.obj.get("spec") or {}
    if review.operation == "DELETE" or bad_duration(spec, DURATIONS):
        return []
    if spec.get("resources") is None:
        return [NO_RESOURCES]
    if not settings.quota_checks or problem(review, settings, find) is not None:
        return []
    parent = find(spec["parentQueue"]) if spec.get("parentQueue") else None
    texts = [*_above(review.obj, parent, find)] if parent is not None else []
    had_children = ((review.old or {}).get("status") or {}).get("childQueues")
    return texts + ([*_below(review.obj, find)] if had_children else [])


def _above(queue: Raw, parent: Raw, find: Find) -> Iterator[str]:
    """Does this queue fit into its parent, alone and with its siblings?"""
    name = _name(queue)
    for resource in (CPU, GPU, MEMORY):
        mine, its = _quota(queue, resource), _quota(parent, resource)
        if mine > its:
            more = f"more than that of its parent {_name(parent)} ({_shown(its)})"
            yield f"the {resource} quota of {name} ({_shown(mine)}) is {more}"
    siblings = [other for other in _children(parent, find) if _name(other) != name]
    together, its = _quota(queue, CPU) + sum(_quota(other, CPU) for other in siblings), _quota(parent, CPU)
    if together > its:
        yield f"the cpu quotas below {_name(parent)} ({_shown(together)}) are more than its own ({_shown(its)})"


def _below(queue: Raw, find: Find) -> Iterator[str]:
    """Do the queues below still fit into this one, alone and together?"""
    children = _children(queue, find)
    for child in children:
        if _quota(child, CPU) > _quota(queue, CPU):
            yield (
                f"the cpu quota of {_name(child)} ({_shown(_quota(child, CPU))}) is more than that of its parent "
                f"({_shown(_quota(queue, CPU))})"
            )
    for resource in (CPU, GPU, MEMORY):
        together, mine = sum(_quota(child, resource) for child in children), _quota(queue, resource)
        if together > mine:
            below = f"the {resource} quotas below {_name(queue)} ({_shown(together)})"
            yield f"{below} are more than its own ({_shown(mine)})"


def _children(queue: Raw, find: Find) -> list[Raw]:
    names = (queue.get("status") or {}).get("childQueues") or []
    return [child for child in map(find, names) if child is not None]


def _name(queue: Raw) -> str:
    return str(queue["metadata"].get("name", ""))


def _quota(queue: Raw, resource: str) -> float:
    resources = (queue.get("spec") or {}).get("resources") or {}
    return float((resources.get(resource) or {}).get("quota") or 0)


def _shown(value: float) -> str:
    return f"{value:g}"

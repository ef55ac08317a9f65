"""PodGroups on their way in: a tree of sub-groups in which each one says exactly once how much of it must start
together.

`findings` lists all that is wrong; whether a finding refuses or only warns depends on the operation. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gangline.api.meta import Raw
from gangline.rules.hooks import Denied, HookReview
from gangline.rules.values import times
from gangline.rules.values.parents import below_themselves

DURATIONS = ("preemptionDelay", "stalenessGracePeriod")


@dataclass(frozen=True, slots=True)
class PodGroupFinding:
    message: str
    warns_on: tuple[str, ...] = ()
    """Operations on which this is only a warning."""


def problem(review: HookReview) -> Denied | None:
    spec = review.obj.get("spec") or {}
    if review.same_spec:
        return None
    unreadable = bad_duration(spec, DURATIONS)
    if unreadable:
        return unreadable
    broken = broken_tree(spec)
    refused = (
        [broken]
        if broken
        else [finding.message for finding in findings(spec) if review.operation not in finding.warns_on]
    )
    return Denied("\n".join(refused)) if refused else None


def warnings(review: HookReview) -> list[str]:
    spec = review.obj.get("spec") or {}
    if bad_duration(spec, DURATIONS) or broken_tree(spec):
        return []
    return [finding.message for finding in findings(spec) if review.operation in finding.warns_on]


def bad_duration(spec: Raw, fields: Iterable[str]) -> Denied | None:
    """A text that no client can read as a duration would hide the whole object from them."""
    for field in fields:
        text = spec.get(field)
        if isinstance(text, str) and times.nanoseconds(text) is None:
            return Denied(
                f"spec.{field} must be a duration such as 90s or 1h30m, not {text!r}", code=400, reason="BadRequest"
            )
    return None


def broken_tree(spec: Raw) -> str:
    """What makes the tree unreadable as a whole; empty: nothing."""
    if _counts_both_ways(spec):
        return (
            f"spec.minMember ({spec['minMember']}) and spec.minSubGroup exclude each other: count pods, or count "
            "sub-groups"
        )
    groups = spec.get("subGroups") or []
    names = Counter(group["name"] for group in groups)
    doubled = sorted(name for name, times in names.items() if times > 1)
    if doubled:
        return f"sub-group names must be unique; used twice: {', '.join(doubled)}"
    parents = {group["name"]: group.get("parent") for group in groups}
    orphans = sorted(
        f"{name} (below {parent})" for name, parent in parents.items() if parent is not None and parent not in parents
    )
    if orphans:
        return f"sub-groups have a parent that does not exist: {', '.join(orphans)}"
    circular = sorted(below_themselves(parents))
    if circular:
        return f"sub-groups are below themselves: {', '.join(circular)}"
    both = sorted(group["name"] for group in groups if _counts_both_ways(group))
    return f"minMember and minSubGroup exclude each other in sub-groups {', '.join(both)}" if both else ""


def _counts_both_ways(part: Raw) -> bool:
    return part.get("minMember") is not None and part.get("minSubGroup") is not None


def findings(spec: Raw) -> list[PodGroupFinding]:
    """Everything about the minima of a sound tree, by name of sub-group, the root last."""
    groups = spec.get("subGroups") or []
    children: dict[str | None, int] = {}
    for group in groups:
        children[group.get("parent")] = children.get(group.get("parent"), 0) + 1
    group_findings = [
        group_finding
        for group in sorted(groups, key=lambda group: str(group["name"]))
        for group_finding in _group_findings(group, children.get(group["name"], 0))
    ]
    return group_findings + _root_findings(spec, children.get(None, 0))


def _root_findings(spec: Raw, children: int) -> list[PodGroupFinding]:
    asked = spec.get("minSubGroup")
    if asked is not None and asked < 1:
        return [
            PodGroupFinding(
                f"spec.minSubGroup must be at least 1, not {asked}; leave it out to require every sub-group"
            )
        ]
    return _too_many(spec, children, "spec")


def _group_findings(group: Raw, children: int) -> list[PodGroupFinding]:
    where = f"sub-group {group['name']}"
    if children:
        mixed = PodGroupFinding(
            f"{where} has sub-groups below it, so it counts them: set minSubGroup instead of minMember", ("UPDATE",)
        )
        return ([mixed] if group.get("minMember") is not None else []) + _too_many(group, children, where)
    group_findings = []
    if group.get("minSubGroup") is not None:
        group_findings.append(PodGroupFinding(f"{where} has no sub-groups below it that minSubGroup could count"))
    if group.get("minMember") is None:
        group_findings.append(PodGroupFinding(f"{where} has no minMember"))
    return group_findings


def _too_many(part: Raw, children: int, where: str) -> list[PodGroupFinding]:
    asked = part.get("minSubGroup")
    if asked is None or asked <= children:
        return []
    return [
        PodGroupFinding(
            f"{where}: minSubGroup ({asked}) is more than the {children} sub-groups below it", ("CREATE", "UPDATE")
        )
    ]

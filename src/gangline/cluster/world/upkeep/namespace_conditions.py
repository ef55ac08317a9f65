"""What a namespace that is being deleted says about what is still in it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gangline.api.meta import Condition, Raw, condition


@dataclass(frozen=True, slots=True)
class KindRemains:
    """What is left of one kind in a namespace."""

    resource: str
    finalizers: tuple[tuple[str, ...], ...]
    """The finalizers of each object that is left."""


def conditions(remains: Sequence[KindRemains], failures: Sequence[str]) -> list[tuple[str, str, str, str]]:
    """Type, status, reason and message of the five conditions of a namespace that is being deleted."""
    left = [f"{remain.resource} has {len(remain.finalizers)} resource instances" for remain in remains]
    counts: dict[str, int] = {}
    for remain in remains:
        for finalizer in (finalizer for finalizers in remain.finalizers for finalizer in finalizers):
            counts[finalizer] = counts.get(finalizer, 0) + 1
    held = [f"{finalizer} in {count} resource instances" for finalizer, count in sorted(counts.items())]
    return [
        ("NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered", "All resources successfully discovered"),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        ("NamespaceDeletionContentFailure", "True", "ContentDeletionFailed", "; ".join(failures))
        if failures
        else (
            "NamespaceDeletionContentFailure",
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        ("NamespaceContentRemaining", "True", "SomeResourcesRemain", f"Some resources are remaining: {', '.join(left)}")
        if left
        else ("NamespaceContentRemaining", "False", "ContentRemoved", "All content successfully removed"),
        (
            "NamespaceFinalizersRemaining",
            "True",
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {', '.join(held)}",
        )
        if held
        else (
            "NamespaceFinalizersRemaining",
            "False",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished",
        ),
    ]


def changed(before: Sequence[Condition], wanted: Iterable[tuple[str, str, str, str]], now: str) -> list[Raw] | None:
    """The conditions to write, or None when the namespace already says all of them."""
    written, differs = [], False
    for kind, status, reason, message in wanted:
        stored = condition(tuple(before), kind)
        differs |= stored is None or (stored.status, stored.reason, stored.message) != (status, reason, message)
        since = stored.last_transition_time if stored is not None and stored.status == status else now
        written.append(
            {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since}
        )
    return written if differs else None

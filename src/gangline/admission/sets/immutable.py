"""What of a PodCliqueSet may not change once it exists.

The set of cliques and groups, what decides their gangs, and what pods could not follow. Everything else may change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gangline.admission.sets.parts import template_of
from gangline.api import names
from gangline.api.meta import Raw
from gangline.errors import Problem

ORDERED = ("CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit")
FIXED = "cannot be changed"


def annotated(obj: Raw) -> Iterator[tuple[tuple[str, str], str, Raw]]:
    """Every part of a set that may carry annotations of ours: by which list and name it is known, wherever it stands in
    the list; its path; and its annotations."""
    template = template_of(obj)
    yield ("set", ""), "metadata.annotations", (obj.get("metadata") or {}).get("annotations") or {}
    for key in ("cliques", "podCliqueScalingGroups"):
        for index, item in enumerate(template.get(key) or ()):
            yield (
                (key, str(item.get("name") or "")),
                f"spec.template.{key}[{index}].annotations",
                item.get("annotations") or {},
            )


def problems(obj: Raw, old: Raw) -> Iterator[Problem]:
    new_template, old_template = template_of(obj), template_of(old)
    yield from _fixed_field(
        "spec.template.cliqueStartupType", new_template.get("cliqueStartupType"), old_template.get("cliqueStartupType")
    )
    for key in ("resourceClaimTemplates", "resourceSharing"):
        yield from _fixed_field(f"spec.template.{key}", new_template.get(key) or [], old_template.get(key) or [])
    yield from _cliques(new_template, old_template)
    yield from _groups(new_template, old_template)
    yield from _mnnvl(obj, old)


def _fixed_field(path: str, new: Any, old: Any) -> Iterator[Problem]:
    if new != old:
        yield Problem(path, FIXED, value=new)


def _cliques(new_template: Raw, old_template: Raw) -> Iterator[Problem]:
    new, old = new_template.get("cliques") or [], old_template.get("cliques") or []
    before = {clique.get("name"): clique for clique in old}
    path = "spec.template.cliques"
    if len(new) != len(old):
        yield Problem(path, "cliques cannot be added or removed", "FieldValueForbidden")
    for index, clique in enumerate(new):
        match = before.get(clique.get("name"))
        if match is None:
            yield Problem(
                f"{path}.name",
                f"clique {clique.get('name')!r} is new; cliques cannot be added or renamed",
                "FieldValueForbidden",
            )
        else:
            yield from _clique(index, clique, match)
    ordered = new_template.get("cliqueStartupType") in ORDERED
    moved = [
        clique.get("name") for clique, match in zip(new, old, strict=False) if clique.get("name") != match.get("name")
    ]
    if ordered and moved:
        yield Problem(
            path,
            f"the order of cliques decides their start and cannot be changed: {', '.join(map(str, moved))}",
            value=moved,
        )


def _clique(index: int, new: Raw, old: Raw) -> Iterator[Problem]:
    spec, was = new.get("spec") or {}, old.get("spec") or {}
    path = "spec.template.cliques.spec"
    yield from _fixed_field(f"{path}.roleName", spec.get("roleName", ""), was.get("roleName", ""))
    yield from _fixed_field(f"{path}.minAvailable", spec.get("minAvailable"), was.get("minAvailable"))
    yield from _fixed_field(f"{path}.startsAfter", spec.get("startsAfter") or [], was.get("startsAfter") or [])
    yield from _fixed_field(
        f"{path}.podSpec.schedulerName",
        (spec.get("podSpec") or {}).get("schedulerName", ""),
        (was.get("podSpec") or {}).get("schedulerName", ""),
    )
    yield from _fixed_field(
        f"spec.template.cliques[{index}].resourceSharing",
        new.get("resourceSharing") or [],
        old.get("resourceSharing") or [],
    )


def _groups(new_template: Raw, old_template: Raw) -> Iterator[Problem]:
    new, old = new_template.get("podCliqueScalingGroups") or [], old_template.get("podCliqueScalingGroups") or []
    before = {group.get("name"): group for group in old}
    path = "spec.template.podCliqueScalingGroups"
    if len(new) != len(old):
        yield Problem(path, "scaling groups cannot be added or removed", "FieldValueForbidden")
    for group in new:
        match = before.get(group.get("name"))
        if match is None:
            yield Problem(
                f"{path}.name",
                f"scaling group {group.get('name')!r} is new; groups cannot be added or renamed",
                "FieldValueForbidden",
            )
            continue
        yield from _fixed_field(f"{path}.cliqueNames", group.get("cliqueNames") or [], match.get("cliqueNames") or [])
        yield from _fixed_field(f"{path}.minAvailable", group.get("minAvailable"), match.get("minAvailable"))
        yield from _fixed_field(
            f"{path}.resourceSharing", group.get("resourceSharing") or [], match.get("resourceSharing") or []
        )


def _mnnvl(obj: Raw, old: Raw) -> Iterator[Problem]:
    before = {bearer: notes.get(names.MNNVL_GROUP) for bearer, _, notes in annotated(old)}
    for bearer, path, notes in annotated(obj):
        new, was = notes.get(names.MNNVL_GROUP), before.get(bearer)
        if new != was:
            yield Problem(
                f"{path}.{names.MNNVL_GROUP}", f"cannot be changed from {was!r} to {new!r}", "FieldValueForbidden", new
            )

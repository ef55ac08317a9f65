"""Topology constraints of a PodCliqueSet: that they can be kept, and that they stay as they are.

A constraint names levels of a ClusterTopologyBinding, its own or an inherited one; all of a set name the same. A
wider unit may not be packed more tightly than what it holds. Once made, constraints stay; two repairs of deprecated
forms are allowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gangline.api.kinds import TOPOLOGY_BINDING
from gangline.api.meta import Raw
from gangline.errors import Problem
from gangline.rules.sets import OperatorSettings

if TYPE_CHECKING:
    from gangline.runtime import Reader

TOP = "spec.template.topologyConstraint"
SET, GROUP, CLIQUE = "PodCliqueSet", "PodCliqueScalingGroup", "PodClique"


@dataclass(frozen=True, slots=True)
class ConstraintPlace:
    """One of the three levels at which a constraint may stand."""

    kind: str
    name: str
    path: str
    constraint: Raw | None
    above: tuple[str, ...] = ()
    """Paths of the wider units, nearest first."""

    @property
    def topology(self) -> str:
        return str((self.constraint or {}).get("topologyName") or "")

    @property
    def required(self) -> str:
        constraint = self.constraint or {}
        return str((constraint.get("pack") or {}).get("required") or constraint.get("packDomain") or "")

    @property
    def preferred(self) -> str:
        return str(((self.constraint or {}).get("pack") or {}).get("preferred") or "")


def places(obj: Raw) -> list[ConstraintPlace]:
    template = (obj.get("spec") or {}).get("template") or {}
    cliques_and_set = [
        ConstraintPlace(
            SET, str((obj.get("metadata") or {}).get("name") or ""), TOP, template.get("topologyConstraint")
        )
    ]
    owner: dict[str, str] = {}
    groups: list[ConstraintPlace] = []
    for index, group in enumerate(template.get("podCliqueScalingGroups") or ()):
        path = f"spec.template.podCliqueScalingGroups[{index}].topologyConstraint"
        groups.append(
            ConstraintPlace(GROUP, str(group.get("name") or ""), path, group.get("topologyConstraint"), (TOP,))
        )
        owner |= dict.fromkeys(group.get("cliqueNames") or (), path)
    for index, clique in enumerate(template.get("cliques") or ()):
        above = (owner[clique.get("name")], TOP) if clique.get("name") in owner else (TOP,)
        cliques_and_set.append(
            ConstraintPlace(
                CLIQUE,
                str(clique.get("name") or ""),
                f"spec.template.cliques[{index}].topologyConstraint",
                clique.get("topologyConstraint"),
                above,
            )
        )
    return cliques_and_set + groups


def created(obj: Raw, settings: OperatorSettings, read: Reader | None) -> Iterator[Problem]:
    given = [place for place in places(obj) if place.constraint is not None]
    if not settings.topology_aware:
        for place in given:
            yield Problem(
                place.path,
                "topology constraints need topology-aware scheduling, which is switched off",
                value=[place.required or place.preferred],
                hint="set topologyAwareScheduling.enabled",
            )
        return
    effective = _effective(obj)
    for place in given:
        if not effective.get(place.path):
            yield Problem(f"{place.path}.topologyName", "must be given here or further up", "FieldValueRequired")
    wanted = list(dict.fromkeys(name for name in effective.values() if name))
    if len(wanted) > 1:
        for place in (place for place in given if place.topology):
            yield Problem(
                f"{place.path}.topologyName",
                f"a set follows one ClusterTopologyBinding, not {', '.join(wanted)}",
                value=place.topology,
            )
    elif wanted and read is not None:
        yield from _binding_problems(obj, given, wanted[0], read)


def _effective(obj: Raw) -> dict[str, str]:
    """The binding of each constraint: its own, or that of the nearest unit above."""
    by_path = {place.path: place for place in places(obj)}
    return {
        place.path: next((by_path[path].topology for path in (place.path, *place.above) if by_path[path].topology), "")
        for place in by_path.values()
        if place.constraint is not None
    }


def _binding_problems(obj: Raw, given: list[ConstraintPlace], name: str, read: Reader) -> Iterator[Problem]:
    binding = read.get(TOPOLOGY_BINDING, name)
    if binding is None:
        for path in dict.fromkeys([TOP, *(place.path for place in given if place.topology == name)]):
            yield Problem(
                f"{path}.topologyName", f"ClusterTopologyBinding {name!r} does not exist", "FieldValueNotFound", name
            )
        return
    order = {level.domain: index for index, level in enumerate(binding.spec.levels)}
    for place in given:
        for half, domain in (("required", place.required), ("preferred", place.preferred)):
            if domain and domain not in order:
                tail = (
                    "packDomain"
                    if half == "required" and not ((place.constraint or {}).get("pack") or {}).get(half)
                    else f"pack.{half}"
                )
                yield Problem(
                    f"{place.path}.{tail}",
                    f"{name} has no domain {domain!r}",
                    value=domain,
                    hint=f"domains: {', '.join(order)}",
                )
    yield from _nesting(obj, order)


def _nesting(obj: Raw, order: dict[str, int]) -> Iterator[Problem]:
    """A wider unit must not be packed into a narrower domain than a unit inside it."""
    by_path = {place.path: place for place in places(obj)}
    for inner in by_path.values():
        for outer in (by_path[path] for path in inner.above):
            for half, wide, narrow in (
                ("", outer.required, inner.required),
                (".pack.preferred", outer.preferred, inner.preferred),
            ):
                if wide in order and narrow in order and order[wide] > order[narrow]:
                    yield Problem(
                        outer.path + half,
                        f"{outer.kind} {outer.name} is packed into one {wide}, which is narrower than "
                        f"the {narrow} of {inner.kind} {inner.name}",
                        value=wide,
                    )


def updated(obj: Raw, old: Raw, settings: OperatorSettings, read: Reader | None) -> Iterator[Problem]:
    before = {(place.kind, place.name): place for place in places(old)}
    nameless = not any(_effective(old).values())
    repaired = False
    for place in places(obj):
        was = before.get((place.kind, place.name)) or replace(place, constraint=None)
        if _constraint(was) == _constraint(place) or _moved_to_pack(was, place):
            continue
        if _legacy_repair(was, place, nameless):
            repaired = True
            continue
        yield from _changed(was, place)
    if repaired:
        yield from created(obj, settings, read)


def _constraint(place: ConstraintPlace) -> tuple[bool, str, str, str, str]:
    """Present, binding, required, preferred, and the deprecated form; what is empty counts as absent."""
    given = place.constraint or {}
    return (
        place.constraint is not None,
        place.topology,
        str((given.get("pack") or {}).get("required") or ""),
        place.preferred,
        str(given.get("packDomain") or ""),
    )


def _moved_to_pack(was: ConstraintPlace, now: ConstraintPlace) -> bool:
    """The deprecated packDomain became pack.required, and means the same; there is no way back."""
    meaning = (was.topology, was.required, was.preferred) == (now.topology, now.required, now.preferred)
    return meaning and bool((was.constraint or {}).get("packDomain")) and not (now.constraint or {}).get("packDomain")


def _legacy_repair(was: ConstraintPlace, now: ConstraintPlace, nameless: bool) -> bool:
    old, new = was.constraint or {}, now.constraint or {}
    return bool(
        nameless
        and old.get("packDomain")
        and not was.topology
        and now.topology
        and new.get("packDomain") == old["packDomain"]
    )


def _changed(was: ConstraintPlace, now: ConstraintPlace) -> Iterator[Problem]:
    if was.topology != now.topology and now.kind == SET:
        yield Problem(
            f"{now.path}.topologyName",
            f"cannot be changed from {was.topology!r} to {now.topology!r}",
            "FieldValueForbidden",
        )
    if now.kind != SET or _constraint(was)[:1] + _constraint(was)[2:] != _constraint(now)[:1] + _constraint(now)[2:]:
        yield Problem(
            now.path,
            f"the constraint of {now.kind} {now.name} cannot be changed, added or removed",
            "FieldValueForbidden",
            hint="make a new set",
        )


def warnings(obj: Raw, read: Reader | None = None) -> list[str]:
    """Deprecated forms, and preferences that say less than what is required anyway."""
    old = [
        f"{place.path}.packDomain is deprecated; use pack.required"
        for place in places(obj)
        if (place.constraint or {}).get("packDomain")
    ]
    effective = _effective(obj)
    texts: list[str] = []
    for place in places(obj):
        binding = (
            read.get(TOPOLOGY_BINDING, effective.get(place.path, ""))
            if read is not None and effective.get(place.path)
            else None
        )
        order = [level.domain for level in binding.spec.levels] if binding is not None else []
        if (
            place.required in order
            and place.preferred in order
            and order.index(place.preferred) < order.index(place.required)
        ):
            texts.append(
                f"{place.path}.pack.preferred: {place.preferred} is wider than the required {place.required} and has "
                "no effect"
            )
    return old + texts

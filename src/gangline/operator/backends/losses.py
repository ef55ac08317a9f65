"""What a translation would lose: guarantees, which are refused, and preferences, which are reported.

Used by every backend's `check` (at admission, from the set), `gang_objects` (in case admission was not asked) and
`gang_status`. A gang of one group has one level only: what is asked of the gang may as well be asked of the group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gangline.api.grove import GangPack, PodCliqueSet
from gangline.errors import Problem
from gangline.operator.backends.contract import GANG, GROUP, PARENT, CannotTranslate, Capabilities, PodGangInfo
from gangline.operator.backends.places import asks
from gangline.operator.desired import topology
from gangline.operator.desired.layout import groups_in_base_gang

NOTHING = GangPack()


def refusals(pcs: PodCliqueSet, name: str, can: Capabilities) -> Iterator[Problem]:
    """Guarantees that a set asks for and its backend cannot give."""
    alone = groups_in_base_gang(pcs) == 1
    for path, constraint in topology.constraints(pcs):
        domain, level = topology.required(constraint), _level(path)
        if domain and level not in can.required and not (alone and can.required):
            yield Problem(
                path,
                f"{name} cannot keep a {level} inside one {domain}",
                "FieldValueForbidden",
                domain,
                hint=f"remove the required domain, or choose a backend that can: {', '.join(able(level))}",
            )


def every_constraint(pcs: PodCliqueSet, name: str) -> Iterator[Problem]:
    """A refusal of every constraint, wish or not: as Grove's operator answers for schedulers without topology."""
    for path, _ in topology.constraints(pcs):
        yield Problem(
            "spec",
            f"{path} cannot be expressed for {name}",
            "FieldValueForbidden",
            hint="remove it, or use a backend that knows topology: kai",
        )


def able(level: str) -> list[str]:
    """The backends that can bind pods to one domain at a level."""
    from gangline.operator.backends import capability_rows

    return [name for name, can in capability_rows().items() if level in can.required]


def _level(path: str) -> str:
    if "podCliqueScalingGroups" in path:
        return PARENT
    return GROUP if ".cliques[" in path else GANG


def demand(gang: PodGangInfo, name: str, can: Capabilities) -> None:
    """Raises where a guarantee of the gang would be lost."""
    if gang.facts.manner.topology_for_kai_only:
        return
    for level, what, pack in _constraints(gang):
        if pack.required and level not in can.required:
            raise CannotTranslate(
                f"{name} cannot keep {what} inside one {pack.required}; remove that constraint, "
                f"or choose a backend that can: {', '.join(able(level))}"
            )


def lost_wishes(gang: PodGangInfo, can: Capabilities) -> tuple[str, ...]:
    """What is wished for and cannot be passed on, in words."""
    if gang.facts.manner.topology_for_kai_only:
        return ()
    constraints = [
        f"{what} would rather be in one {pack.preferred}"
        for level, what, pack in _constraints(gang)
        if pack.preferred and (level not in can.preferred or (pack.required and not can.both))
    ]
    return tuple(constraints) + _lost_places(gang, can)


def _lost_places(gang: PodGangInfo, can: Capabilities) -> tuple[str, ...]:
    pods = [pod for group in gang.groups for pod in group.pods]
    if gang.reuse is None or (can.reuse and (not pods or any(asks(pod) for pod in pods))):
        return ()
    why = " (it had no bound pods of the same groups when these pods were made)" if can.reuse else ""
    return (f"the places of {gang.reuse.name} would rather be used again{why}",)


def levelled(gang: PodGangInfo, can: Capabilities) -> PodGangInfo:
    """The gang with the constraints of a lone group moved to the level that its scheduler knows."""
    asked = [level for level, _, pack in _constraints(gang) if pack != NOTHING]
    if len(gang.groups) != 1 or not can.required or all(level in can.required for level in asked):
        return gang
    group = gang.groups[0]
    packs = [pack for pack in (group.constraint, *_packs_above(gang)) if pack is not None]
    narrowest = GangPack(
        required=next((pack.required for pack in packs if pack.required), None),
        preferred=next((pack.preferred for pack in packs if pack.preferred), None),
    )
    pack = narrowest if narrowest != NOTHING else None
    if GROUP in can.required:
        return replace(gang, constraint=None, parents=(), groups=(replace(group, constraint=pack, parent=""),))
    return replace(gang, constraint=pack, parents=(), groups=(replace(group, constraint=None, parent=""),))


def _packs_above(gang: PodGangInfo) -> list[GangPack]:
    return [pack for pack in (*(parent.constraint for parent in gang.parents), gang.constraint) if pack is not None]


def _constraints(gang: PodGangInfo) -> Iterable[tuple[str, str, GangPack]]:
    """Level, what is constrained in words, and how."""
    yield GANG, f"gang {gang.name}", gang.constraint or NOTHING
    for parent in gang.parents:
        yield PARENT, f"the groups {', '.join(parent.groups)}", parent.constraint or NOTHING
    for group in gang.groups:
        yield GROUP, f"group {group.name}", group.constraint or NOTHING

"""Which cliques a clique waits for, as full names.

Order is kept inside a gang: a clique of the base gang waits for base-gang cliques, one of a scaled gang only for
cliques of its own replica. The answer ends in PodClique.spec.startsAfter and from there in the arguments of the init
container.
"""

from __future__ import annotations

from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.operator.desired.bounds import GROUPS_IN_A_GANG
from gangline.operator.desired.layout import CliquePlace, group_containing, group_minimum, minimum, template_of

ANY_ORDER, IN_ORDER, EXPLICIT = "CliqueStartupTypeAnyOrder", "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"


def parents(pcs: PodCliqueSet, clique: str) -> tuple[str, ...]:
    """The template names a clique waits for."""
    kind = pcs.spec.template.clique_startup_type
    order = [template.name for template in pcs.spec.template.cliques]
    if kind == IN_ORDER:
        earlier = [name for name in order[: order.index(clique)] if _waited_for(pcs, name)]
        return tuple(earlier[-1:])
    template = template_of(pcs, clique)
    earlier_ones = template.spec.starts_after if kind == EXPLICIT and template is not None else ()
    return tuple(name for name in earlier_ones if _waited_for(pcs, name))


def _waited_for(pcs: PodCliqueSet, clique: str) -> bool:
    """Nobody waits for a clique that may have no pods."""
    template = template_of(pcs, clique)
    return template is None or minimum(template) > 0


def starts_after(pcs: PodCliqueSet, place: CliquePlace) -> tuple[str, ...]:
    """The full names of the cliques that a place waits for."""
    return tuple(name for parent in parents(pcs, place.template.name) for name in _resolve(pcs, place, parent))


def _resolve(pcs: PodCliqueSet, place: CliquePlace, parent: str) -> list[str]:
    group = group_containing(pcs, parent)
    if place.base_gang:
        same = place.group is not None and group is not None and group.name == place.group.name
        return [names.grouped_clique(place.group_name, place.group_replica, parent)] if same else []
    if group is None:
        return [names.standalone_clique(pcs.name, place.replica, parent)]
    group_name = names.scaling_group(pcs.name, place.replica, group.name)
    return [
        names.grouped_clique(group_name, index, parent) for index in range(min(group_minimum(group), GROUPS_IN_A_GANG))
    ]


def minimum_of(pcs: PodCliqueSet, clique_name: str, replica: int) -> int:
    """The minimum of the clique with this full name, for the init container's arguments."""
    for template in pcs.spec.template.cliques:
        group = group_containing(pcs, template.name)
        if group is None:
            matches = clique_name == names.standalone_clique(pcs.name, replica, template.name)
        else:
            prefix = f"{names.scaling_group(pcs.name, replica, group.name)}-"
            index, _, rest = clique_name.removeprefix(prefix).partition("-")
            matches = clique_name.startswith(prefix) and index.isdigit() and rest == template.name
        if matches:
            return minimum(template)
    return 1

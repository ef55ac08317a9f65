"""Checks of an explicit start order: every clique that another waits for is there, and none waits for itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gangline.admission.sets.parts import duplicates
from gangline.api.meta import Raw
from gangline.errors import Problem


def problems(cliques: list[Raw]) -> Iterator[Problem]:
    after = {clique.get("name") or "": list((clique.get("spec") or {}).get("startsAfter") or ()) for clique in cliques}
    for index, clique in enumerate(cliques):
        path, parents = f"spec.template.cliques[{index}].spec.startsAfter", after[clique.get("name") or ""]
        if any(not parent.strip() for parent in parents):
            yield Problem(path, "an entry is empty", "FieldValueRequired")
        if clique.get("name") in parents:
            yield Problem(path, f"{clique['name']} cannot wait for itself", value=clique["name"])
        yield from duplicates(path, parents)
    unknown = [parent for parents in after.values() for parent in parents if parent not in after]
    if unknown:
        yield Problem(
            "spec.template.cliques.startsAfter",
            f"no clique is called {', '.join(map(repr, unknown))}",
            value=",".join(unknown),
        )
    cycles = _cycles(after)
    if cycles:
        yield Problem(
            "spec.template.cliques",
            f"cliques wait for each other in a circle: {'; '.join(' → '.join(cycle) for cycle in cycles)}",
            value=cycles,
        )


def _cycles(after: Mapping[str, list[str]]) -> list[list[str]]:
    """Groups of cliques that wait for each other: the strongly connected ones of more than one, in the order of the
    set. Two walks over all arrows, whose number a user decides."""
    last_first = reversed(_in_order_of_leaving(after))
    waited_for: dict[str, list[str]] = {name: [] for name in after}
    for name, parents in after.items():
        for parent in parents:
            if parent in after:
                waited_for[parent].append(name)
    place = {name: number for number, name in enumerate(after)}
    seen: set[str] = set()
    circles = [sorted(_unseen_from(name, waited_for, seen), key=place.__getitem__) for name in last_first]
    return sorted((circle for circle in circles if len(circle) > 1), key=lambda circle: place[circle[0]])


def _in_order_of_leaving(after: Mapping[str, list[str]]) -> list[str]:
    """Every clique, after all that can be reached from it and was not reached before."""
    left: list[str] = []
    seen: set[str] = set()
    for start in after:
        todo = [(start, False)]
        while todo:
            name, leaves = todo.pop()
            if leaves:
                left.append(name)
            elif name not in seen and name in after:
                seen.add(name)
                todo.append((name, True))
                todo += [(parent, False) for parent in after[name]]
    return left


def _unseen_from(start: str, arrows: Mapping[str, list[str]], seen: set[str]) -> list[str]:
    """What can be reached and was not seen before, the start included."""
    reached, todo = [], [start]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            reached.append(name)
            todo += arrows[name]
    return reached

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
    """Groups of cliques that wait for each other (strongly connected, more than one)."""
    reach = {name: _reachable(name, after) for name in after}
    cycles: list[list[str]] = []
    placed: set[str] = set()
    for name in after:
        circle = [other for other in after if other in reach[name] and name in reach[other]]
        if len(circle) > 1 and name not in placed:
            cycles.append(circle)
            placed |= set(circle)
    return cycles


def _reachable(start: str, after: Mapping[str, list[str]]) -> set[str]:
    seen: set[str] = set()
    todo = list(after.get(start, ()))
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += after.get(name, ())
    return seen

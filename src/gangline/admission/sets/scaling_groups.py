"""Checks of the scaling groups of a set: names, sizes and members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gangline.admission.sets import minima
from gangline.admission.sets.parts import LONGEST, cliques_of, duplicates, grouped_cliques, template_of
from gangline.api.meta import Raw
from gangline.errors import Problem
from gangline.rules.values import text


def problems(obj: Raw, zero: bool) -> Iterator[Problem]:
    path, groups = "spec.template.podCliqueScalingGroups", template_of(obj).get("podCliqueScalingGroups") or []
    cliques = {clique.get("name"): clique for clique in cliques_of(obj)}
    set_name = str((obj.get("metadata") or {}).get("name") or "")
    for index, group in enumerate(groups):
        yield from _group(f"{path}[{index}]", group, cliques, set_name, zero)
    members = grouped_cliques(obj)
    yield from duplicates(f"{path}.name", (group.get("name") for group in groups))
    yield from duplicates(f"{path}.cliqueNames", members)
    for name in dict.fromkeys(members):
        if ((cliques.get(name) or {}).get("spec") or {}).get("autoScalingConfig") is not None:
            yield Problem(
                path,
                f"clique {name} is scaled with its group and may not have an autoScalingConfig of its own",
                value=name,
                hint="move it to the group's scaleConfig",
            )


def _group(path: str, group: Raw, cliques: Mapping[Any, Raw], set_name: str, zero: bool) -> Iterator[Problem]:
    name, members = group.get("name") or "", group.get("cliqueNames") or ()
    wrong = text.subdomain_problem(name)
    if wrong:
        yield Problem(f"{path}.name", wrong, value=name)
    unknown = [member for member in members if member not in cliques]
    if unknown:
        yield Problem(
            f"{path}.cliqueNames", f"no clique is called {', '.join(map(repr, unknown))}", value=",".join(unknown)
        )
    for index, member in enumerate(members):
        length = len(set_name) + len(name) + len(member)
        if length > LONGEST:
            for where in (f"{path}.cliqueNames[{index}].name", f"{path}.name", "metadata.name"):
                yield Problem(
                    where,
                    f"{set_name}, {name} and {member} have {length} characters together, {LONGEST} are allowed",
                    value=member,
                    hint="pod names are made of all three; shorten one",
                )
    replicas, least = group.get("replicas", 1), group.get("minAvailable", 1)
    yield from minima.size(f"{path}.replicas", replicas, zero and not least)
    yield from minima.size(f"{path}.minAvailable", least, zero)
    if least > replicas:
        yield Problem(f"{path}.minAvailable", f"must not be greater than replicas ({replicas})", value=least)
    low = (group.get("scaleConfig") or {}).get("minReplicas")
    if low is not None and low < least:
        yield Problem(f"{path}.scaleConfig.minReplicas", f"must not be less than minAvailable ({least})", value=low)

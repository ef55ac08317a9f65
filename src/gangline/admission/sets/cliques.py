"""Checks of the cliques of a set: names, sizes, labels and pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gangline.admission.sets import minima, start_order
from gangline.admission.sets.parts import EXPLICIT, LONGEST, cliques_of, duplicates, grouped_cliques, template_of
from gangline.api.meta import Raw
from gangline.errors import Problem
from gangline.rules.sets import OperatorSettings
from gangline.rules.values import text

SPREAD = "topologySpreadConstraints"


def problems(obj: Raw, creating: bool, settings: OperatorSettings) -> Iterator[Problem]:
    cliques, zero = cliques_of(obj), not settings.manner.zero_minimum_refused
    name, grouped = str((obj.get("metadata") or {}).get("name") or ""), set(grouped_cliques(obj))
    for index, clique in enumerate(cliques):
        path, spec = f"spec.template.cliques[{index}]", clique.get("spec") or {}
        yield from _clique_name(path, clique.get("name") or "", name, grouped)
        yield from _marks(f"{path}.labels", clique.get("labels") or {}, values=True)
        yield from _marks(f"{path}.annotations", clique.get("annotations") or {}, values=False)
        yield from _clique_spec(f"{path}.spec", spec, zero)
        yield from _pod_spec(f"{path}.spec.podSpec.spec", spec.get("podSpec") or {}, creating)
    yield from _same_names(cliques, settings.manner.unnamed_roles_collide)
    if template_of(obj).get("cliqueStartupType") == EXPLICIT:
        yield from start_order.problems(cliques)


def _same_names(cliques: Sequence[Raw], unnamed_collide: bool) -> Iterator[Problem]:
    """Names and roles that several cliques have; without a role is a role only where upstream says so."""
    yield from duplicates(
        "spec.template.cliques.name", (clique.get("name") for clique in cliques if clique.get("name"))
    )
    roles = [(clique.get("spec") or {}).get("roleName") or "" for clique in cliques]
    yield from duplicates("spec.template.cliques.roleName", (role for role in roles if role or unnamed_collide))


def _clique_name(path: str, clique: str, set_name: str, grouped: set[str]) -> Iterator[Problem]:
    wrong = text.subdomain_problem(clique)
    if not clique:
        yield Problem(f"{path}.name", "must be given", "FieldValueRequired")
    elif wrong:
        yield Problem(f"{path}.name", wrong, value=clique)
    length = len(set_name) + len(clique)
    if clique not in grouped and length > LONGEST:
        for where in (f"{path}.name", "metadata.name"):
            yield Problem(
                where,
                f"{set_name} and {clique} have {length} characters together, {LONGEST} are allowed",
                value=clique,
                hint="pod names are made of both; shorten one",
            )


def _marks(path: str, given: Raw, values: bool) -> Iterator[Problem]:
    for key, value in given.items():
        wrong = text.key_problem(key if values else key.lower())
        if wrong:
            yield Problem(path, f"{key!r}: {wrong}", value=key)
        if values and (wrong := text.label_value_problem(value)):
            yield Problem(path, f"{value!r}: {wrong}", value=value)


def _clique_spec(path: str, spec: Raw, zero: bool) -> Iterator[Problem]:
    replicas, least = spec.get("replicas", 0), spec.get("minAvailable")
    yield from minima.size(f"{path}.replicas", replicas, zero and not least)
    if least is None:
        yield Problem(f"{path}.minAvailable", "must be given", "FieldValueRequired")
        least = 0
    elif wrong := list(minima.size(f"{path}.minAvailable", least, zero)):
        yield from wrong
    elif least > replicas:
        yield Problem(f"{path}.minAvailable", f"must not be greater than replicas ({replicas})", value=least)
    scaling = spec.get("autoScalingConfig")
    if scaling is not None:
        yield from _scaling(f"{path}.autoScalingConfig", scaling, replicas, least)


def _scaling(path: str, scaling: Raw, replicas: int, least: int) -> Iterator[Problem]:
    low, high = scaling.get("minReplicas"), scaling.get("maxReplicas", 0)
    if low is None:
        yield Problem(f"{path}.minReplicas", "must be given", "FieldValueRequired")
        low = 0
    elif low < least:
        yield Problem(f"{path}.minReplicas", f"must not be less than minAvailable ({least})", value=low)
    if high < low:
        yield Problem(f"{path}.maxReplicas", f"must not be less than minReplicas ({low})", value=high)
    if high < replicas:
        yield Problem(f"{path}.maxReplicas", f"must not be less than replicas ({replicas})", value=high)


def _pod_spec(path: str, spec: Raw, creating: bool) -> Iterator[Problem]:
    if creating and spec.get(SPREAD) is not None:
        yield Problem(
            f"{path}.{SPREAD}",
            "must not be set: a gang is placed as a whole",
            value=spec[SPREAD],
            hint="use topologyConstraint",
        )
    if creating and spec.get("nodeName"):
        yield Problem(
            f"{path}.nodeName",
            "must not be set: a gang is placed as a whole",
            value=spec["nodeName"],
            hint="use nodeSelector",
        )
    for key in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(key) or ()):
            yield from _variables(f"{path}.{key}[{index}].env", container.get("env") or ())


def _variables(path: str, given: Iterable[Raw]) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, variable in enumerate(given):
        name = variable.get("name") or ""
        wrong = text.variable_problem(name)
        if wrong:
            yield Problem(f"{path}[{index}].name", f"{name!r}: {wrong}", value=name)
        elif name in seen:
            yield Problem(f"{path}[{index}].name", f"{name} is given twice", "FieldValueDuplicate", name)
        seen.add(name)

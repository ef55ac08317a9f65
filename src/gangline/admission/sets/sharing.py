"""Checks of the claims that replicas share: the set's own templates, and who shares which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gangline.admission.sets.parts import cliques_of, duplicates, template_of
from gangline.api.meta import Raw
from gangline.errors import Problem

SCOPES = ("AllReplicas", "PerReplica")


def template_problems(obj: Raw) -> Iterator[Problem]:
    path, templates = "spec.template.resourceClaimTemplates", template_of(obj).get("resourceClaimTemplates") or []
    for index, item in enumerate(templates):
        if not item.get("name"):
            yield Problem(f"{path}[{index}].name", "must be given", "FieldValueRequired")
        if not (((item.get("templateSpec") or {}).get("spec") or {}).get("devices") or {}).get("requests"):
            yield Problem(
                f"{path}[{index}].templateSpec.spec.devices.requests",
                "at least one device request must be given",
                "FieldValueRequired",
            )
    yield from duplicates(f"{path}.name", (template.get("name") or "" for template in templates))


def problems(obj: Raw) -> Iterator[Problem]:
    template = template_of(obj)
    internal = {item.get("name") for item in template.get("resourceClaimTemplates") or ()}
    cliques = {clique.get("name") for clique in cliques_of(obj)}
    groups = {group.get("name") for group in template.get("podCliqueScalingGroups") or ()}
    yield from _entries(
        "spec.template.resourceSharing",
        template.get("resourceSharing"),
        internal,
        {"childCliqueNames": cliques, "childScalingGroupNames": groups},
    )
    for index, clique in enumerate(cliques_of(obj)):
        yield from _entries(
            f"spec.template.cliques[{index}].resourceSharing", clique.get("resourceSharing"), internal, {}
        )
    for index, group in enumerate(template.get("podCliqueScalingGroups") or ()):
        yield from _entries(
            f"spec.template.podCliqueScalingGroups[{index}].resourceSharing",
            group.get("resourceSharing"),
            internal,
            {"childCliqueNames": set(group.get("cliqueNames") or ())},
        )


def _entries(
    path: str, entries: list[Raw] | None, internal: set[Any], known: Mapping[str, set[Any]]
) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, entry in enumerate(entries or ()):
        where, name = f"{path}[{index}]", entry.get("name") or ""
        if not name:
            yield Problem(f"{where}.name", "must be given", "FieldValueRequired")
        elif name in seen:
            yield Problem(f"{where}.name", f"{name} is shared twice", "FieldValueDuplicate", name)
        seen.add(name)
        if entry.get("namespace") and name in internal:
            yield Problem(
                f"{where}.namespace",
                f"must be empty: {name} is one of the set's own templates",
                value=entry["namespace"],
            )
        if entry.get("scope") not in SCOPES:
            yield Problem(
                f"{where}.scope", f"must be {' or '.join(SCOPES)}", "FieldValueNotSupported", entry.get("scope")
            )
        if entry.get("filter") is not None:
            yield from _filter(f"{where}.filter", entry["filter"], known)


def _filter(path: str, given: Raw, known: Mapping[str, set[Any]]) -> Iterator[Problem]:
    if not known:
        yield Problem(path, "must not be given: a clique shares among its own pods", "FieldValueForbidden")
    elif not any(given.get(key) for key in known):
        yield Problem(path, f"at least one of {', '.join(known)} must have an entry", "FieldValueRequired")
    for key, allowed in known.items():
        for index, name in enumerate(given.get(key) or ()):
            if name not in allowed:
                yield Problem(
                    f"{path}.{key}[{index}]",
                    f"{name} is not known here",
                    value=name,
                    hint=f"known: {', '.join(sorted(map(str, allowed)))}",
                )

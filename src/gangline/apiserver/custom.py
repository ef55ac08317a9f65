"""CustomResourceDefinitions as data: a stored definition becomes served resources, at once and until it goes.

The definition's own rules are those of a built-in kind; what it says about its objects is compiled by `schema/`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gangline.apiserver.core import Core
from gangline.apiserver.meta import Obj
from gangline.apiserver.resources import CUSTOM_VERBS, SUBRESOURCES, Resource
from gangline.apiserver.rules import CustomRules
from gangline.apiserver.store import DELETED, Change, ShelfKey

SHELF: ShelfKey = ("apiextensions.k8s.io", "customresourcedefinitions")


@dataclass(frozen=True, slots=True)
class CustomType:
    """One version of a definition, ready for use."""

    definition: str
    version: Obj
    scale: Obj | None
    rules: CustomRules


def served(crd: Obj) -> list[Resource]:
    """The resources a definition asks for."""
    spec = crd["spec"]
    names = spec["names"]
    found = []
    for version in spec["versions"]:
        if not version.get("served"):
            continue
        subs = version.get("subresources") or {}
        own = {name: SUBRESOURCES[name] for name in ("status", "scale") if name in subs}
        plural = names["plural"]
        found.append(Resource(
            spec["group"], version["name"], plural, names["kind"], spec["scope"] == "Namespaced", CUSTOM_VERBS,
            tuple(names.get("shortNames") or ()), tuple(names.get("categories") or ()), names.get("singular") or names["kind"].lower(),
            names.get("listKind") or names["kind"] + "List", own, _selectable(version), (spec["group"], plural),
            CustomType(crd["metadata"]["name"], version, subs.get("scale"), _rules(version, "status" in subs))))
    return found


def _rules(version: Obj, has_status: bool) -> CustomRules:
    return CustomRules((version.get("schema") or {}).get("openAPIV3Schema"), has_status)


def _selectable(version: Obj) -> dict[str, str]:
    paths = [field["jsonPath"].lstrip(".") for field in version.get("selectableFields") or []]
    return {path: path for path in paths}


class Definitions:
    """Keeps the catalogue in step with the stored definitions."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._served: dict[str, list[Resource]] = {}
        for record in core.store.shelf(SHELF).listing():
            self._serve(record.place[1], record.object())
        core.store.listeners.append(self._note)

    def _note(self, key: ShelfKey, change: Change) -> None:
        if key != SHELF:
            return
        name = change.record.place[1]
        for resource in self._served.pop(name, []):
            self._core.catalogue.discard(resource)
        if change.type != DELETED:
            self._serve(name, change.record.object())

    def _serve(self, name: str, crd: Obj) -> None:
        self._served[name] = served(crd)
        for resource in self._served[name]:
            self._core.catalogue.add(resource)


def establish(crd: Obj, now: str) -> None:
    """What the controllers of a real server write into a definition's status, written at once."""
    spec, names = crd["spec"], crd["spec"]["names"]
    names.setdefault("singular", names["kind"].lower())
    names.setdefault("listKind", names["kind"] + "List")
    spec.setdefault("conversion", {"strategy": "None"})
    stored = [version["name"] for version in spec["versions"] if version.get("storage")]
    status: dict[str, Any] = crd.setdefault("status", {})
    known = status.get("storedVersions") or []
    status["storedVersions"] = known + [name for name in stored if name not in known]
    status["acceptedNames"] = names
    if not status.get("conditions"):
        status["conditions"] = [
            {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found",
             "lastTransitionTime": now},
            {"type": "Established", "status": "True", "reason": "InitialNamesAccepted",
             "message": "the initial names have been accepted", "lastTransitionTime": now}]

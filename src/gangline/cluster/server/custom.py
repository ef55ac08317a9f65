"""CustomResourceDefinitions as data: a stored definition becomes served resources, at once and until it goes.

What the controllers of a real control plane do for definitions is done here right after the write: accept names,
establish, and on deletion take the objects away before the definition. Its own rules are those of a built-in kind; what
it says about its objects is compiled by `cluster/schema/`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from gangline.cluster.server.catalogue import CUSTOM_VERBS, SUBRESOURCES, Resource
from gangline.cluster.server.convert.conversion_plan import ConversionPlan, conversion_plan, plan_of, stored_as
from gangline.cluster.server.core import Core, whole
from gangline.cluster.server.patch.ownership import track
from gangline.cluster.server.show.discovery import version_rank
from gangline.cluster.server.store.shelf import DELETED, Record, ShelfKey, StoreChange
from gangline.cluster.server.verbs.kind_rules import CustomRules, rules_for
from gangline.cluster.server.verbs.meta import Obj
from gangline.rules.objects.finalizers import with_finalizer, without_finalizer

SHELF: ShelfKey = ("apiextensions.k8s.io", "customresourcedefinitions")
ALWAYS = 1 << 62
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"


@dataclass(frozen=True, slots=True)
class CustomType:
    """One version of a definition, ready for use."""

    definition: str
    version: Obj
    scale: Obj | None
    rules: CustomRules
    warnings: tuple[str, ...] = ()
    """The warning for clients that use this version."""
    since: int = 0
    """Objects up to this revision were stored under another schema: they are read through the present one."""
    terminating: bool = False
    stored: CustomRules | None = None
    """Of the version that is stored, where that has another schema: what it does not know is not kept."""
    plain: CustomRules | None = None
    """This version's without defaults: what is read in it was given its defaults by the version that is stored."""
    plan: ConversionPlan | None = None
    """How a webhook converts between versions. Then a view holds what this version shows, and nothing is read through
    another schema here."""

    def seen(self, obj: Obj) -> Obj:
        """A stored object as this version shows it."""
        obj.pop("apiVersion", None)
        if self.stored is None or self.plain is None:
            return self.rules.schema.admit(obj)[0]
        return self.plain.schema.admit(self.stored.schema.admit(obj)[0])[0]


def served(crd: Obj, before: Iterable[Resource] = ()) -> list[Resource]:
    """The resources a definition asks for. `before` are those it had, whose compiled schemas are kept if nothing
    changed."""
    spec, names = crd["spec"], crd["spec"]["names"]
    kept = {resource.version: resource.custom for resource in before}
    resources, plan = [], conversion_plan(crd)
    for version in spec["versions"]:
        if not version.get("served") and plan is None:
            continue
        subs = version.get("subresources") or {}
        own = {name: SUBRESOURCES[name] for name in ("status", "scale") if name in subs}
        plural = names["plural"]
        resources.append(
            Resource(
                spec["group"],
                version["name"],
                plural,
                names["kind"],
                spec["scope"] == "Namespaced",
                CUSTOM_VERBS,
                tuple(names.get("shortNames") or ()),
                tuple(names.get("categories") or ()),
                names.get("singular") or names["kind"].lower(),
                names.get("listKind") or names["kind"] + "List",
                own,
                _selectable(version),
                (spec["group"], plural),
                None,
                _custom_type(crd, version, kept.get(version["name"]), plan),
            )
        )
    if plan is not None:
        plan.versions.update({resource.version: resource for resource in resources})
    return [resource for resource in resources if resource.custom.version.get("served")]


def _custom_type(crd: Obj, version: Obj, known: CustomType | None, plan: ConversionPlan | None) -> CustomType:
    subs = version.get("subresources") or {}
    replicas = str((subs.get("scale") or {}).get("specReplicasPath") or "")
    since, rules = _known_rules(crd, version, known, "status" in subs, replicas)
    others = [item for item in crd["spec"]["versions"] if item.get("schema") != version.get("schema")]
    if plan is not None:
        since, others = 0, []
    stored = next((CustomRules(_schema_of(other), False) for other in others if other.get("storage")), None)
    return CustomType(
        crd["metadata"]["name"],
        version,
        subs.get("scale"),
        rules or CustomRules(_schema_of(version), "status" in subs, replicas),
        tuple(filter(None, [_deprecation(crd, version)])),
        ALWAYS if others else since,
        bool(crd["metadata"].get("deletionTimestamp")),
        stored,
        CustomRules(_without_defaults(_schema_of(version)), False) if stored or plan else None,
        plan,
    )


@lru_cache(maxsize=64)
def _read(body: bytes) -> Obj:
    """A stored definition, which nobody may change: servers of one process that keep the same one share it."""
    return msgspec.json.decode(body)  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def _served_first(body: bytes) -> tuple[Resource, ...]:
    """The resources of a definition that is new to a server; they are shared likewise."""
    return tuple(served(_read(body)))


def _schema_of(version: Obj) -> Any:
    return (version.get("schema") or {}).get("openAPIV3Schema")


def _known_rules(
    crd: Obj, version: Obj, known: CustomType | None, has_status: bool, replicas: str
) -> tuple[int, CustomRules | None]:
    """The revision up to which objects were stored under another schema, and the rules, if they stay as they were."""
    if known is None:
        return 0, None
    rules = known.rules
    same_subresources = (rules.has_status, rules.replicas) == (has_status, replicas)
    if same_subresources and known.version.get("schema") == version.get("schema"):
        return known.since, rules
    return int(crd["metadata"].get("resourceVersion") or 0), None


def _without_defaults(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_defaults(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    named = {name: _without_defaults(item) for name, item in (schema.get("properties") or {}).items()}
    rest = {
        key: _without_defaults(value)
        for key, value in schema.items()
        if key not in ("default", "properties", "enum", "example")
    }
    return rest | ({"properties": named} if named else {})


def _deprecation(crd: Obj, version: Obj) -> str:
    """A deprecated version names the best one to use instead."""
    if not version.get("deprecated"):
        return ""
    if version.get("deprecationWarning"):
        return str(version["deprecationWarning"])
    spec, kind = crd["spec"], crd["spec"]["names"]["kind"]
    better = [item["name"] for item in spec["versions"] if item.get("served") and not item.get("deprecated")]
    better = [name for name in better if version_rank(name) < version_rank(version["name"])]
    text = f"{spec['group']}/{version['name']} {kind} is deprecated"
    return f"{text}; use {spec['group']}/{min(better, key=version_rank)} {kind}" if better else text


def _selectable(version: Obj) -> dict[str, str]:
    paths = [field["jsonPath"].lstrip(".") for field in version.get("selectableFields") or []]
    return {path: path for path in paths}


class Definitions:
    """Keeps the catalogue in step with the stored definitions."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._served: dict[str, tuple[Resource, ...]] = {}
        self.leaving: dict[str, None] = {}
        """Definitions that are being deleted."""
        for record in core.store.shelf(SHELF).listing():
            self._serve(record)
        core.store.listeners.append(self._note)

    def _note(self, key: ShelfKey, change: StoreChange) -> None:
        if key != SHELF:
            return
        name = change.record.place[1]
        if change.type == DELETED:
            self._replace(name, ())
            self.leaving.pop(name, None)
        else:
            self._serve(change.record)

    def _serve(self, record: Record) -> None:
        name, crd = record.place[1], _read(record.body)
        if crd["metadata"].get("deletionTimestamp"):
            self.leaving[name] = None
        if _condition(crd, "Established") != "True":
            self._replace(name, ())
        elif name in self._served:
            self._replace(name, tuple(served(crd, self._served[name])))
        else:
            self._replace(name, _served_first(record.body))

    def _replace(self, name: str, resources: tuple[Resource, ...]) -> None:
        """Swap what is served without a moment in between."""
        old = self._served.pop(name, ())
        for resource in old:
            if not any(new.version == resource.version and plan_of(new) == plan_of(resource) for new in resources):
                self._core.views.forget(resource)
            if not any(new.version == resource.version for new in resources):
                self._core.catalogue.discard(resource)
                self._core.store.shelf(resource.shelf).wake()
        for resource in resources:
            self._core.catalogue.add(resource)
            if not old:
                self._core.store.shelf(resource.shelf).begin(self._core.store.revision)
        if resources:
            self._served[name] = resources

    def settle_written(self, name: str) -> None:
        """Settle the definition that was just written; one that was created has no name in its path."""
        if name:
            self.settle(name)
            return
        for record in self._core.store.shelf(SHELF).listing():
            if record.revision == self._core.store.revision:
                self.settle(record.place[1])

    def settle(self, name: str) -> None:
        """After a write: judge a definition's names and establish it."""
        definitions = self._core.catalogue.find(SHELF[0], "v1", SHELF[1])
        record = self._core.store.get(SHELF, ("", name))
        if definitions is None or record is None:
            return
        crd = whole(definitions, record)
        if not crd["metadata"].get("deletionTimestamp") and self._judge(crd):
            self._core.write(definitions, ("", name), self._accounted(definitions, whole(definitions, record), crd))

    def _accounted(self, definitions: Resource, before: Obj, crd: Obj) -> Obj:
        """With an account of who wrote the status."""
        rules = rules_for(definitions)
        reset, version = tuple(rules.reset("status")), definitions.api_version
        return track(before, crd, "kube-apiserver", rules.schema, self._core.now(), "status", version, reset)

    def _judge(self, crd: Obj) -> bool:
        """Write the verdict on a definition's names into its status; whether anything changed."""
        names, status = crd["spec"]["names"], crd.setdefault("status", {})
        before = (status.get("acceptedNames"), [dict(condition) for condition in status.get("conditions") or []])
        accepted, conflict = self._accepted(crd)
        status["acceptedNames"] = accepted
        now = self._core.now()
        if conflict is None:
            _set(status, "NamesAccepted", "True", "NoConflicts", "no conflicts found", now)
            _set(status, "Established", "True", "InitialNamesAccepted", "the initial names have been accepted", now)
        else:
            _set(status, "NamesAccepted", "False", *conflict, now)
            if _condition(crd, "Established") != "True":
                _set(status, "Established", "False", "NotAccepted", "not all names are accepted", now)
        assert names
        return before != (status["acceptedNames"], status["conditions"])

    def _accepted(self, crd: Obj) -> tuple[Obj, tuple[str, str] | None]:
        """Which of its names a definition gets, and the last conflict with its group."""
        names, taken, kinds = crd["spec"]["names"], set[str](), set[str]()
        for plural, resource in self._others(crd):
            taken |= {plural, resource.singular, *resource.short_names}
            kinds |= {resource.kind, resource.list_kind}
        accepted, conflict = dict(names), None
        for field, reason, used in (
            ("plural", "PluralConflict", taken),
            ("singular", "SingularConflict", taken),
            ("shortNames", "ShortNamesConflict", taken),
            ("kind", "KindConflict", kinds),
            ("listKind", "ListKindConflict", kinds),
        ):
            wanted = names.get(field) or []
            doubled = [item for item in (wanted if isinstance(wanted, list) else [wanted]) if item in used]
            if doubled:
                message = ", ".join(f'"{item}" is already in use' for item in doubled)
                conflict = (reason, message)
                accepted.pop(field, None)
                accepted |= {field: ""} if field in ("plural", "kind") else {}
        return accepted, conflict

    def _others(self, crd: Obj) -> Iterator[tuple[str, Resource]]:
        for resources in self._core.catalogue.group(crd["spec"]["group"]).values():
            for plural, resource in resources.items():
                if resource.custom is None or resource.custom.definition != crd["metadata"]["name"]:
                    yield plural, resource

    def mark_deleted(self, name: str) -> None:
        """What a delete does to a definition: it waits until its objects are gone."""
        definitions = self._core.catalogue.find(SHELF[0], "v1", SHELF[1])
        record = self._core.store.get(SHELF, ("", name))
        if definitions is None or record is None:
            return
        crd = whole(definitions, record)
        about = crd["metadata"]
        if about.get("deletionTimestamp"):
            return
        about["deletionTimestamp"] = self._core.now()
        about["finalizers"] = with_finalizer(about.get("finalizers"), CLEANUP)
        _set(
            crd.setdefault("status", {}),
            "Terminating",
            "True",
            "InstanceDeletionPending",
            "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
            self._core.now(),
        )
        self._core.write(definitions, ("", name), crd)

    def instances(self, name: str) -> list[tuple[Resource, tuple[str, str]]]:
        """The objects a definition still has."""
        served = next(iter(self._served.get(name, ())), None)
        if served is None:
            return []
        resource = stored_as(served)
        return [(resource, place) for place in self._core.store.shelf(resource.shelf).records]

    def finish(self, name: str) -> None:
        """The last object is gone: so may the definition."""
        definitions = self._core.catalogue.find(SHELF[0], "v1", SHELF[1])
        record = self._core.store.get(SHELF, ("", name))
        if definitions is None or record is None:
            return
        crd = whole(definitions, record)
        crd["metadata"]["finalizers"] = without_finalizer(crd["metadata"].get("finalizers"), CLEANUP)
        self.leaving.pop(name, None)
        if crd["metadata"]["finalizers"]:
            self._core.write(definitions, ("", name), crd)
        else:
            del crd["metadata"]["finalizers"]
            self._core.remove(definitions, ("", name), crd)


def _condition(crd: Obj, kind: str) -> str:
    conditions = (crd.get("status") or {}).get("conditions") or []
    return next((str(condition.get("status")) for condition in conditions if condition.get("type") == kind), "")


def _set(status: Obj, kind: str, value: str, reason: str, message: str, now: str) -> None:
    conditions = status.get("conditions") or []
    new: dict[str, Any] = {
        "type": kind,
        "status": value,
        "reason": reason,
        "message": message,
        "lastTransitionTime": now,
    }
    for index, condition in enumerate(conditions):
        if condition.get("type") == kind:
            if condition.get("status") == value:
                new["lastTransitionTime"] = condition.get("lastTransitionTime", now)
            conditions[index] = new
            break
    else:
        conditions = [*conditions, new]
    status["conditions"] = conditions

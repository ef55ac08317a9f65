"""Rules of Event in its two groups: the older one is hardly checked, the newer one asks for everything and lets almost
nothing change."""

from __future__ import annotations

from gangline.cluster.kinds.checks import Obj, Problems, immutable, qualified
from gangline.cluster.kinds.rules import KindRules
from gangline.errors import Problem
from gangline.rules.values import problems as say

_UNCHANGED = (
    ("regarding", "involvedObject"),
    ("reason", "reason"),
    ("note", "message"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
    ("reason", "reason"),
    ("type", "type"),
    ("eventTime", "eventTime"),
    ("action", "action"),
    ("related", "related"),
    ("reportingController", "reportingController"),
    ("reportingInstance", "reportingInstance"),
)
_UNSET = (
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
    ("deprecatedSource", "source"),
)


class EventRules(KindRules):
    """core/v1 Event: one that says when it happened is held to the rules of the newer form."""

    create_on_update = True

    def validate(self, obj: Obj) -> list[Problem]:
        namespace, about = (
            obj["metadata"].get("namespace") or "",
            (obj.get("involvedObject") or {}).get("namespace") or "",
        )
        problems: list[Problem] = []
        if about != namespace and not (not about and namespace in ("default", "kube-system")):
            problems.append(say.invalid("involvedObject.namespace", about, "does not match event.namespace"))
        if obj.get("eventTime") is not None:
            problems += _reporter(obj, "reportingComponent", obj.get("message") or "")
        return problems

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        return self.validate(new)


class NewEventRules(KindRules):
    """events.k8s.io/v1 Event."""

    create_on_update = True

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_cluster_scoped(obj), *self._reporter(obj), *_series(obj), *_new(obj)]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        problems = [*_cluster_scoped(new), *self._reporter(new)]
        for name, path in _UNCHANGED:
            problems += immutable(new.get(name), old.get(name), path)
        return [*problems, *_series(new)]

    def _reporter(self, obj: Obj) -> Problems:
        """One that does not say when it happened is not asked who tells of it."""
        if obj.get("eventTime") is not None:
            yield from _reporter(obj, "reportingController", obj.get("note") or "")


def _cluster_scoped(obj: Obj) -> Problems:
    """Events of what has no namespace are kept in one of two."""
    about = (obj.get("regarding") or {}).get("namespace") or ""
    if not about and obj["metadata"].get("namespace") not in ("", "default", "kube-system"):
        yield say.invalid("involvedObject.namespace", about, "does not match event.namespace")


def _reporter(obj: Obj, controller: str, message: str) -> Problems:
    name = obj.get(controller) or ""
    if not name:
        yield say.required(controller)
    yield from qualified(name, controller)
    for field in ("reportingInstance", "action", "reason"):
        value = obj.get(field) or ""
        if not value:
            yield say.required(field)
        if len(value) > 128:
            yield say.invalid(field, "", "can have at most 128 characters")
    if len(message) > 1024:
        yield say.invalid("message", "", "can have at most 1024 characters")


def _series(obj: Obj) -> Problems:
    series = obj.get("series")
    if series is None:
        return
    if series.get("count", 0) < 2:
        yield say.invalid("series.count", "", "should be at least 2")
    if series.get("lastObservedTime") is None:
        yield say.required("series.lastObservedTime")


def _new(obj: Obj) -> Problems:
    if obj.get("eventTime") is None:
        yield say.required("eventTime")
    if obj.get("type") not in ("Normal", "Warning"):
        yield say.invalid("type", "", f"has invalid value: {obj.get('type') or ''}")
    for name, path in _UNSET:
        if obj.get(name):
            yield say.invalid(path, "", "needs to be unset")

"""How objects of a resource are read, prepared and checked: the seam between the verbs and the kinds' own rules.

Built-in kinds bring theirs from `builtin/`, custom resources get `CustomRules` over their compiled schema; the few
built-in kinds that nobody here acts on (certificate requests, flow schemas) are kept as they are sent. Verbs call only
what both have."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property, lru_cache
from typing import Any

import msgspec

from gangline.cluster import kinds
from gangline.cluster.kinds import KindRules
from gangline.cluster.schema import NOWHERE, Schema, compile_schema
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.wire.codec import encode
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.names import subdomain_problems
from gangline.rules.values.problems import go_text, go_type

Obj = dict[str, Any]
ORPHANING = {("batch", "jobs"), ("", "replicationcontrollers")}
"""Whose dependents stay behind when a delete names no policy."""
RETURNING = {
    ("", plural)
    for plural in (
        "pods",
        "persistentvolumes",
        "persistentvolumeclaims",
        "podtemplates",
        "resourcequotas",
        "services",
        "serviceaccounts",
    )
} | {("storage.k8s.io", plural) for plural in ("storageclasses", "volumeattachments", "csinodes", "csidrivers")}
"""Whose delete answers with the object that went, not with a Status."""
_QUESTIONS: dict[tuple[str, str], str] = {
    **dict.fromkeys(
        [("", plural) for plural in ("services", "resourcequotas", "podtemplates", "replicationcontrollers")], "U"
    ),
    **dict.fromkeys([("apps", plural) for plural in ("deployments", "replicasets", "statefulsets", "daemonsets")], "U"),
    **dict.fromkeys(
        [("batch", "cronjobs"), ("autoscaling", "horizontalpodautoscalers"), ("storage.k8s.io", "csidrivers")], "U"
    ),
    **dict.fromkeys(
        [
            ("scheduling.k8s.io", "priorityclasses"),
            ("scheduling.k8s.io", "workloads"),
            ("node.k8s.io", "runtimeclasses"),
            ("resource.k8s.io", "resourceslices"),
        ],
        "U",
    ),
    **dict.fromkeys([("", "limitranges"), ("discovery.k8s.io", "endpointslices")], "C"),
    **dict.fromkeys([("", "events"), ("policy", "poddisruptionbudgets")], ""),
    **dict.fromkeys([("coordination.k8s.io", "leases"), ("apiextensions.k8s.io", "customresourcedefinitions")], "u"),
    **dict.fromkeys(
        [
            ("admissionregistration.k8s.io", plural)
            for plural in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
        ],
        "c",
    ),
}


def metadata_questions(resource: Resource) -> str:
    """How a kind asks about metadata (see `meta.check_update`)."""
    return "u" if resource.custom else _QUESTIONS.get(resource.shelf, "UC")


_ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


@lru_cache(maxsize=256)
def _compiled(openapi: bytes) -> Schema:
    """The same definition on several servers of one process is compiled once."""
    return compile_schema(msgspec.json.decode(openapi))


class CustomRules:
    """The rules of one version of a custom resource."""

    generation = True
    create_on_update = False
    unconditional_update = False

    def __init__(self, openapi: Obj | None, has_status: bool, replicas: str = "") -> None:
        self.has_status = has_status
        self.replicas = replicas
        """The path of the number that the scale subresource shows; empty without one."""
        self._openapi = openapi

    @cached_property
    def schema(self) -> Schema:
        return _compiled(encode(self._openapi or _ANYTHING))

    def defaults(self, obj: Obj) -> None:
        """The schema has filled them in when the object was admitted."""

    def prepare_create(self, obj: Obj) -> None:
        if self.has_status:
            obj.pop("status", None)
        obj["metadata"]["generation"] = 1

    def prepare_update(self, new: Obj, old: Obj, subresource: str = "") -> None:
        if subresource == "status":
            self._only_status(new, old)
        elif self.has_status:
            _keep(new, old, "status")
        if subresource != "status" and self._content(new) != self._content(old):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    @staticmethod
    def _only_status(new: Obj, old: Obj) -> None:
        accounts = new["metadata"].get("managedFields")
        for name in [name for name in new if name not in ("status", "apiVersion", "kind")]:
            del new[name]
        new.update({name: value for name, value in old.items() if name != "status"})
        new["metadata"] = {**old["metadata"], **({"managedFields": accounts} if accounts else {})}

    def _content(self, obj: Obj) -> Obj:
        ignored = ("metadata", "status") if self.has_status else ("metadata",)
        return {name: value for name, value in obj.items() if name not in ignored}

    def validate(self, obj: Obj, known: Sequence[Problem] = ()) -> list[Problem]:
        return self._with_scale(self.schema.validate(obj, known=known), obj)

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        status = subresource == "status"
        problems = self.schema.validate(new, old, status=status)
        return problems if status else self._with_scale(problems, new)

    def _with_scale(self, problems: list[Problem], obj: Obj) -> list[Problem]:
        """And what is wrong with the number that a Scale would show; that rules were not evaluated is told last."""
        last = problems[-1:] if problems and problems[-1].path == NOWHERE else []
        return [*problems[: len(problems) - len(last)], *self._scale_problems(obj), *last]

    def _scale_problems(self, obj: Obj) -> list[Problem]:
        value: Any = obj
        names = [name for name in self.replicas.split(".") if name]
        for name in names:
            if not isinstance(value, dict):
                return [self._unreadable(value, "map[string]interface{}")]
            if name not in value:
                return []
            value = value[name]
        if not names:
            return []
        if type(value) is not int:
            return [self._unreadable(value, "int64")]
        if 0 <= value < 2**31:
            return []
        wrong = "should be a non-negative integer" if value < 0 else f"should be less than or equal to {2**31 - 1}"
        return [say.invalid(self.replicas, value, wrong)]

    def _unreadable(self, value: Any, wanted: str) -> Problem:
        what = f"{go_text(value)} is of the type {go_type(value)}, expected {wanted}"
        return say.invalid(self.replicas, 0, f".{self.replicas.strip('.')} accessor error: {what}")

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        return []

    def name_problems(self, name: str) -> list[str]:
        return subdomain_problems(name)

    def reset(self, subresource: str = "") -> Sequence[tuple[str, ...]]:
        if not self.has_status:
            return ()
        return (("status",),) if not subresource else (("spec",), ("metadata",))


class SigningRequestRules(CustomRules):
    """Of a CertificateSigningRequest: what was asked for stays, and each endpoint writes its own part of the status."""

    def __init__(self) -> None:
        super().__init__(None, has_status=True)

    def prepare_update(self, new: Obj, old: Obj, subresource: str = "") -> None:
        status, had = _status(new), _status(old)
        for name in ("spec", "status"):
            _keep(new, old, name)
        if subresource == "approval":
            new["status"] = {**had, "conditions": _conditions(status)}
        elif subresource == "status":
            judged = [condition for condition in _conditions(had) if _is_judgement(condition)]
            new["status"] = {
                **status,
                "conditions": judged + [condition for condition in _conditions(status) if not _is_judgement(condition)],
            }


def _status(obj: Obj) -> Obj:
    status = obj.get("status")
    return status if isinstance(status, dict) else {}


def _conditions(status: Obj) -> list[Any]:
    conditions = status.get("conditions")
    return conditions if isinstance(conditions, list) else []


def _is_judgement(condition: Any) -> bool:
    return isinstance(condition, dict) and condition.get("type") in ("Approved", "Denied")


def _keep(new: Obj, old: Obj, name: str) -> None:
    if name in old:
        new[name] = old[name]
    else:
        new.pop(name, None)


Rules = KindRules | CustomRules


def rules_for(resource: Resource) -> Rules:
    if resource.custom:
        rules: CustomRules = resource.custom.rules
        return rules
    return _builtin(resource.group, resource.version, resource.kind, "status" in resource.subresources)


@cache
def _builtin(group: str, version: str, kind: str, has_status: bool) -> Rules:
    try:
        return kinds.rules(group, version, kind)
    except LookupError:
        return SigningRequestRules() if kind == "CertificateSigningRequest" else CustomRules(None, has_status)

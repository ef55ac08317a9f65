"""No privilege escalation: a user who writes a role or a binding must hold every right it grants.

Exempt are the administrators' group, holders of `escalate` on roles, and holders of `bind` on the role that is bound.
A role that aggregates others can come to grant anything, so it takes everything on everything. A write that only
serves the collection of garbage is never judged; one that only moves a label is, for labels decide what is aggregated.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gangline.cluster.server.access.coverage import HeldRules, TooManySteps
from gangline.cluster.server.access.rbac import EVERYTHING, GROUP, MASTERS, Action, Authorizer
from gangline.cluster.server.admit.chain import CREATE, UPDATE, WriteReview
from gangline.cluster.server.core import Core
from gangline.cluster.server.status import forbidden, not_found
from gangline.errors import Problem

Obj = dict[str, Any]
_UNJUDGED = {"ownerReferences", "finalizers", "managedFields", "resourceVersion", "generation"}
"""Metadata that grants nobody anything."""


class Escalation:
    def __init__(self, core: Core, authorizer: Authorizer) -> None:
        self._core = core
        self._authorizer = authorizer
        for plural in ("roles", "clusterroles"):
            core.admission.add(GROUP, plural, (CREATE, UPDATE), validate=self.role, name="Escalation")
        for plural in ("rolebindings", "clusterrolebindings"):
            core.admission.add(GROUP, plural, (CREATE, UPDATE), validate=self.binding, name="Escalation")

    def role(self, review: WriteReview) -> Iterable[Problem]:
        if MASTERS in review.user.groups or not _says_something_new(review):
            return ()
        named = review.name if review.operation == UPDATE else ""
        if self._may(review, "escalate", review.resource.plural, named):
            return ()
        new, old = review.object or {}, review.old or {}
        if new.get("aggregationRule") or old.get("aggregationRule"):
            self._check(review, EVERYTHING, "must have cluster-admin privileges to use an aggregationRule: ")
        self._check(review, new.get("rules") or [])
        return ()

    def binding(self, review: WriteReview) -> Iterable[Problem]:
        if MASTERS in review.user.groups or not _says_something_new(review):
            return ()
        ref = (review.object or {}).get("roleRef") or {}
        name, plural = ref.get("name") or "", "roles" if ref.get("kind") == "Role" else "clusterroles"
        if not self._may(review, "bind", plural, name):
            record = self._core.store.get((GROUP, plural), (review.namespace if plural == "roles" else "", name))
            if record is None:
                raise not_found(GROUP, review.resource.plural, name)
            self._check(review, self._authorizer.resolved(record.object()))
        return ()

    def _may(self, review: WriteReview, verb: str, plural: str, name: str) -> bool:
        return self._authorizer.decide(review.user, Action(verb, GROUP, plural, "", review.namespace, name)).allowed

    def _check(self, review: WriteReview, wanted: list[Obj], why: str = "") -> None:
        held = HeldRules(self._authorizer.rules(review.user, review.namespace))
        try:
            missing = [rule for rule in wanted if not held.cover(rule)]
        except TooManySteps:
            raise forbidden(GROUP, review.resource.plural, review.name, _TOO_MUCH) from None
        if missing:
            groups = "[" + " ".join(f'"{group}"' for group in review.user.groups) + "]"
            shown = "\n".join(sorted(_shown(rule) for rule in missing))
            raise forbidden(
                GROUP,
                review.resource.plural,
                review.name,
                f'{why}user "{review.user.name}" (groups={groups}) '
                f"is attempting to grant RBAC permissions not currently held:\n{shown}",
            )


def _says_something_new(review: WriteReview) -> bool:
    return review.operation == CREATE or _judged(review.object or {}) != _judged(review.old or {})


def _judged(obj: Obj) -> Obj:
    about = {key: value for key, value in (obj.get("metadata") or {}).items() if key not in _UNJUDGED and value}
    return {**{key: value for key, value in obj.items() if value}, "metadata": about}


_TOO_MUCH = (
    "the rules are too many and too different from those you hold to be compared with them; "
    "split them into several roles, or let somebody write them who may escalate"
)
_FIELDS = {
    "apiGroups": "APIGroups",
    "resources": "Resources",
    "resourceNames": "ResourceNames",
    "nonResourceURLs": "NonResourceURLs",
    "verbs": "Verbs",
}


def _shown(rule: Obj) -> str:
    parts = [
        f"{title}:[" + " ".join(f'"{item}"' for item in rule[name]) + "]"
        for name, title in _FIELDS.items()
        if rule.get(name)
    ]
    return "{" + ", ".join(parts) + "}"

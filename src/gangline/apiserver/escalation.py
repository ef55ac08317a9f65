"""Nobody gives away more than he has: whoever writes a role or a binding must hold every right it grants.

Exempt are the administrators' group, holders of `escalate` on roles, and holders of `bind` on the role that is bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gangline.apiserver.admission import CREATE, UPDATE, Review
from gangline.apiserver.core import Core
from gangline.apiserver.rbac import GROUP, MASTERS, Action, Authorizer, covers
from gangline.apiserver.status import forbidden, not_found
from gangline.errors import Problem

Obj = dict[str, Any]


class Escalation:
    def __init__(self, core: Core, authorizer: Authorizer) -> None:
        self._core = core
        self._authorizer = authorizer
        for plural in ("roles", "clusterroles"):
            core.admission.add(GROUP, plural, (CREATE, UPDATE), validate=self.role, name="Escalation")
        for plural in ("rolebindings", "clusterrolebindings"):
            core.admission.add(GROUP, plural, (CREATE, UPDATE), validate=self.binding, name="Escalation")

    def role(self, review: Review) -> Iterable[Problem]:
        new, old = review.object or {}, review.old or {}
        if review.operation == CREATE or new.get("rules") != old.get("rules") or new.get("aggregationRule") != old.get("aggregationRule"):
            self._check(review, "escalate", review.resource.plural, review.name, new.get("rules") or [])
        return ()

    def binding(self, review: Review) -> Iterable[Problem]:
        new, old = review.object or {}, review.old or {}
        if review.operation == UPDATE and new.get("subjects") == old.get("subjects"):
            return ()
        ref = new.get("roleRef") or {}
        plural = "roles" if ref.get("kind") == "Role" else "clusterroles"
        record = self._core.store.get((GROUP, plural), (review.namespace if plural == "roles" else "", ref.get("name", "")))
        if MASTERS not in review.user.groups and not self._may(review, "bind", plural, ref.get("name", "")):
            if record is None:
                raise not_found(GROUP, review.resource.plural, ref.get("name") or "")
            self._check(review, "", plural, "", self._authorizer.resolved(record.object()))
        return ()

    def _may(self, review: Review, verb: str, plural: str, name: str) -> bool:
        action = Action(verb, GROUP, plural, "", review.namespace, name)
        return bool(verb) and self._authorizer.decide(review.user, action).allowed

    def _check(self, review: Review, verb: str, plural: str, name: str, wanted: list[Obj]) -> None:
        if MASTERS in review.user.groups or self._may(review, verb, plural, name):
            return
        held = self._authorizer.rules(review.user, review.namespace)
        missing = [rule for rule in wanted if not all(any(covers(own, right) for own in held) for right in rights(rule))]
        if missing:
            groups = "[" + " ".join(f'"{group}"' for group in review.user.groups) + "]"
            told = "\n".join(sorted(_shown(rule) for rule in missing))
            raise self._refuse(review, f'user "{review.user.name}" (groups={groups}) is attempting to grant RBAC permissions not '
                               f"currently held:\n{told}")

    @staticmethod
    def _refuse(review: Review, why: str) -> Exception:
        return forbidden(GROUP, review.resource.plural, review.name, why)


def rights(rule: Obj) -> Iterator[Action]:
    """Every single thing a rule allows; a star is a thing of its own, which only a star covers."""
    for verb in rule.get("verbs") or []:
        for path in rule.get("nonResourceURLs") or []:
            yield Action(verb, path=path)
        for group in rule.get("apiGroups") or []:
            for resource in rule.get("resources") or []:
                plural, _, sub = resource.partition("/")
                for name in rule.get("resourceNames") or [""]:
                    yield Action(verb, group, plural, sub, "", name)


_FIELDS = {"apiGroups": "APIGroups", "resources": "Resources", "resourceNames": "ResourceNames", "nonResourceURLs": "NonResourceURLs",
           "verbs": "Verbs"}


def _shown(rule: Obj) -> str:
    parts = [f"{title}:[" + " ".join(f'"{each}"' for each in rule[name]) + "]" for name, title in _FIELDS.items() if rule.get(name)]
    return "{" + ", ".join(parts) + "}"

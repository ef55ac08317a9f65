"""Who may do what: RBAC over the stored roles and bindings.

`Authorizer` keeps roles and bindings decoded, refreshed by the store's changes. `system:masters` may do everything,
before any lookup. The roles that every cluster starts with are in
bootstrap_roles.py; who may write roles and bindings is escalation.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from gangline.client.wire import User
from gangline.cluster.server.selectors import selector_test
from gangline.cluster.server.store.shelf import DELETED, ShelfKey, StoreChange
from gangline.cluster.server.store.store import Store

GROUP = "rbac.authorization.k8s.io"
MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
ANONYMOUS = User("system:anonymous", (UNAUTHENTICATED,))
Obj = dict[str, Any]
EVERYTHING: list[Obj] = [
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
    {"nonResourceURLs": ["*"], "verbs": ["*"]},
]


class Action(msgspec.Struct, frozen=True, gc=False):
    """What somebody wants to do; `path` only for what is not a resource."""

    verb: str
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""
    any_name: bool = False
    """To objects of whatever name: a rule that names some does not cover it, not even one that names the empty name."""


@dataclass(frozen=True, slots=True)
class AccessVerdict:
    allowed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _BoundRoles:
    """The rules of each role that somebody is bound to, with the words for why; and which of the roles are missing."""

    rules: list[tuple[list[Obj], str]]
    missing: list[str]
    by_resource: dict[tuple[str, str], list[tuple[Obj, str]]] = field(default_factory=dict)
    """Rules that may cover a resource of a group, in their order: few of many."""

    def about(self, action: Action) -> list[tuple[Obj, str]]:
        """The rules that name the action's group and resource, or all of either."""
        key = action.group, action.resource
        known = self.by_resource.get(key) if not action.path else None
        if known is None:
            known = [(rule, why) for rules, why in self.rules for rule in rules if action.path or _names(rule, action)]
            short = len(action.group) + len(action.resource) <= LONGEST_KEPT
            if not action.path and short and len(self.by_resource) < MOST_KEPT:
                self.by_resource[key] = known
        return known


_ANYTHING = AccessVerdict(True)
MOST_KEPT = 1_000
LONGEST_KEPT = 2_000
"""Letters of a question whose answer is kept: a review may ask about a name of a megabyte, and ten thousand others."""


class Authorizer:
    def __init__(self, store: Store) -> None:
        self._objects: dict[str, dict[tuple[str, str], Obj]] = {
            plural: {} for plural in ("roles", "rolebindings", "clusterroles", "clusterrolebindings")
        }
        self._cache: dict[tuple[str, tuple[str, ...], Action], AccessVerdict] = {}
        self._everywhere: dict[tuple[str, tuple[str, ...], str, str, str, str], bool] = {}
        self._cluster_wide: dict[tuple[str, tuple[str, ...]], _BoundRoles] = {}
        for plural, kept in self._objects.items():
            for place, record in store.shelf((GROUP, plural)).records.items():
                kept[place] = record.object()
        store.listeners.append(self._note)

    def _note(self, key: ShelfKey, change: StoreChange) -> None:
        if key[0] != GROUP:
            return
        self._cache.clear()
        self._everywhere.clear()
        self._cluster_wide.clear()
        kept = self._objects[key[1]]
        if change.type == DELETED:
            kept.pop(change.record.place, None)
        else:
            kept[change.record.place] = change.record.object()

    def allows_everywhere(self, user: User, action: Action) -> bool:
        """Whether a user may do this in every namespace and to objects of any name: most of what components ask, and
        soon told."""
        key = (user.name, user.groups, action.verb, action.group, action.resource, action.subresource)
        allowed = self._everywhere.get(key)
        if allowed is None:
            if len(self._everywhere) > 10_000:
                self._everywhere.clear()
            asked = msgspec.structs.replace(action, namespace="", name="", any_name=True)
            allowed = self._everywhere[key] = self.decide(user, asked).allowed
        return allowed

    def decide(self, user: User, action: Action) -> AccessVerdict:
        if MASTERS in user.groups:
            return _ANYTHING
        key = (user.name, user.groups, action)
        verdict = self._cache.get(key)
        if verdict is None:
            verdict = self._decide(user, action)
            if len(self._cache) > 10_000:
                self._cache.clear()
            if _length(user, action) <= LONGEST_KEPT:
                self._cache[key] = verdict
        return verdict

    def _decide(self, user: User, action: Action) -> AccessVerdict:
        everywhere = self._rules_everywhere(user)
        for rule, reason in everywhere.about(action):
            if covers(rule, action):
                return AccessVerdict(True, reason)
        missing = [*everywhere.missing]
        for rules, reason in self._rules_here(user, action.namespace, missing):
            if any(covers(rule, action) for rule in rules):
                return AccessVerdict(True, reason)
        return AccessVerdict(False, "RBAC: " + _several(missing) if missing else "")

    def rules(self, user: User, namespace: str) -> list[Obj]:
        """Every rule that holds for a user in a namespace."""
        return self.known_rules(user, namespace)[0]

    def known_rules(self, user: User, namespace: str) -> tuple[list[Obj], str]:
        """Every rule that holds for a user in a namespace, and which roles he is bound to are missing (empty: none)."""
        missing: list[str] = []
        rules_of_user = [rule for rules, _ in self._rules(user, namespace, missing) for rule in rules]
        return rules_of_user, _several(missing) if missing else ""

    def _rules(self, user: User, namespace: str, missing: list[str]) -> Iterator[tuple[list[Obj], str]]:
        everywhere = self._rules_everywhere(user)
        missing += everywhere.missing
        yield from everywhere.rules
        yield from self._rules_here(user, namespace, missing)

    def _rules_here(self, user: User, namespace: str, missing: list[str]) -> Iterator[tuple[list[Obj], str]]:
        """What role bindings of a namespace give a user."""
        if namespace:
            for (where, name), binding in self._objects["rolebindings"].items():
                if where == namespace:
                    yield from self._bound(binding, f'RoleBinding "{name}/{where}"', where, user, missing)

    def _rules_everywhere(self, user: User) -> _BoundRoles:
        """What cluster role bindings give a user: the same for everything that he asks."""
        key = (user.name, user.groups)
        known = self._cluster_wide.get(key)
        if known is None:
            missing: list[str] = []
            rules = [
                given
                for (_, name), binding in self._objects["clusterrolebindings"].items()
                for given in self._bound(binding, f'ClusterRoleBinding "{name}"', "", user, missing)
            ]
            known = _BoundRoles(rules, missing)
            if len(self._cluster_wide) > 1_000:
                self._cluster_wide.clear()
            if _length(user, Action("")) <= LONGEST_KEPT:
                self._cluster_wide[key] = known
        return known

    def _bound(
        self, binding: Obj, binding_text: str, namespace: str, user: User, missing: list[str]
    ) -> Iterator[tuple[list[Obj], str]]:
        subject = next(
            (subject for subject in binding.get("subjects") or [] if matches(subject, user, namespace)), None
        )
        if subject is None:
            return
        ref = binding["roleRef"]
        role = (
            self._objects["roles"].get((namespace, ref["name"]))
            if ref["kind"] == "Role"
            else (self._objects["clusterroles"].get(("", ref["name"])))
        )
        if role is None:
            missing.append(f'{ref["kind"].lower()}.{GROUP} "{ref["name"]}" not found')
            return
        yield (
            self.resolved(role),
            f'RBAC: allowed by {binding_text} of {ref["kind"]} "{ref["name"]}" to {_subject_text(subject)}',
        )

    def resolved(self, role: Obj) -> list[Obj]:
        """A role's rules; of one that aggregates, those of the cluster roles it selects, and of those they select, each
        once."""
        rules: list[Obj] = []
        seen, waiting = {role["metadata"]["name"]}, [role]
        while waiting:
            role = waiting.pop()
            selectors = (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or []
            if not selectors:
                rules += role.get("rules") or []
                continue
            chosen = self._selected(selectors, seen)
            seen |= chosen.keys()
            waiting += reversed(chosen.values())
        return rules

    def _selected(self, selectors: list[Obj], besides: set[str]) -> dict[str, Obj]:
        """The cluster roles that one of the selectors means, by name, without those that are known."""
        tests = [selector_test(selector) for selector in selectors]
        return {
            name: role
            for (_, name), role in self._objects["clusterroles"].items()
            if name not in besides and any(test(role["metadata"].get("labels") or {}) for test in tests)
        }


def _length(user: User, action: Action) -> int:
    asked = (action.verb, action.group, action.resource, action.subresource, action.namespace, action.name, action.path)
    return len(user.name) + sum(map(len, user.groups)) + sum(map(len, asked))


def _several(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"


def _subject_text(subject: Obj) -> str:
    if subject["kind"] == "ServiceAccount":
        return f'ServiceAccount "{subject["name"]}/{subject.get("namespace", "")}"'
    return f'{subject["kind"]} "{subject["name"]}"'


def matches(subject: Mapping[str, Any], user: User, namespace: str) -> bool:
    kind, name = subject.get("kind"), subject.get("name")
    if kind == "User":
        return bool(name == user.name)
    if kind == "Group":
        return name in user.groups
    if kind == "ServiceAccount":
        return bool(user.name == f"system:serviceaccount:{subject.get('namespace') or namespace}:{name}")
    return False


def covers(rule: Mapping[str, Any], action: Action) -> bool:
    if not _listed(rule.get("verbs"), action.verb):
        return False
    if action.path:
        return any(path_covers(pattern, action.path) for pattern in rule.get("nonResourceURLs") or [])
    if not _listed(rule.get("apiGroups"), action.group):
        return False
    wanted = f"{action.resource}/{action.subresource}" if action.subresource else action.resource
    resources = rule.get("resources") or []
    fits = "*" in resources or wanted in resources or (action.subresource and f"*/{action.subresource}" in resources)
    names = rule.get("resourceNames") or []
    return bool(fits and (not names or (action.name in names and not action.any_name)))


def _names(rule: Mapping[str, Any], action: Action) -> bool:
    """Whether a rule may be about the action's resource, whatever its verb, subresource or name."""
    return _listed(rule.get("apiGroups"), action.group) and any(
        resource == "*" or resource.startswith("*/") or resource.partition("/")[0] == action.resource
        for resource in rule.get("resources") or ()
    )


def _listed(allowed: list[str] | None, wanted: str) -> bool:
    return bool(allowed) and ("*" in allowed or wanted in allowed)  # type: ignore[operator]


def path_covers(pattern: str, path: str) -> bool:
    return pattern in ("*", path) or (pattern.endswith("*") and path.startswith(pattern[:-1]))


def forbidden_text(user: User, action: Action) -> str:
    """Why not, in the words kubectl prints."""
    if action.path:
        return f'User "{user.name}" cannot {action.verb} path "{action.path}"'
    resource = f"{action.resource}/{action.subresource}" if action.subresource else action.resource
    where = f'in the namespace "{action.namespace}"' if action.namespace else "at the cluster scope"
    return f'User "{user.name}" cannot {action.verb} resource "{resource}" in API group "{action.group}" {where}'

"""How the hooks are registered with a real cluster: the two webhook configurations that stand for a list of hooks, and
the path of each hook.

Paths are formed as upstream's are, so that a registration made by upstream's installer finds us too. Webhooks match
only what their hook matches: kind, namespace, and conditions on the object. An object that is being deleted is not
asked about at all, so that it can go even while nobody answers. Pure."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gangline.api.kinds import KINDS, MUTATING_WEBHOOK, VALIDATING_WEBHOOK
from gangline.api.meta import Raw
from gangline.rules.hooks import Hook

MUTATE, VALIDATE = "mutate", "validate"
NAME = "gangline-admission"
NAMESPACE_LABEL = "kubernetes.io/metadata.name"
SECONDS = 10
STAYS = "request.operation != 'UPDATE' || !has(object.metadata.deletionTimestamp)"
"""What `Review.leaving` denies, in CEL."""


@dataclass(frozen=True, slots=True)
class WebhookAddress:
    """Where the cluster finds us: a service, or (outside the cluster) a URL."""

    service: str = ""
    namespace: str = ""
    port: int = 443
    url: str = ""

    def client_config(self, path: str, authority: bytes) -> Raw:
        bundle = {"caBundle": base64.b64encode(authority).decode()}
        if self.url:
            return {"url": f"{self.url}{path}"} | bundle
        return {
            "service": {"name": self.service, "namespace": self.namespace, "port": self.port, "path": path}
        } | bundle

    @property
    def hosts(self) -> tuple[str, ...]:
        if self.url:
            return (self.url.partition("//")[2].partition("/")[0].rpartition(":")[0] or self.url.partition("//")[2],)
        return (f"{self.service}.{self.namespace}.svc", self.service)


def path_of(verb: str, hook: Hook) -> str:
    """`/validate-scheduling-run-ai-v2-queue`: verb, group, version and kind."""
    kind = next((item for item in KINDS if (item.group, item.plural) == (hook.group, hook.plural)), None)
    version = kind.version if kind else next(iter(hook.versions))
    name = kind.kind.lower() if kind else hook.plural
    return f"/{verb}-{hook.group.replace('.', '-')}-{version}-{name}"


def routes(hooks: Iterable[Hook]) -> dict[str, list[Hook]]:
    """Path → the hooks that are asked there, in order."""
    by_path: dict[str, list[Hook]] = {}
    for hook in hooks:
        if hook.mutate is not None:
            by_path.setdefault(path_of(MUTATE, hook), []).append(hook)
        if hook.validate is not None:
            by_path.setdefault(path_of(VALIDATE, hook), []).append(hook)
    return by_path


def configurations(hooks: Sequence[Hook], place: WebhookAddress, authority: bytes) -> list[Raw]:
    """One mutating and one validating configuration, ready to apply."""
    shared = {name for name, times in Counter(hook.name for hook in hooks).items() if times > 1}

    def webhook(hook: Hook, verb: str) -> Raw:
        """A name may be used once in a configuration: a hook that stands for several kinds is named with each."""
        named = {"name": f"{hook.plural}.{hook.name}"} if hook.name in shared else {}
        return _webhook(hook, verb, place, authority) | named

    mutating = [webhook(hook, MUTATE) | {"reinvocationPolicy": "IfNeeded"} for hook in hooks if hook.mutate]
    validating = [webhook(hook, VALIDATE) for hook in hooks if hook.validate]
    pairs = ((MUTATING_WEBHOOK, mutating), (VALIDATING_WEBHOOK, validating))
    return [
        {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": NAME}, "webhooks": webhooks}
        for kind, webhooks in pairs
    ]


def _webhook(hook: Hook, verb: str, place: WebhookAddress, authority: bytes) -> Raw:
    resources = [f"{hook.plural}/{subresource}" if subresource else hook.plural for subresource in hook.subresources]
    webhook: Raw = {
        "name": hook.name,
        "clientConfig": place.client_config(path_of(verb, hook), authority),
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": SECONDS,
        "matchPolicy": "Equivalent",
        "rules": [
            {
                "apiGroups": [hook.group],
                "apiVersions": list(hook.versions),
                "resources": resources,
                "scope": "*",
                "operations": list(hook.operations),
            }
        ],
    }
    apart = [{"key": NAMESPACE_LABEL, "operator": "NotIn", "values": list(hook.exempt)}] if hook.exempt else []
    terms = [*apart, *([hook.where] if hook.where is not None else [])]
    if terms:
        webhook["namespaceSelector"] = {"matchExpressions": terms}
    conditions = [("ours", hook.condition), ("stays", STAYS if "UPDATE" in hook.operations else "")]
    match_conditions = [{"name": name, "expression": expression} for name, expression in conditions if expression]
    return webhook | ({"matchConditions": match_conditions} if match_conditions else {})

"""Admission's certificate as a Secret, and the webhook configurations that tell the API server to ask.

Which hooks there are is the admission component's affair (`Parts.webhooks`); the Config names the two objects and says
whose pods are looked at. They are registered only once the server answers: a webhook that nobody serves would
stop the cluster. Pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

from gangline.api.kinds import MUTATING_WEBHOOK, POD_GROUP, QUEUE, SECRET
from gangline.api.meta import Raw
from gangline.installer.config_reader import ConfigReading, at
from gangline.installer.contract import CertificatePair, ComponentParts, InstallFacts, WantedObjects, meta
from gangline.installer.objects.services import ADMISSION, admission_address

TLS_SECRET = "kai-admission-webhook-tls-secret"
CERTIFICATE, KEY, AUTHORITY = "tls.crt", "tls.key", "ca.crt"
PODS = ".pods.gangline.io"
"""What the names of the hooks about pods end with."""


def add_admission(
    wishes: WantedObjects,
    reading: ConfigReading,
    facts: InstallFacts,
    parts: ComponentParts,
    flags: Mapping[str, str],
    config: Raw,
) -> None:
    if facts.certificate is None:
        return
    wishes.add(SECRET, secret(reading, facts.certificate))
    if not facts.answers:
        return
    for kind, configuration in parts.webhooks(
        flags, config, reading.compat, admission_address(reading), facts.certificate.authority
    ):
        word = "mutating" if kind == MUTATING_WEBHOOK else "validating"
        name = str(reading.at(f"admission.{word}WebhookConfigurationName") or f"{word}-kai-admission")
        hooks = [_narrowed(reading, webhook) for webhook in configuration["webhooks"] if _wanted(reading, webhook)]
        if hooks:
            wishes.add(kind, {"metadata": meta(ADMISSION.name, name), "webhooks": hooks})


def secret(reading: ConfigReading, pair: CertificatePair) -> Raw:
    data = {
        name: base64.b64encode(part).decode()
        for name, part in ((CERTIFICATE, pair.certificate), (KEY, pair.key), (AUTHORITY, pair.authority))
    }
    return {"metadata": meta(ADMISSION.name, TLS_SECRET, reading.namespace), "type": "kubernetes.io/tls", "data": data}


def pair_of(kept: Raw) -> CertificatePair:
    """What a Secret of ours holds."""
    data = kept.get("data") or {}
    parts = [base64.b64decode(data.get(name) or "") for name in (CERTIFICATE, KEY, AUTHORITY)]
    return CertificatePair(*parts)


def with_what_others_add(wanted: Raw, live: Raw) -> Raw:
    """The configuration with conditions on namespaces that a cloud put into it: it would put them there again and
    again."""
    there = {
        webhook["name"]: at(webhook, "namespaceSelector.matchExpressions", []) for webhook in live.get("webhooks") or ()
    }
    return wanted | {"webhooks": [_joined(webhook, there.get(webhook["name"], [])) for webhook in wanted["webhooks"]]}


def _joined(hook: Raw, there: Sequence[Raw]) -> Raw:
    expressions = at(hook, "namespaceSelector.matchExpressions", [])
    added = [item for item in there if item["key"] not in {mine["key"] for mine in expressions}]
    return (
        hook | {"namespaceSelector": {**hook.get("namespaceSelector", {}), "matchExpressions": [*expressions, *added]}}
        if added
        else hook
    )


SWITCHES = {
    QUEUE.plural: "queueController.webhooks.enableValidation",
    POD_GROUP.plural: "podGroupController.webhooks.enableValidation",
}


def _wanted(reading: ConfigReading, hook: Raw) -> bool:
    """Checks of queues and groups can be switched off each."""
    rule = hook["rules"][0]
    switch = SWITCHES.get(rule["resources"][0]) if rule["apiGroups"] == [QUEUE.group] else None
    return switch is None or bool(reading.at(switch, True))


def _narrowed(reading: ConfigReading, hook: Raw) -> Raw:
    """Only pods and namespaces that the Config selects."""
    if not hook["name"].endswith(PODS):
        return hook
    spaces: Raw = dict(hook.get("namespaceSelector", {}))
    if reading.at("admission.queueLabelSelector", False):
        spaces["matchExpressions"] = [
            *spaces.get("matchExpressions", []),
            {"key": reading.queue_key, "operator": "Exists"},
        ]
    if reading.at("global.namespaceLabelSelector"):
        spaces["matchLabels"] = reading.at("global.namespaceLabelSelector")
    labels = reading.at("global.podLabelSelector")
    return (
        hook
        | ({"namespaceSelector": spaces} if spaces else {})
        | ({"objectSelector": {"matchLabels": labels}} if labels else {})
    )

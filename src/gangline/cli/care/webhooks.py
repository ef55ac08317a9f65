"""Whether the webhooks that judge our kinds can answer: certificates, services, and who else judges. Pure."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from gangline.cli.care.findings import FAIL, OK, WARN, DoctorFinding

GROUPS = ("grove.io", "scheduler.grove.io", "scheduling.run.ai", "kai.scheduler")
SOON = 14 * 86400.0
"""A certificate that expires within so many seconds gets a warning."""
RESTART = "let the admission component make a new one: kubectl rollout restart -n kai-scheduler deployment/admission"


def check_webhooks(lists: Mapping[str, Sequence[Mapping[str, Any]]], now: float) -> Iterator[DoctorFinding]:
    judges: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for kind in ("validating", "mutating"):
        for configuration in lists.get(kind, ()):
            name = configuration["metadata"]["name"]
            hooks = [hook for hook in configuration.get("webhooks") or [] if _kinds(hook)]
            if not hooks:
                continue
            for hook in hooks:
                for judged in _kinds(hook):
                    judges[kind, judged].add(name)
            yield from _checked(f"{kind} {name}", hooks, lists.get("slices", ()), now)
    for (kind, judged), names in judges.items():
        if len(names) > 1:
            remedy = "remove the one that is left over from another installation: kubectl delete " + (
                f"{kind}webhookconfiguration NAME"
            )
            yield DoctorFinding(WARN, "webhooks", f"{judged} is judged by {', '.join(sorted(names))} ({kind})", remedy)


def _kinds(hook: Mapping[str, Any]) -> list[str]:
    return sorted(
        {
            f"{resource}.{group}"
            for rule in hook.get("rules") or []
            for group in rule.get("apiGroups") or []
            if group in GROUPS
            for resource in rule.get("resources") or []
        }
    )


def _checked(
    name: str, hooks: Sequence[Mapping[str, Any]], slices: Sequence[Mapping[str, Any]], now: float
) -> Iterator[DoctorFinding]:
    """The hooks of one configuration; what is wrong with several of them is printed once."""
    wrong = {finding for hook in hooks for finding in _of_hook(name, hook["clientConfig"], slices, now)}
    yield from sorted(wrong, key=lambda finding: finding.text)
    if not wrong:
        yield DoctorFinding(OK, "webhooks", f"{name} has a valid certificate and somebody who answers")


def _of_hook(
    name: str, client: Mapping[str, Any], slices: Sequence[Mapping[str, Any]], now: float
) -> Iterator[DoctorFinding]:
    bundle, service = client.get("caBundle") or "", client.get("service")
    ends = certificate_end(bundle) if bundle or service else float("inf")
    if ends is None:
        yield DoctorFinding(FAIL, "webhooks", f"{name} has no certificate that can be read (caBundle)", RESTART)
    elif ends < now:
        yield DoctorFinding(FAIL, "webhooks", f"the certificate of {name} ended on {_day(ends)}", RESTART)
    elif ends < now + SOON:
        yield DoctorFinding(WARN, "webhooks", f"the certificate of {name} ends on {_day(ends)}", RESTART)
    if service and not _answers(service, slices):
        where = f"{service['namespace']}/{service['name']}"
        remedy = f"kubectl get endpointslices,pods -n {service['namespace']}; until then what it judges is refused"
        yield DoctorFinding(
            FAIL, "webhooks", f"{name} is answered by service {where}, which has no ready endpoint", remedy
        )


def _answers(service: Mapping[str, Any], slices: Sequence[Mapping[str, Any]]) -> bool:
    return any(
        endpoint.get("conditions", {}).get("ready") is not False
        for item in slices
        if item["metadata"].get("namespace") == service["namespace"]
        and (item["metadata"].get("labels") or {}).get("kubernetes.io/service-name") == service["name"]
        for endpoint in item.get("endpoints") or []
    )


def certificate_end(bundle: str) -> float | None:
    """When the first certificate of a bundle is no longer valid, in seconds since 1970; None: there is none."""
    from cryptography import x509

    try:
        return min(
            certificate.not_valid_after_utc.timestamp()
            for certificate in x509.load_pem_x509_certificates(base64.b64decode(bundle, validate=True))
        )
    except Exception:  # errors of cryptography have no parent of their own
        return None


def _day(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"

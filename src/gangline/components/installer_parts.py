"""What the installer must know of the other components: their rights, flags, hooks and certificates.

The installer may not import them; it is handed this. Deploys nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gangline import role_objects
from gangline.api.kinds import MUTATING_WEBHOOK, VALIDATING_WEBHOOK, Kind
from gangline.api.meta import Raw
from gangline.component_flags import check, configured, real_backends
from gangline.components.admission_hooks import EmptyReader, hooks
from gangline.components.options import ComponentOptions, admission_settings

if TYPE_CHECKING:
    from gangline.installer.contract import Address, CertificatePair, ComponentParts


def installer_parts() -> ComponentParts:
    """What the installer must know of the other components: their rights, flags, hooks and certificates."""
    from gangline.installer.contract import CertificatePair, ComponentParts
    from gangline.scheduler.loop.flags import KNOWN

    def rules(component: str) -> Mapping[str, Sequence[Raw]]:
        places = ("", *role_objects.namespaces(component))
        return {namespace: role_objects.rules(component, namespace) for namespace in places}

    def webhooks(
        flags: Mapping[str, str], config: Mapping[str, Any], compat: Sequence[str], address: Address, authority: bytes
    ) -> list[tuple[Kind[Any], Raw]]:
        from gangline.admission.registration import WebhookAddress, configurations

        options = ComponentOptions(
            compat=tuple(compat), flags=flags, operator=configured(config), namespace=address.namespace
        )
        registered = list(hooks(replace(options, admission=admission_settings(options)), EmptyReader()))
        place = WebhookAddress(address.service, address.namespace, address.port)
        return [
            (MUTATING_WEBHOOK if configuration["kind"] == MUTATING_WEBHOOK.kind else VALIDATING_WEBHOOK, configuration)
            for configuration in configurations(registered, place, authority)
        ]

    def certificate(hosts: Sequence[str], now: float, kept: CertificatePair | None) -> CertificatePair:
        from gangline.admission.certificates import WebhookKeyPair, self_signed, still_good

        time = datetime.fromtimestamp(now, UTC)
        if kept is not None and still_good(WebhookKeyPair(kept.certificate, kept.key), hosts, time):
            return kept
        made = self_signed(hosts, time)
        return CertificatePair(
            made.certificate, made.key, made.authority + (kept.certificate if kept is not None else b"")
        )

    return ComponentParts(rules, webhooks, check, certificate, real_backends, frozenset(KNOWN))

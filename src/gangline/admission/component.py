"""Admission as something `gangline run` can start beside a real cluster: certificate, server, registration.

The order matters: the webhooks are registered only once the server answers. The certificate is looked at again and
again: one that is about to run out is replaced, one that somebody else replaced is taken up, without a connection lost.
The hooks come from the composition root; on the embedded server they run in process and this component is not
needed."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from gangline.admission.certificates import WebhookKeyPair, authority_of, self_signed, still_good
from gangline.admission.registration import WebhookAddress, configurations
from gangline.admission.webhook import WebhookListener
from gangline.api import names
from gangline.api.kinds import MUTATING_WEBHOOK, SECRET, VALIDATING_WEBHOOK, Kind
from gangline.api.meta import Object, Raw
from gangline.client import Client
from gangline.errors import AlreadyExists, ApiError, ConfigError, NotFound
from gangline.rules.hooks import Hook
from gangline.runtime import BackgroundService, Cache, Component, Context, Reader

log = logging.getLogger(__name__)
TLS_SECRET = "gangline-admission-tls"
CERTIFICATE, KEY, AUTHORITY = "tls.crt", "tls.key", "ca.crt"
LOOK_AGAIN = 600.0
"""Seconds between two looks at the certificate."""


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    place: WebhookAddress = field(
        default_factory=lambda: WebhookAddress(service="gangline-admission", namespace=names.SYSTEM_NAMESPACE)
    )
    """Where the cluster finds us."""
    host: str = "0.0.0.0"
    port: int = 9443
    namespace: str = names.SYSTEM_NAMESPACE
    """Where the certificate is kept."""
    register: bool = True
    """Write the webhook configurations; off: somebody else does."""
    secret: str = TLS_SECRET
    """Where our own certificate is kept."""
    folder: str = ""
    """Where somebody else's certificate is mounted (tls.crt, tls.key, ca.crt); empty: we make our own."""


Hooks = Callable[[Reader], Iterable[Hook]]


def component(hooks: Hooks, settings: WebhookSettings | None = None, reads: Sequence[Kind[Object]] = ()) -> Component:
    """`hooks` is given a Reader that holds the kinds in `reads`."""
    webhook_settings = settings or WebhookSettings()

    def prepare(cache: Cache) -> None:
        for kind in reads:
            cache.informer(kind)

    async def run(ctx: Context, cache: Cache) -> None:
        await serve(ctx, list(hooks(cache)), webhook_settings)

    return Component("admission", services=[BackgroundService("admission", run, prepare=prepare)])


async def serve(ctx: Context, hooks: Sequence[Hook], settings: WebhookSettings) -> None:
    pair = await certificate(ctx.client, settings, _now(ctx))
    listener = WebhookListener(hooks, pair, settings.host, settings.port)
    await listener.start()
    try:
        await _register(ctx, hooks, settings, pair)
        while True:
            await ctx.clock.sleep(LOOK_AGAIN)
            try:
                fresh = await certificate(ctx.client, settings, _now(ctx))
            except (ApiError, ConfigError) as error:
                log.warning("the certificate cannot be looked at: %s; the one in use stays", error)
                continue
            if fresh != pair:
                pair = fresh
                listener.renew(pair)
                await _register(ctx, hooks, settings, pair)
    finally:
        await listener.stop()


def _now(ctx: Context) -> datetime:
    return datetime.fromtimestamp(ctx.clock.now(), UTC)


async def _register(ctx: Context, hooks: Sequence[Hook], settings: WebhookSettings, pair: WebhookKeyPair) -> None:
    """Register the webhooks with their CA bundle, unless somebody else does that."""
    if settings.register and pair.authority:
        await register(ctx.client, hooks, settings.place, pair)


async def certificate(client: Client, settings: WebhookSettings, now: datetime) -> WebhookKeyPair:
    """The mounted certificate, or the kept one, or a new one that is kept from now on."""
    if settings.folder:
        return mounted(Path(settings.folder))
    hosts = settings.place.hosts
    try:
        kept = _pair(await client.get_raw(SECRET, settings.secret, settings.namespace))
        if still_good(kept, hosts, now):
            return kept
        await client.delete(SECRET, settings.secret, settings.namespace)
    except NotFound:
        pass
    made = self_signed(hosts, now)
    data = {
        name: base64.b64encode(part).decode()
        for name, part in ((CERTIFICATE, made.certificate), (KEY, made.key), (AUTHORITY, made.authority))
    }
    secret = {
        "metadata": {"name": settings.secret, "namespace": settings.namespace},
        "type": "kubernetes.io/tls",
        "data": data,
    }
    try:
        await client.create(SECRET, secret)
    except AlreadyExists:
        return _pair(await client.get_raw(SECRET, settings.secret, settings.namespace))
    return made


def mounted(folder: Path) -> WebhookKeyPair:
    """The certificate that somebody else put there; without ca.crt, whom to trust is theirs to say as well."""
    missing = [name for name in (CERTIFICATE, KEY) if not (folder / name).is_file()]
    if missing:
        raise ConfigError(
            f"{folder} has no {' and no '.join(missing)}: mount the Secret with the certificate there, or let "
            "admission make its own (server.webhooks.certProvisionMode: auto, and no --cert-dir)"
        )
    authority = folder / AUTHORITY
    return WebhookKeyPair(
        (folder / CERTIFICATE).read_bytes(),
        (folder / KEY).read_bytes(),
        authority.read_bytes() if authority.is_file() else b"",
    )


def _pair(secret: Raw) -> WebhookKeyPair:
    data = secret.get("data") or {}
    written = {name: base64.b64decode(data.get(name) or "") for name in (CERTIFICATE, KEY, AUTHORITY)}
    return WebhookKeyPair(written[CERTIFICATE], written[KEY], authority_of(written[CERTIFICATE], written[AUTHORITY]))


async def register(client: Client, hooks: Sequence[Hook], place: WebhookAddress, pair: WebhookKeyPair) -> None:
    for configuration in configurations(hooks, place, pair.authority):
        kind = MUTATING_WEBHOOK if configuration["kind"] == MUTATING_WEBHOOK.kind else VALIDATING_WEBHOOK
        await client.apply(kind, configuration)

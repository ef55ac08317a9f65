"""Admission as something `gangline run` can start beside a real cluster: certificate, server, registration.

The order matters: the cluster is told to ask only once somebody answers. The hooks come from the composition root; on the embedded
server they run in process and this component is not needed.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from gangline.admission.certificates import KeyPair, self_signed, still_good
from gangline.admission.registration import Place, configurations
from gangline.admission.webhook import Listener
from gangline.api import names
from gangline.api.kinds import MUTATING_WEBHOOK, SECRET, VALIDATING_WEBHOOK, Kind
from gangline.api.meta import Object, Raw
from gangline.client import Client
from gangline.errors import AlreadyExists, NotFound
from gangline.rules.hooks import Hook
from gangline.runtime import Cache, Component, Context, Reader, Service

TLS_SECRET = "gangline-admission-tls"
CERTIFICATE, KEY = "tls.crt", "tls.key"


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    place: Place = field(default_factory=lambda: Place(service="gangline-admission", namespace=names.SYSTEM_NAMESPACE))
    """Where the cluster finds us."""
    host: str = "0.0.0.0"
    port: int = 9443
    namespace: str = names.SYSTEM_NAMESPACE
    """Where the certificate is kept."""
    register: bool = True
    """Write the webhook configurations; off: somebody else does."""


Hooks = Callable[[Reader], Iterable[Hook]]


def component(hooks: Hooks, settings: WebhookSettings | None = None, reads: Sequence[Kind[Object]] = ()) -> Component:
    """`hooks` is given a Reader that holds the kinds in `reads`."""
    said = settings or WebhookSettings()

    def prepare(cache: Cache) -> None:
        for kind in reads:
            cache.informer(kind)

    async def run(ctx: Context, cache: Cache) -> None:
        await serve(ctx, list(hooks(cache)), said)

    return Component("admission", services=[Service("admission", run, prepare=prepare)])


async def serve(ctx: Context, hooks: Sequence[Hook], settings: WebhookSettings) -> None:
    now = datetime.fromtimestamp(ctx.clock.now(), UTC)
    pair = await certificate(ctx.client, settings, now)
    listener = Listener(hooks, pair, settings.host, settings.port)
    await listener.start()
    try:
        if settings.register:
            await register(ctx.client, hooks, settings.place, pair)
        await asyncio.Event().wait()
    finally:
        await listener.stop()


async def certificate(client: Client, settings: WebhookSettings, now: datetime) -> KeyPair:
    """The kept certificate, or a new one that is kept from now on."""
    hosts = settings.place.hosts
    try:
        kept = _pair(await client.get_raw(SECRET, TLS_SECRET, settings.namespace))
        if still_good(kept, hosts, now):
            return kept
        await client.delete(SECRET, TLS_SECRET, settings.namespace)
    except NotFound:
        pass
    made = self_signed(hosts, now)
    data = {CERTIFICATE: base64.b64encode(made.certificate).decode(), KEY: base64.b64encode(made.key).decode()}
    secret = {"metadata": {"name": TLS_SECRET, "namespace": settings.namespace}, "type": "kubernetes.io/tls", "data": data}
    try:
        await client.create(SECRET, secret)
    except AlreadyExists:
        return _pair(await client.get_raw(SECRET, TLS_SECRET, settings.namespace))
    return made


def _pair(secret: Raw) -> KeyPair:
    data = secret.get("data") or {}
    return KeyPair(base64.b64decode(data.get(CERTIFICATE, "")), base64.b64decode(data.get(KEY, "")))


async def register(client: Client, hooks: Sequence[Hook], place: Place, pair: KeyPair) -> None:
    for configuration in configurations(hooks, place, pair.certificate):
        kind = MUTATING_WEBHOOK if configuration["kind"] == MUTATING_WEBHOOK.kind else VALIDATING_WEBHOOK
        await client.apply(kind, configuration)

"""The same hooks, for real clusters: an HTTPS server that answers AdmissionReviews.

Each path of registration.py is answered by the hooks behind it, as reviews.py says. Deciding is the hooks' affair;
nothing here decides."""

from __future__ import annotations

import logging
import ssl
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from gangline.admission.certificates import WebhookKeyPair
from gangline.admission.registration import routes
from gangline.admission.reviews import answer
from gangline.rules.hooks import Hook
from gangline.rules.values.documents import DocumentUnreadable, read_json
from gangline.runtime.health import runner

log = logging.getLogger(__name__)
BODY_LIMIT = 8 * 1024 * 1024


def application(hooks: Iterable[Hook]) -> web.Application:
    """An aiohttp application with a route per path, and `/healthz`."""
    app = web.Application(client_max_size=BODY_LIMIT)
    for path, behind in routes(hooks).items():
        app.router.add_post(path, _handler(path, behind))
    app.router.add_get("/healthz", _healthy)
    return app


def _handler(path: str, hooks: list[Hook]) -> Any:
    async def handle(request: web.Request) -> web.Response:
        try:
            review = answer(path, hooks, read_json(await request.read()))
        except (DocumentUnreadable, AttributeError, KeyError, TypeError) as error:
            return web.Response(status=400, text=f"not an AdmissionReview: {error}")
        return web.Response(body=msgspec.json.encode(review), content_type="application/json")

    return handle


async def _healthy(request: web.Request) -> web.Response:
    return web.Response(text="ok")


class WebhookListener:
    """The application behind a socket with TLS."""

    def __init__(self, hooks: Iterable[Hook], pair: WebhookKeyPair, host: str = "0.0.0.0", port: int = 9443) -> None:
        self._runner = runner(application(hooks), host)
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.minimum_version = ssl.TLSVersion.TLSv1_2
        self._host, self.port = host, port
        self.renew(pair)

    def renew(self, pair: WebhookKeyPair) -> None:
        """Show another certificate from now on; open connections stay."""
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = Path(folder) / "tls.crt", Path(folder) / "tls.key"
            certificate.write_bytes(pair.certificate)
            key.touch(mode=0o600)
            key.write_bytes(pair.key)
            self._tls.load_cert_chain(certificate, key)

    async def start(self) -> None:
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self.port, ssl_context=self._tls)
        await site.start()
        self.port = self._runner.addresses[0][1]
        log.info("admission listens on port %d", self.port)

    async def stop(self) -> None:
        await self._runner.cleanup()

"""Posting a question to a webhook over HTTPS: for admission and for conversion.

Most servers never call one, so what carries a call (webhook_session.py) is imported with the first: aiohttp takes
longer to import than a small server to start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gangline.cluster.server.core import Core

if TYPE_CHECKING:
    from gangline.cluster.server.admit.webhook_session import WebhookSession

Obj = dict[str, Any]


class WebhookCaller:
    """Asks the webhooks of one server."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._session: WebhookSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def post(self, client: Obj, body: bytes, seconds: int) -> bytes:
        """What the webhook of a clientConfig answers; NoAnswer says why there is none."""
        if self._session is None:
            from gangline.cluster.server.admit.webhook_session import WebhookSession

            self._session = WebhookSession(self._core)
        return await self._session.post(client, body, seconds)

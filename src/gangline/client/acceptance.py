"""Whether a server takes us at all: a token that stays refused, and a certificate that nobody vouches for.

Stands before a transport, sees each answer and changes none. A server that is away comes back, so components wait for
it; what is told here does not pass by waiting, and ends whoever asks for `ending`. Nothing here asks a server by
itself.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable

from gangline.client.wire import Request, Response, Transport
from gangline.errors import ConfigError, Unavailable

REFUSED_SECONDS = 60.0
"""For which every answer is 401, before that is taken to be for good."""


class WatchedTransport:
    """A Transport; `ending` is done with the reason why it is no use to go on."""

    def __init__(self, inner: Transport, server: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._inner, self._server, self._monotonic = inner, server, monotonic
        self._met = False
        self._refused: float | None = None
        """Since when there was no answer but 401."""
        self.ending: asyncio.Future[ConfigError] = asyncio.get_running_loop().create_future()

    async def send(self, request: Request) -> Response:
        try:
            answer = await self._inner.send(request)
        except Unavailable as error:
            self._refused = None
            if not self._met and (why := _distrust(error)):
                self._end(
                    f"{self._server} shows a certificate that is not to be trusted ({why}); look at the "
                    "certificate-authority and the server's name in the kubeconfig"
                )
            raise
        self._met = True
        self._judge(answer.status)
        return answer

    def _judge(self, status: int) -> None:
        now = self._monotonic()
        if status != 401:
            self._refused = None
        elif self._refused is None:
            self._refused = now
        elif now - self._refused >= REFUSED_SECONDS:
            self._end(
                f"{self._server} has answered nothing but 401 Unauthorized for {now - self._refused:.0f} s; the "
                "token or certificate that we show is wrong or has expired"
            )

    def _end(self, why: str) -> None:
        if not self.ending.done():
            self.ending.set_result(ConfigError(why))

    async def close(self) -> None:
        await self._inner.close()


def _distrust(error: BaseException | None) -> str:
    """Why a certificate was refused, if that is what went wrong."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_message or str(error)
        error = error.__cause__ or error.__context__
    return ""

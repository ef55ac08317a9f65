"""The last step of an answer: from JSON to what the caller asked for, and compressed where it is long.

server.py hands every answer that is no stream to `finish`. A thread does what takes more than a few milliseconds, while
others are answered; so it does for long bodies in YAML on their way in. Nothing here knows what an answer is about."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from gangline.client.wire import JSON, Request, Response
from gangline.cluster.server.show.negotiation import plain_media
from gangline.cluster.server.status import answer, not_acceptable
from gangline.cluster.server.wire.codec import PRINTERS, PROTOBUF, YAML, media_type
from gangline.cluster.server.wire.protobuf import NotUnderstood

SHORT = {YAML: 8 * 1024, PROTOBUF: 64 * 1024}
"""Bytes that are read or printed in a few milliseconds."""
GZIP_BYTES = 128 * 1024
"""Longer answers are compressed for those who say that they can read it."""
_GZIP, _FASTEST = 16 + zlib.MAX_WBITS, 1


class AnswerPrinter:
    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="printer")

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def aside(self, work: Callable[[bytes], Any], data: bytes, short: int = SHORT[YAML]) -> Any:
        if len(data) <= short:
            return work(data)
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, data)

    async def finish(self, response: Response, request: Request) -> Response:
        if response.status >= 400 and response.content_type == JSON:
            response.content_type = plain_media(request.accept)
        media = media_type(response.content_type)
        printed = PRINTERS.get(media)
        if printed is not None:
            try:
                response.body = await self.aside(printed, response.body, SHORT[media])
            except NotUnderstood as error:
                return answer(not_acceptable(f"{error}; ask for {JSON}"))
        if len(response.body) > GZIP_BYTES and takes_gzip(request):
            response.body = await self.aside(_compressed, response.body)
            varies = ", ".join(filter(None, (response.headers.get("Vary"), "Accept-Encoding")))
            response.headers = {**response.headers, "Content-Encoding": "gzip", "Vary": varies}
        return response


def takes_gzip(request: Request) -> bool:
    accepted = request.headers.get("accept-encoding", "")
    return any(token.strip() == "gzip" for token in accepted.split(","))


def _compressed(body: bytes) -> bytes:
    return zlib.compress(body, _FASTEST, _GZIP)

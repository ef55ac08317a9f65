"""One request over a connection: handed to the server, and its answer handed back.

connection.py starts one task of this for each request; all else it does by callbacks.
"""

from __future__ import annotations

from typing import Protocol

from gangline.client.wire import Request, Response
from gangline.cluster.server.server import Server


class AnswerTaker(Protocol):
    """Who asked."""

    def answered(self, method: str, request: Request, response: Response) -> None: ...

    def abort(self) -> None: ...


async def answer_request(server: Server, asker: AnswerTaker, method: str, request: Request) -> None:
    try:
        response = await server.handle(request)
    except BaseException:
        asker.abort()
        raise
    asker.answered(method, request, response)

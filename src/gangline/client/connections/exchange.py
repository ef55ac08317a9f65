"""One request over a connection, awaited: its answer, and the stream of a watch.

connection.py sends and hears by callbacks; http.py calls `ask`. Whatever goes wrong, the connection ends.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from gangline.client.wire import Response

if TYPE_CHECKING:
    from gangline.client.connections.connection import ClientConnection


async def ask(connection: ClientConnection, request: bytes, watching: bool, patience: float) -> Response:
    """`watching`: the answer's body is a stream. `patience`: seconds without a byte after which it is given up."""
    answer = connection.begin(request, watching, patience)
    try:
        return await answer
    except BaseException:
        connection.abort()
        raise
    finally:
        connection.end()


async def streamed(connection: ClientConnection) -> AsyncGenerator[bytes, None]:
    """What came together is given together."""
    try:
        while True:
            chunk = connection.take()
            if chunk:
                yield chunk
            elif connection.is_over():
                return
            else:
                await connection.more()
    finally:
        connection.abort()

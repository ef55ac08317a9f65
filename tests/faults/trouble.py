"""Trouble on the line between a component and its server: errors, cuts and lost answers.

Chosen by a seed, so that a failure can be played again.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator

from gangline.client import InProcess, Request, Response, User
from gangline.client.wire import JSON, ByteStream
from gangline.errors import Unavailable
from scheduler_world import SchedulerWorld

ANSWERS = {409: "Conflict", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout"}


class Trouble:
    """A transport that sometimes refuses, sometimes does it and forgets to say so, and sometimes ends a watch early."""

    def __init__(self, here: SchedulerWorld, seed: int, rate: float = 0.2) -> None:
        self._inner = InProcess(
            here.server.handle, User("system:serviceaccount:gangline-system:troubled", ("system:masters",))
        )
        self._chance = random.Random(seed)
        self.rate = rate
        self.troubles = 0

    async def send(self, request: Request) -> Response:
        if self._chance.random() >= self.rate:
            return self._maybe_cut(await self._inner.send(request))
        self.troubles += 1
        code = self._chance.choice(sorted(ANSWERS))
        if request.method != "GET" and code in (500, 504) and self._chance.random() < 0.5:
            await self._inner.send(request)
        status = {
            "kind": "Status",
            "code": code,
            "reason": ANSWERS[code],
            "message": "trouble",
            "details": {"retryAfterSeconds": 0.01},
        }
        return Response(code, json.dumps(status).encode(), JSON)

    def _maybe_cut(self, answer: Response) -> Response:
        if answer.stream is not None and self._chance.random() < self.rate:
            answer.stream = self._cut(answer.stream, self._chance.randrange(1, 6))
        return answer

    async def _cut(self, stream: ByteStream, after: int) -> AsyncGenerator[bytes, None]:
        try:
            async for chunk in stream:
                yield chunk
                after -= 1
                if not after:
                    self.troubles += 1
                    return
        finally:
            await stream.aclose()

    async def close(self) -> None:
        await asyncio.sleep(0)


class Refuses:
    """A transport on which one verb fails so many times in one way, and then works."""

    def __init__(self, here: SchedulerWorld, verb: str, code: int, times: int = 3) -> None:
        self._inner = InProcess(
            here.server.handle, User("system:serviceaccount:gangline-system:troubled", ("system:masters",))
        )
        self._verb, self._code, self.left = verb, code, times

    async def send(self, request: Request) -> Response:
        if self.left <= 0 or verb_of(request) != self._verb:
            return await self._inner.send(request)
        self.left -= 1
        if self._code == TIMES_OUT:
            raise Unavailable({"message": "the server did not answer in time"})
        status = {
            "kind": "Status",
            "code": self._code,
            "reason": ANSWERS[self._code],
            "message": "trouble",
            "details": {"retryAfterSeconds": 0.01},
        }
        return Response(self._code, json.dumps(status).encode(), JSON)

    async def close(self) -> None:
        await asyncio.sleep(0)


TIMES_OUT = 0
METHODS = {"POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}


def verb_of(request: Request) -> str:
    if request.method != "GET":
        return "bind" if request.path.endswith("/binding") else METHODS[request.method]
    if request.argument("watch"):
        return "watch"
    return "get" if request.path.rpartition("/")[2] not in LISTED else "list"


LISTED = (
    "pods",
    "nodes",
    "queues",
    "podgroups",
    "bindrequests",
    "configmaps",
    "persistentvolumeclaims",
    "resourceclaims",
    "priorityclasses",
)


class Dies:
    """A transport that lets so many writes through, and then none: the component behind it is as good as dead."""

    def __init__(self, here: SchedulerWorld, writes: int) -> None:
        self._inner = InProcess(
            here.server.handle, User("system:serviceaccount:gangline-system:dying", ("system:masters",))
        )
        self.left = writes

    async def send(self, request: Request) -> Response:
        if request.method != "GET":
            if self.left <= 0:
                return Response(503, b'{"kind":"Status","code":503,"message":"dead"}', JSON)
            self.left -= 1
        return await self._inner.send(request)

    async def close(self) -> None:
        await asyncio.sleep(0)


class Dawdles:
    """A transport on which patches of pods' statuses are on their way until somebody lets them go."""

    def __init__(self, here: SchedulerWorld) -> None:
        self._inner = InProcess(
            here.server.handle, User("system:serviceaccount:gangline-system:dawdling", ("system:masters",))
        )
        self.held = asyncio.Event()
        self.go = asyncio.Event()

    async def send(self, request: Request) -> Response:
        if request.method == "PATCH" and "/pods/" in request.path and request.path.endswith("/status"):
            self.held.set()
            await self.go.wait()
        return await self._inner.send(request)

    async def close(self) -> None:
        await asyncio.sleep(0)

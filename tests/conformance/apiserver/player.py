"""Plays one recorded case: its requests in order, in a namespace of its own, against a transport-neutral server."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

from conformance.apiserver.paths import fill, pick
from gangline.client.wire import JSON, Request, Response
from gangline.cluster.server.wire.protobuf import MAGIC, decode

Handle = Callable[[Request], Awaitable[Response]]
Step = dict[str, Any]
PATIENCE = 4.0
QUIET = 0.05


class Player:
    def __init__(self, handle: Handle, token: str, lagging: bool) -> None:
        self._handle = handle
        self._token = token
        self._lagging = lagging
        """The server has controllers behind it: pauses in the recording are kept."""

    async def play(self, case: dict[str, Any], namespace: str) -> list[Step]:
        """The raw results, step by step. What the case created outside its namespace is deleted afterwards."""
        about = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        await self.call({"method": "POST", "path": "/api/v1/namespaces", "body": about})
        done: list[Step] = []
        made: list[str] = []
        try:
            for step in case["steps"]:
                done.append(await self._guarded(step, namespace, done))
                inner = zip(step.get("while", []), done[-1].get("while", []), strict=False)
                for asked, answered in [(step, done[-1]), *inner]:
                    path = _made(asked, answered, namespace, done)
                    if path:
                        made.append(path)
        finally:
            for path in reversed(made):
                await self.call({"method": "DELETE", "path": path, "query": {"gracePeriodSeconds": "0"}})
        return done

    async def _guarded(self, step: Step, namespace: str, done: list[Step]) -> Step:
        try:
            return await self._step(step, namespace, done)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            return {
                "status": 0,
                "headers": {},
                "body": f"the step could not be played: {type(error).__name__}: {error}",
            }

    async def _step(self, step: Step, namespace: str, done: list[Step]) -> Step:
        if "sleep" in step:
            await asyncio.sleep(step["sleep"] if self._lagging else 0)
            return {}
        if "watch" in step:
            return await self._watch(step, namespace, done)
        request = fill(step["request"], namespace, done)
        result = await self.call(request)
        if "poll" in step:
            until = fill(step["poll"], namespace, done)
            end = time.monotonic() + (until.get("timeout", 20) if self._lagging else 2)
            while not _holds(result, until) and time.monotonic() < end:
                await asyncio.sleep(0.05)
                result = await self.call(request)
        return result

    def request(self, asked: dict[str, Any]) -> Request:
        headers = {"user-agent": "gold/1.0"}
        headers |= {key.lower(): value for key, value in (asked.get("headers") or {}).items()}
        token = asked.get("token", self._token)
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        headers |= _impersonation(asked.get("user"))
        body = asked.get("body")
        data = b"" if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        query = tuple(
            (key, str(item))
            for key, value in (asked.get("query") or {}).items()
            for item in (value if isinstance(value, list) else [value])
        )
        return Request(
            asked["method"],
            quote(asked["path"], safe="/:%,=@!$&'()*+;~"),
            query,
            data,
            headers.get("content-type", JSON),
            headers.get("accept", JSON),
            headers,
        )

    async def call(self, asked: dict[str, Any]) -> Step:
        response = await self._handle(self.request(asked))
        if response.stream is not None:
            await response.stream.aclose()
        return result(response, asked["method"])

    async def _watch(self, step: Step, namespace: str, done: list[Step]) -> Step:
        asked = {"method": "GET", **step["watch"]}
        asked["query"] = {"timeoutSeconds": "30", **(asked.get("query") or {}), "watch": "true"}
        response = await self._handle(self.request(fill(asked, namespace, done)))
        if response.status != 200:
            return {"while": [], "events": [], "response": result(response, "GET")}
        found: Step = {"while": [], "events": []}
        if response.stream is None:
            return {"while": [], "events": [json.loads(response.body)]}
        queue: asyncio.Queue[Any] = asyncio.Queue()
        pump = asyncio.create_task(_pump(response, queue))
        for inner in step.get("while", []):
            found["while"].append(await self._guarded(inner, namespace, [*done, found]))
        await _collect(step, queue, found)
        pump.cancel()
        await asyncio.gather(pump, return_exceptions=True)
        return found


async def _pump(response: Response, queue: asyncio.Queue[Any]) -> None:
    assert response.stream is not None
    try:
        async for chunk in response.stream:
            for line in chunk.splitlines():
                queue.put_nowait(json.loads(line))
        queue.put_nowait(None)
    finally:
        await response.stream.aclose()


async def _collect(step: Step, queue: asyncio.Queue[Any], found: Step) -> None:
    """Events until as many came as were recorded and then none for a moment; or until the server closes, where the step
    waits for that."""
    until_close = step.get("until") == "close"
    expected = len(step.get("events") or [])
    while True:
        patience = 30.0 if until_close else PATIENCE if len(found["events"]) < expected else QUIET
        try:
            event = await asyncio.wait_for(queue.get(), patience)
        except TimeoutError:
            return
        if event is None:
            if until_close:
                found["closed"] = True
            return
        if (
            event.get("type") == "BOOKMARK"
            and not step.get("bookmarks")
            and "initial-events-end" not in json.dumps(event)
        ):
            continue
        found["events"].append(event)


def _impersonation(user: dict[str, Any] | None) -> dict[str, str]:
    if not user:
        return {}
    found = {"impersonate-user": user["name"]}
    if user.get("groups"):
        found["impersonate-group"] = "\n".join(user["groups"])
    if user.get("uid"):
        found["impersonate-uid"] = user["uid"]
    return found | {f"impersonate-extra-{key}": "\n".join(values) for key, values in (user.get("extra") or {}).items()}


def result(response: Response, method: str) -> Step:
    """A response as the recordings hold it."""
    headers: dict[str, Any] = {"Content-Type": response.content_type} if response.content_type else {}
    if response.warnings:
        headers["Warning"] = [
            '299 - "' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in response.warnings
        ]
    if "Retry-After" in response.headers:
        headers["Retry-After"] = response.headers["Retry-After"]
    raw = b"" if method == "HEAD" else response.body
    if raw.startswith(MAGIC):
        return {"status": response.status, "headers": headers, "body": decode(raw)}
    try:
        body = json.loads(raw) if raw else None
    except ValueError:
        body = raw.decode("utf-8", "replace")
    return {"status": response.status, "headers": headers, "body": body}


def _holds(found: Step, until: dict[str, Any]) -> bool:
    if "status" in until and found["status"] != until["status"]:
        return False
    if "path" in until:
        try:
            return bool(pick(found["body"], until["path"]) == until["equals"])
        except (KeyError, TypeError, ValueError, AttributeError):
            return False
    return True


def _made(step: Step, answered: Step, namespace: str, done: list[Step]) -> str | None:
    """The path of something a step created outside namespaces."""
    request = step.get("request")
    if not request or answered.get("status") != 201 or "/namespaces/" in request["path"]:
        return None
    body = answered.get("body")
    name = (body.get("metadata") or {}).get("name") if isinstance(body, dict) else None
    if not name or request["method"] not in ("POST", "PATCH", "PUT"):
        return None
    path: str = fill(request["path"], namespace, done)
    return f"{path}/{name}" if request["method"] == "POST" else path

"""No request makes the server fail, whatever it says. `make fuzz INPUTS=… SEED=…` asks as often as one likes."""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from random import Random
from urllib.parse import quote

from embedded import ADMIN
from fuzz import definitions
from fuzz.asking import Asking
from fuzz.standing import bases
from gangline.api.crds import crds
from gangline.client.http import Http
from gangline.client.wire import JSON, InProcess, Request, Response
from gangline.cluster.server.admit.hooks import admit_with
from gangline.cluster.server.server import Server, ServerSettings
from gangline.cluster.server.store.live_reader import LiveReader
from gangline.cluster.server.wire.http import serve
from gangline.components.admission_hooks import hooks
from gangline.components.options import ComponentOptions

INPUTS = int(os.environ.get("FUZZ_INPUTS") or 2000)
SEED = int(os.environ.get("FUZZ_SEED") or 1)
FIRST = int(os.environ.get("FUZZ_FIRST") or 0)
FORESEEN = re.compile(
    rb"failed to (create typed patch|convert new) object|resourceVersion should not be set on objects to be created"
    rb"|strconv.ParseUint: parsing .{1,1000}: invalid syntax|nknown patch type|does not contain declared merge key"
    rb"|merging lists cannot yet be|list element types are not identical|The order in patch list|is not a map"
    rb"|but received a|unable to find api field in struct"
    rb"|failed calling webhook|target.name: Required value|target.kind: Unsupported value"
    rb"|has more than one PodDisruptionBudget|the spec replicas field"
    rb"|conversion webhook for .{1,500} failed|resource name may not be empty"
)
"""What a real server answers with 500 as well, word for word, and a recorded case asks for
(`make conformance SUITE=apiserver`); besides, a webhook that does not answer is no fault of the request."""
OVER_HTTP = 200
TOKEN = "fuzz-token"
ROUND = 250
"""Inputs that one server is asked, each on top of what the others left behind."""


async def test_no_request_makes_the_server_fail() -> None:
    failed, slowest = [], (0.0, 0)
    for start in range(FIRST - FIRST % ROUND, FIRST + INPUTS, ROUND):
        server, asking = await _stage()
        for number in range(start, min(start + ROUND, FIRST + INPUTS)):
            request = asking.request(number)
            began = time.perf_counter()
            response = await server.handle(_as_admin(request))
            slowest = max(slowest, (time.perf_counter() - began, number))
            if told := await _fault(response):
                failed.append(f"{told}\n{_replay(request, number)}")
        await server.close()
    print(f"{INPUTS} inputs from {FIRST}, seed {SEED}; the slowest, {slowest[1]}, took {slowest[0]:.2f} s")
    assert not failed, f"{len(failed)} inputs made the server fail\n\n" + "\n\n".join(failed[:20])


async def test_nor_does_one_over_http() -> None:
    server, asking = await _stage()
    listener = await serve(server, tls=False)
    transport, failed = Http(listener.url, None, _token), []
    for number in range(OVER_HTTP):
        request = asking.request(number)
        plain = Request(request.method, quote(request.path), request.query, request.body, request.content_type, JSON)
        streams = request.argument("watch") or "/watch/" in request.path
        if streams or request.method == "HEAD" or not request.content_type.isprintable():
            continue
        if told := await _fault(await transport.send(plain)):
            failed.append(f"{told}\n{_replay(request, number)}")
    await transport.close()
    await listener.close()
    await server.close()
    assert not failed, "\n\n".join(failed)


async def _token() -> str:
    return TOKEN


async def _stage() -> tuple[Server, Asking]:
    """A server with an object of every kind."""
    server = Server(ServerSettings(request_seconds=5, history=100, tokens={TOKEN: "fuzz"}))
    await server.open()
    for hook in hooks(ComponentOptions(), LiveReader(server.store, server.catalogue)):
        admit_with(server.admission, hook)
    transport, standing = InProcess(server.handle, ADMIN), bases()
    for definition in crds():
        await transport.send(
            Request(
                "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body=json.dumps(definition).encode()
            )
        )
    for path, obj in standing.items():
        await transport.send(Request("POST", path, body=json.dumps(obj).encode()))
    random = Random(SEED)
    for _ in range(4 * definitions.KINDS):
        await transport.send(
            Request("POST", definitions.PATH, body=json.dumps(definitions.definition(random)).encode())
        )
    return server, Asking(SEED, list(server.catalogue), standing)


def _as_admin(request: Request) -> Request:
    return Request(
        request.method,
        request.path,
        request.query,
        request.body,
        request.content_type,
        request.accept,
        request.headers,
        ADMIN,
    )


async def _fault(response: Response) -> str:
    """What is wrong with an answer; empty if nothing is."""
    if response.stream is not None:
        response.stream.take()  # type: ignore[attr-defined]
        await response.stream.aclose()
        return ""
    words = b" ".join(response.body.split())  # YAML folds long lines
    if response.status == 500 and not FORESEEN.search(words):
        return f"500: {response.body[:300].decode('utf-8', 'replace')}"
    if response.body and response.content_type == "application/json":
        try:
            json.loads(response.body)
        except ValueError as error:
            return f"{response.status}: the answer is no JSON: {error}"
    return ""


def _replay(request: Request, number: int) -> str:
    round_ = number - number % ROUND
    return (
        f"input {number}: {request.method} {request.path} {dict(request.query)} {request.content_type!r} "
        f"accept {request.accept!r} {dict(request.headers)}\n  {request.body[:1500]!r}\n"
        f"  again: make fuzz SEED={SEED} FIRST={round_} INPUTS={number - round_ + 1} "
        f"ARGS={shlex.quote('-x --log-level=ERROR')}"
    )

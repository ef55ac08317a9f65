"""The embedded server and a real one side by side, asked the same things by the same client over HTTP."""

from __future__ import annotations

import asyncio
import re
import secrets
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from conformance.apiserver.compare import answers, difference
from conformance.apiserver.controllers import controlled_server
from conformance.apiserver.player import Handle, Player
from conformance.apiserver.run import settings
from gangline.api.crds import crds
from gangline.client.wire import Request, Response
from gangline.cluster.server.access.identity import kubeconfig
from gangline.cluster.server.server import Server
from gangline.cluster.server.wire.http import serve
from real.answerer import Answerer, answerer
from real.plane import TOKEN, Plane
from real.releases import USUAL, Release
from real.scripts import Case

CONTROLLERS = "garbage-collector-controller,namespace-controller"
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Pair:
    real: Player
    plain: Player
    """The embedded server alone."""
    controlled: Player
    """The embedded server with the controllers of cluster/world/, for scripts that wait for what controllers do."""
    kubeconfigs: tuple[Path, Path]
    """Real, embedded."""
    hooks: Answerer
    """What webhooks of scripts call, on either side."""

    async def difference(self, case: Case, full: bool = True) -> str:
        """Empty where both answer a script alike; else what differs, real (-) against embedded (+)."""
        case = self.hooks.written_into(case)
        namespace = "gn-" + secrets.token_hex(5)
        ours = self.controlled if case["area"] == "gc" else self.plain
        told = {**case, "steps": answers(case, namespace, await self.real.play(case, namespace))}
        return difference(told, answers(case, namespace, await ours.play(case, namespace)), full)


@asynccontextmanager
async def pair(
    folder: Path, release: Release = USUAL, gates: tuple[str, ...] = (), controllers: str = CONTROLLERS
) -> AsyncIterator[Pair]:
    """A real server of a release, and the embedded one with its Workload API; both with these gates on beyond their
    own."""
    async with AsyncExitStack() as stack:
        plane = Plane(folder, controllers=controllers, scheduler=False, release=release, gates=gates)
        stack.push_async_callback(plane.stop)
        await plane.start()
        told = settings()
        told.tokens = {TOKEN: "admin"}
        told.workload_versions = release.serves
        told.features |= set(gates)
        alone = Server(told)
        await alone.open()
        stack.push_async_callback(alone.close)
        helped = await stack.enter_async_context(controlled_server(told))
        session = await stack.enter_async_context(aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=trusting())))
        urls = []
        for server in (alone, helped):
            listener = await serve(server)
            stack.push_async_callback(listener.close)
            urls.append(listener.url)
        ours = folder / "embedded-kubeconfig"
        ours.write_text(kubeconfig(urls[1], helped.secrets.authority.pair.certificate, TOKEN))
        made = Pair(
            Player(sender(session, plane.url), TOKEN, lagging=True),
            Player(sender(session, urls[0]), TOKEN, lagging=False),
            Player(sender(session, urls[1]), TOKEN, lagging=True),
            (plane.kubeconfig, ours),
            await stack.enter_async_context(answerer()),
        )
        for player in (made.real, made.plain, made.controlled):
            await _install(player)
        yield made


async def _install(player: Player) -> None:
    """The kinds of the two halves."""
    for definition in crds():
        body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", **definition}
        await player.call(
            {"method": "POST", "path": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "body": body}
        )
    for definition in crds():
        spec = definition["spec"]
        path = f"/apis/{spec['group']}/{spec['versions'][-1]['name']}/{spec['names']['plural']}"
        for _ in range(600):
            if (await player.call({"method": "GET", "path": path}))["status"] == 200:
                break
            await asyncio.sleep(0.05)


def sender(session: aiohttp.ClientSession, url: str) -> Handle:
    """Requests over HTTP, as the player hands them to a server in process."""

    async def send(request: Request) -> Response:
        target = (
            URL(url + request.path, encoded=True).update_query(list(request.query))
            if request.query
            else URL(url + request.path, encoded=True)
        )
        answer = await session.request(
            request.method,
            target,
            data=request.body or None,
            headers=_headers(request),
            skip_auto_headers=("Content-Type", "Accept"),
        )
        told = Response(
            answer.status,
            content_type=answer.headers.get("Content-Type", ""),
            headers=answer.headers,
            warnings=_warnings(answer),
        )
        if request.argument("watch") and answer.status == 200:
            told.stream = _lines(answer)
        else:
            told.body = await answer.read()
        return told

    return send


def _headers(request: Request) -> CIMultiDict[str]:
    found: CIMultiDict[str] = CIMultiDict({"accept": request.accept})
    if request.body:
        found["content-type"] = request.content_type
    for name, value in request.headers.items():
        if name not in ("accept", "content-type"):
            found.extend([(name, item) for item in value.split("\n")])
    return found


def _warnings(answer: aiohttp.ClientResponse) -> tuple[str, ...]:
    told = ", ".join(answer.headers.getall("Warning", []))
    return tuple(re.sub(r"\\(.)", r"\1", text) for text in _WARNING.findall(told))


async def _lines(answer: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    try:
        while line := await answer.content.readline():
            yield line
    finally:
        answer.close()


def trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context

"""The dashboard on a server: it only reads, answers GET and HEAD, works with one half alone, and says when the cluster
is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from yarl import URL

from cli.test_whatif import give
from dashboard.seen import Given, gang, group, pod
from embedded import admin, embedded, until
from gangline.api import names
from gangline.api.crds import crds
from gangline.api.kinds import CRD, NAMESPACE, POD, POD_GANG, POD_GROUP, QUEUE, SUBJECT_ACCESS_REVIEW, TOKEN_REVIEW
from gangline.cli.connection import ClusterConnection
from gangline.client import Client, Request, Response, Transport
from gangline.client.kubeconfig import load, transport
from gangline.cluster.server.server import Server
from gangline.cluster.server.wire.http import serve
from gangline.components import COMPONENTS
from gangline.dashboard.following.follower import KINDS
from gangline.dashboard.service import Dashboard
from gangline.local import Platform, PlatformSettings, write_kubeconfig
from gangline.rights import READ, rights
from gangline.rules.explained_kinds import DECIDED_ON

GROVE, KAI = ("grove.io", "scheduler.grove.io"), ("scheduling.run.ai", "kai.scheduler")


class Browser:
    """Asks for addresses exactly as they are written."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session, self._url = session, url

    def ask(self, path: str, method: str = "GET", **headers: str) -> Any:
        return self._session.request(method, URL(f"{self._url}{path}", encoded=True), headers=headers)

    async def read(self, path: str) -> tuple[int, str]:
        async with self.ask(path) as answer:
            return answer.status, await answer.text()

    async def says(self, path: str, *words: str) -> bool:
        text = (await self.read(path))[1]
        return all(word in text for word in words)


@asynccontextmanager
async def shown(client: Client, *, complete: bool = True) -> AsyncIterator[Browser]:
    """A browser on a dashboard of this cluster."""
    dashboard = Dashboard.of(client, "here")
    url = await dashboard.start()
    try:
        if complete:
            await until(lambda: dashboard.complete, "the first reading")
        async with aiohttp.ClientSession() as session:
            yield Browser(session, url)
    finally:
        await dashboard.stop()


class Noting:
    """A transport that notes the verbs it carries."""

    def __init__(self, carrier: Transport) -> None:
        self._carrier, self.verbs = carrier, set[str]()

    async def send(self, request: Request) -> Response:
        self.verbs.add(request.method)
        return await self._carrier.send(request)

    async def close(self) -> None:
        await self._carrier.close()


@asynccontextmanager
async def half(*groups: str) -> AsyncIterator[Server]:
    """A server with the kinds of these groups only."""
    async with embedded() as server:
        client = admin(server)
        for crd in crds():
            if crd["spec"]["group"] in groups:
                await client.create(CRD, crd)
        await client.create(NAMESPACE, {"metadata": {"name": "work"}})
        yield server


async def put(server: Server, *objects: Given) -> None:
    """Create objects as they are, their status too."""
    client = admin(server)
    for kind, obj in objects:
        meta = {
            key: value
            for key, value in obj["metadata"].items()
            if key not in ("uid", "creationTimestamp", "ownerReferences")
        }
        await client.create(kind, {"metadata": meta, "spec": obj["spec"]})
        if obj.get("status"):
            await client.patch(kind, meta["name"], meta["namespace"], {"status": obj["status"]}, subresource="status")


def bare(name: str, group: str = "", **labels: str) -> Given:
    """A pod as a server takes it."""
    kind, obj = pod(name, group)
    obj["metadata"]["labels"] = {
        names.POD_GANG if key == "gang" else names.POD_CLIQUE: value for key, value in labels.items()
    }
    obj["spec"] = {"containers": [{"name": "main", "image": "app"}]}
    return kind, {key: value for key, value in obj.items() if key != "status"}


async def test_with_only_the_workload_half_gangs_are_told_by_their_conditions() -> None:
    async with half(*GROVE) as server:
        await put(
            server,
            gang("chat-0", {"w": 1}, "Pending", said="0/4 nodes are available"),
            bare("a", gang="chat-0", clique="w"),
        )
        async with shown(admin(server)) as page:
            await until(lambda: page.says("/", "chat-0", "0/4 nodes are available"), "the gang")
            assert await page.says("/", "This cluster does not serve queues.scheduling.run.ai.")
            assert (await page.read("/gang/work/chat-0"))[0] == 200


async def test_with_only_the_scheduler_half_gangs_are_pod_groups() -> None:
    async with half(*KAI) as server:
        await put(server, group("g", 1, why='{"text": "g waits: 2 GPUs short"}'), bare("a", group="g"))
        await admin(server).create(
            QUEUE, {"metadata": {"name": "q"}, "spec": {"resources": {"gpu": {"quota": 8, "limit": -1}}}}
        )
        async with shown(admin(server)) as page:
            await until(lambda: page.says("/", "2 GPUs short", "/queue/q"), "the gang and its queue")
            assert (await page.read("/gang/work/g"))[0] == 200 and (await page.read("/queue/q"))[0] == 200


async def test_with_neither_half_it_still_answers() -> None:
    async with embedded() as server, shown(admin(server)) as page:
        status, text = await page.read("/")
        assert status == 200 and "This cluster serves neither PodGangs nor PodGroups, so it has no gangs." in text


async def test_a_kind_that_is_installed_later_is_shown_without_a_restart() -> None:
    async with half(*GROVE) as server, shown(admin(server)) as page:
        for crd in crds():
            if crd["spec"]["group"] in KAI:
                await admin(server).create(CRD, crd)
        await put(server, group("late", 1), bare("a", group="late"))
        await until(lambda: page.says("/", "/gang/work/late"), "the gang of the new kind")


async def test_the_page_and_its_data_come_from_the_same_address() -> None:
    async with half(*GROVE, *KAI) as server:
        await put(server, group("g", 1), bare("a", group="g"))
        async with shown(admin(server)) as page:
            await until(lambda: page.says("/", "/gang/work/g"), "the gang")
            async with page.ask("/gang/work/g?format=json") as answer:
                data = await answer.json()
                assert (data["page"], data["gang"]["name"], data["gang"]["state"]) == ("gang", "g", "waiting")
            async with page.ask("/gang/work/none?format=json") as answer:
                assert (
                    answer.status == 404 and (await answer.json())["text"] == "There is no gang none in namespace work."
                )
            assert (await page.read("/?format=xml")) == (400, "There is ?format=json and ?format=html.\n")


async def test_it_answers_get_and_head_and_refuses_every_other_verb() -> None:
    async with embedded() as server, shown(admin(server)) as page:
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            async with page.ask("/", method) as answer:
                assert (
                    answer.status == 405
                    and answer.headers["Allow"] == "GET, HEAD"
                    and "only shows" in await answer.text()
                )
        async with page.ask("/", "HEAD") as answer:
            assert answer.status == 200 and int(answer.headers["Content-Length"]) > 1000 and await answer.read() == b""
        assert await page.read("/healthz") == (200, "ok") and (await page.read("/readyz"))[0] == 200


async def test_every_page_forbids_what_it_does_not_need() -> None:
    async with embedded() as server, shown(admin(server)) as page:
        for path in ("/", "/nothing/here", "/?format=json"):
            async with page.ask(path) as answer:
                policy = answer.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
                assert (
                    answer.headers["X-Content-Type-Options"] == "nosniff"
                    and answer.headers["Cache-Control"] == "no-store"
                )


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:1", 200),
        ("localhost", 200),
        ("[::1]:80", 200),
        ("evil.example", 403),
        ("[", 403),
        ("LOCALHOST:8080", 200),
        ("evil.example@127.0.0.1", 403),
        ("127.0.0.1/evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost?", 403),
    ],
)
async def test_a_foreign_name_that_leads_to_this_machine_is_refused(host: str, status: int) -> None:
    async with embedded() as server, shown(admin(server)) as page:
        for path in ("/", "/healthz", "/metrics", "/readyz", "/nothing", "/?format=json"):
            async with page.ask(path, Host=host) as answer:
                refused = (
                    "This page is served on this machine only; ask for it as http://127.0.0.1" in await answer.text()
                )
                assert (answer.status == 403, refused) == (status == 403, status == 403), path


@pytest.mark.parametrize(
    "path",
    [
        "/gang/work/%3Cscript%3Ealert",
        "/gang/a%2Fb/c",
        "/node/%FF",
        "/queue/" + "x" * 3000,
        "/..%2f..%2fetc",
        "//",
        "/?nodes=-3",
        "/?q=%00%FF",
    ],
)
async def test_a_strange_address_is_answered_and_never_breaks_it(path: str) -> None:
    async with embedded() as server, shown(admin(server)) as page, page.ask(path) as answer:
        assert answer.status in (200, 404) and "<script>alert" not in await answer.text()


async def test_a_slash_inside_a_name_stays_inside_it() -> None:
    async with embedded() as server, shown(admin(server)) as page:
        assert await page.says("/gang/a%2Fb/c", "There is no gang c in namespace a/b.")


async def test_a_cluster_that_cannot_be_reached_is_said_and_the_page_comes_anyway(tmp_path: Path) -> None:
    config = {
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    (tmp_path / "config").write_text(str(config))
    client = Client(transport(load(tmp_path / "config")), retries=0)
    async with shown(client, complete=False) as page:
        await until(lambda: page.says("/", "The cluster is not reachable.", "It has not answered yet."), "the alarm")
    await client.close()


async def test_a_cluster_that_goes_away_leaves_what_was_known_with_its_age(tmp_path: Path) -> None:
    platform = Platform(PlatformSettings(components=()))
    await platform.start()
    listener = await serve(platform.server, "127.0.0.1", 0)
    client = Client(transport(load(write_kubeconfig(platform, listener.url, tmp_path / "config"))), retries=0)
    try:
        async with shown(client) as page:
            await until(lambda: page.says("/", "default-queue", "last heard"), "the queue")
            await listener.close()
            await until(
                lambda: page.says("/", "default-queue", "The cluster is not reachable.", "said last"), "the alarm"
            )
    finally:
        await client.close()
        await platform.stop()


async def test_with_its_own_account_and_no_more_it_shows_the_examples_of_the_platform() -> None:
    platform = Platform(PlatformSettings())
    await platform.start()
    try:
        await give(ClusterConnection(platform.admin, "default", "here"), "04-waiting", "03-job")
        await platform.settles()
        noting = Noting(platform.connect("dashboard").transport)
        async with shown(Client(noting)) as page:
            await until(
                lambda: page.says("/", "large-0", "8 GPUs short", "would start if", "/node/node-0"), "the waiting gang"
            )
            assert "Cannot be read" not in (await page.read("/"))[1]
            for path in ("/gang/default/large-0", "/gang/default/train", "/queue/default-queue", "/node/node-0"):
                assert (await page.read(path))[0] == 200
            await until(
                lambda: page.says("/map?colour=idle", "shortage, default/large-0 waits", "Worked out"), "idle causes"
            )
            await until(lambda: page.says("/queues", "fair share", "Worked out"), "fair shares")
        assert noting.verbs == {"GET"}
    finally:
        await platform.stop()


def test_its_rights_are_to_read_what_it_shows_and_to_ask_who_may_see_it() -> None:
    mine = rights()["dashboard"]
    asks = {TOKEN_REVIEW: ("create",), SUBJECT_ACCESS_REVIEW: ("create",)}
    assert {right.kind for right in mine} == {*KINDS, *DECIDED_ON, *asks}
    assert all(right.verbs == asks.get(right.kind, READ) and not right.subresource for right in mine)
    assert {POD, POD_GANG, POD_GROUP} <= set(KINDS) and "dashboard" not in COMPONENTS

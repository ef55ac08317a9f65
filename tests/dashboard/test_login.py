"""Login: a token or a proxy says who looks, the cluster says what they may list, and they see that and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from typing import Any

import aiohttp
import msgspec
import pytest

from dashboard.seen import group, look, node, pod, queue
from dashboard.test_service import GROVE, KAI, bare, half, put
from embedded import admin, until
from gangline.api.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, NAMESPACE, ROLE_BINDING, SERVICE_ACCOUNT
from gangline.cluster.server.server import Server
from gangline.dashboard.login.gates import Gate, ProxyGate, TokenGate
from gangline.dashboard.login.reviews import AccessReviews
from gangline.dashboard.login.scope import STRANGER, ViewScope, narrowed
from gangline.dashboard.login.sessions import LASTS, MOST, LoginSessions
from gangline.dashboard.pages import map_page, overview, page
from gangline.dashboard.service import Dashboard
from gangline.dashboard.views import document
from gangline.runtime import SystemClock

HERE = [ip_network("127.0.0.0/8")]
READS = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]


@asynccontextmanager
async def guarded(server: Server, gate: Gate) -> AsyncIterator[tuple[aiohttp.ClientSession, str]]:
    dashboard = Dashboard.of(admin(server), "here", gate=gate)
    url = await dashboard.start()
    try:
        await until(lambda: dashboard.complete, "the first reading")
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
            yield session, url
    finally:
        await dashboard.stop()


@asynccontextmanager
async def two_namespaces() -> AsyncIterator[tuple[Server, str]]:
    """A server with a gang in `work` and one in `other`; and the token of an account that may list pods in `work`."""
    async with half(*GROVE, *KAI) as server:
        client = admin(server)
        await client.create(NAMESPACE, {"metadata": {"name": "other"}})
        await put(server, group("mine"), bare("mine-0", group="mine"))
        for kind, obj in (group("secret"), bare("secret-0", group="secret")):
            obj["metadata"]["namespace"] = "other"
            await put(server, (kind, obj))
        await client.create(SERVICE_ACCOUNT, {"metadata": {"name": "ann", "namespace": "work"}})
        await client.create(CLUSTER_ROLE, {"metadata": {"name": "reads-pods"}, "rules": READS})
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reads-pods"}
        subjects = [{"kind": "ServiceAccount", "name": "ann", "namespace": "work"}, {"kind": "User", "name": "bob"}]
        subjects[1]["apiGroup"] = "rbac.authorization.k8s.io"
        await client.create(
            ROLE_BINDING, {"metadata": {"name": "ann", "namespace": "work"}, "roleRef": role, "subjects": subjects}
        )
        everyone = [{"kind": "Group", "name": "admins", "apiGroup": "rbac.authorization.k8s.io"}]
        await client.create(
            CLUSTER_ROLE_BINDING, {"metadata": {"name": "admins"}, "roleRef": role, "subjects": everyone}
        )
        yield server, await token_of(server, "ann")


async def token_of(server: Server, name: str) -> str:
    path = f"/api/v1/namespaces/work/serviceaccounts/{name}/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    answer = await admin(server).send("POST", path, msgspec.json.encode(body))
    return str(msgspec.json.decode(answer.body)["status"]["token"])


def token_gate(server: Server) -> TokenGate:
    return TokenGate(AccessReviews(admin(server), SystemClock()), SystemClock())


async def gangs(session: aiohttp.ClientSession, url: str, **headers: str) -> Any:
    async with session.get(f"{url}/gangs?format=json", headers=headers) as answer:
        if answer.status != 200:
            return answer.status
        return {row["name"] for row in (await answer.json())["gangs"]["rows"]}


async def test_without_a_token_nothing_is_shown() -> None:
    async with two_namespaces() as (server, _), guarded(server, token_gate(server)) as (session, url):
        for path in ("/", "/map?format=json", "/gang/work/mine", "/live", "/time"):
            async with session.get(f"{url}{path}", headers={"Authorization": "Bearer wrong"}) as answer:
                text = await answer.text()
                assert answer.status == 401 and "mine" not in text, path
        async with session.get(url, headers={"Accept": "text/html"}) as answer:
            assert answer.status == 401 and "A token of this cluster" in await answer.text()


async def test_a_token_shows_the_namespaces_that_its_own_rights_let_it_list() -> None:
    async with two_namespaces() as (server, token), guarded(server, token_gate(server)) as (session, url):
        mine = {"Authorization": f"Bearer {token}"}
        await until(lambda: _is(gangs(session, url, **mine), {"mine"}), "the gang of the account's namespace")
        async with session.get(f"{url}/gang/other/secret", headers=mine) as answer:
            assert answer.status == 404
        async with session.get(url, headers=mine) as answer:
            text = await answer.text()
            assert "secret" not in text and "Not shown: nodes and queues, which you may not list." in text


async def _is(asked: Any, wanted: Any) -> bool:
    return bool(await asked == wanted)


async def test_a_browser_logs_in_once_and_out_again() -> None:
    async with two_namespaces() as (server, token), guarded(server, token_gate(server)) as (session, url):
        async with session.post(f"{url}/login", data={"token": "wrong"}) as answer:
            assert answer.status == 401 and "does not know this token" in await answer.text()
        async with session.post(f"{url}/login", data={"token": token}, allow_redirects=False) as answer:
            cookie = answer.headers["Set-Cookie"]
            assert answer.status == 303 and "HttpOnly" in cookie and "SameSite=Strict" in cookie and token not in cookie
        async with session.get(url) as answer:
            text = await answer.text()
            assert "system:serviceaccount:work:ann" in text and "Log out" in text
        async with session.post(f"{url}/logout", allow_redirects=False) as answer:
            assert answer.status == 303
        assert await gangs(session, url) == 401


@pytest.mark.parametrize(
    ("to", "where"),
    [
        ("/gang/work/mine?x=1", "/gang/work/mine?x=1"),
        ("//evil.example/", "/"),
        ("/\\evil.example/", "/"),
        ("https://evil.example/", "/"),
        ("/a\r\nSet-Cookie: b=c", "/"),
        ("", "/"),
    ],
)
async def test_who_logs_in_comes_to_the_page_that_was_asked_for_and_to_no_other_site(to: str, where: str) -> None:
    async with two_namespaces() as (server, token), guarded(server, token_gate(server)) as (session, url):
        form = {"token": token, "to": to}
        async with session.post(f"{url}/login", data=form, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (303, where)


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (403, {"Origin": "https://evil.example"}),
        (403, {"Origin": "null"}),
        (403, {"Sec-Fetch-Site": "cross-site"}),
        (403, {"Sec-Fetch-Site": "same-site", "Origin": "https://evil.example"}),
        (303, {"Sec-Fetch-Site": "same-origin", "Origin": "https://behind.a.proxy.example"}),
        (303, {}),
    ],
)
async def test_another_site_cannot_log_anybody_in(status: int, headers: dict[str, str]) -> None:
    async with two_namespaces() as (server, token), guarded(server, token_gate(server)) as (session, url):
        form = {"token": token}
        async with session.post(f"{url}/login", data=form, headers=headers, allow_redirects=False) as answer:
            assert answer.status == status


async def test_a_proxy_says_who_asks() -> None:
    async with two_namespaces() as (server, _):
        gate = ProxyGate(AccessReviews(admin(server), SystemClock()), HERE, "X-User", "X-Groups")
        async with guarded(server, gate) as (session, url):
            assert await gangs(session, url) == 401
            await until(lambda: _is(gangs(session, url, **{"X-User": "bob"}), {"mine"}), "what bob may list")
            assert await gangs(session, url, **{"X-User": "eve"}) == set()
            assert await gangs(session, url, **{"X-User": "eve", "X-Groups": "x, admins"}) == {"mine", "secret"}


async def test_who_is_not_the_proxy_is_not_believed() -> None:
    async with two_namespaces() as (server, _):
        reviews = AccessReviews(admin(server), SystemClock())
        gate = ProxyGate(reviews, [ip_network("10.9.0.0/16")], "X-User", "X-Groups")
        async with guarded(server, gate) as (session, url):
            assert await gangs(session, url, **{"X-User": "bob", "X-Groups": "admins"}) == 401


async def answered(url: str, *lines: bytes) -> bytes:
    """The first line of the answer to a page with these header lines, byte by byte as they are."""
    host = url.removeprefix("http://")
    reader, writer = await asyncio.open_connection(*host.split(":"))
    head = (b"GET /gangs HTTP/1.1", b"Host: " + host.encode(), b"Connection: close", *lines)
    writer.write(b"\r\n".join((*head, b"", b"")))
    whole = await reader.read()
    writer.close()
    return whole.partition(b"\r\n")[0]


async def test_a_header_that_is_no_text_names_nobody() -> None:
    async with two_namespaces() as (server, _), guarded(server, token_gate(server)) as (_, url):
        assert await answered(url, b"Authorization: Bearer \xff\xfe") == b"HTTP/1.1 401 Unauthorized"
        assert await answered(url, b"Cookie: gangline-session=\xff") == b"HTTP/1.1 401 Unauthorized"
    async with two_namespaces() as (server, _):
        gate = ProxyGate(AccessReviews(admin(server), SystemClock()), HERE, "X-User", "X-Groups")
        async with guarded(server, gate) as (_, url):
            assert await answered(url, b"X-User: \xff\xfe") == b"HTTP/1.1 401 Unauthorized"
            assert await answered(url, b"X-User: bob", b"X-Groups: \xff") == b"HTTP/1.1 401 Unauthorized"


async def test_two_names_from_a_proxy_are_nobodys() -> None:
    async with two_namespaces() as (server, _):
        gate = ProxyGate(AccessReviews(admin(server), SystemClock()), HERE, "X-User", "X-Groups")
        async with guarded(server, gate) as (_, url):
            assert await answered(url, b"X-User: bob") == b"HTTP/1.1 200 OK"
            assert await answered(url, b"X-User: bob", b"X-User: eve") == b"HTTP/1.1 401 Unauthorized"


async def test_a_login_with_too_much_in_it_is_none() -> None:
    async with two_namespaces() as (server, token), guarded(server, token_gate(server)) as (session, url):
        many = {"token": token} | {f"field-{number}": "x" for number in range(5)}
        async with session.post(f"{url}/login", data=many, allow_redirects=False) as answer:
            words = "A login holds a token and the address to go to, and nothing else.\n"
            assert (answer.status, await answer.text()) == (400, words)


def test_gpus_of_other_namespaces_are_used_by_nobody_one_knows() -> None:
    view = look(node("n", 8), group("g"), pod("secret-0", "g", 3, on="n"), queue("q"))
    mine = narrowed(view, ViewScope(frozenset({"elsewhere"})))
    assert overview(mine, {}).counts.gpus_used == 3 and map_page(mine, {}).counts.free == 5
    text = document(page(mine, ["node", "n"], {})) + document(overview(mine, {})) + document(map_page(mine, {}))
    assert "secret" not in text and STRANGER in text


@pytest.mark.parametrize(("offset", "known"), [(0.0, True), (LASTS - 1, True), (LASTS + 1, False)])
def test_a_session_ends_with_its_time(offset: float, known: bool) -> None:
    sessions = LoginSessions()
    word = sessions.begin("token", 0.0)
    assert bool(sessions.token(word, offset)) is known and not sessions.token("guess", 0.0)


def test_sessions_are_bounded_in_number() -> None:
    sessions = LoginSessions()
    words = [sessions.begin("token", 0.0) for _ in range(MOST + 1)]
    assert not sessions.token(words[0], 1.0) and sessions.token(words[-1], 1.0)

"""The gate before the pages: who asks, by a token or by what a proxy in front says; or nobody is asked.

Used by service.py for every page and stream. A request that is not let in gets an answer that says what to do; it never
learns anything of the cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Protocol
from urllib.parse import parse_qs

import msgspec
from aiohttp import web

from gangline.dashboard.login.login_view import login_page
from gangline.dashboard.login.reviews import LONGEST, AccessReviews, is_text
from gangline.dashboard.login.scope import EVERYTHING, NOTHING, Viewer, ViewScope
from gangline.dashboard.login.sessions import LASTS, LoginSessions
from gangline.dashboard.replies import HTML, plain_reply
from gangline.dashboard.writing.sheet import HEADERS
from gangline.runtime import Clock
from gangline.runtime.health import HttpPage

COOKIE = "gangline-session"
LOGIN, LOGOUT = "/login", "/logout"
OWN_ADDRESS = re.compile(r"/(?!/)[!-\[\]-~]{0,1000}")
"""No second slash, no backslash, no space and no control character."""
Network = IPv4Network | IPv6Network
Namespaces = Callable[[], frozenset[str]]
"""Every namespace that has something to show."""


class Gate(Protocol):
    async def desk(self, request: web.Request) -> HttpPage | None:
        """Answers what belongs to logging in and out; None: it is something else."""

    async def refusal(self, request: web.Request) -> HttpPage | None:
        """What is answered instead of a page; None: come in."""

    async def scope(self, request: web.Request, namespaces: Namespaces) -> ViewScope:
        """What a user who logged in may see."""


class OpenGate:
    """Everybody sees everything."""

    async def desk(self, request: web.Request) -> HttpPage | None:
        return None

    async def refusal(self, request: web.Request) -> HttpPage | None:
        return None

    async def scope(self, request: web.Request, namespaces: Namespaces) -> ViewScope:
        return EVERYTHING


class ProxyGate:
    """A proxy in front has asked already; only its address is believed."""

    def __init__(self, reviews: AccessReviews, trusted: Sequence[Network], user: str, groups: str) -> None:
        self._reviews, self._trusted, self._user, self._groups = reviews, tuple(trusted), user, groups

    async def desk(self, request: web.Request) -> HttpPage | None:
        return None

    async def refusal(self, request: web.Request) -> HttpPage | None:
        if self._viewer(request) is not None:
            return None
        return plain_reply(401, f"Only the proxy in front may ask, and it must say who asks, once, in {self._user}.")

    async def scope(self, request: web.Request, namespaces: Namespaces) -> ViewScope:
        viewer = self._viewer(request)
        return await self._reviews.scope(viewer, namespaces()) if viewer is not None else NOTHING

    def _viewer(self, request: web.Request) -> Viewer | None:
        """Two names are nobody's: one of them may not be the proxy's."""
        names = request.headers.getall(self._user, ())
        name, given = "".join(names), ",".join(request.headers.getall(self._groups, ()))
        try:
            address = ip_address((request.remote or "").partition("%")[0])
        except ValueError:
            return None
        if len(names) != 1 or not name or not is_text(name + given):
            return None
        if not any(address in network for network in self._trusted):
            return None
        groups = [group.strip() for group in given.split(",") if group.strip()]
        return Viewer(name, (*dict.fromkeys([*groups, "system:authenticated"]),))


class TokenGate:
    """A token of the cluster, in a header or given once at /login."""

    def __init__(self, reviews: AccessReviews, clock: Clock) -> None:
        self._reviews, self._clock = reviews, clock
        self._sessions = LoginSessions()

    async def desk(self, request: web.Request) -> HttpPage | None:
        if request.path == LOGIN and request.method == "POST":
            return await self._log_in(request)
        if request.path == LOGOUT and request.method == "POST" and _from_here(request.headers):
            self._sessions.end(request.cookies.get(COOKIE, ""))
            return _moved("/login", f"{COOKIE}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict")
        return _asks() if request.path == LOGIN else None

    async def refusal(self, request: web.Request) -> HttpPage | None:
        if await self._reviews.viewer(self._token(request)) is not None:
            return None
        wants_page = "text/html" in request.headers.get("Accept", "") and request.method == "GET"
        if wants_page:
            return _asks(status=401, to=request.raw_path)
        words = "Log in at /login, or send a token of the cluster: Authorization: Bearer TOKEN."
        return plain_reply(401, words, {"WWW-Authenticate": "Bearer"})

    async def scope(self, request: web.Request, namespaces: Namespaces) -> ViewScope:
        viewer = await self._reviews.viewer(self._token(request))
        if viewer is None:
            return NOTHING
        session = COOKIE in request.cookies and "Authorization" not in request.headers
        return msgspec.structs.replace(await self._reviews.scope(viewer, namespaces()), leaves=session)

    def _token(self, request: web.Request) -> str:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return token.strip()
        return self._sessions.token(request.cookies.get(COOKIE, ""), self._clock.now())

    async def _log_in(self, request: web.Request) -> HttpPage:
        if not _from_here(request.headers):
            return plain_reply(403, "Log in from the page itself.")
        body = (await request.read())[: LONGEST + 2000]
        try:
            form = parse_qs(body.decode(errors="replace"), max_num_fields=4)
        except ValueError:
            return plain_reply(400, "A login holds a token and the address to go to, and nothing else.")
        token, to = form.get("token", [""])[0].strip(), _own_address(form.get("to", ["/"])[0])
        if await self._reviews.viewer(token) is None:
            return _asks("The cluster does not know this token, or did not answer.", 401, to)
        word = self._sessions.begin(token, self._clock.now())
        secure = "; Secure" if "https" in (request.scheme, request.headers.get("X-Forwarded-Proto", "")) else ""
        return _moved(to, f"{COOKIE}={word}; Max-Age={int(LASTS)}; Path=/; HttpOnly; SameSite=Strict{secure}")


def _from_here(headers: Mapping[str, str]) -> bool:
    """A form of another site is not ours. A browser says so itself where it trusts the connection; a proxy in front may
    have changed the host."""
    origin, site = headers.get("Origin", ""), headers.get("Sec-Fetch-Site", "")
    if site:
        return site in ("same-origin", "none")
    return not origin or origin.partition("://")[2] == headers.get("Host", "")


def _asks(problem: str = "", status: int = 200, to: str = "/") -> HttpPage:
    return HttpPage(login_page(problem, to).encode(errors="replace"), HTML, status, HEADERS)


def _own_address(to: str) -> str:
    """A path of this page, or its first one: nobody is sent to another site."""
    return to if OWN_ADDRESS.fullmatch(to) else "/"


def _moved(where: str, cookie: str) -> HttpPage:
    return plain_reply(303, "See " + where, {"Location": where, "Set-Cookie": cookie})

"""The same hooks, for real clusters: an HTTPS server that answers AdmissionReviews.

Each path of registration.py is answered by the hooks behind it; what a hook returns becomes an AdmissionReview, a
change becomes a JSON patch. An object that is not ours is always allowed. Deciding is the hooks' affair; nothing here
decides."""

from __future__ import annotations

import base64
import logging
import ssl
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from gangline.admission.certificates import WebhookKeyPair
from gangline.admission.registration import MUTATE, routes
from gangline.api.meta import Raw
from gangline.rules.hooks import Denied, Hook, HookReview
from gangline.rules.values.documents import DocumentUnreadable, read_json
from gangline.runtime.health import runner

log = logging.getLogger(__name__)
BODY_LIMIT = 8 * 1024 * 1024


def answer(path: str, hooks: Sequence[Hook], asked: Raw) -> Raw:
    """The AdmissionReview that answers one."""
    request = asked["request"]
    mutating = path.startswith(f"/{MUTATE}-")
    response = _completed(hooks, request) if mutating else _checked(hooks, request)
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": request["uid"], **response},
    }


def review_of(request: Raw, obj: Raw | None = None) -> HookReview:
    user = request.get("userInfo") or {}
    sent = obj or request.get("object") or request.get("oldObject") or {}
    return HookReview(
        request["operation"],
        sent,
        request.get("oldObject"),
        request.get("namespace", ""),
        request.get("name", ""),
        user.get("username", ""),
        tuple(user.get("groups") or ()),
        request.get("subResource", ""),
        bool(request.get("dryRun")),
    )


def _completed(hooks: Sequence[Hook], request: Raw) -> Raw:
    before = request.get("object") or {}
    obj = before
    for hook in hooks:
        review = review_of(request, obj)
        if hook.mutate is None or request["operation"] not in hook.operations or not hook.asks(review):
            continue
        changed = hook.mutate(review)
        if isinstance(changed, Denied):
            return _refused(changed)
        obj = changed
    patch = list(changes(before, obj))
    return {"allowed": True} | (
        {"patchType": "JSONPatch", "patch": base64.b64encode(msgspec.json.encode(patch)).decode()} if patch else {}
    )


def _checked(hooks: Sequence[Hook], request: Raw) -> Raw:
    review = review_of(request)
    warnings: list[str] = []
    for hook in hooks:
        if hook.validate is None or request["operation"] not in hook.operations or not hook.asks(review):
            continue
        warnings += hook.warn(review)
        denied = hook.validate(review)
        if denied is not None:
            return _refused(denied) | ({"warnings": warnings} if warnings else {})
    return {"allowed": True} | ({"warnings": warnings} if warnings else {})


def _refused(denied: Denied) -> Raw:
    status: Raw = {"message": denied.message, "code": denied.code, "reason": denied.reason}
    if denied.problems:
        status["details"] = {
            "causes": [
                {"reason": problem.kind, "message": problem.message, "field": problem.path}
                for problem in denied.problems
            ]
        }
    return {"allowed": False, "status": status}


def changes(before: Any, after: Any, path: str = "") -> Iterator[Raw]:
    """The JSON patch from one value to another: objects are compared key by key, anything else is replaced whole."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        if before != after:
            yield {"op": "replace", "path": path, "value": after}
        return
    for key in sorted(before.keys() | after.keys()):
        inner = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
        if key not in after:
            yield {"op": "remove", "path": inner}
        elif key not in before:
            yield {"op": "add", "path": inner, "value": after[key]}
        else:
            yield from changes(before[key], after[key], inner)


def application(hooks: Iterable[Hook]) -> web.Application:
    """An aiohttp application with a route per path, and `/healthz`."""
    app = web.Application(client_max_size=BODY_LIMIT)
    for path, behind in routes(hooks).items():
        app.router.add_post(path, _handler(path, behind))
    app.router.add_get("/healthz", _healthy)
    return app


def _handler(path: str, hooks: list[Hook]) -> Any:
    async def handle(request: web.Request) -> web.Response:
        try:
            said = answer(path, hooks, read_json(await request.read()))
        except (DocumentUnreadable, AttributeError, KeyError, TypeError) as error:
            return web.Response(status=400, text=f"not an AdmissionReview: {error}")
        return web.Response(body=msgspec.json.encode(said), content_type="application/json")

    return handle


async def _healthy(request: web.Request) -> web.Response:
    return web.Response(text="ok")


class WebhookListener:
    """The application behind a socket with TLS."""

    def __init__(self, hooks: Iterable[Hook], pair: WebhookKeyPair, host: str = "0.0.0.0", port: int = 9443) -> None:
        self._runner = runner(application(hooks))
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.minimum_version = ssl.TLSVersion.TLSv1_2
        self._host, self.port = host, port
        self.renew(pair)

    def renew(self, pair: WebhookKeyPair) -> None:
        """Show another certificate from now on; open connections stay."""
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = Path(folder) / "tls.crt", Path(folder) / "tls.key"
            certificate.write_bytes(pair.certificate)
            key.touch(mode=0o600)
            key.write_bytes(pair.key)
            self._tls.load_cert_chain(certificate, key)

    async def start(self) -> None:
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self.port, ssl_context=self._tls)
        await site.start()
        self.port = self._runner.addresses[0][1]
        log.info("admission listens on port %d", self.port)

    async def stop(self) -> None:
        await self._runner.cleanup()

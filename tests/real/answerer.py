"""A webhook server that answers as its path says, so that request scripts can tell what each answer does; both servers
of a pair call it.

/allow  /warn  /notes  /deny  /deny/message=…/code=…/reason=…  /silent (denies without a word)
/echo (denies, and says what it was asked)  /label/key=…/value=…  /trail/mark=… (appends to the annotation "trail")
/rename  /absent (removes what is not there)  /shapeless (a patch that is none)
/slow  /error  /garbage  /stranger (answers another question)  /nothing (no response)
/convert answers a ConversionReview (converting.py)
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiohttp import web

from gangline.admission.certificates import WebhookKeyPair, self_signed
from real.converting import conversion_review

Obj = dict[str, Any]
SLOW = 8.0


@dataclass(frozen=True, slots=True)
class Answerer:
    url: str
    authority: str
    """What a webhook's caBundle says."""

    def written_into(self, case: Obj) -> Obj:
        """A script with `<hook>` and `<authority>` filled in."""
        text = json.dumps(case).replace("<hook>", self.url).replace("<authority>", self.authority)
        filled: Obj = json.loads(text)
        return filled


@asynccontextmanager
async def answerer() -> AsyncIterator[Answerer]:
    pair = self_signed(("127.0.0.1", "localhost"), datetime.now(UTC))
    app = web.Application()
    app.router.add_post("/{way:.*}", _answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=_tls(pair))
    await site.start()
    try:
        port = runner.addresses[0][1]
        yield Answerer(f"https://127.0.0.1:{port}", base64.b64encode(pair.certificate).decode())
    finally:
        await runner.cleanup()


async def _answer(request: web.Request) -> web.Response:
    way, *more = request.path.strip("/").split("/")
    told = dict(part.split("=", 1) for part in more)
    sent: Obj = await request.json()
    asked: Obj = sent["request"]
    if way == "slow":
        await asyncio.sleep(SLOW)
    if way == "error":
        return web.Response(status=500, text="out of order")
    if way == "garbage":
        return web.Response(text="not json", content_type="application/json")
    if sent["kind"] == "ConversionReview":
        return web.json_response(conversion_review(sent, told))
    review: Obj = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    if way != "nothing":
        known = WAYS.get(way, _allow)
        review["response"] = {"uid": asked["uid"], "allowed": True, **known(asked, told)}
    return web.json_response(review)


def _allow(asked: Obj, told: dict[str, str]) -> Obj:
    return {}


def _deny(asked: Obj, told: dict[str, str]) -> Obj:
    status: Obj = {key: value for key, value in told.items() if key in ("message", "reason")}
    return {"allowed": False, "status": status | ({"code": int(told["code"])} if "code" in told else {})}


def _echo(asked: Obj, told: dict[str, str]) -> Obj:
    said = {key: value for key, value in asked.items() if key != "uid"}
    said["userInfo"] = {key: value for key, value in said["userInfo"].items() if key != "extra"}
    causes = [
        {"field": key, "message": json.dumps(value, sort_keys=True, separators=(",", ":"))}
        for key, value in sorted(said.items())
    ]
    return {"allowed": False, "status": {"message": "this was asked", "details": {"causes": causes}}}


def _label(asked: Obj, told: dict[str, str]) -> Obj:
    meta = asked["object"]["metadata"]
    first = [] if "labels" in meta else [{"op": "add", "path": "/metadata/labels", "value": {}}]
    return _patched([*first, {"op": "add", "path": f"/metadata/labels/{told['key']}", "value": told["value"]}])


def _trail(asked: Obj, told: dict[str, str]) -> Obj:
    noted = asked["object"]["metadata"].get("annotations") or {}
    return _patched(
        [
            {
                "op": "add",
                "path": "/metadata/annotations",
                "value": noted | {"trail": noted.get("trail", "") + told["mark"]},
            }
        ]
    )


def _patched(operations: Any) -> Obj:
    return {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(operations).encode()).decode()}


WAYS: dict[str, Callable[[Obj, dict[str, str]], Obj]] = {
    "deny": _deny,
    "silent": lambda asked, told: {"allowed": False},
    "echo": _echo,
    "label": _label,
    "trail": _trail,
    "rename": lambda asked, told: _patched([{"op": "replace", "path": "/metadata/name", "value": "other"}]),
    "absent": lambda asked, told: _patched([{"op": "remove", "path": "/data/k"}]),
    "shapeless": lambda asked, told: _patched({"op": "remove"}),
    "warn": lambda asked, told: {"warnings": ["mind the gap", "and the step"]},
    "stranger": lambda asked, told: {"uid": "11111111-2222-3333-4444-555555555555"},
    "notes": lambda asked, told: {"auditAnnotations": {"seen": "yes"}},
}


def _tls(pair: WebhookKeyPair) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = Path(folder, "crt"), Path(folder, "key")
        certificate.write_bytes(pair.certificate)
        key.write_bytes(pair.key)
        context.load_cert_chain(certificate, key)
    return context

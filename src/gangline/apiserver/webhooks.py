"""Calling admission webhooks: Mutating- and ValidatingWebhookConfigurations that lie in the store, over HTTPS.

Mutating ones are called one after the other (and once more where they ask for it and others changed the object after them), validating
ones together. A webhook that cannot be reached counts as its failurePolicy says.
"""

from __future__ import annotations

import asyncio
import base64
import copy
import ssl
import uuid
from collections.abc import Iterator
from typing import Any

import aiohttp
import msgspec

from gangline.apiserver.admission import Review
from gangline.apiserver.core import Core
from gangline.apiserver.matching import conditions_hold, exempt, request_of, rule_matches, selectors_match
from gangline.apiserver.patch import PatchFailed, json_patch
from gangline.apiserver.status import bad_request, failure
from gangline.apiserver.store import Change, ShelfKey
from gangline.errors import ApiError, api_error
from gangline.schema.cel import CelError

GROUP = "admissionregistration.k8s.io"
MUTATING, VALIDATING = "mutatingwebhookconfigurations", "validatingwebhookconfigurations"
DEFAULT_SECONDS = 10
Obj = dict[str, Any]


class Webhooks:
    def __init__(self, core: Core) -> None:
        self._core = core
        self._session: aiohttp.ClientSession | None = None
        self._hooks: dict[str, list[Obj]] = {MUTATING: [], VALIDATING: []}
        for plural in self._hooks:
            self._read(plural)
        core.store.listeners.append(self._note)

    def _note(self, key: ShelfKey, change: Change) -> None:
        if key[0] == GROUP and key[1] in self._hooks:
            self._read(key[1])

    def _read(self, plural: str) -> None:
        """All webhooks, in the order of their configurations' names."""
        objects = [record.object() for record in self._core.store.shelf((GROUP, plural)).listing()]
        self._hooks[plural] = [hook for obj in objects for hook in obj.get("webhooks") or []]
        self._core.admission.mutating_hook = self.mutate if self._hooks[MUTATING] else None
        self._core.admission.validating_hook = self.validate if self._hooks[VALIDATING] else None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def mutate(self, review: Review) -> None:
        called: list[tuple[Obj, Obj | None]] = []
        for hook in self._about(MUTATING, review):
            await self._change(hook, review)
            called.append((hook, copy.deepcopy(review.object)))
        for hook, left in called:
            if hook.get("reinvocationPolicy") == "IfNeeded" and left != review.object:
                await self._change(hook, review)

    async def _change(self, hook: Obj, review: Review) -> None:
        answer = await self._call(hook, review)
        if answer is None or not answer.get("patch") or review.object is None:
            return
        try:
            operations = msgspec.json.decode(base64.b64decode(answer["patch"]))
            review.object = json_patch(review.object, operations)
        except (PatchFailed, msgspec.MsgspecError, ValueError) as error:
            raise _internal(hook, f"its patch cannot be applied: {error}") from None

    async def validate(self, review: Review) -> None:
        answers = await asyncio.gather(*(self._call(hook, review) for hook in self._about(VALIDATING, review)), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer

    def _about(self, plural: str, review: Review) -> Iterator[Obj]:
        if exempt(review):
            return
        record = self._core.store.get(("", "namespaces"), ("", review.namespace)) if review.namespace else None
        namespace = record.object() if record else None
        for hook in self._hooks[plural]:
            if not any(rule_matches(rule, review) for rule in hook.get("rules") or []):
                continue
            if selectors_match(hook, review, namespace) and self._holds(hook, review, namespace):
                yield hook

    def _holds(self, hook: Obj, review: Review, namespace: Obj | None) -> bool:
        try:
            return conditions_hold(hook.get("matchConditions") or [], review, namespace)
        except CelError as error:
            if hook.get("failurePolicy") == "Ignore":
                return False
            raise _internal(hook, f"match conditions cannot be evaluated: {error}") from None

    async def _call(self, hook: Obj, review: Review) -> Obj | None:
        """The webhook's answer; None if it could not be had and that does not matter."""
        if review.dry_run and hook.get("sideEffects") not in ("None", "NoneOnDryRun"):
            raise bad_request(f'admission webhook "{hook["name"]}" does not support dry run')
        try:
            answer = await self._ask(hook, review)
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError, KeyError, msgspec.MsgspecError) as error:
            if hook.get("failurePolicy") == "Ignore":
                return None
            raise _internal(hook, f"failed to call webhook: {_told(error)}") from None
        review.warnings.extend(answer.get("warnings") or [])
        if not answer.get("allowed"):
            raise denied(hook["name"], answer.get("status") or {})
        return answer

    async def _ask(self, hook: Obj, review: Review) -> Obj:
        question = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {
            "uid": str(uuid.uuid4()), **request_of(review), "object": review.object, "oldObject": review.old}}
        seconds = hook.get("timeoutSeconds") or DEFAULT_SECONDS
        client = hook["clientConfig"]
        url = self._url(client)
        if self._session is None:
            self._session = aiohttp.ClientSession()
        async with self._session.post(url, params={"timeout": f"{seconds}s"}, data=msgspec.json.encode(question), ssl=_tls(client),
                                      headers={"Content-Type": "application/json"}, timeout=aiohttp.ClientTimeout(seconds),
                                      server_hostname=_server_name(client)) as answer:
            if answer.status != 200:
                raise ValueError(f"{url} answered {answer.status}")
            found = msgspec.json.decode(await answer.read())
        response: Obj = found["response"]
        if response.get("uid") != question["request"]["uid"]:  # type: ignore[index]
            raise ValueError("its answer is to another question")
        return response

    def _url(self, client: Obj) -> str:
        if client.get("url"):
            return str(client["url"])
        service = client["service"]
        place = self._core.service_address(service["namespace"], service["name"], service.get("port") or 443)
        if place is None:
            raise ValueError(f"nothing answers for service {service['namespace']}/{service['name']}")
        return f"https://{place}{service.get('path') or '/'}"


def _server_name(client: Obj) -> str | None:
    service = client.get("service")
    return f"{service['name']}.{service['namespace']}.svc" if service else None


def _tls(client: Obj) -> ssl.SSLContext | bool:
    bundle = client.get("caBundle")
    return ssl.create_default_context(cadata=base64.b64decode(bundle).decode()) if bundle else True


def _told(error: BaseException) -> str:
    return "it took too long" if isinstance(error, asyncio.TimeoutError) else str(error) or type(error).__name__


def _internal(hook: Obj, why: str) -> ApiError:
    text = f'failed calling webhook "{hook["name"]}": {why}'
    return failure(500, "InternalError", f"Internal error occurred: {text}", {"causes": [{"message": text}]})


def denied(name: str, status: Obj) -> ApiError:
    """A webhook's refusal, in its own words."""
    said = f'admission webhook "{name}" denied the request'
    told = status.get("message") or status.get("reason")
    found: Obj = {"kind": "Status", "apiVersion": "v1", "metadata": {}, **status, "status": "Failure",
                  "message": f"{said}: {told}" if told else f"{said} without explanation"}
    found["code"] = max(int(status.get("code") or 0), 400)
    return api_error(found)

"""Calling admission webhooks: Mutating- and ValidatingWebhookConfigurations that lie in the store, over HTTPS.

Mutating ones are called one after the other (and once more where they ask for it and others changed the object after
them), validating ones together. A webhook that cannot be reached counts as its failurePolicy says. One that answers too
late, with more than a request may have, or with a redirect has not answered: what it says is never followed elsewhere,
nor read without end."""

from __future__ import annotations

import asyncio
import base64
import copy
import ssl
import uuid
from collections.abc import Iterator
from typing import Annotated, Any

import aiohttp
import msgspec

from gangline.cluster.schema import BadForm, WrongType
from gangline.cluster.server.admit.chain import WriteReview
from gangline.cluster.server.admit.matching import (
    conditions_hold,
    exempt,
    request_of,
    rule_matches,
    selectors_match,
    told_as,
)
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.core import Core
from gangline.cluster.server.patch.json_patch import PatchFailed, json_patch
from gangline.cluster.server.status import bad_request, failure, forbidden
from gangline.cluster.server.store.store import ShelfKey, StoreChange
from gangline.cluster.server.verbs.kind_rules import rules_for
from gangline.errors import ApiError, api_error
from gangline.rules.cel import CelError
from gangline.rules.values.documents import DocumentUnreadable, read_json

GROUP = "admissionregistration.k8s.io"
ADMISSION = "admission.k8s.io"
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

    def _note(self, key: ShelfKey, change: StoreChange) -> None:
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

    async def mutate(self, review: WriteReview) -> None:
        called: list[tuple[Obj, Resource, Obj | None]] = []
        for hook, seen in self._about(MUTATING, review):
            await self._change(hook, seen)
            review.object = seen.object
            called.append((hook, seen.resource, copy.deepcopy(review.object)))
        for hook, resource, left in called:
            if hook.get("reinvocationPolicy") == "IfNeeded" and left != review.object:
                seen = review if resource is review.resource else told_as(review, resource)
                await self._change(hook, seen)
                review.object = seen.object

    async def _change(self, hook: Obj, review: WriteReview) -> None:
        answer = await self._call(hook, review)
        if answer is None or not answer.get("patch") or review.object is None:
            return
        try:
            operations = _operations(answer)
        except _NoAnswer as error:
            if hook.get("failurePolicy") == "Ignore":
                return
            raise _failed(hook, str(error)) from None
        shown = review.shown(review.object)
        try:
            changed = json_patch(shown, operations)
        except PatchFailed as error:
            raise _internal(str(error)) from None
        _check_left(hook, review.resource, shown or {}, changed, whole=review.face is None)
        review.object = changed if review.face is None else review.face.take(review.object, changed)

    async def validate(self, review: WriteReview) -> None:
        answers = await asyncio.gather(
            *(self._call(*item) for item in self._about(VALIDATING, review)), return_exceptions=True
        )
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer

    def _about(self, plural: str, review: WriteReview) -> Iterator[tuple[Obj, WriteReview]]:
        """The webhooks to ask, and what each is asked."""
        if exempt(review):
            return
        record = self._core.store.get(("", "namespaces"), ("", review.namespace)) if review.namespace else None
        namespace = record.object() if record else None
        for hook in self._hooks[plural]:
            seen = self._seen(hook, review)
            if seen is not None and selectors_match(hook, seen, namespace) and self._holds(hook, seen, namespace):
                yield hook, seen

    def _seen(self, hook: Obj, review: WriteReview) -> WriteReview | None:
        """The write as the webhook's rules name it; None if they do not."""
        rules = hook.get("rules") or []
        if any(rule_matches(rule, review) for rule in rules):
            return review
        if hook.get("matchPolicy") == "Exact" or review.face is not None:
            return None
        for other in self._core.catalogue:
            if other.shelf == review.resource.shelf and other is not review.resource and other.stored:
                seen = told_as(review, other)
                if any(rule_matches(rule, seen) for rule in rules):
                    return seen
        return None

    def _holds(self, hook: Obj, review: WriteReview, namespace: Obj | None) -> bool:
        try:
            return conditions_hold(hook.get("matchConditions") or [], review, namespace, self._core.may)
        except CelError as error:
            if hook.get("failurePolicy") == "Ignore":
                return False
            raise forbidden(review.resource.shelf[0], review.resource.plural, review.name, str(error)) from None

    async def _call(self, hook: Obj, review: WriteReview) -> Obj | None:
        """The webhook's answer; None if it could not be had and that does not matter."""
        if review.dry_run and hook.get("sideEffects") not in ("None", "NoneOnDryRun"):
            raise bad_request(f'admission webhook "{hook["name"]}" does not support dry run')
        try:
            answer = await self._ask(hook, review)
        except _NoAnswer as error:
            if hook.get("failurePolicy") == "Ignore":
                return None
            raise _failed(hook, str(error)) from None
        review.warnings.extend(answer.get("warnings") or [])
        if not answer.get("allowed"):
            raise denied(hook["name"], answer.get("status") or {})
        return answer

    async def _ask(self, hook: Obj, review: WriteReview) -> Obj:
        question = {
            "kind": "AdmissionReview",
            "apiVersion": f"{ADMISSION}/v1",
            "request": {
                "uid": str(uuid.uuid4()),
                **request_of(review),
                "object": review.shown(review.object),
                "oldObject": review.shown(review.old),
            },
        }
        response = _response(
            await self._post(hook, msgspec.json.encode(question)), hook.get("admissionReviewVersions") or []
        )
        uid = question["request"]["uid"]  # type: ignore[index]
        if response.get("uid") != uid:
            raise _NoAnswer(
                f'received invalid webhook response: expected response.uid="{uid}", got "{response.get("uid", "")}"'
            )
        return response

    async def _post(self, hook: Obj, body: bytes) -> bytes:
        seconds = hook.get("timeoutSeconds") or DEFAULT_SECONDS
        client = hook["clientConfig"]
        query = f"?timeout={seconds}s"
        try:
            if self._session is None:
                self._session = aiohttp.ClientSession(auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar())
            async with self._session.post(
                self._url(client) + query,
                data=body,
                ssl=_tls(client),
                timeout=aiohttp.ClientTimeout(seconds),
                headers=_HEADERS,
                server_hostname=_server_name(client),
                allow_redirects=False,
            ) as answer:
                found = await _read(answer, self._core.settings.body_limit)
                if answer.status != 200:
                    raise _NoAnswer(f"failed to call webhook: {_rejection(answer.status, found)}")
                return found
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            raise _NoAnswer(f'failed to call webhook: Post "{_address(client)}{query}": {_told(error)}') from None

    def _url(self, client: Obj) -> str:
        if client.get("url"):
            return str(client["url"])
        service = client["service"]
        place = self._core.service_address(service["namespace"], service["name"], service.get("port") or 443)
        if place is None:
            known = self._core.store.get(("", "services"), (service["namespace"], service["name"]))
            raise ValueError(
                f'{"no endpoints available for service" if known else "service"} "{service["name"]}"'
                + ("" if known else " not found")
            )
        return f"https://{place}{service.get('path') or '/'}"


class _NoAnswer(Exception):
    """A webhook that could not be asked, or did not answer as one."""


_HEADERS = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
_SHOWN = 1024
"""Characters of an error page that are passed on."""


async def _read(answer: aiohttp.ClientResponse, limit: int) -> bytes:
    """What was answered, as long as it is no longer than a request may be."""
    found = bytearray()
    async for chunk in answer.content.iter_any():
        found += chunk
        if len(found) > limit:
            raise _NoAnswer(f"failed to call webhook: its answer is longer than {limit} bytes")
    return bytes(found)


def _address(client: Obj) -> str:
    """Where a webhook is, in the words of its configuration."""
    service = client.get("service")
    if not service:
        return str(client["url"])
    return f"https://{_server_name(client)}:{service.get('port') or 443}{service.get('path') or '/'}"


def _rejection(status: int, body: bytes) -> str:
    if status >= 500:
        text = body.decode(errors="replace")[:_SHOWN]
        return f'an error on the server ("{text}") has prevented the request from succeeding'
    if 300 <= status < 400:
        return f"it answered with a redirect ({status}), which is not followed"
    return (
        "the server could not find the requested resource"
        if status == 404
        else "the server rejected our request for an unknown reason"
    )


def _response(body: bytes, versions: list[str]) -> Obj:
    """What a webhook answers; `versions` are those of the review that it knows."""
    try:
        found = read_json(body)
    except DocumentUnreadable as error:
        raise _NoAnswer(f"failed to call webhook: couldn't get version/kind; json parse error: {error}") from None
    found = found if isinstance(found, dict) else {}
    kind, version = found.get("kind"), found.get("apiVersion")
    if kind != "AdmissionReview" or version not in [f"{ADMISSION}/{known}" for known in ("v1", *versions)]:
        raise _NoAnswer(
            f"received invalid webhook response: expected webhook response of {ADMISSION}/v1, Kind=AdmissionReview, "
            f"got {version or '/'}, Kind={kind or ''}"
        )
    response = found.get("response")
    if not isinstance(response, dict):
        raise _NoAnswer("received invalid webhook response: webhook response was absent")
    try:
        msgspec.convert(response, _Answer)
    except msgspec.ValidationError as error:
        raise _NoAnswer(f"received invalid webhook response: {error}") from None
    return response


class _Said(msgspec.Struct):
    """The part of a Status that is counted with, or told."""

    code: Annotated[int, msgspec.Meta(ge=0, le=599)] | None = None
    message: str | None = None
    reason: str | None = None
    details: dict[str, Any] | None = None


class _Answer(msgspec.Struct, rename="camel"):
    """What of a webhook's response is used, and of which type it must be."""

    uid: str | None = None
    allowed: bool | None = None
    status: _Said | None = None
    patch: str | None = None
    patch_type: str | None = None
    warnings: list[str] | None = None


def _operations(answer: Obj) -> list[Any]:
    """The JSON patch of an answer that has one."""
    kind = answer.get("patchType")
    if kind is None:
        raise _NoAnswer("received invalid webhook response: webhook returned response.patch but not response.patchType")
    if kind != "JSONPatch":
        raise _NoAnswer(f'unsupported patch type "{kind}"')
    try:
        operations = read_json(base64.b64decode(answer["patch"]))
    except (DocumentUnreadable, ValueError, TypeError):
        operations = None
    if not isinstance(operations, list):
        raise _NoAnswer("received undecodable patch in webhook response: a JSON patch is a list of operations")
    return operations


def _check_left(hook: Obj, resource: Resource, before: Obj, after: Any, *, whole: bool) -> None:
    """What a patch leaves must be an object of the same kind still. `whole`: as it is stored, not as a subresource
    shows it."""
    told = f'the patch of webhook "{hook["name"]}" leaves'
    if not isinstance(after, dict) or not isinstance(after.get("metadata"), dict):
        raise _internal(f"{told} no object with metadata")
    if any(after.get(key) != before.get(key) for key in ("kind", "apiVersion")):
        raise _internal(f"{told} an object of another kind: {after.get('apiVersion')}, Kind={after.get('kind')}")
    try:
        if whole:
            rules_for(resource).schema.admit(after)
    except (WrongType, BadForm) as error:
        raise _internal(f"{told} what cannot be read: {error}") from None


def _server_name(client: Obj) -> str | None:
    service = client.get("service")
    return f"{service['name']}.{service['namespace']}.svc" if service else None


def _tls(client: Obj) -> ssl.SSLContext | bool:
    bundle = client.get("caBundle")
    return ssl.create_default_context(cadata=base64.b64decode(bundle).decode()) if bundle else True


def _told(error: BaseException) -> str:
    if isinstance(error, asyncio.TimeoutError):
        return "context deadline exceeded"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, ConnectionRefusedError):
        return f"dial tcp {error.host}:{error.port}: connect: connection refused"
    return str(error) or type(error).__name__


def _failed(hook: Obj, why: str) -> ApiError:
    return _internal(f'failed calling webhook "{hook["name"]}": {why}')


def _internal(why: str) -> ApiError:
    return failure(500, "InternalError", f"Internal error occurred: {why}", {"causes": [{"message": why}]})


def denied(name: str, status: Obj) -> ApiError:
    """A webhook's refusal, in its own words."""
    said = f'admission webhook "{name}" denied the request'
    told = status.get("message") or status.get("reason")
    found: Obj = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        **status,
        "status": "Failure",
        "message": f"{said}: {told}" if told else f"{said} without explanation",
    }
    found["code"] = max(int(status.get("code") or 0), 400)
    return api_error(found)

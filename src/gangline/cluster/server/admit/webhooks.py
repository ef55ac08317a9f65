"""Calling admission webhooks: Mutating- and ValidatingWebhookConfigurations that lie in the store, over HTTPS.

Mutating ones are called one after the other (and once more where they ask for it and others changed the object after
them), validating ones together. A webhook that cannot be reached counts as its failurePolicy says. webhook_calls.py
sends."""

from __future__ import annotations

import asyncio
import copy
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec

from gangline.cluster.server.admit.chain import WriteReview
from gangline.cluster.server.admit.matching import (
    conditions_hold,
    exempt,
    request_of,
    seen_by,
    selectors_match,
    told_as,
)
from gangline.cluster.server.admit.webhook_calls import WebhookCaller
from gangline.cluster.server.admit.webhook_protocol import (
    ADMISSION,
    NoAnswer,
    call_failed,
    check_left,
    denied,
    internal_failure,
    operations_of,
    read_response,
)
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.convert.conversion_plan import plan_of
from gangline.cluster.server.core import Core
from gangline.cluster.server.patch.json_patch import PatchFailed, PatchTooLong, json_patch
from gangline.cluster.server.status import bad_request, forbidden
from gangline.cluster.server.store.shelf import ShelfKey, StoreChange
from gangline.rules.cel import CelError

GROUP = "admissionregistration.k8s.io"
MUTATING, VALIDATING = "mutatingwebhookconfigurations", "validatingwebhookconfigurations"
DEFAULT_SECONDS = 10
Obj = dict[str, Any]


class Webhooks:
    def __init__(self, core: Core, caller: WebhookCaller) -> None:
        self._core, self._caller = core, caller
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

    async def mutate(self, review: WriteReview) -> None:
        called: list[tuple[Obj, Resource, Obj | None]] = []
        for hook, seen in self._about(MUTATING, review):
            await self._change_seen(hook, review, seen)
            called.append((hook, seen.resource, copy.deepcopy(review.object)))
        for hook, resource, left in called:
            if hook.get("reinvocationPolicy") == "IfNeeded" and left != review.object:
                seen = review if resource is review.resource else told_as(review, resource)
                await self._change_seen(hook, review, seen)

    async def _change_seen(self, hook: Obj, review: WriteReview, seen: WriteReview) -> None:
        """What a webhook that sees a write in another version changes is taken back into the version of the write."""
        shown = await self._converted(seen)
        before = copy.deepcopy(shown.object) if shown is not seen else None
        await self._change(hook, shown)
        if shown is seen:
            review.object = seen.object
        elif shown.object is not None and shown.object != before:
            review.object = await self._core.views.between(shown.resource, review.resource, shown.object)

    async def _converted(self, seen: WriteReview) -> WriteReview:
        """A write in another version, where only a conversion webhook can tell it."""
        mine, other = seen.requested, seen.resource
        if mine is None or plan_of(mine) is None:
            return seen
        shown = [
            await self._core.views.between(mine, other, obj) if obj is not None else None
            for obj in (seen.object, seen.old)
        ]
        return replace(seen, object=shown[0], old=shown[1], face=None)

    async def _change(self, hook: Obj, review: WriteReview) -> None:
        answer = await self._call(hook, review)
        if answer is None or not answer.get("patch") or review.object is None:
            return
        try:
            operations = operations_of(answer)
        except NoAnswer as error:
            if hook.get("failurePolicy") == "Ignore":
                return
            raise call_failed(hook, str(error)) from None
        shown = review.shown(review.object)
        try:
            changed = json_patch(shown, operations)
        except (PatchFailed, PatchTooLong) as error:
            raise internal_failure(str(error)) from None
        check_left(hook, review.resource, shown or {}, changed, whole=review.face is None)
        review.object = changed if review.face is None else review.face.take(review.object, changed)

    async def validate(self, review: WriteReview) -> None:
        answers = await asyncio.gather(
            *(self._validate(*item) for item in self._about(VALIDATING, review)), return_exceptions=True
        )
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer

    async def _validate(self, hook: Obj, seen: WriteReview) -> None:
        await self._call(hook, await self._converted(seen))

    def _about(self, plural: str, review: WriteReview) -> Iterator[tuple[Obj, WriteReview]]:
        """The webhooks to ask, and what each is asked."""
        if exempt(review):
            return
        record = self._core.store.get(("", "namespaces"), ("", review.namespace)) if review.namespace else None
        namespace = record.object() if record else None
        for hook in self._hooks[plural]:
            seen = seen_by(hook, review, self._core.catalogue)
            if seen is not None and selectors_match(hook, seen, namespace) and self._holds(hook, seen, namespace):
                yield hook, seen

    def _holds(self, hook: Obj, review: WriteReview, namespace: Obj | None) -> bool:
        try:
            return conditions_hold(hook.get("matchConditions") or [], review, namespace, self._core.may)
        except CelError as error:
            if hook.get("failurePolicy") == "Ignore":
                return False
            raise forbidden(review.resource.shelf[0], review.resource.plural, review.told_name, str(error)) from None

    async def _call(self, hook: Obj, review: WriteReview) -> Obj | None:
        """The webhook's answer; None if it could not be had and that does not matter."""
        if review.dry_run and hook.get("sideEffects") not in ("None", "NoneOnDryRun"):
            raise bad_request(f'admission webhook "{hook["name"]}" does not support dry run')
        try:
            answer = await self._ask(hook, review)
        except NoAnswer as error:
            if hook.get("failurePolicy") == "Ignore":
                return None
            raise call_failed(hook, str(error)) from None
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
        content = await self._post(hook, msgspec.json.encode(question))
        response = read_response(content, hook.get("admissionReviewVersions") or [])
        uid = question["request"]["uid"]  # type: ignore[index]
        if response.get("uid") != uid:
            raise NoAnswer(
                f'received invalid webhook response: expected response.uid="{uid}", got "{response.get("uid", "")}"'
            )
        return response

    async def _post(self, hook: Obj, body: bytes) -> bytes:
        try:
            return await self._caller.post(hook["clientConfig"], body, hook.get("timeoutSeconds") or DEFAULT_SECONDS)
        except NoAnswer as error:
            raise NoAnswer(f"failed to call webhook: {error}") from None

"""An AdmissionReview in, its answer out: each hook is asked, and a change becomes a JSON patch.

webhook.py serves it to real clusters. An object that is not ours is always allowed. The hooks decide; nothing here
does. Pure."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gangline.admission.registration import MUTATE
from gangline.api.meta import Raw
from gangline.rules.hooks import Denied, Hook, HookReview


def answer(path: str, hooks: Sequence[Hook], asked: Raw) -> Raw:
    """The AdmissionReview to send back for the one that `asked`."""
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

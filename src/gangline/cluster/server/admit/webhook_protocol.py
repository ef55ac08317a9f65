"""The AdmissionReview protocol: where a webhook is, what its answer must look like, and the error for one that fails.

Pure: webhooks.py sends and receives.
"""

from __future__ import annotations

import base64
import ssl
from typing import Annotated, Any

import msgspec

from gangline.cluster.schema import BadForm, WrongType
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.core import Core
from gangline.cluster.server.status import failure
from gangline.cluster.server.verbs.kind_rules import rules_for
from gangline.errors import ApiError, api_error
from gangline.rules.values.documents import DocumentUnreadable, read_json

ADMISSION = "admission.k8s.io"
Obj = dict[str, Any]


class NoAnswer(Exception):
    """A webhook that could not be asked, or did not answer as one."""


_SHOWN = 1024
"""Characters of an error page that are passed on."""


def address(client: Obj) -> str:
    """Where a webhook is, in the words of its configuration."""
    service = client.get("service")
    if not service:
        return str(client["url"])
    return f"https://{server_name(client)}:{service.get('port') or 443}{service.get('path') or '/'}"


def rejection(status: int, body: bytes) -> str:
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


def read_response(body: bytes, versions: list[str]) -> Obj:
    """What a webhook answers; `versions` are those of the review that it knows."""
    try:
        document = read_json(body)
    except DocumentUnreadable as error:
        raise NoAnswer(f"failed to call webhook: couldn't get version/kind; json parse error: {error}") from None
    review = document if isinstance(document, dict) else {}
    kind, version = review.get("kind"), review.get("apiVersion")
    if kind != "AdmissionReview" or version not in [f"{ADMISSION}/{known}" for known in ("v1", *versions)]:
        raise NoAnswer(
            f"received invalid webhook response: expected webhook response of {ADMISSION}/v1, Kind=AdmissionReview, "
            f"got {version or '/'}, Kind={kind or ''}"
        )
    response = review.get("response")
    if not isinstance(response, dict):
        raise NoAnswer("received invalid webhook response: webhook response was absent")
    try:
        answer: Obj = msgspec.to_builtins(msgspec.convert(response, ReviewAnswer))
    except msgspec.ValidationError as error:
        raise NoAnswer(f"received invalid webhook response: {error}") from None
    return answer


class RefusalCause(msgspec.Struct, omit_defaults=True):
    reason: str | None = None
    message: str | None = None
    field: str | None = None


class RefusalDetails(msgspec.Struct, rename="camel", omit_defaults=True):
    name: str | None = None
    group: str | None = None
    kind: str | None = None
    uid: str | None = None
    causes: list[RefusalCause] | None = None
    retry_after_seconds: Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)] | None = None


class ReviewStatus(msgspec.Struct, omit_defaults=True):
    """What of a webhook's Status is passed on: its kind, version and outcome are not the webhook's to say."""

    code: Annotated[int, msgspec.Meta(ge=0, le=599)] | None = None
    message: str | None = None
    reason: str | None = None
    details: RefusalDetails | None = None


class ReviewAnswer(msgspec.Struct, rename="camel", omit_defaults=True):
    """What of a webhook's response is used, and of which type it must be."""

    uid: str | None = None
    allowed: bool | None = None
    status: ReviewStatus | None = None
    patch: str | None = None
    patch_type: str | None = None
    warnings: list[str] | None = None
    audit_annotations: dict[str, str] | None = None


def operations_of(answer: Obj) -> list[Any]:
    """The JSON patch of an answer that has one."""
    kind = answer.get("patchType")
    if kind is None:
        raise NoAnswer("received invalid webhook response: webhook returned response.patch but not response.patchType")
    if kind != "JSONPatch":
        raise NoAnswer(f'unsupported patch type "{kind}"')
    try:
        operations = read_json(base64.b64decode(answer["patch"]))
    except (DocumentUnreadable, ValueError, TypeError):
        operations = None
    if not isinstance(operations, list):
        raise NoAnswer("received undecodable patch in webhook response: a JSON patch is a list of operations")
    return operations


def check_left(hook: Obj, resource: Resource, before: Obj, after: Any, *, whole: bool) -> None:
    """What a patch leaves must be an object of the same kind still. `whole`: as it is stored, not as a subresource
    shows it."""
    subject = f'the patch of webhook "{hook["name"]}" leaves'
    if not isinstance(after, dict) or not isinstance(after.get("metadata"), dict):
        raise internal_failure(f"{subject} no object with metadata")
    if any(after.get(key) != before.get(key) for key in ("kind", "apiVersion")):
        raise internal_failure(
            f"{subject} an object of another kind: {after.get('apiVersion')}, Kind={after.get('kind')}"
        )
    try:
        if whole:
            rules_for(resource).schema.admit(after)
    except (WrongType, BadForm) as error:
        raise internal_failure(f"{subject} what cannot be read: {error}") from None


def server_name(client: Obj) -> str | None:
    service = client.get("service")
    return f"{service['name']}.{service['namespace']}.svc" if service else None


def tls_of(client: Obj) -> ssl.SSLContext | bool:
    bundle = client.get("caBundle")
    return ssl.create_default_context(cadata=base64.b64decode(bundle).decode()) if bundle else True


def call_failed(hook: Obj, why: str) -> ApiError:
    return internal_failure(f'failed calling webhook "{hook["name"]}": {why}')


def internal_failure(why: str) -> ApiError:
    return failure(500, "InternalError", f"Internal error occurred: {why}", {"causes": [{"message": why}]})


def denied(name: str, status: Obj) -> ApiError:
    """A webhook's refusal, in its own words."""
    refusal = f'admission webhook "{name}" denied the request'
    why = status.get("message") or status.get("reason")
    return api_error(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            **status,
            "status": "Failure",
            "message": f"{refusal}: {why}" if why else f"{refusal} without explanation",
            "code": max(int(status.get("code") or 0), 400),
        }
    )


def url_of(core: Core, client: Obj) -> str:
    """Where a webhook is called: its own URL, or that of its service as far as it can be reached from here."""
    if client.get("url"):
        return str(client["url"])
    service = client["service"]
    place = core.service_address(service["namespace"], service["name"], service.get("port") or 443)
    if place is None:
        known = core.store.get(("", "services"), (service["namespace"], service["name"]))
        raise ValueError(
            f'no endpoints available for service "{service["name"]}"'
            if known
            else f'service "{service["name"]}" not found'
        )
    return f"https://{place}{service.get('path') or '/'}"

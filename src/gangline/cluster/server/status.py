"""Status objects: how the server says no, and the few times it says a bare yes.

Every refusal is an `ApiError` from the error family whose `status` is the object that goes over the wire. Verbs raise
them; server.py turns them into responses. Nothing here reads or writes anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from gangline.client.wire import Response
from gangline.cluster.server.catalogue import Resource
from gangline.errors import ApiError, Problem, api_error
from gangline.rules.values.names import path_segment_problems

MOST_TOLD = 1000
UNKNOWN_RESOURCE = "the server could not find the requested resource"


def failure(code: int, reason: str, message: str, details: dict[str, Any] | None = None) -> ApiError:
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "code": code,
    }
    if reason:
        status["reason"] = reason
    if details is not None:
        status["details"] = details
    return api_error(status, code)


def success(group: str, plural: str, name: str, uid: str) -> dict[str, Any]:
    """What a finished delete answers."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": about(group, plural, name) | {"uid": uid},
    }


def about(group: str, plural: str, name: str) -> dict[str, Any]:
    """The details of a Status that speaks of one object; empty parts are left out."""
    return {key: value for key, value in (("name", name), ("group", group), ("kind", plural)) if value}


def qualified(group: str, name: str) -> str:
    return f"{name}.{group}" if group else name


def bad_request(message: str) -> ApiError:
    return failure(400, "BadRequest", message)


def internal(message: str) -> ApiError:
    """500 without a reason: how the real server answers what it did not foresee."""
    return failure(500, "", message)


def not_found(group: str, plural: str, name: str) -> ApiError:
    return failure(404, "NotFound", f'{qualified(group, plural)} "{name}" not found', about(group, plural, name))


def absent(group: str, plural: str, name: str) -> ApiError:
    """An object is asked for that there is not; some names no object can have."""
    if why := path_segment_problems(name):
        return bad_request(f'Name parameter invalid: "{name}": {";".join(why)}')
    return not_found(group, plural, name)


def no_such_resource() -> ApiError:
    return failure(404, "NotFound", UNKNOWN_RESOURCE, {})


def method_not_allowed() -> ApiError:
    return failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def already_exists(group: str, plural: str, name: str, being_deleted: bool = False) -> ApiError:
    message = f'{qualified(group, plural)} "{name}" already exists'
    text = f"object is being deleted: {message}" if being_deleted else message
    return failure(409, "AlreadyExists", text, about(group, plural, name))


def conflict(group: str, plural: str, name: str, why: str) -> ApiError:
    message = f'Operation cannot be fulfilled on {qualified(group, plural)} "{name}": {why}'
    return failure(409, "Conflict", message, about(group, plural, name))


def modified(group: str, plural: str, name: str) -> ApiError:
    return conflict(
        group,
        plural,
        name,
        "the object has been modified; please apply your changes to the latest version and try again",
    )


def storage_conflict(resource: Resource, place: tuple[str, str], why: str) -> ApiError:
    """A precondition that the stored object does not meet."""
    folder = f"{resource.group}/{resource.plural}" if resource.custom else resource.plural
    key = "/".join(part for part in ("/registry", folder, *place) if part)
    return conflict(
        resource.group,
        resource.plural,
        place[1],
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, "
        f"AdditionalErrorMsg: Precondition failed: {why}",
    )


def forbidden(group: str, plural: str, name: str, why: str) -> ApiError:
    subject = f' "{name}"' if name else ""
    return failure(
        403, "Forbidden", f"{qualified(group, plural)}{subject} is forbidden: {why}", about(group, plural, name)
    )


def out_of_space(group: str, plural: str, name: str, space: int) -> ApiError:
    mebibytes = f"{space / 1024 / 1024:g} MiB"
    return forbidden(group, plural, name, f"this server keeps {mebibytes} of objects and has them; delete some first")


def unauthorized() -> ApiError:
    return failure(401, "Unauthorized", "Unauthorized")


def expired(message: str) -> ApiError:
    return failure(410, "Expired", message)


def too_old(asked: int, oldest: int) -> ApiError:
    return expired(f"too old resource version: {asked} ({oldest})")


def too_large_revision(asked: int, current: int) -> ApiError:
    details = {
        "retryAfterSeconds": 1,
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
    }
    return failure(504, "Timeout", f"Timeout: Too large resource version: {asked}, current: {current}", details)


def too_many_requests(message: str, details: dict[str, Any]) -> ApiError:
    return failure(429, "TooManyRequests", message, details)


def unsupported_media_type(accepted: Sequence[str]) -> ApiError:
    return failure(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: " + ", ".join(accepted),
    )


def not_acceptable(message: str, details: dict[str, Any] | None = None) -> ApiError:
    return failure(406, "NotAcceptable", message, details)


def too_large_body(limit: int) -> ApiError:
    return failure(413, "RequestEntityTooLarge", f"Request entity too large: limit is {limit}")


def invalid(group: str, kind: str, name: str, problems: Sequence[Problem]) -> ApiError:
    """422 with one cause per problem, as many as anybody reads. A problem's message is the whole text after the field's
    path."""
    problems = problems[:MOST_TOLD]
    texts = list(dict.fromkeys(f"{problem.path}: {problem.message}" for problem in problems))
    joined = texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"
    causes = [{"reason": problem.kind, "message": problem.message, "field": problem.path} for problem in problems]
    details = about(group, kind, name) | {"causes": causes}
    return failure(422, "Invalid", f'{qualified(group, kind)} "{name}" is invalid: {joined}', details)


def answer(error: ApiError) -> Response:
    """The response that carries a refusal."""
    if not error.status.get("kind"):
        return Response(error.code, str(error).encode() + b"\n", "text/plain; charset=utf-8")
    headers = {}
    if error.retry_after:
        headers["Retry-After"] = str(int(error.retry_after))
    return Response(error.code, msgspec.json.encode(error.status), headers=headers, warnings=error.warnings)

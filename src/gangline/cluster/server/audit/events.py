"""Who asked for what, and what came of it: a request as an event of audit.k8s.io/v1, at level Metadata.

log.py writes them down. Bodies are never in them, so neither are secrets. Pure."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from gangline.client.wire import Request, Response, User
from gangline.cluster.server.call import PathParts, as_list, read_path, verb_of
from gangline.rules.values.times import micro_timestamp

Obj = dict[str, Any]


def audit_event(request: Request, response: Response, user: User | None, times: tuple[float, float], mark: str) -> Obj:
    """`times`: when the request came and when it was answered; `user` is None where nobody could be identified."""
    asked = as_list(request) if "/watch/" in request.path else request
    parts = read_path(asked.path)
    event: Obj = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": mark,
        "stage": "ResponseStarted" if response.stream is not None else "ResponseComplete",
        "requestURI": request.path + (f"?{urlencode(request.query)}" if request.query else ""),
        "verb": verb_of(asked, parts) if parts.group is not None else request.method.lower(),
        "user": _user(user),
        "userAgent": request.headers.get("user-agent", ""),
        "responseStatus": {"metadata": {}, "code": response.status},
        "requestReceivedTimestamp": micro_timestamp(times[0]),
        "stageTimestamp": micro_timestamp(times[1]),
    }
    if parts.group is not None:
        event["objectRef"] = _reference(parts)
    if response.status == 403:
        event["annotations"] = {"authorization.k8s.io/decision": "forbid"}
    return event


def _user(user: User | None) -> Obj:
    if user is None:
        return {}
    audited: Obj = {"username": user.name, "groups": list(user.groups)}
    if user.uid:
        audited["uid"] = user.uid
    if user.extra:
        audited["extra"] = {key: list(values) for key, values in user.extra.items()}
    return audited


def _reference(parts: PathParts) -> Obj:
    named = {
        "resource": parts.plural,
        "namespace": parts.namespace,
        "name": parts.name,
        "apiGroup": parts.group,
        "apiVersion": parts.version,
        "subresource": parts.subresource,
    }
    return {key: value for key, value in named.items() if value}

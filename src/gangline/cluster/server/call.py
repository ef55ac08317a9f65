"""One request, understood: which verb on which resource, for whom, with which options.

`read_path` turns a path into parts; server.py adds who asks and which resource answers, and hands the `ServerCall` to a
verb."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import msgspec

from gangline.client.wire import Request, User
from gangline.cluster.server.admit.chain import ScaleFace
from gangline.cluster.server.catalogue import Resource, Subresource
from gangline.cluster.server.selectors import parse_fields
from gangline.cluster.server.status import bad_request
from gangline.cluster.server.wire.codec import Document, decode_body, decode_yaml
from gangline.errors import ApiError
from gangline.rules.values.times import is_go_duration

_VERBS = {"POST": "create", "GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_MANY = {"get": "list", "delete": "deletecollection"}
_NAMESPACE_SUBRESOURCES = ("finalize", "status")
_OLD_WATCH = re.compile(r"(?P<root>/api/v1|/apis/[^/]+/[^/]+)/watch(?P<rest>/.+)")
NO_GROUP = ("//", "/apis//")
"""How paths begin that are about nothing."""


@dataclass(slots=True)
class PathParts:
    """A resource path taken apart; `group` is None for anything that is not below /api or /apis."""

    group: str | None = None
    version: str = ""
    plural: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: tuple[str, ...] = ()


def read_path(path: str) -> PathParts:
    if path.startswith(NO_GROUP):
        return PathParts()
    pieces = path.strip("/").split("/")
    if "%" in path:
        pieces = [unquote(piece) for piece in pieces]
    if pieces[0] == "api" and len(pieces) >= 3:
        return _below(PathParts("", pieces[1]), pieces[2:])
    if pieces[0] == "apis" and len(pieces) >= 4:
        return _below(PathParts(pieces[1], pieces[2]), pieces[3:])
    return PathParts()


def _below(parts: PathParts, pieces: list[str]) -> PathParts:
    if pieces[0] == "namespaces" and len(pieces) >= 2:
        parts.namespace = pieces[1]
        if len(pieces) >= 3 and pieces[2] not in _NAMESPACE_SUBRESOURCES:
            pieces = pieces[2:]
    parts.plural = pieces[0]
    parts.name = pieces[1] if len(pieces) > 1 else ""
    parts.subresource = pieces[2] if len(pieces) > 2 else ""
    parts.rest = tuple(pieces[3:])
    return parts


def as_list(request: Request) -> Request:
    """The old way to ask for a watch, which core kinds and those of Kubernetes' groups still have, told in the present
    one."""
    match = _OLD_WATCH.fullmatch(request.path)
    if match is None or request.method != "GET":
        return request
    parts, path = read_path(match["root"] + match["rest"]), match["root"] + match["rest"]
    query = (*request.query, ("watch", "true"))
    if parts.name and parts.plural != "namespaces":
        path, _, _ = path.rpartition("/")
        query = (*query, ("fieldSelector", f"metadata.name={parts.name}"))
    return msgspec.structs.replace(request, path=path, query=query)


def verb_of(request: Request, parts: PathParts) -> str:
    """The Kubernetes verb; empty for a method that is none."""
    verb = _VERBS.get(request.method, "")
    if parts.name or not verb:
        return verb
    verb = _MANY.get(verb, verb)
    if verb == "list" and truth(request.argument("watch")):
        return "watch"
    return verb


def named_by_selector(request: Request) -> str:
    """The one object a list or watch is about, if a field selector says so: a role that names it covers the list."""
    text = request.argument("fieldSelector")
    if "metadata.name" not in text:
        return ""
    try:
        terms = parse_fields(text)
    except ApiError:
        return ""
    return next((value for label, operator, value in terms if label == "metadata.name" and operator != "!="), "")


def is_digits(text: str) -> bool:
    """Plain digits, however many."""
    return text.isascii() and text.isdigit()


def is_number(text: str) -> bool:
    """Plain digits, as revisions are written, and no more than fit."""
    return is_digits(text) and len(text) < 20


def truth(text: str) -> bool:
    return text.lower() in ("true", "1", "t")


@dataclass(slots=True)
class ServerCall:
    request: Request
    user: User
    verb: str
    resource: Resource
    namespace: str
    name: str
    subresource: str = ""
    sub: Subresource | None = None
    warnings: list[str] = field(default_factory=list)
    face: ScaleFace | None = None
    """How the subresource shows the object."""
    document: Document | None = None
    """The body, where it was read as YAML before its turn."""

    def data(self, expected: str, doubled: list[str] | None = None) -> Any:
        """What the body says. `expected` is the kind that a refusal names; `doubled` receives what is told of YAML keys
        given twice."""
        duplicates = [] if doubled is None else doubled
        return decode_body(self.request.body, self.request.content_type, expected, duplicates, self.document)

    def yaml_data(self, expected: str, doubled: list[str]) -> Any:
        """What the body says, whatever its type, as YAML."""
        return decode_yaml(self.request.body, expected, doubled, self.document)

    def about(self, resource: Resource) -> ServerCall:
        """The same call, whose body is of another kind than its path."""
        return ServerCall(
            self.request,
            self.user,
            self.verb,
            resource,
            self.namespace,
            self.name,
            self.subresource,
            self.sub,
            self.warnings,
            self.face,
            self.document,
        )

    @property
    def place(self) -> tuple[str, str]:
        return (self.namespace if self.resource.namespaced else "", self.name)

    @property
    def agent(self) -> str:
        """The default field manager: what stands before the first slash of the user agent."""
        return self.request.headers.get("user-agent", "").split("/", 1)[0][:128] or "unknown"

    @property
    def manager(self) -> str:
        return self.request.argument("fieldManager") or self.agent

    @property
    def dry_run(self) -> bool:
        return bool(self.request.argument("dryRun"))

    def number(self, name: str) -> int | None:
        """A query argument that must be a number if it is given."""
        text = self.request.argument(name)
        if not text:
            return None
        if not re.fullmatch(r"[-+]?[0-9]+", text):
            raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
        if len(text) > 20 or not -(2**63) <= int(text) < 2**63:
            raise bad_request(f'strconv.ParseInt: parsing "{text}": value out of range')
        return int(text)


def check_timeout(request: Request) -> None:
    """How long a caller will wait must be a length of time."""
    text = request.argument("timeout")
    if text and not is_go_duration(text):
        raise bad_request(f'invalid timeout specified in the request URL - time: invalid duration "{text}"')


def fits_scope(resource: Resource, parts: PathParts) -> bool:
    """A cluster-scoped resource has no path below a namespace, and single namespaced objects have no path without
    one."""
    if resource.shelf == ("", "namespaces"):
        return parts.namespace == parts.name
    if not resource.namespaced and parts.namespace:
        return False
    return not (resource.namespaced and not parts.namespace and parts.name)

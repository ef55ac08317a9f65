"""Get and list, as bytes: stored bodies are joined, not decoded.

A list is cut out of one revision: the present, or one the caller names as long as it is remembered. Pages continue on
the revision of the first page. Shapes other than the plain object (Table, PartialObjectMetadata) are made by
answer_shapes.py from what is found here."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec

from gangline.api.selectors import LabelTest
from gangline.cluster.server.call import ServerCall, is_digits, is_number
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.convert.version_mark import unmarked
from gangline.cluster.server.core import Core
from gangline.cluster.server.selectors import Test, field_test, label_test
from gangline.cluster.server.status import absent, bad_request, expired, internal, invalid, too_large_revision
from gangline.cluster.server.store.shelf import Record, Shelf, place_of
from gangline.errors import Problem


@dataclass(slots=True)
class Filter:
    """Which records of a shelf a caller sees."""

    namespace: str
    labels: LabelTest | None
    fields: Test | None
    only: str | None

    def __call__(self, record: Record) -> bool:
        if self.namespace and record.place[0] != self.namespace:
            return False
        if self.labels is not None and not self.labels(record.labels):
            return False
        return self.fields is None or self.fields(record)

    @property
    def selects(self) -> bool:
        return self.labels is not None or self.fields is not None


def read_filter(call: ServerCall) -> Filter:
    request, resource = call.request, call.resource
    fields, only = field_test(resource, request.argument("fieldSelector"))
    return Filter(
        call.namespace if resource.namespaced else "", label_test(request.argument("labelSelector")), fields, only
    )


def get(core: Core, call: ServerCall) -> Record:
    resource = call.resource
    asked = read_exact_revision(call)
    if asked > core.store.revision:
        raise too_large_revision(asked, core.store.revision)
    record = core.store.get(resource.shelf, call.place)
    if record is None:
        raise absent(resource.group, resource.plural, call.name)
    return record


def read_exact_revision(call: ServerCall) -> int:
    """The revision a get or a watch names; 0 for none."""
    text = call.request.argument("resourceVersion")
    if text and not is_number(text):
        raise (bad_request if is_digits(text) else internal)(_not_a_revision(text))
    return int(text or 0)


def read_revision(call: ServerCall) -> int:
    """The revision a list names; 0 for none."""
    text = call.request.argument("resourceVersion")
    if text and not is_number(text):
        raise bad_request("invalid resource version: " + _not_a_revision(text))
    return int(text or 0)


def _not_a_revision(text: str) -> str:
    why = "value out of range" if is_digits(text) else "invalid syntax"
    return f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": {why}'


@dataclass(slots=True)
class ListPage:
    records: list[Record]
    revision: int
    token: str = ""
    remaining: int | None = None


def listing(core: Core, call: ServerCall, shelf: Shelf | None = None) -> ListPage:
    """The records of a list call, cut out of a shelf that holds them in the version that is asked for."""
    check_list_options(call)
    shelf = shelf or core.store.shelf(call.resource.shelf)
    wanted = read_filter(call)
    token = call.request.argument("continue")
    from_memory = call.request.argument("resourceVersion") == "0" and not token
    limit = 0 if from_memory else min(max(call.number("limit") or 0, 0), MOST)
    start = ("", "")
    if token:
        revision, start = read_token(token)
        if call.request.argument("resourceVersion"):
            raise bad_request("specifying resource version is not allowed when using continue")
    else:
        revision = _revision_to_read(core, call)
    if revision < shelf.floor:
        raise expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a new list "
            "without the continue parameter."
            if token
            else "The resourceVersion for the provided list is too old."
        )
    if token:
        return _further_page(shelf, wanted, limit, start, revision)
    return _first_page(shelf, wanted, limit, revision, revision == core.store.revision)


def _first_page(shelf: Shelf, wanted: Filter, limit: int, revision: int, now: bool) -> ListPage:
    """`now`: the revision is the present one."""
    if wanted.only is not None and now and wanted.namespace:
        record = shelf.records.get((wanted.namespace, wanted.only))
        return ListPage([record] if record is not None and wanted(record) else [], revision)
    records = shelf.listing(wanted.namespace) if now else shelf.listing_at(revision, wanted.namespace)
    page = _page(records, wanted, limit, ("", ""), revision)
    if page.token:
        shelf.begin_pages(revision, wanted.namespace, records)
    return page


def _further_page(shelf: Shelf, wanted: Filter, limit: int, start: tuple[str, str], revision: int) -> ListPage:
    page = _page(shelf.paged(revision, wanted.namespace), wanted, limit, start, revision)
    if not page.token:
        shelf.end_pages(revision, wanted.namespace)
    return page


def _page(all_records: list[Record], wanted: Filter, limit: int, start: tuple[str, str], revision: int) -> ListPage:
    """`all_records`, in their order, from the first after `start` on."""
    begin = bisect_right(all_records, start, key=place_of) if start[1] else 0
    following = islice(all_records, begin, None)
    matching = filter(wanted, following) if wanted.selects else following
    if not limit:
        return ListPage(list(matching), revision)
    records = list(islice(matching, limit + 1))
    if len(records) <= limit:
        return ListPage(records, revision)
    remaining = None if wanted.selects else len(all_records) - begin - limit
    return ListPage(records[:limit], revision, write_token(revision, records[limit - 1].place), remaining)


def _revision_to_read(core: Core, call: ServerCall) -> int:
    asked = read_revision(call)
    current = core.store.revision
    if asked > current:
        raise too_large_revision(asked, current)
    exact = call.request.argument("resourceVersionMatch") == "Exact" or (
        not call.request.argument("resourceVersionMatch") and asked and call.number("limit")
    )
    return asked if exact else current


TOKEN_VERSION = "meta.k8s.io/v1"
MOST = 2**32
"""More than this many objects nobody has: a larger limit means the same."""


class _Token(msgspec.Struct):
    v: str = ""
    rv: int = 0
    start: str = ""
    namespace: str = ""


def write_token(revision: int, last: tuple[str, str]) -> str:
    raw = msgspec.json.encode(_Token(TOKEN_VERSION, revision, last[1], last[0]))
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def read_token(text: str) -> tuple[int, tuple[str, str]]:
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        token = msgspec.json.decode(raw, type=_Token)
    except (binascii.Error, msgspec.MsgspecError, ValueError) as error:
        raise bad_request(
            f"invalid continue token: continue key is not valid: {_why_unreadable(text, error)}"
        ) from None
    if token.v != TOKEN_VERSION:
        raise bad_request(
            f"invalid continue token: continue key is not valid: server does not recognize this encoded version "
            f"{token.v}"
        )
    return token.rv, (token.namespace, token.start)


def _why_unreadable(text: str, error: Exception) -> str:
    try:
        first = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))[:1].decode("latin-1")
    except (binascii.Error, ValueError):
        return f"illegal base64 data: {error}"
    shown = first if first.isprintable() else f"\\u{ord(first or chr(0)):04x}"
    return f"invalid character '{shown}' looking for beginning of value"


def check_list_options(call: ServerCall) -> None:
    """What resourceVersionMatch, continue and sendInitialEvents may not be together."""
    for name in ("timeoutSeconds", "limit"):
        call.number(name)
    problems = _watch_problems(call) if call.verb == "watch" else _list_problems(call)
    if problems:
        raise invalid("meta.k8s.io", "ListOptions", "", problems)


_MATCH = "resourceVersionMatch"


def _forbidden(why: str, path: str = _MATCH) -> Problem:
    return Problem(path, f"Forbidden: {why}", "FieldValueForbidden")


def _list_problems(call: ServerCall) -> list[Problem]:
    argument = call.request.argument
    match, revision = argument(_MATCH), argument("resourceVersion")
    problems = []
    if match:
        if not revision:
            problems.append(_forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided"))
        if argument("continue"):
            problems.append(_forbidden("resourceVersionMatch is forbidden when continue is provided"))
        if match not in ("Exact", "NotOlderThan"):
            problems.append(
                Problem(
                    _MATCH,
                    f'Unsupported value: "{match}": supported values: "Exact", "NotOlderThan", ""',
                    "FieldValueNotSupported",
                )
            )
        if match == "Exact" and revision == "0":
            problems.append(_forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    if argument("sendInitialEvents"):
        problems.append(_forbidden("sendInitialEvents is forbidden for list", "sendInitialEvents"))
    return problems


def _watch_problems(call: ServerCall) -> list[Problem]:
    argument = call.request.argument
    match, initial = argument(_MATCH), argument("sendInitialEvents")
    problems = []
    if match and not initial:
        problems.append(_forbidden("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"))
    if initial and match != "NotOlderThan":
        problems.append(_forbidden("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
    if match and match != "NotOlderThan":
        problems.append(
            Problem(_MATCH, f'Unsupported value: "{match}": supported values: "NotOlderThan"', "FieldValueNotSupported")
        )
    if argument("continue"):
        problems.append(_forbidden("resourceVersionMatch is forbidden when continue is provided"))
    return problems


def object_bytes(resource: Resource, record: Record) -> bytes:
    return resource.prefix + body_of(resource, record)[1:]


def body_of(resource: Resource, record: Record) -> bytes:
    """A record's body as the resource's version shows it: as stored, unless that is another form or the schema has
    changed since."""
    if resource.conversion is not None:
        return msgspec.json.encode(resource.conversion.from_stored(record.object()))
    if resource.custom and record.revision <= resource.custom.since:
        return msgspec.json.encode(resource.custom.seen(record.object()))
    return unmarked(record.body) if resource.custom else record.body


def list_metadata(page: ListPage) -> dict[str, Any]:
    about: dict[str, Any] = {"resourceVersion": str(page.revision)}
    if page.token:
        about["continue"] = page.token
    if page.remaining is not None:
        about["remainingItemCount"] = page.remaining
    return about


def list_bytes(resource: Resource, page: ListPage) -> bytes:
    about = list_metadata(page)
    if resource.custom:
        about.setdefault("continue", "")
    head = resource.list_prefix + msgspec.json.encode(about)
    if resource.conversion is not None:
        items = b",".join([body_of(resource, record) for record in page.records])
    elif resource.custom:
        prefix = resource.prefix
        items = b",".join([prefix + body_of(resource, record)[1:] for record in page.records])
    else:
        items = b",".join([record.body for record in page.records])
    return head + b',"items":[' + items + b"]}"

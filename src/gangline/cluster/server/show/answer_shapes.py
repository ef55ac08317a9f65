"""The shape an answer takes: the object itself, its metadata only, or rows of a Table; in JSON or YAML. The Accept
header decides."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from gangline.client.wire import JSON, Response
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.core import Core, whole
from gangline.cluster.server.show.table_cells import printer_for
from gangline.cluster.server.show.tables import META, Obj, Printer, custom_printer, partial, row, table
from gangline.cluster.server.status import bad_request, not_acceptable
from gangline.cluster.server.store.shelf import Record
from gangline.cluster.server.store.watch_lines import Line
from gangline.cluster.server.verbs.reads import ListPage, list_bytes, object_bytes
from gangline.cluster.server.wire.codec import encode

YAML = "application/yaml"
_KNOWN = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
_STREAMS = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
_SHAPES = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")


@dataclass(frozen=True, slots=True)
class AnswerShape:
    kind: str = ""
    """Empty for the object as it is."""
    version: str = "v1"
    yaml: bool = False


PLAIN = AnswerShape()


def read_accept(accept: str, streams: bool = True) -> AnswerShape:
    """The first acceptable clause; `streams`: this path can be watched."""
    if accept in ("", JSON, "*/*"):
        return PLAIN
    known = False
    for clause in accept.split(","):
        media, *parameters = [part.strip() for part in clause.split(";")]
        if media not in (JSON, YAML, "*/*"):
            continue
        known = True
        given = dict(part.split("=", 1) for part in parameters if "=" in part)
        if "as" not in given:
            return AnswerShape(yaml=media == YAML)
        if given["as"] in _SHAPES and given.get("g") == META and given.get("v") in ("v1", "v1beta1"):
            return AnswerShape(given["as"], given["v"], media == YAML)
    if known:
        raise not_acceptable(f"only the following media types are accepted: {_KNOWN}")
    raise not_acceptable(
        f"406: Not Acceptable\n\nAvailable representations: {f'{_KNOWN}, {_STREAMS}' if streams else _KNOWN}", {}
    )


def printer(resource: Resource) -> Printer:
    return custom_printer(resource.custom.version) if resource.custom else printer_for(resource.group, resource.plural)


def include_option(call: ServerCall) -> str:
    option = call.request.argument("includeObject")
    if option not in ("", "None", "Metadata", "Object"):
        raise bad_request(
            f'Unable to convert to Table as requested: includeObject: Invalid value: "{option}": must be '
            "'Metadata', 'Object', 'None', or empty"
        )
    return option


def _go_type(resource: Resource, many: bool) -> str:
    if resource.custom:
        return "*unstructured.UnstructuredList" if many else "*unstructured.Unstructured"
    return f"*{resource.group.split('.')[0] or 'core'}.{resource.kind}{'List' if many else ''}"


def _row(core: Core, call: ServerCall, record: Record, shape: AnswerShape) -> Obj:
    """One row: cells from the object as it is stored, and the object as the caller's version shows it."""
    resource, stored = call.resource, record.object()
    return row(
        printer(resource), stored, core.settings.clock(), include_option(call), shape.version, whole(resource, record)
    )


def object_response(core: Core, call: ServerCall, record: Record, status: int = 200) -> Response:
    resource, shape = call.resource, read_accept(call.request.accept, streams=not call.name)
    if shape.kind == "PartialObjectMetadataList":
        raise not_acceptable(
            f"you requested {shape.kind}, but the requested object is not a list ({_go_type(resource, False)})"
        )
    if not shape.kind:
        return finished(shape, object_bytes(resource, record), status)
    if shape.kind == "PartialObjectMetadata":
        return finished(shape, encode(partial(record.object(), shape.version)), status)
    rows = [_row(core, call, record, shape)]
    about = {"resourceVersion": str(record.revision)}
    return finished(shape, encode(table(shape.version, printer(resource), about, rows)), status)


def scale_response(core: Core, call: ServerCall, scale: Obj) -> Response:
    """The Scale that stands for an object, in the shape that is asked for."""
    shape = read_accept(call.request.accept, streams=False)
    if shape.kind == "PartialObjectMetadata":
        return finished(shape, encode(partial(scale, shape.version)))
    if shape.kind == "Table":
        how = printer_for("custom" if call.resource.custom else "autoscaling", "scales")
        rows = [row(how, scale, core.settings.clock(), include_option(call), shape.version, scale)]
        return finished(
            shape, encode(table(shape.version, how, {"resourceVersion": scale["metadata"]["resourceVersion"]}, rows))
        )
    return finished(shape, encode(scale))


def list_response(core: Core, call: ServerCall, page: ListPage) -> Response:
    resource, shape = call.resource, read_accept(call.request.accept)
    if shape.kind == "PartialObjectMetadata":
        raise not_acceptable(
            f"you requested {shape.kind}, but the requested object is a list ({_go_type(resource, True)})"
        )
    if not shape.kind:
        return finished(shape, list_bytes(resource, page))
    about: Obj = {"resourceVersion": str(page.revision)}
    if page.token:
        about["continue"] = page.token
    if page.remaining is not None:
        about["remainingItemCount"] = page.remaining
    if shape.kind == "Table":
        include_option(call)
        rows = [_row(core, call, record, shape) for record in page.records]
        return finished(shape, encode(table(shape.version, printer(resource), about, rows)))
    items = [partial(record.object(), shape.version) for record in page.records]
    listing = {
        "kind": "PartialObjectMetadataList",
        "apiVersion": f"{META}/{shape.version}",
        "metadata": about,
        "items": items,
    }
    return finished(shape, encode(listing))


def finished(shape: AnswerShape, body: bytes, status: int = 200) -> Response:
    """In JSON; one that is to be YAML is printed last, by the server."""
    return Response(status, body, YAML if shape.yaml else JSON)


def watch_shape(core: Core, call: ServerCall) -> Line | None:
    """How each event of a watch is told; None for the plain object."""
    resource, shape = call.resource, read_accept(call.request.accept)
    if not shape.kind:
        return None
    if shape.kind == "Table":
        return _table_events(core, call, shape)

    def told(kind: str, record: Record) -> bytes:
        return _event(kind, encode(partial(whole(resource, record), shape.version)))

    return told


def _event(kind: str, body: bytes) -> bytes:
    return b'{"type":' + msgspec.json.encode(kind) + b',"object":' + body + b"}\n"


def _table_events(core: Core, call: ServerCall, shape: AnswerShape) -> Line:
    """Tables of one row each; only the first has its head."""
    how, headed = printer(call.resource), [True]
    include_option(call)

    def told(kind: str, record: Record) -> bytes:
        about = {"resourceVersion": str(record.revision)}
        body = encode(table(shape.version, how, about, [_row(core, call, record, shape)], headed[0]))
        headed[0] = False
        return _event(kind, body)

    return told

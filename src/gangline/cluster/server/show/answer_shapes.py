"""The shape an answer takes: the object itself, its metadata only, or rows of a Table. negotiation.py reads from the
Accept header which, and whether in JSON, YAML or protobuf.

What is not JSON is printed last, by the server, from the JSON made here; only plain lists and watches, which may be
long, are written as protobuf object by object (protobuf_answers.py)."""

from __future__ import annotations

from gangline.client.wire import Response
from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.core import Core, whole
from gangline.cluster.server.show.negotiation import AnswerShape, plain_media, read_accept, read_watch_accept
from gangline.cluster.server.show.protobuf_answers import protobuf_form
from gangline.cluster.server.show.table_cells import printer_for
from gangline.cluster.server.show.tables import META, Obj, Printer, custom_printer, partial, row, table
from gangline.cluster.server.status import bad_request, not_acceptable
from gangline.cluster.server.store.shelf import Record
from gangline.cluster.server.store.watch_lines import Line, WatchForm, event, plain_form
from gangline.cluster.server.verbs.reads import ListPage, list_bytes, list_metadata, object_bytes
from gangline.cluster.server.wire.codec import PROTOBUF, encode


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


def object_shape(call: ServerCall) -> AnswerShape:
    """To be asked before anything is written: what nobody can read is not done."""
    return read_accept(call.request.accept, streams=False, custom=bool(call.resource.custom))


def object_response(core: Core, call: ServerCall, shape: AnswerShape, record: Record, status: int = 200) -> Response:
    resource = call.resource
    if shape.kind == "PartialObjectMetadataList":
        raise not_acceptable(
            f"you requested {shape.kind}, but the requested object is not a list ({_go_type(resource, False)})"
        )
    if not shape.kind:
        return finished(shape, object_bytes(resource, record), status)
    if shape.kind == "PartialObjectMetadata":
        return finished(shape, encode(partial(record.object(), shape.version)), status)
    rows = [_row(core, call, record, shape)]
    about = {"resourceVersion": str(record.revision)} if record.revision else {}
    return finished(shape, encode(table(shape.version, printer(resource), about, rows)), status)


def scale_response(core: Core, call: ServerCall, shape: AnswerShape, scale: Obj) -> Response:
    """The Scale that stands for an object, in the shape that is asked for."""
    if shape.kind == "PartialObjectMetadata":
        return finished(shape, encode(partial(scale, shape.version)))
    if shape.kind == "Table":
        how = printer_for("custom" if call.resource.custom else "autoscaling", "scales")
        rows = [row(how, scale, core.settings.clock(), include_option(call), shape.version, scale)]
        return finished(
            shape, encode(table(shape.version, how, {"resourceVersion": scale["metadata"]["resourceVersion"]}, rows))
        )
    return finished(shape, encode(scale))


def list_shape(call: ServerCall) -> AnswerShape:
    return read_accept(call.request.accept, custom=bool(call.resource.custom))


def list_response(core: Core, call: ServerCall, shape: AnswerShape, page: ListPage) -> Response:
    resource = call.resource
    if shape.kind == "PartialObjectMetadata":
        raise not_acceptable(
            f"you requested {shape.kind}, but the requested object is a list ({_go_type(resource, True)})"
        )
    if not shape.kind:
        return finished(shape, list_bytes(resource, page))
    about = list_metadata(page)
    if shape.kind == "Table":
        include_option(call)
        rows = [_row(core, call, record, shape) for record in page.records]
        return finished(shape, encode(table(shape.version, printer(resource), about, rows)))
    items = [partial(record.object(), shape.version) for record in page.records]
    listing = {
        "kind": "PartialObjectMetadataList",
        "apiVersion": f"{META}/{shape.version}",
        "metadata": about,
        "items": items or None,
    }
    return finished(shape, encode(listing))


def finished(shape: AnswerShape, body: bytes, status: int = 200) -> Response:
    """In JSON; one that is to be something else is printed last, by the server."""
    return Response(status, body, shape.media)


def plain_response(call: ServerCall, obj: Obj, status: int) -> Response:
    """An object that is no resource's: a review, a token, the outcome of a deletion."""
    return Response(status, encode(obj), plain_media(call.request.accept))


def watch_form(core: Core, call: ServerCall) -> WatchForm:
    """The form in which a watcher gets changes."""
    resource, shape = call.resource, read_watch_accept(call.request.accept, bool(call.resource.custom))
    if shape.kind == "Table":
        return WatchForm(_table_event(core, call, shape))
    if shape.media == PROTOBUF:
        return protobuf_form(resource, shape)
    if not shape.kind:
        return plain_form(resource)
    return WatchForm(lambda kind, record: event(kind, encode(partial(whole(resource, record), shape.version))))


def _table_event(core: Core, call: ServerCall, shape: AnswerShape) -> Line:
    """Tables of one row each; only the first has its head."""
    how, headed = printer(call.resource), [True]
    include_option(call)

    def watch_line(kind: str, record: Record) -> bytes:
        about = {"resourceVersion": str(record.revision)}
        body = encode(table(shape.version, how, about, [_row(core, call, record, shape)], headed[0]))
        headed[0] = False
        return event(kind, body)

    return watch_line

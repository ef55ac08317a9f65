"""`gangline get KIND [NAME]`: the table the server prints, or the objects themselves."""

from __future__ import annotations

from typing import Any

import click
import msgspec
import yaml

from gangline.api.kinds import Kind
from gangline.api.meta import Object
from gangline.cli.connection import ClusterConnection, cluster_options, connect
from gangline.cli.ending import run
from gangline.client.wire import Request
from gangline.errors import api_error

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


@click.command(help="Show objects as a table, or whole with -o json or -o yaml.")
@click.argument("kind")
@click.argument("name", required=False)
@click.option(
    "-o", "--output", type=click.Choice(["table", "wide", "json", "yaml"]), default="table", show_default=True
)
@click.option("-A", "--all-namespaces", is_flag=True, help="of every namespace")
@click.option("-l", "--selector", default="", help="only objects with these labels")
@cluster_options
def command(
    kind: str,
    name: str | None,
    output: str,
    all_namespaces: bool,
    selector: str,
    kubeconfig: str | None,
    namespace: str | None,
) -> None:
    run(_get(kind, name or "", output, all_namespaces, selector, kubeconfig, namespace))


async def _get(
    kind_name: str,
    name: str,
    output: str,
    everywhere: bool,
    selector: str,
    kubeconfig: str | None,
    namespace: str | None,
) -> None:
    async with connect(kubeconfig, namespace) as connection:
        kind = await connection.kind(kind_name)
        answer = await _ask(connection, kind, name, everywhere, selector, table=output in ("table", "wide"))
        if output == "json":
            click.echo(msgspec.json.format(msgspec.json.encode(answer)).decode())
        elif output == "yaml":
            click.echo(yaml.safe_dump(answer, sort_keys=False), nl=False)
        else:
            click.echo(as_text(answer, wide=output == "wide", everywhere=everywhere and kind.namespaced))


async def _ask(
    connection: ClusterConnection, kind: Kind[Object], name: str, everywhere: bool, selector: str, *, table: bool
) -> Any:
    path = kind.path("" if everywhere else connection.namespace, name)
    query = (("labelSelector", selector),) if selector else ()
    request = Request("GET", path, query, accept=TABLE if table else "application/json")
    answer = await connection.client.transport.send(request)
    body = msgspec.json.decode(answer.body)
    if answer.status >= 400:
        raise api_error(body, answer.status)
    return body


def as_text(table: Any, *, wide: bool, everywhere: bool) -> str:
    """A Table answer as aligned columns."""
    columns = [
        (number, column_definition["name"].upper())
        for number, column_definition in enumerate(table["columnDefinitions"])
        if wide or not column_definition.get("priority")
    ]
    heading = (["NAMESPACE"] if everywhere else []) + [title for _, title in columns]
    rows = [
        ([row["object"]["metadata"].get("namespace", "")] if everywhere else [])
        + [_cell(row["cells"][number]) for number, _ in columns]
        for row in table.get("rows") or []
    ]
    if not rows:
        return "nothing found"
    widths = [max(len(line[column]) for line in [heading, *rows]) for column in range(len(heading))]
    return "\n".join(
        "   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in [heading, *rows]
    )


def _cell(value: Any) -> str:
    return "<none>" if value is None or value == "" else str(value)

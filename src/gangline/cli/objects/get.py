"""`gangline get KIND [NAME]`: the table the server prints, or the objects themselves.

Gangs, queues and nodes have a table of our own (look/summaries.py), which says what a server's cannot: who holds how
many GPUs, what waits, and why. A gang is no object, so `-o json` of gangs prints the same lines as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from gangline.cli.columns import aligned
from gangline.cli.completion.cluster_names import kinds_of_cluster, objects_of_kind
from gangline.cli.completion.suggestions import did_you_mean
from gangline.cli.connection import ClusterConnection, cluster_options, connect
from gangline.cli.ending import run
from gangline.cli.objects.addresses import addresses
from gangline.errors import BadInput, Forbidden, NotFound, api_error

if TYPE_CHECKING:
    from gangline.api.kinds import Kind
    from gangline.api.meta import Object
    from gangline.cli.look.summaries import Summary

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
TABLES = ("table", "wide")
DERIVED = ("gang", "gangs")
"""What no server has as a kind."""


EXAMPLES = """\b
Examples:
  gangline get gangs -A                      # of every namespace
  gangline get queues -o wide
  gangline get pods -l app.kubernetes.io/part-of=llm
  gangline get podgroups.scheduling.run.ai -o yaml
  gangline get queues -o yaml --clean > queues.yaml    # for gangline apply -f
"""


@click.command(
    help="Show objects as a table, or whole with -o json or -o yaml. KIND: gangs, queues, nodes, or any kind that the "
    "cluster serves, as in pods, pcs or podgroups.scheduling.run.ai.",
    epilog=EXAMPLES,
)
@click.argument("kind", shell_complete=kinds_of_cluster)
@click.argument("name", required=False, shell_complete=objects_of_kind)
@click.option(
    "-o", "--output", type=click.Choice(["table", "wide", "json", "yaml", "name"]), default="table", show_default=True
)
@click.option("-A", "--all-namespaces", is_flag=True, help="of every namespace")
@click.option("-l", "--selector", default="", help="only objects with these labels")
@click.option(
    "--clean",
    is_flag=True,
    help="with -o json or yaml, leave out what the cluster wrote (status, uid, versions, owners, finalizers): to keep "
    "in a file and apply again",
)
@cluster_options
def command(
    kind: str,
    name: str | None,
    output: str,
    all_namespaces: bool,
    selector: str,
    clean: bool,
    kubeconfig: str | None,
    namespace: str | None,
) -> None:
    if "," in kind or kind == "all":
        raise BadInput("get shows one kind at a time, as in gangline get gangs; kubectl get shows several")
    (target, *others) = addresses(kind, [name] if name else [])
    if others:
        raise BadInput(f"get shows one object by name; the second is {'/'.join(others[0]).strip('/')}")
    if clean and output not in ("json", "yaml"):
        raise BadInput("--clean is for whole objects: add -o json or -o yaml")
    run(_get(*target, output, all_namespaces, selector, clean, kubeconfig, namespace))


async def _get(
    kind_name: str,
    name: str,
    output: str,
    everywhere: bool,
    selector: str,
    clean: bool,
    kubeconfig: str | None,
    namespace: str | None,
) -> None:
    from gangline.cli.look.sight import SUMMARIZED

    async with connect(kubeconfig, namespace) as connection:
        derived = kind_name.lower() in DERIVED
        has_table = kind_name.lower() in SUMMARIZED and not selector
        if derived and clean:
            raise BadInput("a gang is no object that can be applied: ask for podgangs, podgroups or its workload")
        if derived or (has_table and output in TABLES):
            click.echo(await _summarized(connection, kind_name, name, output, everywhere, selector))
            return
        kind = await connection.kind(kind_name)
        answer = await _ask(connection, kind, name, everywhere, selector, table=output in TABLES)
        if output in TABLES:
            here = kind.namespaced and not everywhere
            empty = not answer.get("rows") and await nothing(connection, kind.plural, connection.namespace * here)
            click.echo(empty or as_text(answer, wide=output == "wide", everywhere=everywhere and kind.namespaced))
            return
    if output == "name":
        items = answer.get("items", [answer])
        click.echo("\n".join(f"{kind.resource}/{item['metadata']['name']}" for item in items))
    else:
        from gangline.cli.objects.clean import cleaned

        click.echo(written(cleaned(answer) if clean else answer, output), nl=False)


def written(data: Any, output: str) -> str:
    """Data as JSON or YAML."""
    import msgspec

    from gangline.api.yaml_text import yaml_text
    from gangline.rules.values.documents import without_controls

    if output == "json":
        return without_controls(msgspec.json.format(msgspec.json.encode(data)).decode()) + "\n"
    return yaml_text(msgspec.to_builtins(data))


async def _summarized(
    connection: ClusterConnection, kind_name: str, name: str, output: str, everywhere: bool, selector: str
) -> str:
    """What makes tables is loaded after the requests: a command that cannot reach its cluster says so at once."""
    from gangline.cli.look.sight import SUMMARIZED, look_at

    view = await look_at(connection)
    from gangline.cli.look.summaries import SUMMARIES

    summary = SUMMARIES[SUMMARIZED[kind_name.lower()]]
    for trouble in view.source.troubles:
        click.echo(f"warning: {trouble}", err=True)
    here = ("", connection.namespace)
    lines = [line for line in summary.lines(view) if everywhere or summary.place(line)[0] in here]
    if selector:
        lines = summary.chosen(lines, view, selector)
    absent = f"there is no {summary.kind} {name}{summary.near(name, lines)}" if name else ""
    lines = summary.named(name, lines)
    if not lines and (refusal := summary.unseen(view) or absent):
        raise BadInput(refusal)
    if output in TABLES and not lines:
        where = connection.namespace if summary.kind == "gang" and not everywhere else ""
        return await nothing(connection, f"{summary.kind}s", where)
    if output in TABLES:
        return summary.table(lines, view.source.now, wide=output == "wide", everywhere=everywhere)
    return _as_data(summary, lines, output, single=bool(name))


def _as_data(summary: Summary, lines: Sequence[Any], output: str, *, single: bool) -> str:
    if output == "name":
        return "\n".join(summary.name(line) for line in lines)
    return written(lines[0] if single else {"items": lines}, output).rstrip("\n")


async def _ask(
    connection: ClusterConnection, kind: Kind[Object], name: str, everywhere: bool, selector: str, *, table: bool
) -> Any:
    from gangline.client.typed_views import plain
    from gangline.client.wire import Request

    path = kind.path("" if everywhere else connection.namespace, name)
    query = (("labelSelector", selector),) if selector else ()
    request = Request("GET", path, query, accept=TABLE if table else "application/json")
    answer = await connection.client.transport.send(request)
    body = plain(answer.body, f"GET {path}")
    if answer.status < 300:
        return body
    error = api_error(body, answer.status)
    raise await connection.absent(error, kind, name, connection.namespace) if isinstance(error, NotFound) else error


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
    return aligned(heading, rows)


async def nothing(connection: ClusterConnection, kinds: str, namespace: str) -> str:
    """The text in place of an empty table. Raises BadInput where there is no such namespace."""
    if namespace:
        await _check_namespace(connection, namespace)
    return f"no {kinds}" + (f" in namespace {namespace}; -A looks in all" if namespace else "")


async def _check_namespace(connection: ClusterConnection, namespace: str) -> None:
    from gangline.api.kinds import NAMESPACE

    try:
        await connection.client.get_raw(NAMESPACE, namespace)
    except NotFound:
        there = [item["metadata"]["name"] for item in await connection.client.list_raw(NAMESPACE)]
        raise BadInput(f"there is no namespace {namespace}{did_you_mean(namespace, there)}") from None
    except Forbidden:
        pass  # who may not look at namespaces may have one all the same


def _cell(value: Any) -> str:
    return "<none>" if value is None or value == "" else str(value)

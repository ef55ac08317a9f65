"""`gangline fairshare`: how the scheduler divides a cluster among queues, and where each number comes from.

Of a live cluster, or of a file in the form of KAI's fair-share simulator; with `--serve` that simulator's
`POST /simulate` is answered.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import click

from gangline.bounded_input import given_text
from gangline.cli.connection import cluster_options, connect
from gangline.cli.ending import run
from gangline.cli.fairshare_table import as_data, as_text, by_name, outside_text
from gangline.errors import BadInput, GanglineError

if TYPE_CHECKING:
    from aiohttp import web

HOST = "127.0.0.1"
EXAMPLES = """\b
Examples:
  gangline fairshare                      # of the cluster as it is now
  gangline fairshare -o json
  gangline fairshare question.yaml        # of queues that a file describes
  gangline fairshare --serve --port 8080 # answers POST /simulate as KAI does
"""


@click.command(
    help="Say what share of a cluster each queue gets, and why: its quota, limit and over-quota weight, what it asks "
    "for and uses. Without FILE, of the live cluster. FILE (YAML or JSON, `-`: standard input) has totalResource {GPU, "
    "CPU, Memory} and queues [{uid, priority, resourceShare: {gpu: {deserved, maxAllowed, overQuotaWeight, "
    "request}}}].",
    epilog=EXAMPLES,
)
@click.argument("file", required=False)
@click.option("-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True)
@click.option("--serve", is_flag=True, help="answer POST /simulate on this machine")
@click.option("--port", default=8080, show_default=True, help="where to listen, with --serve")
@cluster_options
def command(
    file: str | None, output: str, serve: bool, port: int, kubeconfig: str | None, namespace: str | None
) -> None:
    if serve and file is not None:
        raise click.UsageError("--serve takes no FILE: questions come by POST /simulate")
    if serve:
        run(_serve(port))
    elif file is None:
        run(_live(output, kubeconfig, namespace))
    else:
        _of_file(_read(file), output)


def _of_file(question: dict[str, Any], output: str) -> None:
    from gangline.scheduler.fairness.figures import figures_of
    from gangline.scheduler.fairness.simulate import divided, refuse_unknown_words

    refuse_unknown_words(question)
    queues, total = divided(question, time.time())
    figures = figures_of({queue.uid: queue for queue in queues}, total)
    _show(as_data(figures), as_text(figures, plain=True), output)


async def _live(output: str, kubeconfig: str | None, namespace: str | None) -> None:
    from gangline.whatif.read import read_cluster
    from gangline.whatif.shares import live_shares

    async with connect(kubeconfig, namespace) as cluster:
        pools = live_shares(await read_cluster(cluster.client), time.time())
    if not pools:
        raise BadInput("the cluster has no queues to divide it among")
    data = [
        {"pool": pool.pool, "heldByOthers": by_name(pool.outside), "queues": as_data(pool.queues)} for pool in pools
    ]
    heads = [f"node pool {pool.pool}\n" if len(pools) > 1 else "" for pool in pools]
    text = "\n\n".join(
        head + as_text(pool.queues) + outside_text(pool.outside) for head, pool in zip(heads, pools, strict=True)
    )
    _show(data, text, output)


def _show(data: Any, text: str, output: str) -> None:
    from gangline.rules.values.documents import json_text

    if output == "json":
        click.echo(json_text(data))
    elif output == "yaml":
        from gangline.api.yaml_text import yaml_text

        click.echo(yaml_text(data, unicode=True), nl=False)
    else:
        click.echo(text)


def _read(file: str) -> dict[str, Any]:
    from gangline.rules.values.documents import DocumentUnreadable, read_yaml

    try:
        question = read_yaml(given_text(file))
    except DocumentUnreadable as error:
        raise BadInput(f"{file} cannot be read: {error}") from error
    if not isinstance(question, dict):
        raise BadInput(f"{file} holds no mapping with totalResource and queues")
    return question


def application() -> web.Application:
    from aiohttp import web

    from gangline.rules.values.documents import read_json
    from gangline.scheduler.fairness.simulate import simulate

    async def answer(request: web.Request) -> web.Response:
        if request.method != "POST":
            return web.Response(status=405, text="Method not allowed\n")
        try:
            question = read_json(await request.read())
            return web.json_response(simulate(question if isinstance(question, dict) else {}, time.time()))
        except (ValueError, GanglineError) as error:
            return web.Response(status=400, text=f"{error}\n")

    app = web.Application()
    app.router.add_route("*", "/simulate", answer)
    return app


async def _serve(port: int) -> None:
    from aiohttp import web

    from gangline.runtime.health import runner

    serving = runner(application(), HOST)
    await serving.setup()
    try:
        await web.TCPSite(serving, HOST, port).start()
        click.echo(f"POST http://{HOST}:{serving.addresses[0][1]}/simulate (Ctrl-C ends)")
        await asyncio.Event().wait()
    finally:
        await serving.cleanup()

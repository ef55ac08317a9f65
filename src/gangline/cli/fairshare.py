"""`gangline fairshare`: how the scheduler would divide a cluster among queues, from a file or as a small server.

The question and the answer have the form of KAI's fair-share simulator (`POST /simulate`).
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gangline.cli.ending import run
from gangline.cli.manifests import standard_input
from gangline.errors import BadInput, GanglineError
from gangline.rules.values.documents import DocumentUnreadable, read_yaml

if TYPE_CHECKING:
    from aiohttp import web

HOST = "127.0.0.1"


@click.command(
    help="Say what share of a cluster each queue would get. FILE (YAML or JSON, `-`: standard input) has "
    "totalResource {GPU, "
    "CPU, Memory} and queues [{uid, priority, resourceShare: {gpu: {deserved, maxAllowed, overQuotaWeight, "
    "request}}}]; without "
    "a file, the same is answered to POST /simulate."
)
@click.argument("file", required=False)
@click.option("--port", default=8080, show_default=True, help="where to listen, without a file")
def command(file: str | None, port: int) -> None:
    from gangline.scheduler.fairness.simulate import simulate

    if file is None:
        run(_serve(port))
        return
    for uid, share in simulate(_read(file), time.time()).items():
        click.echo(f"{uid:<24} gpu {share['gpu']:<8g} cpu {share['cpu']:<10g} memory {share['memory']:g}")


def _read(file: str) -> dict[str, Any]:
    try:
        found = read_yaml(standard_input() if file == "-" else Path(file).read_text())
    except (OSError, UnicodeDecodeError, DocumentUnreadable) as error:
        raise BadInput(f"{file} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise BadInput(f"{file} holds no mapping with totalResource and queues")
    return found


def application() -> web.Application:
    from aiohttp import web

    from gangline.scheduler.fairness.simulate import simulate

    async def answer(request: web.Request) -> web.Response:
        if request.method != "POST":
            return web.Response(status=405, text="Method not allowed\n")
        try:
            question = await request.json()
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

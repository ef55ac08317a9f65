"""`gangline dashboard`: the read-only web page for any cluster, until Ctrl-C."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import click

from gangline.cli.connection import kubeconfig_path
from gangline.cli.ending import run
from gangline.errors import BadInput

if TYPE_CHECKING:
    from gangline.client import Client

PORT = 8080
HERE = ("127.0.0.1", "localhost", "::1")


@click.command(
    help="Serve a web page that shows what waits and why, what would start it, who holds the GPUs, who borrows, and "
    "where free "
    "room is. It only reads: get, list and watch are all it needs."
)
@click.option(
    "--kubeconfig", metavar="FILE", help="which cluster (default: the one we run in, else the platform started here)"
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="where to listen; 0 takes a free port",
)
@click.option("--address", default="127.0.0.1", show_default=True, help="address to listen on")
@click.option(
    "--log", "level", default="error", show_default=True, type=click.Choice(["debug", "info", "warning", "error"])
)
def command(kubeconfig: str | None, port: int, address: str, level: str) -> None:
    from gangline.runtime.logs import set_up

    set_up(level, "text")
    run(_serve(kubeconfig, address, port), serves=True)


async def _serve(kubeconfig: str | None, address: str, port: int) -> None:
    from gangline.dashboard.service import Dashboard

    client, server = _connect(kubeconfig)
    dashboard = Dashboard.of(client, server)
    try:
        url = await dashboard.start(address, port)
        if address not in HERE:
            click.echo(
                f"warning: listening on {address}, which other machines may reach; who reaches it sees the cluster",
                err=True,
            )
        click.echo(f"dashboard    {url} (of {server}; Ctrl-C ends)")
        await asyncio.Event().wait()
    except OSError as error:
        raise BadInput(
            f"cannot listen on {address}:{port} ({os.strerror(error.errno or 0)}); "
            "choose another port with --port, or --port 0 for a free one"
        ) from None
    finally:
        await dashboard.stop()
        await client.close()


def _connect(kubeconfig: str | None) -> tuple[Client, str]:
    """A client, and how its cluster is called."""
    from gangline.client import Client
    from gangline.client.kubeconfig import in_cluster, load, transport

    if kubeconfig is None and os.environ.get("KUBERNETES_SERVICE_HOST"):
        return Client(in_cluster("gangline-dashboard"), retries=1), "this cluster"
    target = load(kubeconfig_path(kubeconfig))
    return Client(transport(target, "gangline-dashboard"), retries=1), target.server

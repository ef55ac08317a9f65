"""`gangline run COMPONENT`: one component against a cluster, by kubeconfig or inside it."""

from __future__ import annotations

import asyncio
import os
import signal

import click

from gangline.cli.connection import kubeconfig_path, run
from gangline.components import COMPONENTS


@click.command(help="Run one component until Ctrl-C: " + ", ".join(COMPONENTS) + ".")
@click.argument("component", type=click.Choice(list(COMPONENTS)))
@click.option("--kubeconfig", metavar="FILE", help="which cluster (default: the one we run in, else the platform started here)")
@click.option("--compat", multiple=True, type=click.Choice(["grove", "kai"]), help="upstream's names and habits")
@click.option("--schedule-period", type=float, default=1.0, show_default=True, help="seconds between cycles, at least")
@click.option("--log", "level", default="info", show_default=True, type=click.Choice(["debug", "info", "warning", "error"]))
def command(component: str, kubeconfig: str | None, compat: tuple[str, ...], schedule_period: float, level: str) -> None:
    from gangline.runtime.logs import set_up

    set_up(level)
    run(_run(component, kubeconfig, compat, schedule_period))


async def _run(component: str, kubeconfig: str | None, compat: tuple[str, ...], period: float) -> None:
    from gangline.client import Client
    from gangline.client.kubeconfig import in_cluster, load, transport
    from gangline.components import Options, build
    from gangline.runtime import Manager

    inside = not kubeconfig and os.environ.get("KUBERNETES_SERVICE_HOST")
    agent = f"gangline-{component}"
    carrier = in_cluster(agent) if inside else transport(load(kubeconfig_path(kubeconfig)), agent)
    client = Client(carrier, manager=f"gangline-{component}")
    manager = Manager(build(component, Options(compat=compat, period=period)), client)
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    click.echo(f"{component}: connecting to {carrier.server} …")
    starting = asyncio.create_task(manager.start())
    waiting = asyncio.create_task(stopped.wait())
    try:
        await asyncio.wait({starting, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            click.echo("ready")
            await waiting
    finally:
        starting.cancel()
        await manager.stop()
        await client.close()

"""`gangline up`: the whole platform on this machine, until Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gangline.bounded_input import given_text
from gangline.cli.connection import home, own_recordings
from gangline.cli.ending import run
from gangline.cli.local.examples import applying
from gangline.errors import BadInput

if TYPE_CHECKING:
    from gangline.local import Platform, PlatformSettings

PORT = 8443
DASHBOARD = 8080


EXAMPLES = """\b
Examples:
  gangline up                                # 4 nodes of 8 GPUs
  gangline up --memory --port 0              # nothing is kept; any free port
  gangline up --nodes examples/nodes.yaml    # nodes of your own
  gangline up --without scheduler            # bring your own scheduler
"""


@click.command(
    help="Start the API server, simulated GPU nodes and every component on this machine; stop with Ctrl-C.",
    epilog=EXAMPLES,
)
@click.option("--memory", is_flag=True, help="keep objects in memory only; they are gone when it stops")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="port of the API server; 0 takes a free one",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="address to listen on")
@click.option(
    "--connections-per-address",
    "per_address",
    metavar="N",
    type=click.IntRange(1),
    default=2000,
    show_default=True,
    help="connections to the API server that one address may have",
)
@click.option(
    "--nodes",
    "nodes_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="simulated nodes (default: 4 nodes of 8 GPUs); `gangline examples` writes a nodes.yaml with every field",
)
@click.option(
    "--config",
    "configuration",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False),
    help="Grove's OperatorConfiguration, for the operator and its admission checks",
)
@click.option(
    "--workload-api",
    default="1.35",
    show_default=True,
    type=click.Choice(["none", "1.35", "1.36", "1.37"]),
    help="serve kube-scheduler's Workload API as this Kubernetes release does",
)
@click.option(
    "--feature-gate",
    "gates",
    metavar="NAME",
    multiple=True,
    help="a feature gate of Kubernetes to switch on; repeatable",
)
@click.option("--compat", multiple=True, type=click.Choice(["grove", "kai"]), help="behave like Grove or KAI")
@click.option(
    "--without",
    "absent",
    metavar="COMPONENT,…",
    multiple=True,
    help="leave these components out, so that other programs take their place; `admission` leaves out the hooks of "
    "both halves, `default-scheduler` and `controller-manager` what Kubernetes itself would run",
)
@click.option(
    "--audit-log",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="write one line of JSON for every request, as kube-apiserver does at level Metadata",
)
@click.option(
    "--dashboard-port",
    type=click.IntRange(0, 65535),
    default=DASHBOARD,
    show_default=True,
    help="port of the dashboard; 0 takes a free one",
)
@click.option("--no-dashboard", is_flag=True, help="do not serve the dashboard")
@click.option(
    "--log", "level", default="warning", show_default=True, type=click.Choice(["debug", "info", "warning", "error"])
)
def command(
    memory: bool,
    port: int,
    host: str,
    per_address: int,
    nodes_file: str | None,
    configuration: str | None,
    workload_api: str,
    gates: tuple[str, ...],
    compat: tuple[str, ...],
    absent: tuple[str, ...],
    audit_log: str | None,
    dashboard_port: int,
    no_dashboard: bool,
    level: str,
) -> None:
    from gangline.cli.deploy.run import configured
    from gangline.components.options import ComponentOptions
    from gangline.local import PlatformSettings
    from gangline.runtime.logs import set_up

    set_up(level, "auto")
    nodes = _read_nodes(nodes_file) if nodes_file else ""
    recording = "" if memory else str(own_recordings())
    settings = PlatformSettings(
        folder=None if memory else home() / "data",
        options=configured(
            ComponentOptions(compat=compat, period=0.05, nodes=nodes, recording=recording), configuration
        ),
        workload_api=workload_api,
        shards=True,
        connections_per_address=per_address,
        audit_log=Path(audit_log) if audit_log else None,
    )
    settings = replace(settings, feature_gates=(*settings.feature_gates, *gates))
    settings = _without(settings, {name.strip() for text in absent for name in text.split(",") if name.strip()})
    run(_up(settings, port, host, None if no_dashboard else dashboard_port), serves=True)


def _without(settings: PlatformSettings, absent: set[str]) -> PlatformSettings:
    """With components left out. Without a scheduler of our own nobody makes one for each shard either."""
    from gangline.components.left_out import check_leavable

    check_leavable(absent)
    return replace(
        settings,
        components=tuple(name for name in settings.components if name not in absent),
        shards=settings.shards and not {"scheduler", "installer"} & absent,
        admission=settings.admission and "admission" not in absent,
    )


def _read_nodes(path: str) -> str:
    """The text of a nodes file; what is wrong with it is printed before anything starts."""
    from gangline.components import check_nodes

    text = given_text(path)
    check_nodes(text)
    return text


async def _up(settings: PlatformSettings, port: int, host: str, dashboard: int | None) -> None:
    from gangline.local import Platform
    from gangline.runtime.files import allow_many
    from gangline.runtime.logs import hush

    allow_many()
    platform = Platform(settings)
    platform.server.on_failure.append(hush)
    async with contextlib.AsyncExitStack() as pages:
        pages.push_async_callback(platform.stop)
        try:
            await platform.while_it_can(_serve(platform, host, port, pages, dashboard))
        except asyncio.CancelledError:
            click.echo("\nstopping …")
            raise


async def _serve(
    platform: Platform, host: str, port: int, pages: contextlib.AsyncExitStack, dashboard: int | None
) -> None:
    await _start(platform, host, port, pages, dashboard)
    await asyncio.Event().wait()


async def _start(
    platform: Platform, host: str, port: int, pages: contextlib.AsyncExitStack, dashboard: int | None
) -> None:
    from gangline.local import write_kubeconfig
    from gangline.runtime.process.memory import settle

    click.echo("starting …")
    await platform.start()
    try:
        url = await platform.listen(host, port)
    except OSError as error:
        raise BadInput(
            f"cannot listen on {host}:{port} ({os.strerror(error.errno or 0)}); "
            "choose another port with --port, or --port 0 for a free one"
        ) from None
    config = write_kubeconfig(platform, url, home() / "kubeconfig")
    if host not in ("127.0.0.1", "localhost", "::1"):
        click.echo(f"warning: listening on {host}, which other machines may reach", err=True)
    click.echo(f"API server   {url}")
    click.echo(f"kubeconfig   {config}")
    if dashboard is not None:
        click.echo(f"dashboard    {await _show(platform, url, dashboard, pages)}")
    folder = platform.settings.folder
    click.echo("objects      kept in memory only" if folder is None else f"objects      {folder}")
    if platform.settings.audit_log is not None:
        click.echo(f"audit log    {platform.settings.audit_log}")
    click.echo(f"nodes        {await platform.count_nodes()} simulated")
    click.echo(f"try          export KUBECONFIG={config}; {applying('01-gang')}")
    settle()
    click.echo("ready")


async def _show(platform: Platform, server: str, port: int, pages: contextlib.AsyncExitStack) -> str:
    """Serve the web page on this machine only, at the port asked for or, where that is taken, at a free one; gives the
    address."""
    from gangline.dashboard.service import Dashboard

    lasting = platform.settings.folder is not None
    recording, kept = (own_recordings(), home() / "dashboard") if lasting else (None, None)
    dashboard = Dashboard.of(platform.connect("dashboard"), server, platform.clock, recording, kept=kept)
    pages.push_async_callback(dashboard.stop)
    try:
        return await dashboard.start(port=port)
    except OSError as error:
        return f"{await dashboard.start()} ({port}: {os.strerror(error.errno or 0).lower()})"

"""`gangline run COMPONENT`: one component against a cluster, by kubeconfig or inside it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml

from gangline.cli.connection import kubeconfig_path, run
from gangline.components import COMPONENTS
from gangline.errors import ConfigError

if TYPE_CHECKING:
    from gangline.client import Client
    from gangline.components import Options
    from gangline.runtime.election import Elected
    from gangline.runtime.health import Endpoint


@click.command(help="Run one component until Ctrl-C: " + ", ".join(COMPONENTS) + "; or a scheduler's backend alone, as in `run "
               "backend kai`. FLAGS are upstream's own, as in --leader-elect=false.",
               context_settings={"ignore_unknown_options": True})
@click.argument("component", type=click.Choice([*COMPONENTS, "backend"]))
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
@click.option("--kubeconfig", metavar="FILE", help="which cluster (default: the one we run in, else the platform started here)")
@click.option("--compat", multiple=True, type=click.Choice(["grove", "kai"]), help="upstream's names and habits")
@click.option("--outside", multiple=True, metavar="BACKEND", help="for the operator: a backend that runs as a process of its own")
@click.option("--webhook", default="", metavar="URL", help="for admission: where the cluster reaches it, if not through its service")
@click.option("--schedule-period", type=float, default=1.0, show_default=True, help="seconds between cycles, at least")
@click.option("--log", "level", default="info", show_default=True, type=click.Choice(["debug", "info", "warning", "error"]))
def command(component: str, flags: tuple[str, ...], kubeconfig: str | None, compat: tuple[str, ...], outside: tuple[str, ...],
            webhook: str, schedule_period: float, level: str) -> None:
    from gangline.components import BACKEND, Options
    from gangline.rules.flags import parse
    from gangline.runtime.logs import set_up

    set_up(level)
    if component == "backend":
        if not flags or flags[0].startswith("-"):
            raise ConfigError("which backend? say for example: gangline run backend kai")
        component, flags = f"{BACKEND}{flags[0]}", flags[1:]
    given = parse(flags)
    options = Options(compat=compat, period=schedule_period, webhook=webhook, outside=outside, flags=given,
                      config=_config(given.get("scheduler-conf")))
    run(_run(component, kubeconfig, options))


def _config(path: str | None) -> dict[str, Any]:
    """The scheduler's config.yaml."""
    if path is None:
        return {}
    try:
        found = yaml.safe_load(Path(path).read_text()) or {}
    except (OSError, yaml.YAMLError) as error:
        raise ConfigError(f"--scheduler-conf={path} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"--scheduler-conf={path} holds no mapping")
    return found


async def _run(component: str, kubeconfig: str | None, options: Options) -> None:
    from gangline.client import Client
    from gangline.client.kubeconfig import in_cluster, load, transport

    inside = not kubeconfig and os.environ.get("KUBERNETES_SERVICE_HOST")
    agent = f"gangline-{component}"
    carrier = in_cluster(agent) if inside else transport(load(kubeconfig_path(kubeconfig)), agent)
    client = Client(carrier, manager=f"gangline-{component}")
    worker = _worker(component, options, client)
    endpoint = await _serve(options.flags, worker)
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    click.echo(f"{component}: connecting to {carrier.server} …")
    starting = asyncio.create_task(worker.start())
    waiting = [asyncio.create_task(stopped.wait()), asyncio.create_task(worker.lost.wait())]
    try:
        await asyncio.wait({starting, *waiting}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            click.echo("ready")
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if worker.lost.is_set():
            raise ConfigError(f"{component} is no longer the leader and stops; start it again")
    finally:
        for task in (starting, *waiting):
            task.cancel()
        await worker.stop()
        if endpoint is not None:
            await endpoint.close()
        await client.close()


def _worker(component: str, options: Options, client: Client) -> Elected:
    """The component; where it is elected, it works only while it leads."""
    from gangline.api import names
    from gangline.components import build, lease
    from gangline.rules.flags import truth
    from gangline.runtime import Manager, SystemClock
    from gangline.runtime.election import Elected, Election, ElectionSettings

    built = build(component, options)
    elect = truth(options.flags.get("leader-elect", "true" if component == "scheduler" and options.flags else "false"))
    settings = ElectionSettings(lease(component, options), options.flags.get("namespace", names.KAI_NAMESPACE))
    return Elected(lambda: Manager(built, client), Election(client, SystemClock(), settings) if elect else None)


async def _serve(flags: Mapping[str, str], worker: Elected) -> Endpoint | None:
    """Health and metrics, where one of upstream's flags names an address."""
    from gangline.runtime.health import Endpoint, split_address

    named = ("listen-address", "metrics-bind-address", "metrics-listen-address", "health-probe-bind-address")
    address = next((flags[flag] for flag in named if flags.get(flag)), None)
    if address in (None, "0"):
        return None
    endpoint = Endpoint(lambda: worker.manager is not None)
    await endpoint.open(*split_address(str(address), 8080))
    return endpoint

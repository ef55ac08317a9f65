"""One component as a process, for `gangline run`: connect, be elected, serve its pages, work until it is stopped."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import click

from gangline.cli.connection import kubeconfig_path
from gangline.errors import ConfigError

if TYPE_CHECKING:
    from gangline.client import Client
    from gangline.components.options import ComponentOptions
    from gangline.runtime.leading.election import Elected
    from gangline.runtime.leading.lease import ElectionSettings


async def run_component(component: str, kubeconfig: str | None, options: ComponentOptions) -> None:
    from gangline.client import Client
    from gangline.client.acceptance import WatchedTransport
    from gangline.client.kubeconfig import in_cluster, load, transport
    from gangline.components.preflight import preflight

    inside = not kubeconfig and os.environ.get("KUBERNETES_SERVICE_HOST")
    agent = f"gangline-{component}"
    carrier = in_cluster(agent) if inside else transport(load(kubeconfig_path(kubeconfig)), agent)
    watched = WatchedTransport(carrier, carrier.server)
    client = Client(watched, manager=f"gangline-{component}", alone=True)
    try:
        click.echo(f"{component}: connecting to {carrier.server} …")
        await preflight(component, options, client)
        worker = _worker(component, options, client)
        async with _pages(component, options, worker):
            await _work(component, worker, watched.ending)
    finally:
        await client.close()


async def _work(component: str, worker: Elected, ending: asyncio.Future[ConfigError]) -> None:
    """Until somebody stops it, it leads no longer, or the server will never take us."""
    starting, lost = asyncio.create_task(worker.start()), asyncio.create_task(worker.lost.wait())
    try:
        ends: set[asyncio.Future[Any]] = {lost, ending}
        await asyncio.wait({starting, *ends}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            starting.result()
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if ending.done():
            raise ending.result()
        if worker.refused is not None:
            raise worker.refused
        raise ConfigError(f"{component} is no longer the leader and stops; start it again")
    finally:
        for task in (starting, lost):
            task.cancel()
        await worker.stop()


def _tell(line: str) -> None:
    from gangline.runtime.leading.election import READY
    from gangline.runtime.process.memory import settle

    if line == READY:
        settle()
    click.echo(line)


def _worker(component: str, options: ComponentOptions, client: Client) -> Elected:
    """The component; where it is elected, it works only while it leads."""
    from gangline.client import Lanes
    from gangline.components import build
    from gangline.runtime import Manager, SystemClock
    from gangline.runtime.leading.election import Elected, Election

    built, settings = build(component, options), _election(component, options)
    election = Election(client, SystemClock(), settings) if settings is not None else None
    return Elected(lambda: Manager(built, client, lanes=Lanes(apart=True)), election, _tell)


def _election(component: str, options: ComponentOptions) -> ElectionSettings | None:
    from gangline.components import EVERYWHERE, lease
    from gangline.rules.flags import truth
    from gangline.runtime.leading.lease import ElectionSettings

    chosen = options.process.election if options.process is not None and component == "operator" else None
    if chosen is not None and "leader-elect" not in options.flags:
        home = _home(component, options)
        return (
            ElectionSettings(chosen.name, home, duration=chosen.duration, deadline=chosen.deadline, retry=chosen.retry)
            if chosen.enabled
            else None
        )
    elect = component not in EVERYWHERE and truth(options.flags.get("leader-elect", "true"))
    return ElectionSettings(lease(component, options), _home(component, options)) if elect else None


def _home(component: str, options: ComponentOptions) -> str:
    from gangline.components import home

    return options.namespace or home(component)


@asynccontextmanager
async def _pages(component: str, options: ComponentOptions, worker: Elected) -> AsyncIterator[None]:
    """Health and metrics, where one of upstream's flags names an address, or the operator's configuration its ports."""
    from gangline.runtime.health import Endpoint

    async with AsyncExitStack() as open_pages:
        for address in _addresses(component, options):
            endpoint = Endpoint(lambda: worker.manager is not None, namespace=_metrics_namespace(component, options))
            await endpoint.open(*address)
            open_pages.push_async_callback(endpoint.close)
        yield


def _metrics_namespace(component: str, options: ComponentOptions) -> str:
    """The queue controller names its metrics itself."""
    return options.flags.get("metrics-namespace", "") if component == "scheduler" else ""


def _addresses(component: str, options: ComponentOptions) -> list[tuple[str, int]]:
    from gangline.rules.values.hosts import split_address

    named = ("listen-address", "metrics-bind-address", "metrics-listen-address", "health-probe-bind-address")
    given = [options.flags[flag] for flag in named if options.flags.get(flag)]
    if given:
        return list(dict.fromkeys(split_address(address, 8080) for address in given if address != "0"))
    runs = options.process if component == "operator" else None
    return [("0.0.0.0", port) for port in (runs.health_port, runs.metrics_port) if port] if runs is not None else []

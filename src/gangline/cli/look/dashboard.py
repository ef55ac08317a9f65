"""`gangline dashboard`: the read-only web page for any cluster, until Ctrl-C."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gangline.cli.connection import kubeconfig_path
from gangline.cli.ending import run
from gangline.errors import BadInput

if TYPE_CHECKING:
    from gangline.client import Client
    from gangline.dashboard.login.gates import Gate, Network
    from gangline.runtime import Clock

PORT = 8080
TRUSTED = ("127.0.0.0/8", "::1/128")
HERE = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class LoginChoice:
    """How people log in: none, token or proxy; and what is believed of a proxy."""

    how: str
    networks: tuple[Network, ...]
    user_header: str
    groups_header: str


@dataclass(frozen=True, slots=True)
class PastPlaces:
    """Folders: what the scheduler recorded, and what the page itself remembers."""

    recording: Path | None
    kept: Path | None


EXAMPLES = """\b
Examples:
  gangline dashboard --kubeconfig FILE
  gangline dashboard --port 0                # any free port
  gangline dashboard --address 0.0.0.0 --login token
"""


@click.command(
    help="Serve a web page that shows what waits and why, what would start it, who holds the GPUs, who borrows, and "
    "where free room is. It only reads: get, list and watch are all it needs.",
    epilog=EXAMPLES,
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
    "--login",
    type=click.Choice(["none", "token", "proxy"]),
    default="none",
    show_default=True,
    help="token: a token of the cluster; proxy: a proxy in front says who asks; either sees what its own RBAC lets it "
    "list",
)
@click.option(
    "--trust-proxy",
    metavar="NETWORK",
    multiple=True,
    help="for --login proxy: addresses whose headers are trusted (default: 127.0.0.0/8 and ::1)",
)
@click.option("--user-header", default="X-Forwarded-User", show_default=True, help="for --login proxy: who asks")
@click.option(
    "--groups-header", default="X-Forwarded-Groups", show_default=True, help="for --login proxy: their groups"
)
@click.option(
    "--recording", "recording", metavar="FOLDER", help="the recording of the scheduler, if this machine can read it"
)
@click.option("--keep", "keep", metavar="FOLDER", help="where to save the data of the last week, for the next start")
@click.option(
    "--log", "level", default="error", show_default=True, type=click.Choice(["debug", "info", "warning", "error"])
)
def command(
    kubeconfig: str | None,
    port: int,
    address: str,
    login: str,
    trust_proxy: tuple[str, ...],
    user_header: str,
    groups_header: str,
    recording: str | None,
    keep: str | None,
    level: str,
) -> None:
    from gangline.runtime.logs import set_up

    set_up(level, "text")
    choice = LoginChoice(login, _networks(trust_proxy), user_header, groups_header)
    past = PastPlaces(Path(recording) if recording else None, Path(keep) if keep else None)
    run(_serve(kubeconfig, address, port, choice, past), serves=True)


def _networks(given: tuple[str, ...]) -> tuple[Network, ...]:
    from ipaddress import ip_network

    try:
        return tuple(ip_network(network) for network in given or TRUSTED)
    except ValueError as error:
        raise BadInput(f"--trust-proxy: {error}; write a network as 10.0.0.0/8") from None


async def _serve(kubeconfig: str | None, address: str, port: int, choice: LoginChoice, past: PastPlaces) -> None:
    from gangline.dashboard.service import Dashboard
    from gangline.runtime import SystemClock

    client, server = _connect(kubeconfig)
    clock = SystemClock()
    gate = _gate(choice, client, clock)
    dashboard = Dashboard.of(client, server, clock, past.recording, gate, past.kept)
    try:
        url = await dashboard.start(address, port)
        if address not in HERE and choice.how == "none":
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


def _gate(choice: LoginChoice, client: Client, clock: Clock) -> Gate:
    from gangline.dashboard.login.gates import OpenGate, ProxyGate, TokenGate
    from gangline.dashboard.login.reviews import AccessReviews

    reviews = AccessReviews(client, clock)
    if choice.how == "token":
        return TokenGate(reviews, clock)
    if choice.how == "proxy":
        return ProxyGate(reviews, choice.networks, choice.user_header, choice.groups_header)
    return OpenGate()


def _connect(kubeconfig: str | None) -> tuple[Client, str]:
    """A client, and how its cluster is called."""
    from gangline.client import Client
    from gangline.client.kubeconfig import in_cluster, load, transport

    if kubeconfig is None and os.environ.get("KUBERNETES_SERVICE_HOST"):
        return Client(in_cluster("gangline-dashboard"), retries=1), "this cluster"
    target = load(kubeconfig_path(kubeconfig))
    return Client(transport(target, "gangline-dashboard"), retries=1), target.server

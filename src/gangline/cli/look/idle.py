"""`gangline idle`: where the idle GPUs of a cluster go. Each has one cause; with those in use they are the capacity."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from gangline.cli.columns import aligned
from gangline.cli.connection import cluster_options, connect
from gangline.cli.ending import run
from gangline.errors import BadInput

if TYPE_CHECKING:
    from gangline.scheduler.time.idle import IdleReport

HEADING = ("CAUSE", "GPUS", "%", "FOR")
NEEDED = ("nodes", "pods", "podgroups.scheduling.run.ai", "queues.scheduling.run.ai")


EXAMPLES = """\b
Examples:
  gangline idle
  gangline idle -o json                      # also by node
"""


@click.command(
    help="Show why GPUs are idle: each is idle for one cause (no demand, quota, fragments, shortage, topology, "
    "reserved, gate or missing pods, taint or cordon, starting, failed). The cluster is only read.",
    epilog=EXAMPLES,
)
@click.option("-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True)
@cluster_options
def command(output: str, kubeconfig: str | None, namespace: str | None) -> None:
    run(_idle(output, kubeconfig, namespace))


async def _idle(output: str, kubeconfig: str | None, namespace: str | None) -> None:
    from gangline.why.answers import titles_of
    from gangline.why.idle import idle_of
    from gangline.why.read import read_cluster

    now = time.time()
    async with connect(kubeconfig, namespace) as connection:
        objects = await read_cluster(connection.client, now)
    unread = [f"{name}: {why}" for name, why in objects.unread.items() if name in NEEDED]
    if unread:
        raise BadInput("the cluster cannot be read, so its idle GPUs are unknown:\n  " + "\n  ".join(unread))
    reports = idle_of(objects)
    if output == "text":
        click.echo(as_text(reports, titles_of(objects), now))
        return
    data = [{"pool": pool, **as_data(report)} for pool, report in reports.items()]
    from gangline.api.yaml_text import yaml_text
    from gangline.rules.values.documents import json_text

    click.echo(json_text(data) if output == "json" else yaml_text(data, unicode=True).rstrip())


def as_data(report: IdleReport) -> dict[str, Any]:
    parts = [
        {"node": part.node, "cause": part.cause, "gpus": part.gpus}
        | ({"gang": part.gang} if part.gang else {})
        | ({"until": part.until} if part.until is not None else {})
        for part in report.parts
    ]
    return {
        "capacity": report.capacity,
        "in_use": report.in_use,
        "idle": report.idle,
        "causes": report.by_cause,
        "parts": parts,
    }


def as_text(reports: Mapping[str, IdleReport], titles: Mapping[str, str], now: float) -> str:
    """A table per node pool: what is in use, then each cause; who waits or for whom GPUs are kept stands behind."""
    tables = []
    for pool, report in reports.items():
        head = f"node pool {pool or 'default'}\n" if len(reports) > 1 else ""
        rows = [_row("in use", report.in_use, report), *_causes(report, titles, now)]
        tables.append(head + aligned(HEADING, [*rows, _row("capacity", report.capacity, report)]))
    return "\n\n".join(tables) or "the cluster has no nodes"


def _causes(report: IdleReport, titles: Mapping[str, str], now: float) -> list[tuple[str, str, str, str]]:
    from gangline.rules.gangs.starts import clock_text

    rows: dict[tuple[str, str], float] = {}
    for part in report.parts:
        whom = titles.get(part.gang, part.gang)
        until = f" until {clock_text(part.until, now)}" if part.until is not None else ""
        key = (part.cause, f"{whom}{until}")
        rows[key] = rows.get(key, 0.0) + part.gpus
    ordered = sorted(rows.items(), key=lambda item: (-item[1], item[0]))
    return [_row(cause, gpus, report, whom) for (cause, whom), gpus in ordered]


def _row(cause: str, gpus: float, report: IdleReport, whom: str = "") -> tuple[str, str, str, str]:
    part = 100 * gpus / report.capacity if report.capacity else 0.0
    return cause, f"{gpus:.4g}" if gpus < 1000 else f"{gpus:.0f}", f"{part:.1f}", whom

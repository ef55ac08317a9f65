"""`gangline why-evicted POD`: who took a pod's place, by which rule and at what price, from the scheduler's
recording."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from gangline.cli.look.recorded import (
    evicted_pods,
    files_of,
    moment,
    not_recorded,
    pieces_of,
    recording_option,
    since_option,
)
from gangline.errors import BadInput

if TYPE_CHECKING:
    from gangline.scheduler.recording.evicted import NamedGang, PodEviction, PodPast

SHOWN = 6
"""Pods of a gang that are named."""


EXAMPLES = """\b
Examples:
  gangline why-evicted sweep-0-worker-x7k2p
  gangline why-evicted sweep-0-worker-x7k2p --since 2h -o json
"""


@click.command(
    help="Say why a pod was evicted: when, for whom, by which rule, what it cost, and whether its gang came back. Read "
    "from the scheduler's recording on this machine.",
    epilog=EXAMPLES,
)
@click.argument("pod", shell_complete=evicted_pods)
@click.option("-n", "--namespace", metavar="NAME", default="", help="only in this namespace (default: in all)")
@since_option
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@recording_option
def command(pod: str, namespace: str, since: str | None, output: str, place: str) -> None:
    from gangline.scheduler.recording.evicted import past_of

    start = moment(since, "--since")
    name = pod.rpartition("/")[2]
    past = past_of(name, pieces_of(files_of(place, start)), namespace)
    evictions = [item for item in past.evictions if start is None or item.moment >= start]
    if not evictions:
        raise BadInput(_not_evicted(name, past, place))
    if output == "json":
        click.echo(json.dumps([eviction.as_data() for eviction in evictions], indent=2))
    else:
        click.echo("\n\n".join(_text(eviction) for eviction in evictions))


def _not_evicted(pod: str, past: PodPast, place: str) -> str:
    from gangline.rules.values.nearest import did_you_mean

    if past.seen:
        return f"pod {pod} was recorded, but the scheduler never evicted it; `kubectl describe pod` may say who did"
    if past.members:
        rest = f" and {len(past.members) - SHOWN} more" if len(past.members) > SHOWN else ""
        pods = ", ".join(sorted(past.members)[:SHOWN])
        return f"{pod} is a gang, not a pod; `gangline history {pod}` tells what became of it; its pods: {pods}{rest}"
    if not past.others:
        return f"no pod was evicted as far as the recording in {place} goes"
    return not_recorded(f"eviction of a pod {pod!r}", place, did_you_mean(pod, past.others, 3))


def _text(eviction: PodEviction) -> str:
    from gangline.rules.gangs.evictions import REASONS
    from gangline.rules.values.times import spoken, timestamp

    lines = [
        f"{eviction.pod} (namespace {eviction.namespace or '-'}) was evicted from {eviction.node} at "
        f"{timestamp(eviction.moment)} by {eviction.action}: {REASONS.get(eviction.action, eviction.action)}",
        f"  its gang    {_gang(eviction.gang)}",
    ]
    if eviction.by is not None:
        lines.append(f"  made room   for {_gang(eviction.by)}")
    lines.append(f"  in words    {' '.join(eviction.message.split())}")
    lost = f"{eviction.lost_gpu_hours:.1f} GPU-hours of its work were lost"
    lines.append(f"  with it     {eviction.with_it} pods in this cycle; {lost}")
    back = (
        f"its gang was placed again after {spoken(eviction.again - eviction.moment)}"
        if eviction.again is not None
        else "its gang was not placed again as far as the recording goes"
    )
    lines.append(f"  afterwards  {back}")
    return "\n".join(lines)


def _gang(gang: NamedGang) -> str:
    return f"{gang.name} (queue {gang.queue}, priority {gang.priority}, {gang.pods} pods, {gang.gpus:g} GPUs)"

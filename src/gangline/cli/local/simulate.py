"""`gangline simulate TRACE`: play a trace of work in virtual time on the real decision core, and say who waited how
long.

Files are read here; the rest is `gangline.lab`. No cluster is needed or touched.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gangline.bounded_input import given_text
from gangline.errors import BadInput

if TYPE_CHECKING:
    from gangline.lab.engine import Experiment
    from gangline.lab.formats.recording import RecordedTrace
    from gangline.lab.jobs import Machine, NodeChange, TraceJob
    from gangline.lab.measures import PlayedTrace
    from gangline.scheduler.records import QueueRecord
    from gangline.scheduler.settings import SchedulerSettings

FORMAT_NAMES = ("philly", "itp", "openb", "csv", "recording")
MOST_GPUS = 1_000_000
"""Of a fleet that is only thought of."""
MOST_NODES = 100_000
MOST_LOAD = 100.0
"""Times the GPUs of the fleet."""
MOST_NAMED = 10
"""Jobs that never start, each named with its line."""


EXAMPLES = """\b
Examples:
  gangline simulate jobs.csv --format csv --gpus 64
  gangline simulate jobs.csv --format csv --gpus 64 --settings greedy
  gangline simulate .gangline/recording --format recording \\
    --change quota.team-a.gpu=+64
"""


@click.command(
    help="Play TRACE in virtual time on the scheduler's own decision core: who waits how long, how busy the GPUs are, "
    "what evictions cost. TRACE is a file or, with --format recording, what a scheduler recorded. With several "
    "--settings the same trace is played with each, one after the other.",
    epilog=EXAMPLES,
)
@click.argument("trace")
@click.option("--format", "form", type=click.Choice(FORMAT_NAMES), required=True, help="what the rows of TRACE mean")
@click.option("--nodes", metavar="FILE", help="nodes, as openb lists them: sn,cpu_milli,memory_mib,gpu,model")
@click.option("--gpus", type=click.IntRange(1, MOST_GPUS), help="so many GPUs in equal nodes, instead of --nodes")
@click.option(
    "--node-gpus", type=click.IntRange(1, 1024), default=8, show_default=True, help="GPUs per node, with --gpus"
)
@click.option("--node-events", metavar="FILE", help="nodes that come and go: time,node,event (lost or added),gpus")
@click.option(
    "--queues",
    default="one",
    show_default=True,
    metavar="one|trace|FILE",
    help="one queue for all, the trace's own with quota by demand in all of it (of a recording: as they were), or a "
    "file of Queue objects",
)
@click.option(
    "--settings",
    "named_settings",
    multiple=True,
    metavar="NAME|FILE",
    help="greedy, native (the default) or a scheduler config.yaml; may be repeated",
)
@click.option(
    "--change",
    "changes",
    multiple=True,
    metavar="PATH=VALUE",
    help="play once more with this changed: quota.team-a.gpu=64 or =+64; may be repeated",
)
@click.option("--actions", default="allocate", show_default=True, help="actions of cycles: all, or names with commas")
@click.option(
    "--runtimes",
    default="exact",
    show_default=True,
    metavar="exact|noisy:F|learned|none",
    help="what is known of runtimes beforehand",
)
@click.option(
    "--arrivals",
    type=click.FloatRange(0, MOST_LOAD, min_open=True),
    metavar="LOAD",
    help="instead of the trace's times: shuffled, copied until LOAD times the GPUs are asked for, one by one, none "
    "leaves",
)
@click.option("--seed", type=int, default=0, show_default=True, help="seed of the random numbers")
@click.option("--first", type=click.IntRange(1), help="only the first N jobs to arrive")
@click.option("--jobs", type=click.IntRange(1), help="only N jobs, evenly picked")
@click.option(
    "--days",
    type=click.FloatRange(0, min_open=True),
    help="only so many days: what then still waits or runs is counted as it is",
)
@click.option(
    "--period",
    type=click.FloatRange(0, min_open=True),
    default=120.0,
    show_default=True,
    help="virtual seconds between cycles, at least",
)
@click.option(
    "-o",
    "--output",
    default="table",
    show_default=True,
    metavar="table|json|html=FILE",
    help="a table, data, or a page with pictures",
)
def command(
    trace: str,
    form: str,
    nodes: str | None,
    gpus: int | None,
    node_gpus: int,
    node_events: str | None,
    queues: str,
    named_settings: tuple[str, ...],
    changes: tuple[str, ...],
    actions: str,
    runtimes: str,
    arrivals: float | None,
    seed: int,
    first: int | None,
    jobs: int | None,
    days: float | None,
    period: float,
    output: str,
) -> None:
    from gangline.lab.builtin_settings import quiet, read_actions
    from gangline.lab.engine import Experiment
    from gangline.lab.fleet import ONE_QUEUE, changed_queues
    from gangline.lab.runtimes import expected_runtimes
    from gangline.lab.selection import last_moment, selected

    if output not in ("table", "json") and not output.startswith("html="):
        raise BadInput(f"-o {output}: write table, json or html=FILE")
    source = _source(trace, form, nodes, gpus, node_gpus)
    machines, in_trace = source.machines, source.jobs
    total = sum(machine.gpus for machine in machines)
    until = last_moment(in_trace, days)
    played = selected(in_trace, first, jobs, until)
    events = [*_node_events(node_events), *source.changes]
    _warn(trace, played, [*machines, *(event.machine for event in events if event.machine is not None)])
    if arrivals is not None:
        from gangline.lab.arrivals import inflated

        played = inflated(played, total, arrivals, seed)
    choices = [(name, quiet(_settings(name), read_actions(actions))) for name in named_settings or ("native",)]
    records = _queues(queues, in_trace if arrivals is None else played, total, source.queues)

    def experiment(name: str, settings: SchedulerSettings, of: list[QueueRecord]) -> Experiment:
        return Experiment(
            name,
            played,
            machines,
            of,
            settings,
            expected_runtimes(runtimes, played, seed),
            events,
            ONE_QUEUE if queues == "one" else "",
            period,
            drops=arrivals is not None,
            until=until,
        )

    experiments = [experiment(name, settings, records) for name, settings in choices]
    if changes:
        altered = changed_queues(records, dict(_pair(change) for change in changes))
        experiments += [experiment(f"{name} {' '.join(changes)}", settings, altered) for name, settings in choices]
    _show([_play(item) for item in experiments], output)


def _warn(trace: str, jobs: list[TraceJob], machines: list[Machine]) -> None:
    """Of jobs that can never start."""
    from gangline.lab.sizes import too_large

    warnings = list(too_large(jobs, machines))
    if not warnings:
        return
    many = "1 job never starts" if len(warnings) == 1 else f"{len(warnings)} jobs never start"
    click.echo(f"warning: {trace}: {many}: no node can hold a pod that large", err=True)
    for text in warnings[:MOST_NAMED]:
        click.echo(f"  {text}", err=True)
    if len(warnings) > MOST_NAMED:
        click.echo(f"  and {len(warnings) - MOST_NAMED} more", err=True)
    click.echo("  gpus, cpu and memory are per pod; a larger job has several pods (column pods)", err=True)


def _play(experiment: Experiment) -> PlayedTrace:
    from gangline.lab.engine import Simulation

    began = time.perf_counter()
    if sys.stderr.isatty():
        with click.progressbar(length=len(experiment.jobs), label=experiment.name, file=sys.__stderr__) as bar:
            played = Simulation(experiment).run(lambda done: bar.update(done - bar.pos))
    else:
        played = Simulation(experiment).run()
    played.wall = time.perf_counter() - began
    return played


def _show(played: list[PlayedTrace], output: str) -> None:
    from gangline.lab.measures import figures

    lines = [figures(item) for item in played]
    if output == "json":
        for line in lines:
            click.echo(json.dumps(line))
    elif output == "table":
        from gangline.lab.table import table

        click.echo(table(lines))
    else:
        from gangline.lab.report import report

        file = Path(output.removeprefix("html="))
        try:
            file.write_text(report(list(zip(lines, played, strict=True))))
        except OSError as error:
            raise BadInput(f"{file} cannot be written: {error}") from None
        click.echo(f"{file}: open it in a browser")


# ── what is read ──


def _jobs(trace: str, form: str, node_gpus: int) -> list[TraceJob]:
    from gangline.lab.formats import FORMATS
    from gangline.lab.formats.rows import TraceText

    trace_jobs = FORMATS[form](TraceText(trace, given_text(trace), node_gpus))
    if not trace_jobs:
        raise BadInput(f"{trace} has no jobs")
    return trace_jobs


def _source(trace: str, form: str, nodes: str | None, gpus: int | None, node_gpus: int) -> RecordedTrace:
    """Jobs and nodes; a recording has nodes and queues of its own."""
    from gangline.lab.formats.recording import RecordedTrace

    if form != "recording":
        machines = _machines(nodes, gpus, node_gpus)
        return RecordedTrace(_jobs(trace, form, node_gpus), machines)
    source = _recorded(trace)
    if nodes is not None or gpus is not None:
        source.machines, source.changes = _machines(nodes, gpus, node_gpus), []
    return source


def _recorded(place: str) -> RecordedTrace:
    from gangline.cli.look.recorded import files_of, pieces_of
    from gangline.lab.formats.recording import read

    trace = read(pieces_of(files_of(place)))
    if not trace.jobs:
        raise BadInput(f"{place}: no gang was recorded")
    return trace


def _machines(nodes: str | None, gpus: int | None, node_gpus: int) -> list[Machine]:
    from gangline.lab.fleet import equal_machines
    from gangline.lab.formats.openb import read_nodes
    from gangline.lab.formats.rows import TraceText

    if (nodes is None) == (gpus is None):
        raise BadInput("say which nodes there are: --nodes FILE, or --gpus N")
    if nodes is not None:
        machines = read_nodes(TraceText(nodes, given_text(nodes)))
        if not machines:
            raise BadInput(f"{nodes} has no nodes")
        return machines
    assert gpus is not None
    if gpus > MOST_NODES * node_gpus:
        count = -(-gpus // node_gpus)
        raise BadInput(f"--gpus {gpus} are {count} nodes of {node_gpus}; at most {MOST_NODES} are played")
    return equal_machines(gpus, node_gpus)


def _node_events(file: str | None) -> list[NodeChange]:
    from gangline.lab.formats.node_events import read
    from gangline.lab.formats.rows import TraceText

    return read(TraceText(file, given_text(file))) if file is not None else []


def _queues(choice: str, jobs: list[TraceJob], gpus: float, own: list[QueueRecord]) -> list[QueueRecord]:
    from gangline.lab.fleet import one_queue, queues_by_demand

    if choice == "one":
        return one_queue()
    if choice == "trace" and own:
        return own
    return queues_by_demand(jobs, gpus) if choice == "trace" else _queue_objects(choice, jobs)


def _queue_objects(file: str, jobs: list[TraceJob]) -> list[QueueRecord]:
    from gangline.lab.queue_objects import read_queues

    return read_queues(file, given_text(file), {job.queue for job in jobs})


def _settings(name: str) -> SchedulerSettings:
    from gangline.lab.builtin_settings import BUILT_IN, from_config
    from gangline.rules.values.documents import DocumentUnreadable, read_yaml

    if name in BUILT_IN:
        return BUILT_IN[name]()
    if not Path(name).exists():
        raise BadInput(f"--settings {name}: there is no such file; built in are {', '.join(BUILT_IN)}")
    try:
        config: Any = read_yaml(given_text(name))
    except DocumentUnreadable as error:
        raise BadInput(f"{name} cannot be read: {error}") from None
    if not isinstance(config, dict):
        raise BadInput(f"{name} holds no scheduler configuration (actions, tiers, …)")
    return from_config(config)


def _pair(change: str) -> tuple[str, str]:
    path, equals, value = change.partition("=")
    if not equals:
        raise BadInput(f"--change {change}: write PATH=VALUE, for example quota.team-a.gpu=64")
    return path, value

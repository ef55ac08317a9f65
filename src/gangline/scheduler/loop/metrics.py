"""The scheduler's metrics: upstream's names, and a few of ours about cycles and waiting.

Filled by service.py from what a cycle returns: the decision core counts, and its stopwatch is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram

from gangline.scheduler.actions import TAKE_ROOM
from gangline.scheduler.settings import GENERATORS, STEPS_PER_SECOND, SchedulerSettings

if TYPE_CHECKING:
    from gangline.scheduler.tally import CycleTally, QueueShare
    from gangline.scheduler.thought.think import CycleThought
    from gangline.scheduler.thought.waiting_causes import QueueCause, WaitingGangs
    from gangline.scheduler.time.idle import IdleReport

LATENCY = tuple(5.0 * 2**k for k in range(10))

CYCLE = Gauge("kai_e2e_scheduling_latency_milliseconds", "Time of the last cycle")
EVICTED = Counter("kai_pod_group_evicted_pods", "Pods evicted", ["podgroup", "namespace", "uid", "nodepool", "action"])
OPEN = Gauge("kai_open_session_latency_milliseconds", "Time to open the last cycle's session")
CLOSE = Gauge("kai_close_session_latency_milliseconds", "Time to close the last cycle's session")
ACTION = Gauge("kai_action_scheduling_latency_milliseconds", "Time of an action in the last cycle", ["action"])
QUEUE_LABELS = ["queue_name", "queue_metadata_name", "queue_display_name"]
FAIR = [
    Gauge(f"kai_queue_fair_share_{name}", "What the queue is due", QUEUE_LABELS)
    for name in ("cpu_cores", "memory_gb", "gpu")
]
USED = [
    Gauge(f"kai_queue_{name}_usage", "The queue's part of the cluster in the past", QUEUE_LABELS)
    for name in ("cpu", "memory", "gpu")
]
UNITS = (1000.0, 1e9, 1.0)
SCHEDULED = Counter("kai_podgroups_scheduled_by_action", "Gangs of which pods were placed", ["action"])
ACTED = Counter("kai_podgroups_acted_on_by_action", "Gangs that an action looked at", ["action"])
SIMULATIONS = Counter("kai_scenarios_simulation_by_action", "What-if simulations", ["action"])
FILTERED = Counter("kai_scenarios_filtered_by_action", "Sets of victims dropped without a simulation", ["action"])
PREEMPTIONS = Counter("kai_total_preemption_attempts", "Preemptions that were found")
PLUGIN = Gauge(
    "kai_plugin_scheduling_latency_milliseconds",
    "Time of a plugin at the opening of the last cycle",
    ["plugin", "OnSession"],
)
TASK = Histogram(
    "kai_task_scheduling_latency_milliseconds", "From the making of a gang to the placing of its pod", buckets=LATENCY
)
BIND = Histogram("kai_task_bind_latency_milliseconds", "Time to write a BindRequest", buckets=LATENCY)
USAGE = Histogram("kai_usage_query_latency_milliseconds", "Time to ask for past usage", buckets=LATENCY)

SEARCHES = Counter("kai_scenario_search_jobs", "Searches for victims", ["action", "result", "reduced_budget"])
ACTION_BUDGET = Gauge(
    "kai_scenario_search_action_budget_configured_seconds", "What an action may take; 0: no limit", ["action"]
)
GANG_BUDGET = Gauge(
    "kai_scenario_search_job_budget_configured_seconds", "What the search for one gang may take; 0: no limit"
)
GENERATOR_BUDGET = Gauge(
    "kai_scenario_search_generator_budget_configured_seconds",
    "What one generator may take for a gang; 0: no limit",
    ["generator"],
)
EXHAUSTED = Counter("kai_scenario_search_action_budget_exhausted", "Actions that used up their budget", ["action"])
SEARCHING = Histogram(
    "kai_scenario_search_duration_seconds",
    "Time of one generator for a gang",
    ["action", "generator", "result"],
    buckets=tuple(0.001 * 2**k for k in range(16)),
)
SCENARIOS = Counter(
    "kai_scenario_search_scenarios", "Scenarios by what became of them", ["action", "generator", "state"]
)

CYCLES = Counter("gangline_scheduler_cycles", "Cycles")
CYCLE_SECONDS = Histogram(
    "gangline_scheduler_cycle_seconds", "Time of a cycle", buckets=(0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60)
)
DECISIONS = Counter("gangline_scheduler_decisions", "Decisions by kind", ["kind"])
PACE = Gauge(
    "gangline_scheduler_decisions_per_second", "Decisions of the last cycle that made any, by the time it took"
)
WAITING = Gauge("gangline_scheduler_waiting_gangs", "Gangs with pods that wait")
OLDEST = Gauge("gangline_scheduler_oldest_waiting_seconds", "Age of the gang that waits longest")
BY_CAUSE = Gauge(
    "gangline_waiting_gangs",
    "Gangs with pods that wait, by queue and by the cause in their verdict",
    ["queue", "cause"],
)
OLDEST_BY_CAUSE = Gauge(
    "gangline_waiting_oldest_seconds", "Age of the oldest of these gangs, in seconds", ["queue", "cause"]
)
PROMISES = Counter(
    "gangline_start_promises",
    "Latest starts that were promised to waiting gangs: made, kept, or broken by cause",
    ["event", "cause"],
)
IN_USE = Gauge("gangline_gpus_in_use", "GPUs held by pods that run or leave", ["nodepool"])
IDLE = Gauge("gangline_idle_gpus", "GPUs that nobody uses, by the one cause of each", ["nodepool", "cause"])
IDLE_SECONDS = Counter("gangline_idle_gpu_seconds", "The same over time, in GPU-seconds", ["nodepool", "cause"])
VERDICT = Histogram(
    "gangline_scheduler_verdict_seconds",
    "From the making of a gang that must wait to its first verdict",
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60),
)

NODES_PER_SECOND = 500.0
"""Where idle GPUs go is worked out for so many nodes per second at most."""


def note_settings(settings: SchedulerSettings) -> None:
    """Budgets as they are configured; they are counted in steps of a fixed rate."""
    budgets = settings.budgets
    for action in TAKE_ROOM:
        ACTION_BUDGET.labels(action).set(budgets.for_action(action) / STEPS_PER_SECOND)
    GANG_BUDGET.set(budgets.gang / STEPS_PER_SECOND)
    for generator in GENERATORS:
        GENERATOR_BUDGET.labels(generator).set(budgets.for_generator(generator) / STEPS_PER_SECOND)


def note_cycle(thought: CycleThought) -> None:
    CYCLES.inc()
    CYCLE.set(thought.seconds * 1000)
    CYCLE_SECONDS.observe(thought.seconds)
    OPEN.set(thought.tally.times.get("open", 0.0) * 1000)
    CLOSE.set(thought.tally.times.get("close", 0.0) * 1000)
    for action, seconds in thought.tally.times.items():
        if action not in ("open", "close"):
            ACTION.labels(action).set(seconds * 1000)
    WAITING.set(thought.waiting)
    OLDEST.set(thought.oldest_waiting)
    _note_decisions(thought)
    _note_tally(thought.tally)
    _note_shares(thought.tally.shares)


class WaitingFigures:
    """One scheduler's figures of waiting; in a process with several, each takes away only its own."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._shown: set[QueueCause] = set()

    def show(self, causes: Mapping[QueueCause, WaitingGangs]) -> None:
        """Ages are worked out when they are asked for: a gang grows old without any cycle."""
        for gone in self._shown - causes.keys():
            for gauge in (BY_CAUSE, OLDEST_BY_CAUSE):
                with suppress(KeyError):
                    gauge.remove(*gone)
        for key, gangs in causes.items():
            BY_CAUSE.labels(*key).set(gangs.count)
            OLDEST_BY_CAUSE.labels(*key).set_function(partial(self._age, gangs.since))
        self._shown = set(causes)

    def _age(self, since: float) -> float:
        return max(self._now() - since, 0.0)


class IdleFigures:
    """One scheduler's figures of idle GPUs; between two cycles all stays as the first of them left it."""

    def __init__(self, pool: str) -> None:
        self._pool = pool
        self._shown: tuple[float, Mapping[str, float]] | None = None

    def due(self, nodes: int, now: float) -> bool:
        """At every cycle of a small cluster; of a large one so seldom that it costs next to nothing."""
        return self._shown is None or now - self._shown[0] >= nodes / NODES_PER_SECOND

    def show(self, report: IdleReport | None, now: float) -> None:
        if report is None:
            return
        causes = report.by_cause
        if self._shown is not None:
            before, gpus = self._shown
            for cause, idle in gpus.items():
                IDLE_SECONDS.labels(self._pool, cause).inc(idle * max(now - before, 0.0))
        IN_USE.labels(self._pool).set(report.in_use)
        for cause, idle in causes.items():
            IDLE.labels(self._pool, cause).set(idle)
        self._shown = now, causes


def _note_decisions(thought: CycleThought) -> None:
    decisions = thought.decisions
    made = {
        "bind": len(decisions.binds),
        "evict": len(decisions.evictions),
        "nominate": len(decisions.nominations),
        "refuse": len(decisions.refusals),
    }
    for kind, count in made.items():
        DECISIONS.labels(kind).inc(count)
    if any(made.values()) and thought.seconds:
        PACE.set(sum(made.values()) / thought.seconds)
    for action, gangs in thought.scheduled.items():
        SCHEDULED.labels(action).inc(gangs)
    for action, steps in decisions.steps.items():
        SIMULATIONS.labels(action).inc(steps)
    for seconds in thought.waited:
        TASK.observe(seconds * 1000)


def _note_tally(tally: CycleTally) -> None:
    for action, gangs in tally.acted.items():
        ACTED.labels(action).inc(gangs)
    for action, dropped in tally.filtered.items():
        FILTERED.labels(action).inc(dropped)
    for action, times in tally.exhausted.items():
        EXHAUSTED.labels(action).inc(times)
    PREEMPTIONS.inc(tally.solved["preempt"])
    for name, seconds in tally.plugins.items():
        PLUGIN.labels(name, "OnSessionOpen").set(seconds * 1000)
    for search, count in tally.searches.items():
        SEARCHES.labels(search.action, search.result, str(search.reduced).lower()).inc(count)
    for ran, seconds in tally.searching:
        SEARCHING.labels(*ran).observe(seconds)
    for scenario, count in tally.scenarios.items():
        SCENARIOS.labels(*scenario).inc(count)


def _note_shares(shares: list[QueueShare]) -> None:
    for share in shares:
        labels = (share.shown, share.queue, share.shown if share.shown != share.queue else "")
        for gauge, value, unit in zip(FAIR, share.fair, UNITS, strict=True):
            gauge.labels(*labels).set(value / unit)
        for gauge, value in zip(USED, share.used, strict=True):
            gauge.labels(*labels).set(value)

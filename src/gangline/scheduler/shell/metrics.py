"""The scheduler's metrics: upstream's names, and a few of ours about cycles and waiting.

Filled by service.py from what a cycle returns; the decision core itself measures nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram

if TYPE_CHECKING:
    from gangline.scheduler.shell.think import ShareOfQueue, Thought

LATENCY = tuple(5.0 * 2**k for k in range(10))

CYCLE = Gauge("kai_e2e_scheduling_latency_milliseconds", "Time of the last cycle")
EVICTED = Counter("kai_pod_group_evicted_pods", "Pods evicted", ["podgroup", "namespace", "uid", "nodepool", "action"])
OPEN = Gauge("kai_open_session_latency_milliseconds", "Time to open the last cycle's session")
CLOSE = Gauge("kai_close_session_latency_milliseconds", "Time to close the last cycle's session")
ACTION = Gauge("kai_action_scheduling_latency_milliseconds", "Time of an action in the last cycle", ["action"])
QUEUE_LABELS = ["queue_name", "queue_metadata_name", "queue_display_name"]
FAIR = [Gauge(f"kai_queue_fair_share_{name}", "What the queue is due", QUEUE_LABELS) for name in ("cpu_cores", "memory_gb", "gpu")]
USED = [Gauge(f"kai_queue_{name}_usage", "The queue's part of the cluster in the past", QUEUE_LABELS) for name in ("cpu", "memory", "gpu")]
UNITS = (1000.0, 1e9, 1.0)
SCHEDULED = Counter("kai_podgroups_scheduled_by_action", "Gangs of which pods were placed", ["action"])
SIMULATIONS = Counter("kai_scenarios_simulation_by_action", "What-if simulations", ["action"])
PREEMPTIONS = Counter("kai_total_preemption_attempts", "Cycles in which pods were evicted")

CYCLES = Counter("gangline_scheduler_cycles", "Cycles")
CYCLE_SECONDS = Histogram("gangline_scheduler_cycle_seconds", "Time of a cycle", buckets=(0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60))
DECISIONS = Counter("gangline_scheduler_decisions", "Decisions by kind", ["kind"])
WAITING = Gauge("gangline_scheduler_waiting_gangs", "Gangs with pods that wait")
OLDEST = Gauge("gangline_scheduler_oldest_waiting_seconds", "Age of the gang that waits longest")


def note_cycle(thought: Thought) -> None:
    decisions = thought.decisions
    CYCLES.inc()
    CYCLE.set(thought.seconds * 1000)
    CYCLE_SECONDS.observe(thought.seconds)
    OPEN.set(thought.times.get("open", 0.0) * 1000)
    CLOSE.set(thought.times.get("close", 0.0) * 1000)
    for action, seconds in thought.times.items():
        if action not in ("open", "close"):
            ACTION.labels(action).set(seconds * 1000)
    WAITING.set(thought.waiting)
    OLDEST.set(thought.oldest_waiting)
    for kind, count in (("bind", len(decisions.binds)), ("evict", len(decisions.evictions)), ("nominate", len(decisions.nominations)),
                        ("refuse", len(decisions.refusals))):
        DECISIONS.labels(kind).inc(count)
    for action, gangs in thought.scheduled.items():
        SCHEDULED.labels(action).inc(gangs)
    for action, steps in decisions.steps.items():
        SIMULATIONS.labels(action).inc(steps)
    if decisions.evictions:
        PREEMPTIONS.inc()
    _note_shares(thought.shares)


def _note_shares(shares: list[ShareOfQueue]) -> None:
    for share in shares:
        labels = (share.shown, share.queue, share.shown if share.shown != share.queue else "")
        for gauge, value, unit in zip(FAIR, share.fair, UNITS, strict=True):
            gauge.labels(*labels).set(value / unit)
        for gauge, value in zip(USED, share.used, strict=True):
            gauge.labels(*labels).set(value)

"""A trace played in virtual time: jobs arrive, start, are evicted and end, nodes come and go. Every decision is that of
the real core.

The model is changed in place, event by event, as the running scheduler does it; a cycle runs only when something
changed that could matter, and at most once per period. What is counted goes to `measures.py`. The same input gives the
same result on every machine."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gangline.lab.fleet import gang_record, node_record, pod_records, topology_records
from gangline.lab.jobs import Machine, NodeChange, TraceJob
from gangline.lab.measures import GpuClock, JobRun, PlayedTrace
from gangline.lab.runtimes import ExpectedRuntimes
from gangline.rules.capacity.idle_causes import STARTING
from gangline.scheduler.cycle import decide
from gangline.scheduler.decisions import Bind, Decisions, Evict
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.records import GangRecord, NodeRecord, QueueRecord, TaskRecord
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.thought.booking import book
from gangline.scheduler.time.idle import idle_gpus
from gangline.scheduler.time.learned import Overruns, StartDelays

PERIOD = 120.0
TOLD_EVERY = 500


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is played. `drops`: a job that does not start in its first cycle leaves (the arrival experiment)."""

    name: str
    jobs: Sequence[TraceJob]
    machines: Sequence[Machine]
    queues: Sequence[QueueRecord]
    settings: SchedulerSettings
    runtimes: ExpectedRuntimes
    changes: Sequence[NodeChange] = ()
    one_queue: str = ""
    """All jobs go here, if it is given."""
    period: float = PERIOD
    drops: bool = False
    until: float = math.inf
    """The play ends then, whatever still runs or waits."""


@dataclass(slots=True)
class PlayingJob:
    """A job in the model."""

    job: TraceJob
    run: JobRun
    tasks: list[TaskRecord]
    nodes: set[str] = field(default_factory=set)


class Simulation:
    def __init__(self, experiment: Experiment) -> None:
        self._it = experiment
        self._jobs = sorted(experiment.jobs, key=lambda job: job.arrival)
        self._changes = sorted(experiment.changes, key=lambda change: change.time)
        self._cluster = ClusterModel.build(
            [
                *experiment.queues,
                *topology_records(experiment.jobs),
                *[node_record(machine) for machine in experiment.machines],
            ]
        )
        first = self._jobs[0].arrival if self._jobs else 0.0
        self._gpus = {machine.name: machine.gpus for machine in experiment.machines}
        self._clock = GpuClock(float(sum(self._gpus.values())), first)
        self._playing: dict[str, PlayingJob] = {}
        self._waiting: dict[str, None] = {}
        self._ends: list[tuple[float, int, str]] = []
        self._runs: list[JobRun] = []
        self._overruns, self._delays = Overruns(), StartDelays()
        self._dirty = False
        self._only_allocates = set(experiment.settings.actions) <= {"allocate", "stalegangeviction"}
        self._played = PlayedTrace(
            experiment.name,
            self._runs,
            self._clock,
            first,
            first,
            0.0,
            quotas={queue.name: queue.gpu.quota for queue in experiment.queues},
        )

    def run(self, tell: Callable[[int], None] = lambda ended: None) -> PlayedTrace:
        """`tell` hears now and then how many jobs have ended or been dropped."""
        arrived, changed, last_cycle, reported = 0, 0, -math.inf, 0
        jobs, played = self._jobs, self._played
        while (moment := self._next_moment(arrived, changed, last_cycle)) is not None:
            arrived, changed = self._until(min(moment, self._it.until), arrived, changed)
            if moment > self._it.until:
                break
            if self._due() and moment >= last_cycle + self._it.period:
                last_cycle = moment
                self._cycle(moment)
            if arrived == len(jobs) and not played.allocated:
                played.allocated = self._clock.busy
            done = arrived - len(self._playing)
            if done - reported >= TOLD_EVERY:
                reported = done
                tell(done)
        tell(len(jobs))
        return self._finish()

    def _until(self, moment: float, arrived: int, changed: int) -> tuple[int, int]:
        """Let everything happen that does up to this moment; how many jobs have then arrived, and nodes changed."""
        jobs, changes = self._jobs, self._changes
        while True:
            change_at = changes[changed].time if changed < len(changes) else math.inf
            arrival = jobs[arrived].arrival if arrived < len(jobs) else math.inf
            end = self._ends[0][0] if self._ends else math.inf
            soonest = min(change_at, arrival, end)
            if soonest > moment:
                break
            self._clock.advance(soonest)
            if end == soonest:
                self._end(*heapq.heappop(self._ends))
            elif change_at == soonest:
                self._change(changes[changed])
                changed += 1
            else:
                self._arrive(jobs[arrived])
                arrived += 1
        self._clock.advance(moment)
        self._clock.mark()
        return arrived, changed

    def _next_moment(self, arrived: int, changed: int, last_cycle: float) -> float | None:
        """When to look again: at the next cycle if one is due, else at the next event; None when nothing is left to
        happen."""
        if self._due():
            return max(last_cycle + self._it.period, self._clock.now)
        moments = [self._ends[0][0]] if self._ends else []
        moments += [self._jobs[arrived].arrival] if arrived < len(self._jobs) else []
        moments += [self._changes[changed].time] if changed < len(self._changes) else []
        if not arrived < len(self._jobs) and not self._playing:
            return None
        finite = [moment for moment in moments if math.isfinite(moment)]
        return min(finite) if finite else None

    def _due(self) -> bool:
        """Whether a cycle could change anything: something changed, somebody waits, and there may be room."""
        if not self._dirty or not self._waiting:
            return False
        return not self._only_allocates or self._it.drops or self._clock.busy < self._clock.capacity

    def _finish(self) -> PlayedTrace:
        played = self._played
        if math.isfinite(self._it.until):
            self._clock.advance(self._it.until)
        played.last = self._clock.now
        if not played.allocated:
            played.allocated = self._clock.busy
        for playing in self._playing.values():
            run = playing.run
            if run.running:
                self._hold(playing, self._clock.now)
            else:
                run.waited += self._clock.now - run.since
        return played

    # ── what happens ──

    def _arrive(self, job: TraceJob) -> None:
        queue = self._it.one_queue or job.queue
        run = JobRun(job.name, queue, job.all_gpus, job.arrival, job.duration)
        playing = self._playing[job.name] = PlayingJob(job, run, pod_records(job))
        self._runs.append(run)
        runtimes = self._it.runtimes
        stated, learned = runtimes.stated(job), runtimes.learned(job)
        self._cluster.apply(gang_record(job, queue, stated, learned, self._overruns.learned()))
        self._wait(playing)

    def _wait(self, playing: PlayingJob) -> None:
        for record in playing.tasks:
            self._cluster.apply(record)
        self._waiting[playing.job.name] = None
        self._clock.waiting += playing.run.gpus
        self._dirty = True

    def _end(self, time: float, epoch: int, name: str) -> None:
        playing = self._playing.get(name)
        if playing is None or not playing.run.running or playing.run.epoch != epoch:
            return
        self._hold(playing, time)
        playing.run.ended = time
        self._it.runtimes.ended(playing.job, playing.job.duration)
        self._overruns.note(self._cluster.gangs[name].record.expected_runtime or 0.0, playing.job.duration)
        self._leave(playing)

    def _leave(self, playing: PlayingJob) -> None:
        for record in playing.tasks:
            self._cluster.remove(TaskRecord, record.uid)
        self._cluster.remove(GangRecord, playing.job.name)
        del self._playing[playing.job.name]
        self._dirty = True

    def _change(self, change: NodeChange) -> None:
        if change.machine is not None:
            self._cluster.apply(node_record(change.machine))
            self._gpus[change.name] = change.machine.gpus
        elif change.name in self._gpus:
            for playing in [item for item in self._playing.values() if change.name in item.nodes]:
                self._evict(playing, change.time)
            self._cluster.remove(NodeRecord, change.name)
            del self._gpus[change.name]
        self._clock.capacity = float(sum(self._gpus.values()))
        self._dirty = True

    # ── a cycle ──

    def _cycle(self, now: float) -> None:
        self._dirty = False
        self._played.cycles += 1
        decisions = decide(self._cluster, self._it.settings, now)
        book(self._cluster, decisions)
        self._starts(decisions, now)
        self._evictions(decisions, now)
        self._promises(decisions, now)
        causes = idle_gpus(self._cluster, decisions).by_cause
        self._clock.causes = {cause: gpus for cause, gpus in causes.items() if gpus and cause != STARTING}
        if self._it.drops:
            for name in list(self._waiting):
                self._drop(self._playing[name])
        self._clock.mark()

    def _promises(self, decisions: Decisions, now: float) -> None:
        """The first start that could be promised to a gang is its promise."""
        for reservation in decisions.reservations:
            run = self._playing[reservation.gang].run
            if run.latest is None and reservation.sure:
                run.latest = self._delays.latest(now, reservation.start, self._overruns.factor())
                run.promised = (now, reservation.start)
                self._played.promises_made += 1

    def _drop(self, playing: PlayingJob) -> None:
        self._waiting.pop(playing.job.name)
        self._clock.waiting -= playing.run.gpus
        self._leave(playing)

    def _starts(self, decisions: Decisions, now: float) -> None:
        bound: dict[str, list[Bind]] = {}
        for bind in decisions.binds:
            bound.setdefault(bind.task.rpartition("/")[0], []).append(bind)
        for name, binds in bound.items():
            playing = self._playing[name]
            if name in self._waiting and len(binds) == len(playing.tasks):
                playing.nodes = {bind.node for bind in binds}
                self._start(playing, now)

    def _start(self, playing: PlayingJob, now: float) -> None:
        run = playing.run
        del self._waiting[playing.job.name]
        self._clock.waiting -= run.gpus
        self._clock.busy += run.gpus
        run.waited += now - run.since
        if run.latest is not None and not run.started:
            self._played.promises_kept += now <= run.latest + self._it.period
            self._delays.note(*run.promised, now)
        run.running, run.started, run.since = True, True, now
        run.epoch += 1
        if math.isfinite(run.remaining):
            heapq.heappush(self._ends, (now + run.remaining, run.epoch, playing.job.name))

    def _evictions(self, decisions: Decisions, now: float) -> None:
        evicted = {commit.task.rpartition("/")[0] for commit in decisions.commits if isinstance(commit, Evict)}
        for name in sorted(evicted):
            if name in self._playing and self._playing[name].run.running:
                self._played.evictions += 1
                self._played.evicted_at_once += self._playing[name].run.since == now
                self._evict(self._playing[name], now)

    def _evict(self, playing: PlayingJob, now: float) -> None:
        """It waits again, for what is left to do since its last checkpoint."""
        run, job = playing.run, playing.job
        if not run.running:
            return
        ran = now - run.since
        kept = math.floor(ran / job.checkpoint) * job.checkpoint if job.checkpoint > 0 else 0.0
        self._played.lost_gpu_seconds += (ran - kept) * run.gpus
        run.remaining -= kept
        self._hold(playing, now)
        run.evictions += 1
        run.since = now
        playing.nodes = set()
        for record in playing.tasks:
            self._cluster.remove(TaskRecord, record.uid)
        self._wait(playing)

    def _hold(self, playing: PlayingJob, now: float) -> None:
        """The job stops holding its GPUs."""
        run, clock = playing.run, self._clock
        clock.by_queue[run.queue] = clock.by_queue.get(run.queue, 0.0) + (now - run.since) * run.gpus
        clock.busy -= run.gpus
        run.running = False

"""Why a gang waits: the dominant cause, the proof, and (in remedies.py) the smallest change that would start it.

Asked after a cycle, on the cluster as it then stands. Causes are looked for from the outside in: the gang itself, its
queue, quotas and limits, then room. For room, the gang is tried in a statement that is undone: siblings are placed in
order until one does not fit, and that one is tried in every domain it could use. Deterministic; counts its steps (one
task tried on nodes) and says less when the budget is spent, never something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gangline.scheduler.decisions import Refuse
from gangline.scheduler.fairness.capacity import OVER_LIMIT, OVER_QUOTA
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.model.gang import GangInfo, Group, PodSet
from gangline.scheduler.model.resources import CPU, GPU, PODS, Vector, at, summed
from gangline.scheduler.model.status import Status
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.place import GangPlacement
from gangline.scheduler.records import DEFAULT_POD_SET, TopologyRule
from gangline.scheduler.session import Session
from gangline.scheduler.settings import SchedulerSettings
from gangline.scheduler.statement import Statement
from gangline.scheduler.why import bounds, remedies
from gangline.scheduler.why.bounds import LIMIT
from gangline.scheduler.why.trial import Trial, Trials, subtree
from gangline.scheduler.why.verdict import Verdict, amount, counted

SHOWN_OBJECTIONS = 2
STEPS = 20_000
"""The budget of one call: one step is one task tried on nodes."""


def explain(
    cluster: ClusterModel,
    gang: str,
    settings: SchedulerSettings,
    now: float,
    refusals: Mapping[str, Refuse] | None = None,
    steps: int = STEPS,
) -> Verdict | None:
    """The verdict on one gang; None when it waits for nothing."""
    return explain_waiting(cluster, settings, now, refusals, [gang], steps=steps).get(gang)


def explain_waiting(
    cluster: ClusterModel,
    settings: SchedulerSettings,
    now: float,
    refusals: Mapping[str, Refuse] | None = None,
    gangs: Iterable[str] | None = None,
    known: Mapping[str, Verdict] | None = None,
    steps: int = STEPS,
) -> dict[str, Verdict]:
    """Verdicts on gangs that wait (all, unless named). Where cause and proof are as in `known`, its remedies are
    kept."""
    explainer = Explainer(Session(cluster, settings, now), refusals or {}, steps)
    try:
        wanted = sorted(cluster.waiting if gangs is None else gangs)
        verdicts = (
            (uid, explainer.verdict(cluster.gangs[uid], (known or {}).get(uid)))
            for uid in wanted
            if uid in cluster.gangs
        )
        return {uid: verdict for uid, verdict in verdicts if verdict is not None}
    finally:
        explainer.session.close()


class Explainer:
    """One session for many verdicts; `steps` is the budget they share."""

    def __init__(self, session: Session, refusals: Mapping[str, Refuse], steps: int) -> None:
        self.session = session
        self.cluster = session.cluster
        self.trials = Trials(session, steps)
        self._refusals = refusals
        self._positions: dict[str, dict[str, int]] = {}
        self._sizes: dict[int, float] = {}
        session.action = "explain"

    # ── cause ──

    def verdict(self, gang: GangInfo, known: Verdict | None = None) -> Verdict | None:
        verdict = self._of_gang(gang) or self._of_queue(gang)
        if verdict is not None:
            return verdict
        tasks = self.session.wanted(gang, simulation=False)
        if not tasks:
            return None
        verdict = (
            self._of_capacity(gang, tasks)
            or self._of_size(gang, tasks)
            or self._of_topology(gang)
            or self._of_room(gang, tasks, known)
        )
        return self._in_line(verdict, gang)

    def _said(self, gang: GangInfo, cause: str, why: str) -> Verdict:
        return Verdict(gang.uid, gang.name, cause, f"{gang.name} waits: {why}", queue=gang.queue)

    def _of_gang(self, gang: GangInfo) -> Verdict | None:
        if gang.problems:
            return self._said(gang, "broken", gang.problems[0])
        if gang.record.skipped:
            return self._said(gang, "gave-up", "it backs off from this node pool after it did not fit")
        if gang.pending and gang.ready:
            return None
        if not gang.count(Status.PENDING | Status.GATED):
            return None
        lacks = [text for leaf in sorted(gang.pod_sets.values(), key=lambda leaf: leaf.name) if (text := lacking(leaf))]
        return self._said(
            gang,
            "not-ready",
            f"{'; '.join(lacks)} before it can start" if lacks else "more sub-groups must be complete",
        )

    def _of_queue(self, gang: GangInfo) -> Verdict | None:
        queue = self.session.queues.get(gang.queue)
        if queue is None:
            known = gang.queue in self.cluster.queues
            why = "has a missing or circular parent" if known else "does not exist"
            return self._said(gang, "no-queue", f"queue {gang.queue or '(none)'} {why}")
        return (
            None
            if queue.is_leaf
            else self._said(gang, "no-queue", f"queue {gang.queue} has child queues, so it takes no work itself")
        )

    def _of_capacity(self, gang: GangInfo, tasks: list[TaskInfo]) -> Verdict | None:
        books = self.trials.books()
        if books is None:
            return self._of_policies(gang, tasks)
        excesses = bounds.excesses(books, gang, tasks)
        if not excesses:
            return self._of_policies(gang, tasks)
        first = excesses[0]
        verdict = self._said(
            gang, OVER_LIMIT if first.bound == LIMIT else OVER_QUOTA, "; ".join(item.text for item in excesses)
        )
        needs = amount(first.needed - first.held, first.word)
        return replace(
            verdict, needs=needs, resource=first.word, remedies=remedies.of_capacity(self.trials, gang, tasks, excesses)
        )

    def _of_policies(self, gang: GangInfo, tasks: list[TaskInfo]) -> Verdict | None:
        """A plugin besides the queue's books says that it would be too much."""
        refusal = self.session.over_capacity(gang, tasks)
        if refusal is None:
            return None
        return self._said(
            gang, "refused", f"plugin {refusal.plugin} refuses: {'; '.join(refusal.messages) or refusal.reason}"
        )

    def _of_size(self, gang: GangInfo, tasks: Sequence[TaskInfo]) -> Verdict | None:
        """What no eviction can change: a pod larger than every node, something it names that is not there."""
        names = self.cluster.names.names
        for task in tasks:
            for place in (GPU, *(item for item in range(len(task.request)) if item not in (GPU, PODS))):
                largest = self._largest(place)
                if task.request[place] > largest and not self._backed(names[place]):
                    has = amount(largest, names[place]) if largest else "none"
                    return self._said(
                        gang,
                        "too-large",
                        f"no node has {amount(task.request[place], names[place])}; the largest has {has}",
                    )
            refusal = self.session.hooks.victim_invariant(task, gang)
            if refusal is not None:
                return self._said(gang, "impossible", refusal.reason)
            refusals = self.session.hooks.before_task(task, gang)
            if refusals:
                return self._said(gang, "impossible", "; ".join(item.reason for item in refusals))
        return None

    def _largest(self, place: int) -> float:
        size = self._sizes.get(place)
        if size is None:
            size = self._sizes[place] = max(
                (at(node.allocatable, place) for node in self.cluster.nodes.values()), default=0
            )
        return size

    def _of_topology(self, gang: GangInfo) -> Verdict | None:
        """A rule that names a topology or a level which does not exist can never be met."""
        for member in subtree(gang.root):
            rule = member.topology
            if rule is None or not rule.topology:
                continue
            tree = self.cluster.topology(rule.topology)
            if tree is None:
                return self._said(gang, "topology", f"topology {rule.topology} does not exist")
            for level in (rule.required, rule.preferred):
                if level and tree.level(level) is None:
                    return self._said(gang, "topology", f"topology {rule.topology} has no level {level}")
        return None

    def _backed(self, name: str) -> bool:
        return any(record.resource == name for record in self.cluster.devices.classes.values())

    def _in_line(self, verdict: Verdict | None, gang: GangInfo) -> Verdict | None:
        if verdict is None:
            return None
        line = self._positions.get(gang.queue)
        if line is None:
            waiting = [
                waiting_gang for waiting_gang in self.session.waiting_gangs() if waiting_gang.queue == gang.queue
            ]
            ordered = sorted(waiting, key=self.session.gang_key)
            line = self._positions[gang.queue] = {item.uid: place for place, item in enumerate(ordered, 1)}
        return replace(verdict, queue=gang.queue, position=line.get(gang.uid, 0), waiting=len(line))

    # ── room ──

    def _of_room(self, gang: GangInfo, tasks: list[TaskInfo], known: Verdict | None) -> Verdict:
        statement = self.session.statement()
        try:
            start = statement.checkpoint()
            placement = GangPlacement(self.session, statement, gang, simulation=True)
            self.session.hooks.before_gang(gang)
            member, mine, nodes = self.trials.culprit(placement, statement, gang.root, tasks, self.session.all_nodes)
            if member is None:
                return self._fits(gang, tasks, statement, start)
            trial = self.trials.attempt(gang, member, mine, statement, placement, nodes)
            while trial.missing == 0 and isinstance(trial.member, Group):
                inner = self.trials.inner_culprit(trial)
                if inner is None:
                    break
                trial = inner
            return self._short_of_room(trial, known)
        finally:
            statement.discard()

    def _fits(self, gang: GangInfo, tasks: list[TaskInfo], statement: Statement, start: tuple[int, int]) -> Verdict:
        """There is room for all of it: then it waits for pods that are leaving, or for its turn."""
        statement.rollback(start)
        self.session.hooks.before_gang(gang)
        placement = GangPlacement(self.session, statement, gang, simulation=False)
        placement.place_member(gang.root, tasks, self.session.all_nodes)
        for task in tasks:
            refusal = self.session.hooks.before_bind(task, self.cluster.nodes[task.node]) if task.node else None
            if refusal is not None:
                return self._said(gang, "refused", f"plugin {refusal.plugin} refuses: {refusal.reason}")
        leaving = sorted({task.node for task in tasks if task.status == Status.PIPELINED})
        needs = needs_text(tasks, self.cluster.names.names, None)
        if leaving:
            where = ", ".join(leaving[:3]) + (f" and {len(leaving) - 3} more" if len(leaving) > 3 else "")
            return replace(self._said(gang, "leaving", f"pods are leaving {where}, then it starts"), needs=needs)
        if gang.uid in self._refusals:
            return replace(
                self._said(gang, "behind", "gangs before it in line take the room it would fit in"), needs=needs
            )
        return replace(self._said(gang, "next", "there is room for it, the next cycle places it"), needs=needs)

    def _short_of_room(self, trial: Trial, known: Verdict | None) -> Verdict:
        names = self.cluster.names.names
        best, place = trial.best[0], trial.resource
        need = sum(at(task.request, place) for task in trial.tasks)
        short = need - best.free
        where = f" in one {trial.level}" if trial.level else ""
        verdict = replace(
            self._said(trial.gang, "room", self._room_text(trial, short, where)),
            needs=needs_text(trial.tasks, names, trial.rule),
            resource=names[place],
            short=max(short, 0),
            areas=tuple(area for area, _ in trial.areas),
            more_areas=trial.more,
            most_elsewhere=trial.most,
        )
        if known is not None and (known.cause, known.headline, known.areas) == (
            verdict.cause,
            verdict.headline,
            verdict.areas,
        ):
            return replace(verdict, remedies=known.remedies)
        return replace(verdict, remedies=remedies.of_room(self.trials, trial))

    def _room_text(self, trial: Trial, short: float, where: str) -> str:
        best, nodes = trial.best
        names, place = self.cluster.names.names, trial.resource
        closed = self.trials.closed_to(trial.tasks[0])
        usable = [node for node in nodes if node.name not in closed]
        if not usable:
            reason = best.closed[0][0] if best.closed else "there are none"
            return f"none of {counted(len(list(self.session.all_nodes)), 'node')} may be used by it ({reason})"
        if short > 0:
            return f"{amount(short, names[place])} short{where}"
        size = max(at(task.request, place) for task in trial.tasks)
        most = max(at(node.later, place) for node in usable)
        pods = f"{trial.missing} of {counted(len(trial.tasks), 'pod')}"
        if most < size:
            return (
                f"no node{where} has {amount(size, names[place])} free for {pods}; the most is "
                f"{amount(most, names[place])}"
            )
        objections = [f"{number} {why}" for why, number in self.trials.objections(trial)[:SHOWN_OBJECTIONS]]
        why = f": {'; '.join(objections)}" if objections else ""
        return f"{pods} find no node{where} that suits them beside the others{why}"


# ── words ──


def lacking(leaf: PodSet) -> str:
    there = leaf.count(Status.PENDING) + leaf.active_allocated
    if there >= leaf.min_available:
        return ""
    where = "" if leaf.name == DEFAULT_POD_SET else f" of {leaf.name}"
    gated = leaf.count(Status.GATED)
    return f"{counted(leaf.min_available - there, 'more pod')}{where} must be there" + (
        f" ({gated} are gated)" if gated else ""
    )


def needs_text(tasks: Sequence[TaskInfo], names: Sequence[str], rule: TopologyRule | None) -> str:
    total: Vector = summed(task.request for task in tasks)
    place = GPU if total[GPU] else CPU
    what = (
        f"{amount(total[place], names[place])} for {counted(len(tasks), 'pod')}"
        if total[place]
        else counted(len(tasks), "pod")
    )
    return what + (f" on nodes of one {rule.required}" if rule is not None else "")

"""Finding room for a gang: walk its tree, split the nodes where a topology asks for it, and place task after task on
the best node that fits.

This is the one placement routine of every action. It works inside a statement: on failure the caller discards it. In a
simulation tasks only get waiting places (on what leaving pods free); otherwise idle room is taken at once. There is no
way back across siblings: when a later member fails, only the next node set of their parent is tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gangline.scheduler.model.gang import GangInfo, Group, PodSet
from gangline.scheduler.model.gpu import WHOLE_GPU, device_memory
from gangline.scheduler.model.node import NodeInfo, NodeList
from gangline.scheduler.model.resources import GPU
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.placing.order import in_order
from gangline.scheduler.placing.rank import ordered_nodes, ranking, shortage
from gangline.scheduler.plugin import SubsetRefused
from gangline.scheduler.records import DEFAULT_POD_SET
from gangline.scheduler.refusals import NO_NODE, NO_POD, PODS, GangRefusals, task_text
from gangline.scheduler.statement import Statement

if TYPE_CHECKING:
    from gangline.scheduler.session import Session


def allocate_gang(
    session: Session, statement: Statement, nodes: Sequence[NodeInfo], gang: GangInfo, simulation: bool
) -> bool:
    """Place what the gang wants next, whole or not at all."""
    return GangPlacement(session, statement, gang, simulation).run(nodes)


class GangPlacement:
    """One attempt to place one gang."""

    def __init__(self, session: Session, statement: Statement, gang: GangInfo, simulation: bool) -> None:
        self.session = session
        self.statement = statement
        self.gang = gang
        self.simulation = simulation

    def run(self, nodes: Sequence[NodeInfo]) -> bool:
        session, gang = self.session, self.gang
        session.hooks.before_gang(gang)
        tasks = session.wanted(gang, self.simulation)
        if not tasks:
            return False
        refusal = session.over_capacity(gang, tasks)
        if refusal is not None:
            if not self.simulation:
                session.refuse(gang.original, refusal)
            return False
        return self.place_member(gang.root, tasks, nodes)

    def place_member(self, member: Group | PodSet, tasks: list[TaskInfo], nodes: Sequence[NodeInfo]) -> bool:
        """Try the node sets for this member one after the other."""
        if not tasks:
            return True
        owners = {task.pod_set.name for task in tasks if task.pod_set is not None}
        involved = [leaf for leaf in member.pod_sets() if leaf.name in owners]
        try:
            node_sets = self.session.hooks.subset_nodes(self.gang, member, involved, tasks, nodes)
        except SubsetRefused as refused:
            if refused.refusal is not None and not self.simulation:
                self.session.refuse(self.gang.original, refused.refusal)
            return False
        for node_set in node_sets:
            checkpoint = self.statement.checkpoint()
            if self._place_on(member, tasks, node_set):
                return True
            self.statement.rollback(checkpoint)
        return False

    def _place_on(self, member: Group | PodSet, tasks: list[TaskInfo], nodes: Sequence[NodeInfo]) -> bool:
        if isinstance(member, PodSet):
            return self._place_tasks(tasks, nodes)
        ordered = in_order(member, self.session.member_key)
        return all(self.place_member(item, self._share_of(item, member, tasks), nodes) for item in ordered)

    def _share_of(self, member: Group | PodSet, parent: Group, tasks: list[TaskInfo]) -> list[TaskInfo]:
        if len(parent.groups) + len(parent.leaves) == 1:
            return tasks
        names = {leaf.name for leaf in member.pod_sets()}
        return [task for task in tasks if task.pod_set is not None and task.pod_set.name in names]

    def _place_tasks(self, tasks: list[TaskInfo], nodes: Sequence[NodeInfo]) -> bool:
        for number, task in enumerate(tasks):
            if not self.place_task(task, nodes):
                if not self.simulation:
                    self._refuse(task, number)
                return False
        return True

    def place_task(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> bool:
        session = self.session
        assert task.gang is not None
        refusals = session.hooks.before_task(task, task.gang)
        if refusals:
            if not self.simulation:
                session.refuse_task(task, "\n".join(refusal.reason for refusal in refusals))
            return False
        for node in ordered_nodes(session, task, nodes):
            if session.hooks.refused_on(task, node) is None and self._settle(task, node):
                return True
        if not self.simulation:
            self._explain(task, nodes)
        return False

    # ── on one node ──

    def _settle(self, task: TaskInfo, node: NodeInfo) -> bool:
        """Take idle room if there is and we may, else a waiting place."""
        same_place = self._align(task, node)
        if task.shared:
            return self._share(task, node, same_place)
        if not self.simulation and node.fits_now(task):
            self.statement.allocate(task, node)
        else:
            self.statement.pipeline(task, node, update=not self.simulation, same_place=same_place)
        return True

    def _align(self, task: TaskInfo, node: NodeInfo) -> bool:
        """Stamp the NUMA zones; answers whether they stayed the same. Where nothing is aligned, nothing moves."""
        zones = self.session.hooks.numa_placement(task, node)
        if zones == task.numa:
            return True
        self.session.journal.set_attr(task, "numa", zones)
        return not zones

    def _share(self, task: TaskInfo, node: NodeInfo, same_place: bool) -> bool:
        gpus = choose_gpus(self.session, task, node, self.simulation)
        if gpus is None:
            return False
        groups, waits = gpus
        self.session.journal.set_attr(task, "gpu_groups", tuple(groups))
        if waits or self.simulation:
            self.statement.pipeline(task, node, update=False, same_place=same_place)
        else:
            self.statement.allocate(task, node)
        return True

    # ── why not ──

    def _explain(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> None:
        """Say for every node why it would not do."""
        session = self.session
        if not session.settings.explains:
            return
        if task.shape.plain and isinstance(nodes, NodeList) and nodes.whole:
            ranked = ranking(session, task)
            reasons, fitting = ranked.shortages(session), ranked.with_room(session)
        else:
            fitting = [node for node in nodes if node.fits_later(task)]
            room = {node.number for node in fitting}
            names = session.cluster.names.names
            reasons = Counter(why for node in nodes if node.number not in room for why in shortage(task, node, names))
        for node in fitting:
            why = session.hooks.refused_on(task, node)
            if why is not None:
                reasons[why] += 1
        detailed = self._detailed(task, nodes) if session.settings.detailed_refusals else ""
        session.refuse_task(task, task_text(NO_NODE, reasons), detailed)

    def _detailed(self, task: TaskInfo, nodes: Sequence[NodeInfo]) -> str:
        """Every node with its own reasons."""
        names = self.session.cluster.names.names
        lines = []
        for node in nodes:
            refused = self.session.hooks.refused_on(task, node) if node.fits_later(task) else None
            why = [refused] if refused is not None else shortage(task, node, names)
            lines += [f"\n<{node.name}>: {', '.join(why)}."] if why else []
        return "".join([f"\n{NO_NODE}.", *sorted(lines)])

    def _refuse(self, task: TaskInfo, placed: int) -> None:
        if not self.session.settings.explains:
            return
        gang = self.gang.original
        text = self.session.task_refusal(task) or NO_POD
        leaf = gang.pod_sets.get(task.pod_set.name if task.pod_set else DEFAULT_POD_SET)
        assert leaf is not None
        if (
            all(pod_set.min_available <= 1 for pod_set in gang.pod_sets.values())
            or leaf.active_used >= leaf.min_available
        ):
            message = f"Resources were not found for pod {task.full_name} due to: {text}"
        elif len(gang.pod_sets) == 1 and leaf.name == DEFAULT_POD_SET:
            message = (
                f"Resources were found for {placed} pods while {leaf.min_available} are required for gang scheduling. "
                f"Additional pods cannot be scheduled due to: {text}"
            )
        else:
            message = (
                f"Resources were found for {placed} pods from all sub-groups while sub-group {leaf.name} requires "
                f"{leaf.min_available} pods for gang scheduling. "
                f"Additional pods cannot be scheduled in this sub-group due to: {text}"
            )
        self.session.refuse(gang, GangRefusals(PODS, (message,), "place"))


# ── shared GPUs ──


MOST_WHOLE_GPUS = 1024
"""Whole devices of one node that a shared task can open: no machine has as many, whatever a Node says."""


def fitting_gpus(session: Session, task: TaskInfo, node: NodeInfo) -> list[str]:
    """Shared devices with room and whole free ones, best first."""
    whole = min(int(node.idle[GPU]) + int(node.releasing[GPU]), task.gpu.count, MOST_WHOLE_GPUS)
    candidates = [*node.shared.fitting(device_memory(task, node.gpu_memory)), *[WHOLE_GPU] * whole]
    return sorted(candidates, key=lambda group: -session.hooks.gpu_score(task, node, group))


def choose_gpus(session: Session, task: TaskInfo, node: NodeInfo, simulation: bool) -> tuple[list[str], bool] | None:
    """The devices for a shared task on this node and whether it must wait for them; None when there are too few."""
    return pick_gpus(fitting_gpus(session, task, node), task, node, simulation)


def pick_gpus(
    fitting: Sequence[str], task: TaskInfo, node: NodeInfo, simulation: bool
) -> tuple[list[str], bool] | None:
    """Walk the ordered devices until there are enough."""
    groups: list[str] = []
    waits = False
    now = node.fits_now(task)
    memory = device_memory(task, node.gpu_memory)
    for group in fitting:
        if group == WHOLE_GPU:
            waits = waits or simulation or not now
            groups.append(new_group(task, node, len(groups)))
        else:
            waits = waits or not now or not node.shared.fits_now(group, memory)
            groups.append(group)
        if len(groups) == task.gpu.count:
            return groups, waits
    return None


def new_group(task: TaskInfo, node: NodeInfo, place: int) -> str:
    """A name for a device that is opened for sharing, unused on this node; the shell gives it its final one."""
    name = f"new-{task.uid}-{place}"
    while name in node.shared.used:
        name += "+"
    return name

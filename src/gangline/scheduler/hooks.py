"""The points at which plugins are asked, and the five ways in which their answers are combined.

A plugin is a small class, built once per cycle with `(session, arguments)`, with a `name` and a method for each hook it cares about.

key — tuples one after the other, smallest first:
    gang_order(gang), sub_group_order(member), task_order(task) -> anything that can be compared
    queue_order(QueueSide, QueueSide) -> int           compares instead: negative is left first, 0 is no opinion

veto — the first refusal wins:
    before_task(task, gang) -> Refusal | None          before any node is tried (all refusals are told together)
    victim_invariant(task, gang) -> Refusal | None     before victims are searched
    predicate(task, node) -> Refusal | None
    over_capacity(gang, tasks), firm_over_quota(gang, tasks) -> GangRefusals | None      (see refusals.py)
    task_over_capacity(task, gang, node) -> Refusal | None
    can_reclaim(gang) -> Refusal | None                no plugin answers: nobody may reclaim
    reclaim_queue(preemptor, queue name), reclaim_victim(preemptor, victim), preempt_victim(preemptor, victim) -> bool
    reclaim_scenario(scenario), preempt_scenario(scenario) -> bool
    before_bind(task, node) -> Refusal | None          at commit; a refused task is put back

sum — added up:
    node_score(task, node) -> float | None             None drops the node
    gpu_score(task, node, group) -> float

pass on — each works on what the one before gave:
    subset_nodes(gang, member, pod_sets, tasks, nodes) -> list of node lists             (SubsetRefused ends the attempt)
    numa_placement(task, node) -> zones | None
    bind_annotations(task, node, annotations) -> annotations

tell — nobody answers:
    before_scoring(task, nodes), before_gang(gang), before_solving(preemptor)
    allocated(task), deallocated(task)                 state that follows these is written through `session.journal`

Plugins may also offer `scenario_generator` (see `victims/search.py`) and the figures `queue_allocated`, `queue_deserved` and
`queue_fair_share(queue)`, of which the first plugin that has them is asked; and `reclaim_most(preemptor, {queue: GPUs of its largest
victim})`, an upper bound of what may be reclaimed, so that a hopeless search ends early.

Scores are kept per task shape (`placing/rank.py`). A scoring plugin therefore says more about itself:
    shape_score(task, node)     as node_score, for a score that depends only on the task's shape and the node's own state, and that comes
                                in steps of at least 10
    node_rank(task, node)       for a score below 10 that is relative to the set of nodes: its order, smallest first
    never(task, node)           True: this node refuses every task of this shape for good (labels, taints, kind of node)
    beyond_shape = True         the score depends on more; nodes are then scored one by one for every task for which `scores(task)` holds
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import Refusal
from .model.gang import Gang, Group, PodSet
from .model.node import Node
from .model.queue import NOTHING, Amount, Queue
from .model.task import Task
from .refusals import GangRefusals

if TYPE_CHECKING:
    from .session import Session

class Plugin(Protocol):
    """Everything else is optional: a plugin answers only the hooks it has a method for."""

    name: str


PluginClass = Callable[["Session", Mapping[str, str]], Plugin]


@dataclass(slots=True)
class QueueSide:
    """One side of a queue comparison: the queue, and the next gang in its subtree. Among victims there is no gang; `taken` is
    then what the victims popped so far and the next one hold together."""

    queue: Queue
    gang: Gang | None = None
    taken: Amount = NOTHING


class SubsetRefused(Exception):
    """A plugin says that no set of nodes can do; the refusal (if any) is for the gang."""

    def __init__(self, refusal: GangRefusals | None = None) -> None:
        super().__init__(refusal.reason if refusal else "no node set can do")
        self.refusal = refusal


class Hooks:
    """The bound methods of this cycle's plugins, by hook, in plugin order."""

    def __init__(self, plugins: Iterable[Plugin]) -> None:
        self.plugins = list(plugins)
        self._methods: dict[str, list[Callable[..., Any]]] = {}

    def methods(self, hook: str) -> list[Callable[..., Any]]:
        found = self._methods.get(hook)
        if found is None:
            found = self._methods[hook] = [getattr(plugin, hook) for plugin in self.plugins if hasattr(plugin, hook)]
        return found

    def having(self, hook: str) -> list[Plugin]:
        return [plugin for plugin in self.plugins if hasattr(plugin, hook)]

    # ── key ──

    def key(self, hook: str, subject: Any) -> tuple[Any, ...]:
        """The plugins' tuples one after the other."""
        return tuple([method(subject) for method in self.methods(hook)])

    def compare_queues(self, left: QueueSide, right: QueueSide) -> int:
        for method in self.methods("queue_order"):
            order: int = method(left, right)
            if order:
                return order
        return 0

    # ── veto ──

    def veto(self, hook: str, *subject: Any) -> Refusal | None:
        """The first refusal."""
        for method in self.methods(hook):
            refusal: Refusal | None = method(*subject)
            if refusal is not None:
                return refusal
        return None

    def vetoes(self, hook: str, *subject: Any) -> list[Refusal]:
        """Every refusal."""
        return [refusal for method in self.methods(hook) if (refusal := method(*subject)) is not None]

    def agree(self, hook: str, *subject: Any) -> bool:
        """Whether every plugin says yes."""
        return all(method(*subject) for method in self.methods(hook))

    # ── sum ──

    def node_score(self, task: Task, node: Node) -> float | None:
        """The sum of all scores; None when a plugin drops the node."""
        total = 0.0
        for method in self.methods("node_score"):
            score: float | None = method(task, node)
            if score is None:
                return None
            total += score
        return total

    def gpu_score(self, task: Task, node: Node, group: str) -> float:
        return sum((float(method(task, node, group)) for method in self.methods("gpu_score")), 0.0)

    # ── pass on ──

    def subset_nodes(
        self, gang: Gang, member: Group | PodSet, pod_sets: Sequence[PodSet], tasks: Sequence[Task], nodes: Sequence[Node]
    ) -> list[Sequence[Node]]:
        """Node sets to try one after the other; each plugin splits the sets of the one before."""
        sets: list[Sequence[Node]] = [nodes]
        for method in self.methods("subset_nodes"):
            sets = [subset for each in sets for subset in method(gang, member, pod_sets, tasks, each)]
        return sets

    def bind_annotations(self, task: Task, node: Node) -> dict[str, str]:
        annotations: dict[str, str] = {}
        for method in self.methods("bind_annotations"):
            annotations = method(task, node, annotations)
        return annotations

    # ── tell ──

    def tell(self, hook: str, *news: Any) -> None:
        for method in self.methods(hook):
            method(*news)

    def first(self, hook: str, *subject: Any) -> Any:
        """The answer of the first plugin that has this figure; None when nobody has."""
        methods = self.methods(hook)
        return methods[0](*subject) if methods else None

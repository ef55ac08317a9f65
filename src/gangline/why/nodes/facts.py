"""Why one node will not do for one pod: every fact, with the object and field it stands in, and the change that
would clear it.

Asked on the model as it stands (siblings may be placed for the moment). The predicates decide; the facts here say
what they saw. What no fact covers is shown in the predicate's own words.
"""

from __future__ import annotations

from gangline.scheduler.model.node import NodeInfo
from gangline.scheduler.model.task import TaskInfo
from gangline.scheduler.session import Session
from gangline.why.nodes.capacity import gpu_kind_facts, resource_facts
from gangline.why.nodes.condition import state_facts, taint_facts
from gangline.why.nodes.devices import eviction_helps, lacking_devices
from gangline.why.nodes.labels import label_facts, volume_facts
from gangline.why.nodes.neighbours import neighbour_facts, port_facts, spread_facts
from gangline.why.nodes.obstacles import NodeObstacle
from gangline.why.objects import ClusterObjects

NEAR = ("port", "pod-affinity", "anti-affinity", "spread", "slots")
"""Facts about what stands on or near the node at the moment."""


def node_facts(session: Session, objects: ClusterObjects, task: TaskInfo, node: NodeInfo) -> list[NodeObstacle]:
    """Everything that keeps this pod off this node; empty where it fits."""
    facts = [
        *state_facts(objects, node),
        *taint_facts(objects, task, node),
        *label_facts(task, node),
        *gpu_kind_facts(task, node),
        *resource_facts(session, task, node),
        *port_facts(task, node),
        *neighbour_facts(session, task, node),
        *spread_facts(session, task, node),
        *volume_facts(session, objects, task, node),
    ]
    refused = session.hooks.refused_on(task, node)
    known = any(fact.lasting or fact.code in NEAR for fact in facts)
    if refused is not None and not known:
        facts.append(_predicate_obstacle(session, objects, task, node, refused))
    return facts


def _predicate_obstacle(
    session: Session, objects: ClusterObjects, task: TaskInfo, node: NodeInfo, refused: str
) -> NodeObstacle:
    if "claim" in refused:
        lasting = not eviction_helps(session, task, node)
        return NodeObstacle("devices", lacking_devices(session, task, node, refused), lasting=lasting)
    if "enough capacity" in refused:
        return NodeObstacle("quota", f"may not take it: {refused.partition('Details: ')[2] or refused}", lasting=False)
    return NodeObstacle(
        "refused", refused.removeprefix("node(s) ").replace(f"node: <{node.name}>", "").strip(", "), lasting=False
    )

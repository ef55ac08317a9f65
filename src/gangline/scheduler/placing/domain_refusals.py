"""The words for a topology that cannot be met: what a domain lacks, in KAI's own form.

Asked by `domains.py` and `plugins/fit/topology.py` when nothing is left to try. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterator

from gangline.scheduler.model.gang import GangInfo
from gangline.scheduler.model.resources import CPU, GPU, MEMORY, ResourceNames, Vector, at, is_mig
from gangline.scheduler.model.topology import TopologyDomain
from gangline.scheduler.placing.domain_room import DomainRoom
from gangline.scheduler.records import DEFAULT_POD_SET, TopologyRule
from gangline.scheduler.refusals import NO_ROOM, GangRefusals
from gangline.scheduler.refusals import PODS as POD_ERRORS


def why_not(domain: TopologyDomain, room: DomainRoom, group: str, names: ResourceNames) -> GangRefusals:
    """What keeps a domain from holding the tasks."""
    prefix = f"<{domain.id}>: " + (f"subgroup {group}: " if group and group != DEFAULT_POD_SET else "")
    pods = room.pods(domain)
    if pods is not None:
        text = f"node-group {domain.id} can allocate only {pods} of {room.demand.count} required pods"
        return GangRefusals(NO_ROOM, (text,), "topology", details=(prefix + text,))
    short = list(_shortages(domain.id, room.demand.total, room.free(domain), names))
    return GangRefusals(
        NO_ROOM, tuple(text for text, _ in short), "topology", details=(prefix + ", ".join(d for _, d in short),)
    )


def _shortages(domain: str, total: Vector, free: Vector, names: ResourceNames) -> Iterator[tuple[str, str]]:
    for place, need in enumerate(total):
        room, name = at(free, place), names.names[place]
        if need <= room:
            continue
        if is_mig(name):
            yield (
                f"node-group(s) didn't have enough of mig profile: {name}",
                _lacks(domain, name, str(int(need)), str(int(room))),
            )
        elif place == GPU:
            yield (
                "node-group(s) didn't have enough resources: GPUs",
                _lacks(domain, "GPUs", f"{need:.3g}", f"{room:.3g}"),
            )
        elif place in (CPU, MEMORY):
            unit, shown = (1000, "CPU cores") if place == CPU else (1e9, "memory")
            text = _lacks(domain, shown, _decimals(need / unit), _decimals(room / unit), "resources")
            yield f"node-group(s) didn't have enough resources: {shown}", text
        else:
            yield (
                f"node-group(s) didn't have enough resources: {name}",
                _lacks(domain, name, str(int(need)), str(int(room))),
            )


def _lacks(domain: str, what: str, need: str, room: str, word: str = "resource") -> str:
    return f"{domain} didn't have enough {word}: {what}, requested: {need}, available: {room}"


def _decimals(value: float) -> str:
    return f"{value:.6f}"[:-3].rstrip("0").rstrip(".")


def no_topology(name: str) -> GangRefusals:
    return GangRefusals(POD_ERRORS, (f"Requested topology {name} does not exist",), "topology", resolvable=False)


def unsatisfied(gang: GangInfo, group: str, rule: TopologyRule, suffix: str = "") -> GangRefusals:
    who = f"job <{gang.namespace}/{gang.name}>" + (f", subgroup {group}" if group and group != DEFAULT_POD_SET else "")
    text = f"topology {rule.topology}, requirement {rule.required} couldn't be satisfied for {who}"
    text += f": {suffix}" if suffix else ""
    return GangRefusals(POD_ERRORS, (text,), "topology")

"""Node labels for surplus pods: a pod that is no member of its scheduler's group must go to the domains of the members.
Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from gangline.api import names
from gangline.api.core import Pod
from gangline.operator.backends.contract import GroupInfo, PodGangInfo


def domains(pod: Pod, gang: PodGangInfo, labels: Callable[[str], Mapping[str, str]]) -> dict[str, str]:
    """The node selector of a pod: the required domain of its gang, its group of groups and its group, where a member
    has a node already."""
    selector: dict[str, str] = {}
    for key, groups in _required(pod, gang):
        value = next((labels(node)[key] for node in _nodes(groups) if key in labels(node)), None)
        if value is not None:
            selector[key] = value
    return selector


def _required(pod: Pod, gang: PodGangInfo) -> Iterator[tuple[str, list[GroupInfo]]]:
    """The keys that a pod is bound by, each with the groups that share it."""
    own = [group for group in gang.groups if group.name == pod.labels.get(names.POD_CLIQUE)]
    above = {group.parent for group in own if group.parent}
    levels = [
        (gang.constraint, list(gang.groups)),
        *(
            (parent.constraint, [item for item in gang.groups if item.parent == parent.name])
            for parent in gang.parents
            if parent.name in above
        ),
        *((group.constraint, [group]) for group in own),
    ]
    return ((pack.required, groups) for pack, groups in levels if pack is not None and pack.required)


def _nodes(groups: Iterable[GroupInfo]) -> list[str]:
    return [
        pod.spec.node_name for group in groups for pod in group.pods if pod.spec.node_name and not pod.metadata.deleting
    ]

"""A workload with the object a person made, its gang, its PodGroup and its pods, put together from any of these.

subjects.py finds workloads by name; everything else here gets one of them to judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gangline.api import kinds, names
from gangline.api.core import Pod
from gangline.api.grove import PodGang
from gangline.api.kai import PodGroup
from gangline.api.kinds import Kind
from gangline.api.meta import Raw
from gangline.rules.gangs.memberships import candidates, group_name_of, is_member
from gangline.rules.verdicts import group_of
from gangline.why.objects import ClusterObjects, dig

OWNERS: dict[str, Kind[Any]] = {
    "job": kinds.JOB,
    "cronjob": kinds.CRON_JOB,
    "deployment": kinds.DEPLOYMENT,
    "statefulset": kinds.STATEFUL_SET,
    "replicaset": kinds.REPLICA_SET,
    "daemonset": kinds.DAEMON_SET,
}


@dataclass(frozen=True, slots=True)
class Subject:
    """One workload. `kind` and `name` are a user's words for it; `top` is the object a person made, where it can be
    seen."""

    kind: str
    name: str
    namespace: str
    top: Raw | None = None
    gang: PodGang | None = None
    group: PodGroup | None = None
    pods: tuple[Pod, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """The same for two names of one workload."""
        if self.group is not None:
            return self.namespace, f"group {self.group.name}"
        if self.gang is not None:
            return self.namespace, f"gang {self.gang.name}"
        return self.namespace, f"{self.kind} {self.name}"

    @property
    def gang_uid(self) -> str:
        return f"{self.namespace}/{self.group.name}" if self.group is not None else ""

    @property
    def group_word(self) -> str:
        """What people call its PodGroup; "" where they made it themselves and know its name."""
        made = self.top is not None or self.gang is not None
        return f"the PodGroup of {self.kind}/{self.name}" if made else ""

    @property
    def top_kind(self) -> str:
        return str((self.top or {}).get("kind") or "")


def of_set(objects: ClusterObjects, name: str, namespace: str) -> Iterator[Subject]:
    pcs = objects.raw(kinds.POD_CLIQUE_SET, name, namespace)
    if pcs is None and not objects.hidden(kinds.POD_CLIQUE_SET):
        return
    gangs = [gang for gang in objects.all(kinds.POD_GANG, namespace) if gang.labels.get(names.PART_OF) == name]
    pods = tuple(pod for pod in objects.all(kinds.POD, namespace) if pod.labels.get(names.PART_OF) == name)
    unseen = list(_unseen_gangs(objects, pods))
    yield from unseen
    if not gangs and not unseen and (pods or pcs is not None):
        yield Subject("set", name, namespace, pcs, pods=pods)
    for gang in sorted(gangs, key=lambda gang: gang.name):
        yield of_gang(objects, gang)


def of_gang(objects: ClusterObjects, gang: PodGang) -> Subject:
    group = group_of(gang, objects.all(kinds.POD_GROUP, gang.namespace))
    top = objects.raw(kinds.POD_CLIQUE_SET, gang.labels.get(names.PART_OF, ""), gang.namespace)
    pods = {
        pod.name: pod for pod in objects.all(kinds.POD, gang.namespace) if pod.labels.get(names.POD_GANG) == gang.name
    }
    if group is not None:
        pods |= {pod.name: pod for pod in pods_of_group(objects, group)}
    return Subject("gang", gang.name, gang.namespace, top, gang, group, tuple(pods[key] for key in sorted(pods)))


def _unseen_gangs(objects: ClusterObjects, pods: Sequence[Pod]) -> Iterator[Subject]:
    for name in sorted({pod.labels.get(names.POD_GANG, "") for pod in pods} - {""}):
        yield from of_unseen_gang(objects, name, pods[0].namespace)


def of_unseen_gang(objects: ClusterObjects, name: str, namespace: str) -> Iterator[Subject]:
    """A PodGang that may not be read, from its pods and the PodGroup that it owns."""
    if not name or not objects.hidden(kinds.POD_GANG):
        return
    mine = [pod for pod in objects.all(kinds.POD, namespace) if pod.labels.get(names.POD_GANG) == name]
    group = next((item for item in objects.all(kinds.POD_GROUP, namespace) if _gang_named(item) == name), None)
    pods = {pod.name: pod for pod in (*mine, *(pods_of_group(objects, group) if group is not None else ()))}
    if group is not None or pods:
        part_of = next((pod.labels.get(names.PART_OF, "") for pod in mine), "")
        top = objects.raw(kinds.POD_CLIQUE_SET, part_of, namespace)
        yield Subject("gang", name, namespace, top, None, group, tuple(pods[key] for key in sorted(pods)))


def _gang_named(group: PodGroup) -> str:
    """The PodGang that a PodGroup belongs to; "" where it belongs to none."""
    owners = group.metadata.owner_references
    return next((owner.name for owner in owners if owner.kind == kinds.POD_GANG.kind), "")


def of_group(objects: ClusterObjects, group: PodGroup) -> Subject:
    reference = next(iter(group.metadata.owner_references), None)
    if reference is not None and reference.kind == kinds.POD_GANG.kind:
        gang = objects.get(kinds.POD_GANG, reference.name, group.namespace)
        if gang is not None:
            return of_gang(objects, gang)
        for unseen in of_unseen_gang(objects, reference.name, group.namespace):
            return unseen
    pods = tuple(sorted(pods_of_group(objects, group), key=lambda pod: pod.name))
    if reference is None:
        return Subject("gang", group.name, group.namespace, group=group, pods=pods)
    kind = objects.kind(reference.api_version, reference.kind)
    top = objects.raw(kind, reference.name, group.namespace) if kind is not None else None
    return Subject(word_of(reference.kind), reference.name, group.namespace, top, None, group, pods)


def of_pod(objects: ClusterObjects, pod: Pod) -> Iterator[Subject]:
    group = group_of_pod(objects, pod)
    if group is not None:
        yield of_group(objects, group)
        return
    gang = objects.get(kinds.POD_GANG, pod.labels.get(names.POD_GANG, ""), pod.namespace)
    if gang is not None:
        yield of_gang(objects, gang)
        return
    unseen = list(of_unseen_gang(objects, pod.labels.get(names.POD_GANG, ""), pod.namespace))
    if unseen:
        yield from unseen
        return
    owner = top_owner(objects, pod)
    if owner is not None:
        yield from of_owner(objects, word_of(str(owner.get("kind"))), owner)
    else:
        yield Subject("pod", pod.name, pod.namespace, objects.raw(kinds.POD, pod.name, pod.namespace), pods=(pod,))


def word_of(kind: str) -> str:
    """What people write before the slash: `job`, `pytorchjob`."""
    return next((word for word, owner in OWNERS.items() if owner.kind == kind), kind.lower())


def of_owner(objects: ClusterObjects, word: str, owner: Raw) -> Iterator[Subject]:
    name, namespace = owner["metadata"]["name"], owner["metadata"].get("namespace", "")
    pods = [pod for pod in objects.all(kinds.POD, namespace) if owned_by(objects, pod, owner)]
    groups = {group.name: group for pod in pods if (group := group_of_pod(objects, pod)) is not None}
    groups |= _owned_groups(objects, owner)
    if not groups:
        yield Subject(word, name, namespace, owner, pods=tuple(sorted(pods, key=lambda pod: pod.name)))
    members = {pod.name: pod for group in groups.values() for pod in pods_of_group(objects, group)}
    if len(groups) > 1 and members and all(pod.spec.node_name for pod in members.values()):
        first = groups[min(groups)]
        yield Subject(word, name, namespace, owner, None, first, tuple(members[key] for key in sorted(members)))
        return
    for key in sorted(groups):
        mine = tuple(sorted(pods_of_group(objects, groups[key]), key=lambda pod: pod.name))
        alone = len(groups) == 1
        title = name if alone or not mine else mine[0].name
        yield Subject(word if alone else "pod", title, namespace, owner, None, groups[key], mine)


def _owned_groups(objects: ClusterObjects, owner: Raw) -> dict[str, PodGroup]:
    uid, namespace = owner["metadata"].get("uid"), owner["metadata"].get("namespace", "")
    return {
        group.name: group
        for group in objects.all(kinds.POD_GROUP, namespace)
        if any(reference.uid == uid for reference in group.metadata.owner_references)
    }


def of_gone_owner(objects: ClusterObjects, word: str, name: str, namespace: str) -> Iterator[Subject]:
    """A workload that is deleted while its pods still stop: told from what they say of their owner."""
    kind = OWNERS[word].kind
    pods = tuple(
        pod
        for pod in objects.all(kinds.POD, namespace)
        if pod.metadata.deleting
        and any(reference.kind == kind and reference.name == name for reference in pod.metadata.owner_references)
    )
    if pods:
        yield Subject(word, name, namespace, pods=tuple(sorted(pods, key=lambda pod: pod.name)))


def made_by(objects: ClusterObjects, subject: Subject) -> Raw:
    """The object that a person made: that above a pod which has a gang of its own, else its owner; {}: there is
    none."""
    pods = subject.pods if subject.top_kind == "Pod" else ()
    above = top_owner(objects, pods[0]) if pods else None
    return above or subject.top or {}


def runs_of(objects: ClusterObjects, top: Raw | None) -> list[Raw]:
    """The Jobs that a CronJob has made; nothing of another kind."""
    meta = (top or {}).get("metadata") or {}
    if (top or {}).get("kind") != "CronJob":
        return []
    return [
        run
        for run in objects.raws(kinds.JOB, meta.get("namespace", ""))
        if any(owner.get("uid") == meta.get("uid") for owner in run["metadata"].get("ownerReferences") or ())
    ]


def group_of_pod(objects: ClusterObjects, pod: Pod) -> PodGroup | None:
    name = group_name_of(pod, lambda name: objects.get(kinds.POD_GROUP, name, pod.namespace))
    return objects.get(kinds.POD_GROUP, name, pod.namespace) if name else None


def pods_of_group(objects: ClusterObjects, group: PodGroup) -> list[Pod]:
    def by_group() -> dict[tuple[str, str], list[Pod]]:
        pods: dict[tuple[str, str], list[Pod]] = {}
        for pod in objects.all(kinds.POD):
            for name in candidates(pod):
                pods.setdefault((pod.namespace, name), []).append(pod)
        return pods

    possible = objects.remembered("pods by group", by_group).get((group.namespace, group.name), [])
    return [pod for pod in possible if is_member(pod, group)]


def owned_by(objects: ClusterObjects, pod: Pod, owner: Raw) -> bool:
    uid = owner["metadata"].get("uid")
    return any(dig(item, "metadata", "uid") == uid for item in owners(objects, pod))


def owners(objects: ClusterObjects, pod: Pod) -> Iterator[Raw]:
    """The objects above a pod, nearest first, as far as they are read."""
    references: Sequence[Any] = [
        {"apiVersion": owner_reference.api_version, "kind": owner_reference.kind, "name": owner_reference.name}
        for owner_reference in pod.metadata.owner_references
    ]
    for _ in range(8):
        kind = objects.kind(references[0]["apiVersion"], references[0]["kind"]) if references else None
        above = objects.raw(kind, references[0]["name"], pod.namespace) if kind is not None else None
        if above is None:
            return
        yield above
        references = above["metadata"].get("ownerReferences") or ()


def top_owner(objects: ClusterObjects, pod: Pod) -> Raw | None:
    above = list(owners(objects, pod))
    return above[-1] if above else None


def same(objects: ClusterObjects, subject: Subject) -> Subject:
    """The same workload among other objects."""
    top = subject.top
    kind = objects.kind(top.get("apiVersion"), top.get("kind")) if top is not None else None
    if top is not None and kind is not None:
        top = objects.raw(kind, top["metadata"]["name"], top["metadata"].get("namespace", ""))
    group = objects.get(kinds.POD_GROUP, subject.group.name, subject.namespace) if subject.group is not None else None
    gang = objects.get(kinds.POD_GANG, subject.gang.name, subject.namespace) if subject.gang is not None else None
    pods = tuple(pod for item in subject.pods if (pod := objects.get(kinds.POD, item.name, item.namespace)) is not None)
    if group is None and subject.pods:
        group = next((held for pod in pods if (held := group_of_pod(objects, pod)) is not None), None)
    return Subject(subject.kind, subject.name, subject.namespace, top, gang, group, pods)

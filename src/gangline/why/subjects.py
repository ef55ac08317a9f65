"""What a user means by a name: the workloads of that name, each with the object a person made, its gang, its
PodGroup and its pods.

`job/train`, `set/llm`, `pod/x` say the kind; a bare name is looked for among all kinds. A name that means several
workloads, or none, is an error that lists what there is.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gangline.api import kinds, names
from gangline.api.core import Pod
from gangline.api.grove import PodGang
from gangline.api.kai import PodGroup
from gangline.api.kinds import Kind
from gangline.api.meta import Raw
from gangline.errors import BadInput
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
WORDS = {
    "set": "set",
    "pcs": "set",
    "podcliqueset": "set",
    "podcliquesets": "set",
    "gang": "gang",
    "podgang": "gang",
    "podgangs": "gang",
    "pg": "gang",
    "group": "group",
    "podgroup": "group",
    "podgroups": "group",
    "pod": "pod",
    "pods": "pod",
    "po": "pod",
    "job": "job",
    "jobs": "job",
    "cronjob": "cronjob",
    "cj": "cronjob",
    "deployment": "deployment",
    "deploy": "deployment",
    "deployments": "deployment",
    "statefulset": "statefulset",
    "sts": "statefulset",
    "replicaset": "replicaset",
    "rs": "replicaset",
    "daemonset": "daemonset",
    "ds": "daemonset",
    "clique": "clique",
    "podclique": "clique",
    "pclq": "clique",
}
SEARCHED = (
    "gang",
    "set",
    "job",
    "deployment",
    "statefulset",
    "cronjob",
    "daemonset",
    "replicaset",
    "clique",
    "group",
    "pod",
)


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
    def top_kind(self) -> str:
        return str((self.top or {}).get("kind") or "")


def find(objects: ClusterObjects, name: str, namespace: str, everywhere: bool = False) -> list[Subject]:
    """The workload of a name, one subject per gang; raises BadInput where there is none, or more than one."""
    word, slash, bare = name.partition("/")
    said = word.lower().split(".")[0]
    kind = WORDS.get(said) or (said if said in _owner_kinds(objects) else None) if slash else ""
    if slash and kind is None:
        raise BadInput(f"{word!r} is no kind of workload; write one of {', '.join(SEARCHED)}, as in job/train")
    bare = bare if slash else name
    spaces = sorted({where for where, _ in _named(objects)} | {namespace}) if everywhere else [namespace]
    found = {
        label: subjects
        for where in spaces
        for label, subjects in _matches(objects, kind or "", bare, where, everywhere)
    }
    distinct: dict[frozenset[tuple[str, str]], str] = {}
    for label, subjects in found.items():
        distinct.setdefault(frozenset(subject.key for subject in subjects), label)
    chosen = [label for keys, label in distinct.items() if not any(keys < other for other in distinct)]
    if len(chosen) > 1:
        raise BadInput(
            f"{bare!r} means several things: {', '.join(sorted(chosen))}; say which, for example `gangline "
            f"explain {sorted(chosen)[0]}`"
        )
    if not chosen:
        raise BadInput(_unknown(objects, bare, namespace, kind or ""))
    return found[chosen[0]]


def waiting(objects: ClusterObjects, namespace: str | None) -> list[Subject]:
    """Every gang, and every pod of ours without one, that has pods which found no node."""
    groups = [
        item
        for item in objects.all(kinds.POD_GROUP, namespace)
        if any(_waits(pod) for pod in _pods_of_group(objects, item))
    ]
    subjects = [_of_group(objects, group) for group in groups]
    seen = {pod.uid for subject in subjects for pod in subject.pods}
    lonely = [pod for pod in objects.all(kinds.POD, namespace) if _waits(pod) and pod.uid not in seen]
    tops = {item.key: item for pod in lonely for item in _of_pod(objects, pod)}
    return sorted([*subjects, *tops.values()], key=lambda subject: (subject.namespace, subject.name))


def _owner_kinds(objects: ClusterObjects) -> set[str]:
    """Kinds of other makers that some gang belongs to."""
    groups = objects.all(kinds.POD_GROUP)
    return {owner.kind.lower() for group in groups for owner in group.metadata.owner_references}


def _waits(pod: Pod) -> bool:
    return not pod.spec.node_name and pod.status.phase not in ("Succeeded", "Failed") and not pod.metadata.deleting


def _matches(
    objects: ClusterObjects, kind: str, name: str, namespace: str, everywhere: bool
) -> Iterator[tuple[str, list[Subject]]]:
    for word in [kind] if kind in SEARCHED else [] if kind else SEARCHED:
        subjects = list(_of(objects, word, name, namespace))
        if subjects:
            yield f"{word}/{name}" + (f" in {namespace}" if everywhere else ""), subjects
    if kind not in SEARCHED:
        others = [
            _of_group(objects, group)
            for group in objects.all(kinds.POD_GROUP, namespace)
            if any(
                owner.name == name and owner.kind not in ("PodGang", "Job", "Pod")
                for owner in group.metadata.owner_references
            )
        ]
        if others:
            yield f"{others[0].kind}/{name}", others


def _of(objects: ClusterObjects, kind: str, name: str, namespace: str) -> Iterator[Subject]:
    if kind == "gang":
        gang = objects.get(kinds.POD_GANG, name, namespace)
        group = objects.get(kinds.POD_GROUP, name, namespace)
        if gang is not None:
            yield _of_gang(objects, gang)
        elif group is not None and not group.metadata.owner_references:
            yield _of_group(objects, group)
    elif kind == "set":
        yield from _of_set(objects, name, namespace)
    elif kind == "group":
        group = objects.get(kinds.POD_GROUP, name, namespace)
        if group is not None:
            yield _of_group(objects, group)
    elif kind == "pod":
        pod = objects.get(kinds.POD, name, namespace)
        if pod is not None:
            yield from _of_pod(objects, pod)
    elif kind == "clique":
        mine = [pod for pod in objects.all(kinds.POD, namespace) if pod.labels.get(names.POD_CLIQUE) == name]
        for gang_name in sorted({pod.labels.get(names.POD_GANG, "") for pod in mine}):
            gang = objects.get(kinds.POD_GANG, gang_name, namespace)
            if gang is not None:
                yield _of_gang(objects, gang)
    else:
        owner = objects.raw(OWNERS[kind], name, namespace)
        if owner is not None:
            yield from _of_owner(objects, kind, owner)


def _of_set(objects: ClusterObjects, name: str, namespace: str) -> Iterator[Subject]:
    pcs = objects.raw(kinds.POD_CLIQUE_SET, name, namespace)
    if pcs is None:
        return
    gangs = [gang for gang in objects.all(kinds.POD_GANG, namespace) if gang.labels.get(names.PART_OF) == name]
    if not gangs:
        pods = tuple(pod for pod in objects.all(kinds.POD, namespace) if pod.labels.get(names.PART_OF) == name)
        yield Subject("set", name, namespace, pcs, pods=pods)
    for gang in sorted(gangs, key=lambda gang: gang.name):
        yield _of_gang(objects, gang)


def _of_gang(objects: ClusterObjects, gang: PodGang) -> Subject:
    group = group_of(gang, objects.all(kinds.POD_GROUP, gang.namespace))
    top = objects.raw(kinds.POD_CLIQUE_SET, gang.labels.get(names.PART_OF, ""), gang.namespace)
    pods = {
        pod.name: pod for pod in objects.all(kinds.POD, gang.namespace) if pod.labels.get(names.POD_GANG) == gang.name
    }
    if group is not None:
        pods |= {pod.name: pod for pod in _pods_of_group(objects, group)}
    return Subject("gang", gang.name, gang.namespace, top, gang, group, tuple(pods[key] for key in sorted(pods)))


def _of_group(objects: ClusterObjects, group: PodGroup) -> Subject:
    reference = next(iter(group.metadata.owner_references), None)
    if reference is not None and reference.kind == kinds.POD_GANG.kind:
        gang = objects.get(kinds.POD_GANG, reference.name, group.namespace)
        if gang is not None:
            return _of_gang(objects, gang)
    pods = tuple(sorted(_pods_of_group(objects, group), key=lambda pod: pod.name))
    if reference is None:
        return Subject("gang", group.name, group.namespace, group=group, pods=pods)
    kind = kinds.known(reference.api_version, reference.kind)
    top = objects.raw(kind, reference.name, group.namespace) if kind is not None else None
    word = next((word for word, owner in OWNERS.items() if owner.kind == reference.kind), reference.kind.lower())
    return Subject(word, reference.name, group.namespace, top, None, group, pods)


def _of_pod(objects: ClusterObjects, pod: Pod) -> Iterator[Subject]:
    group = group_of_pod(objects, pod)
    if group is not None:
        yield _of_group(objects, group)
        return
    gang = objects.get(kinds.POD_GANG, pod.labels.get(names.POD_GANG, ""), pod.namespace)
    if gang is not None:
        yield _of_gang(objects, gang)
        return
    owner = top_owner(objects, pod)
    word = next((word for word, item in OWNERS.items() if owner is not None and item.kind == owner.get("kind")), "")
    if owner is not None and word:
        yield from _of_owner(objects, word, owner)
    else:
        yield Subject("pod", pod.name, pod.namespace, objects.raw(kinds.POD, pod.name, pod.namespace), pods=(pod,))


def _of_owner(objects: ClusterObjects, word: str, owner: Raw) -> Iterator[Subject]:
    name, namespace = owner["metadata"]["name"], owner["metadata"].get("namespace", "")
    pods = [pod for pod in objects.all(kinds.POD, namespace) if owned_by(objects, pod, owner)]
    groups = {group.name: group for pod in pods if (group := group_of_pod(objects, pod)) is not None}
    uid = owner["metadata"].get("uid")
    groups |= {
        group.name: group
        for group in objects.all(kinds.POD_GROUP, namespace)
        if any(reference.uid == uid for reference in group.metadata.owner_references)
    }
    if not groups:
        yield Subject(word, name, namespace, owner, pods=tuple(sorted(pods, key=lambda pod: pod.name)))
    for key in sorted(groups):
        mine = tuple(sorted(_pods_of_group(objects, groups[key]), key=lambda pod: pod.name))
        title = name if len(groups) == 1 else (mine[0].name if mine else name)
        yield Subject(word if len(groups) == 1 else "pod", title, namespace, owner, None, groups[key], mine)


def group_of_pod(objects: ClusterObjects, pod: Pod) -> PodGroup | None:
    name = pod.annotations.get(names.POD_GROUP_NAME) or names.kai_pod_group(pod.name, pod.uid)
    return objects.get(kinds.POD_GROUP, name, pod.namespace)


def _pods_of_group(objects: ClusterObjects, group: PodGroup) -> list[Pod]:
    def by_group() -> dict[tuple[str, str], list[Pod]]:
        pods: dict[tuple[str, str], list[Pod]] = {}
        for pod in objects.all(kinds.POD):
            name = pod.annotations.get(names.POD_GROUP_NAME) or names.kai_pod_group(pod.name, pod.uid)
            pods.setdefault((pod.namespace, name), []).append(pod)
        return pods

    return objects.remembered("pods by group", by_group).get((group.namespace, group.name), [])


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
        kind = kinds.known(references[0]["apiVersion"], references[0]["kind"]) if references else None
        above = objects.raw(kind, references[0]["name"], pod.namespace) if kind is not None else None
        if above is None:
            return
        yield above
        references = above["metadata"].get("ownerReferences") or ()


def top_owner(objects: ClusterObjects, pod: Pod) -> Raw | None:
    found = list(owners(objects, pod))
    return found[-1] if found else None


# ── names nobody has ──


def _named(objects: ClusterObjects) -> Iterable[tuple[str, str]]:
    """Namespace and `kind/name` of every workload."""
    for word, kind in {**OWNERS, "set": kinds.POD_CLIQUE_SET, "gang": kinds.POD_GANG, "pod": kinds.POD}.items():
        for obj in objects.raws(kind):
            meta = obj["metadata"]
            if word not in ("pod", "replicaset") or not meta.get("ownerReferences"):
                yield str(meta.get("namespace") or ""), f"{word}/{meta['name']}"
    for group in objects.all(kinds.POD_GROUP):
        if not group.metadata.owner_references:
            yield group.namespace, f"group/{group.name}"


def _unknown(objects: ClusterObjects, name: str, namespace: str, kind: str) -> str:
    here = {label.partition("/")[2]: label for where, label in _named(objects) if where == namespace}
    elsewhere = sorted(
        {
            f"{label} in namespace {where}"
            for where, label in _named(objects)
            if where != namespace and label.partition("/")[2] == name
        }
    )
    near = difflib.get_close_matches(name, list(here), n=3, cutoff=0.6)
    what = kind or "gang, set, PodGroup, pod or Job"
    said = f"there is no {what} {name!r} in namespace {namespace}"
    if elsewhere:
        return f"{said}; there is {', '.join(elsewhere[:3])}"
    if near:
        return f"{said}; did you mean {' or '.join(here[item] for item in near)}?"
    return f"{said}; `gangline get podgangs` and `gangline get podgroups` list what there is"


def same(objects: ClusterObjects, subject: Subject) -> Subject:
    """The same workload among other objects."""
    top = subject.top
    kind = kinds.known(str(top.get("apiVersion")), str(top.get("kind"))) if top is not None else None
    if top is not None and kind is not None:
        top = objects.raw(kind, top["metadata"]["name"], top["metadata"].get("namespace", ""))
    group = objects.get(kinds.POD_GROUP, subject.group.name, subject.namespace) if subject.group is not None else None
    gang = objects.get(kinds.POD_GANG, subject.gang.name, subject.namespace) if subject.gang is not None else None
    pods = tuple(pod for item in subject.pods if (pod := objects.get(kinds.POD, item.name, item.namespace)) is not None)
    if group is None and subject.pods:
        group = next((held for pod in pods if (held := group_of_pod(objects, pod)) is not None), None)
    return Subject(subject.kind, subject.name, subject.namespace, top, gang, group, pods)

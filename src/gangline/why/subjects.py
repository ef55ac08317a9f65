"""What a user means by a name: the workloads of that name.

`job/train`, `set/llm`, `pod/x` say the kind; a bare name is looked for among all kinds. A name that means several
workloads, or none, is an error that lists what there is. workloads.py puts each workload together.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from gangline.api import kinds, names
from gangline.api.core import Pod
from gangline.api.kinds import Kind
from gangline.errors import BadInput
from gangline.why.objects import ClusterObjects
from gangline.why.pods.refused import refused_beside
from gangline.why.states.evictions import evictions_of_lone_pod
from gangline.why.words.refusals import ASK, may_not_read
from gangline.why.workloads import (
    OWNERS,
    Subject,
    of_gang,
    of_gone_owner,
    of_group,
    of_owner,
    of_pod,
    of_set,
    of_unseen_gang,
    pods_of_group,
)

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


SHORT = {"lws": "leaderworkerset"}
"""Short names of other makers' kinds."""
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


LOOKED_AT: Mapping[str, tuple[Kind[Any], ...]] = {
    **{word: (kind,) for word, kind in OWNERS.items()},
    "set": (kinds.POD_CLIQUE_SET,),
    "gang": (kinds.POD_GANG, kinds.POD_GROUP),
    "clique": (kinds.POD_GANG,),
    "group": (kinds.POD_GROUP,),
    "pod": (kinds.POD,),
}
"""What must be read to know that there is nothing of a name; of a kind that is not here, PodGroups tell."""
EVERY_KIND = tuple(dict.fromkeys(kind for of_word in LOOKED_AT.values() for kind in of_word))


def find(objects: ClusterObjects, name: str, namespace: str, everywhere: bool = False) -> list[Subject]:
    """The workload of a name, one subject per gang; raises BadInput where there is none, or more than one."""
    kind, bare = _kind_and_name(objects, name)
    spaces = sorted({where for where, _ in named_workloads(objects)} | {namespace}) if everywhere else [namespace]
    by_label = {
        label: subjects for where in spaces for label, subjects in _matches(objects, kind, bare, where, everywhere)
    } or _evicted_pods(objects, kind, bare, spaces, everywhere)
    labels = _distinct(by_label)
    if len(labels) > 1:
        raise BadInput(
            f"{bare!r} means several things: {', '.join(labels)}; say which, for example `gangline explain {labels[0]}`"
        )
    if not labels:
        raise BadInput(unknown_name(objects, bare, namespace, kind))
    return by_label[labels[0]]


def _evicted_pods(
    objects: ClusterObjects, kind: str, name: str, namespaces: Sequence[str], everywhere: bool
) -> dict[str, list[Subject]]:
    """Pods of this name that stood for themselves, were evicted and are gone."""
    if kind not in ("", "pod"):
        return {}
    evicted = [namespace for namespace in namespaces if evictions_of_lone_pod(objects, name, namespace)]
    return {_label("pod", name, namespace, everywhere): [Subject("pod", name, namespace)] for namespace in evicted}


def _label(word: str, name: str, namespace: str, everywhere: bool) -> str:
    return f"{word}/{name}" + (f" in {namespace}" if everywhere else "")


def _kind_and_name(objects: ClusterObjects, name: str) -> tuple[str, str]:
    """`jobs.batch/train` is job and train; without a slash every kind is meant ("")."""
    word, slash, bare = name.partition("/")
    if not slash:
        return "", name
    short = word.lower().split(".")[0]
    kind = WORDS.get(short) or (short if short in _owner_kinds(objects) else "") or _foreign_word(objects, short)
    if not kind and not objects.hidden(kinds.POD_GROUP):
        raise BadInput(f"{word!r} is no kind of workload; write one of {', '.join(SEARCHED)}, as in job/train")
    return kind or short, bare


def _foreign_word(objects: ClusterObjects, word: str) -> str:
    """A kind of another maker by its singular, plural or usual short name; "" where none is read."""
    word = SHORT.get(word, word)
    return next((kind.kind.lower() for kind in objects.foreign if word in (kind.kind.lower(), kind.plural)), "")


def _distinct(by_label: Mapping[str, Sequence[Subject]]) -> list[str]:
    """Labels that mean different workloads; one that means a part of another is left out."""
    labels: dict[frozenset[tuple[str, str]], str] = {}
    for label, subjects in by_label.items():
        labels.setdefault(frozenset(subject.key for subject in subjects), label)
    return sorted(label for keys, label in labels.items() if not any(keys < other for other in labels))


def waiting(objects: ClusterObjects, namespace: str | None) -> list[Subject]:
    """Every gang, and every pod of ours without one, that has pods which found no node."""
    groups = [
        item
        for item in objects.all(kinds.POD_GROUP, namespace)
        if any(waits(pod) for pod in pods_of_group(objects, item))
    ]
    subjects = [of_group(objects, group) for group in groups]
    seen = {pod.uid for subject in subjects for pod in subject.pods}
    lonely = [pod for pod in objects.all(kinds.POD, namespace) if waits(pod) and pod.uid not in seen]
    tops = {item.key: item for pod in lonely for item in of_pod(objects, pod)}
    return sorted([*subjects, *tops.values()], key=lambda subject: (subject.namespace, subject.name))


def _owner_kinds(objects: ClusterObjects) -> set[str]:
    """Kinds of other makers that some gang belongs to."""
    groups = objects.all(kinds.POD_GROUP)
    return {owner.kind.lower() for group in groups for owner in group.metadata.owner_references}


def waits(pod: Pod) -> bool:
    return not pod.spec.node_name and pod.status.phase not in ("Succeeded", "Failed") and not pod.metadata.deleting


def _matches(
    objects: ClusterObjects, kind: str, name: str, namespace: str, everywhere: bool
) -> Iterator[tuple[str, list[Subject]]]:
    for word in (word for word in SEARCHED if kind in ("", word)):
        subjects = list(_of(objects, word, name, namespace))
        if subjects:
            yield _label(word, name, namespace, everywhere), subjects
    for strange in (item for item in objects.foreign if kind in ("", item.kind.lower())):
        made = objects.raw(strange, name, namespace)
        if made is not None:
            yield f"{strange.kind.lower()}/{name}", list(of_owner(objects, strange.kind.lower(), made))
            return
    if kind not in SEARCHED:
        others = [
            of_group(objects, group)
            for group in objects.all(kinds.POD_GROUP, namespace)
            if any(
                owner.name == name and owner.kind not in ("PodGang", "Job", "Pod")
                for owner in group.metadata.owner_references
            )
        ]
        if others:
            yield f"{others[0].kind}/{name}", others


def _of(objects: ClusterObjects, kind: str, name: str, namespace: str) -> Iterator[Subject]:
    finder = FINDERS.get(kind)
    if finder is not None:
        yield from finder(objects, name, namespace)
        return
    owner = objects.raw(OWNERS[kind], name, namespace)
    if owner is not None:
        subjects = list(of_owner(objects, kind, owner))
        yield from (*subjects, *refused_beside(objects, subjects))
    else:
        yield from of_gone_owner(objects, kind, name, namespace)


def _named_gang(objects: ClusterObjects, name: str, namespace: str) -> Iterator[Subject]:
    """A PodGang, or a PodGroup that a person made."""
    gang = objects.get(kinds.POD_GANG, name, namespace)
    group = objects.get(kinds.POD_GROUP, name, namespace)
    if gang is not None:
        yield of_gang(objects, gang)
    elif group is not None and not group.metadata.owner_references:
        yield of_group(objects, group)
    else:
        yield from of_unseen_gang(objects, name, namespace)


def _named_group(objects: ClusterObjects, name: str, namespace: str) -> Iterator[Subject]:
    group = objects.get(kinds.POD_GROUP, name, namespace)
    if group is not None:
        yield of_group(objects, group)


def _named_pod(objects: ClusterObjects, name: str, namespace: str) -> Iterator[Subject]:
    pod = objects.get(kinds.POD, name, namespace)
    if pod is not None:
        yield from of_pod(objects, pod)


def _named_clique(objects: ClusterObjects, name: str, namespace: str) -> Iterator[Subject]:
    mine = [pod for pod in objects.all(kinds.POD, namespace) if pod.labels.get(names.POD_CLIQUE) == name]
    for gang_name in sorted({pod.labels.get(names.POD_GANG, "") for pod in mine}):
        gang = objects.get(kinds.POD_GANG, gang_name, namespace)
        if gang is not None:
            yield of_gang(objects, gang)
        else:
            yield from of_unseen_gang(objects, gang_name, namespace)


FINDERS: Mapping[str, Callable[[ClusterObjects, str, str], Iterator[Subject]]] = {
    "gang": _named_gang,
    "set": of_set,
    "group": _named_group,
    "pod": _named_pod,
    "clique": _named_clique,
}
"""How a name of each kind is looked up; every other kind is an owner of pods."""


def named_workloads(objects: ClusterObjects) -> Iterable[tuple[str, str]]:
    """Namespace and `kind/name` of every workload."""
    strange = {kind.kind.lower(): kind for kind in objects.foreign}
    ours = {**OWNERS, "set": kinds.POD_CLIQUE_SET, "gang": kinds.POD_GANG, "pod": kinds.POD}
    for word, kind in {**strange, **ours}.items():
        for obj in objects.raws(kind):
            meta = obj["metadata"]
            if word not in ("pod", "replicaset") or not meta.get("ownerReferences"):
                yield str(meta.get("namespace") or ""), f"{word}/{meta['name']}"
    for group in objects.all(kinds.POD_GROUP):
        if not group.metadata.owner_references:
            yield group.namespace, f"group/{group.name}"


def unknown_name(objects: ClusterObjects, name: str, namespace: str, kind: str) -> str:
    here = {label.partition("/")[2]: label for where, label in named_workloads(objects) if where == namespace}
    elsewhere = sorted(
        {
            f"{label} in namespace {where}"
            for where, label in named_workloads(objects)
            if where != namespace and label.partition("/")[2] == name
        }
    )
    near = difflib.get_close_matches(name.lower(), list(here), n=3, cutoff=0.6)
    what = kind or "gang, set, PodGroup, pod or Job"
    hidden = objects.hidden(*LOOKED_AT.get(kind, (kinds.POD_GROUP,)) if kind else EVERY_KIND)
    absent = (
        f"{may_not_read(hidden, namespace)}, so whether there is a {what} {name!r} cannot be told"
        if hidden
        else f"there is no {what} {name!r} in namespace {namespace}"
    )
    if elsewhere:
        return f"{absent}; there is {', '.join(elsewhere[:3])}"
    if near:
        return f"{absent}; did you mean {' or '.join(here[item] for item in near)}?"
    if hidden:
        return f"{absent}; {ASK}"
    listing = f"gangline get {kind}s" if kind in OWNERS or kind == "pod" else "gangline get gangs"
    return f"{absent}; `{listing}` lists what there is"

"""The gang that every backend is shown: prefill 2 of 3 and decode 4 of 4, and the words to ask about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from gangline.api.core import Pod
from gangline.api.grove import GangPack, PodCliqueSet
from gangline.api.kinds import Kind
from gangline.api.meta import Object, Raw
from gangline.config import manner
from gangline.operator.backends.contract import Backend, Facts, GroupInfo, ParentInfo, PodGangInfo
from held_objects import held
from operator_world import clique, pod_clique_set

GROVE = manner(["grove"])
PREFILL, DECODE = "llm-0-prefill", "llm-0-decode"
NO_FACTS = Facts()


EMPTY = held()


def live(kind: Kind[Any], name: str, spec: Raw | None = None, **more: Any) -> tuple[Kind[Any], Any]:
    """An object of a kind as the cache holds it."""
    obj: Object = msgspec.convert(
        {"metadata": {"name": name, "namespace": "serve"}, "spec": spec or {}, **more}, kind.type, strict=False
    )
    return kind, obj


def container(**resources: str) -> list[Raw]:
    return [{"name": "main", "image": "app", "resources": {"requests": resources}}]


def a_set(prefill: Raw | None = None, decode: Raw | None = None, **more: Any) -> PodCliqueSet:
    """The set of the gang; more of each clique's template on top."""
    cliques = [
        clique("prefill", 3, 2, scheduler="") | (prefill or {}),
        clique("decode", 4, scheduler="") | (decode or {}),
    ]
    cliques[0]["spec"]["podSpec"] = {"containers": container(cpu="8", memory="64Gi", **{"nvidia.com/gpu": "1"})}
    cliques[1]["spec"]["podSpec"] = {"containers": container(cpu="8", memory="64Gi", **{"nvidia.com/gpu": "2"})}
    return msgspec.convert(pod_clique_set("llm", *cliques, **more), PodCliqueSet)


def a_gang(
    facts: Facts = NO_FACTS,
    *,
    pcs: PodCliqueSet | None = None,
    prefill: GangPack | None = None,
    decode: GangPack | None = None,
    parent: GangPack | None = None,
    **more: Any,
) -> PodGangInfo:
    the_set = pcs or a_set()
    templates = {item.name: item for item in the_set.spec.template.cliques}
    above = "llm-0-pd-0" if parent is not None else ""
    groups = (
        GroupInfo(PREFILL, 2, constraint=prefill, parent=above, template=templates["prefill"]),
        GroupInfo(DECODE, 4, constraint=decode, parent=above, template=templates["decode"]),
    )
    parents = (ParentInfo("llm-0-pd-0", (PREFILL, DECODE), parent),) if parent is not None else ()
    plain = PodGangInfo(
        "llm-0",
        "serve",
        "u1",
        groups,
        parents,
        labels=the_set.labels,
        annotations=the_set.annotations,
        pcs=the_set,
        facts=facts,
    )
    return replace(plain, **more)


def one_group(facts: Facts = NO_FACTS, *, group: GangPack | None = None, gang: GangPack | None = None) -> PodGangInfo:
    """A gang of decode alone."""
    full = a_gang(facts, decode=group, constraint=gang)
    return replace(full, groups=full.groups[1:])


def released(gang: PodGangInfo, *objects: tuple[Kind[Any], Any]) -> PodGangInfo:
    """The gang while an update lets it go: every minimum is zero."""
    return replace(gang, groups=tuple(replace(group, minimum=0) for group in gang.groups), live=objects)


def with_pods(gang: PodGangInfo, *pods: Raw) -> PodGangInfo:
    """The gang with these pods in its first group."""
    views = tuple(msgspec.convert(pod, Pod) for pod in pods)
    return replace(gang, groups=(replace(gang.groups[0], pods=views), *gang.groups[1:]))


def a_pod(group: str = PREFILL, index: int = 0) -> Raw:
    labels = {"grove.io/podclique": group, "grove.io/podclique-pod-index": str(index)}
    return {"metadata": {"labels": labels, "annotations": {"own": "note"}}, "spec": {}}


def objects(backend: Backend, gang: PodGangInfo) -> list[Raw]:
    """What a backend writes, as a user would see it."""
    made = list(backend.gang_objects(gang, gang.facts))
    return [
        {
            "apiVersion": item.kind.api_version,
            "kind": item.kind.kind,
            **item.obj,
            "spec": item.obj["spec"] | item.once.get("spec", {}),
        }
        for item in made
    ]

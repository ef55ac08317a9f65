"""Short words for what users create and look at: queue, pod, gang, runs, waits, leaves, shares.

`Story` inherits them. Only what matters to a journey is stated; everything else gets a plain default. A gang is a
PodGroup that the user made, with bare pods in it, so that nothing but the scheduler decides about it;
test_integrations.py shows the other ways."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

from embedded import TestedWorld
from gangline.api import names
from gangline.api.builtin import Untyped
from gangline.api.core import Event, Pod
from gangline.api.kai import PodGroup, Queue
from gangline.api.kinds import CRD, EVENT, POD, POD_GROUP, PRIORITY_CLASS, QUEUE, RESOURCE_CLAIM, TOPOLOGY, Kind
from gangline.api.meta import Condition, Raw, condition
from gangline.errors import AlreadyExists, Forbidden, NotFound
from gangline.runtime import Component
from gangline.scheduler.loop.component import component as scheduler_component
from gangline.scheduler.settings import DEFAULT_ACTIONS, DEFAULT_PLUGINS, PluginSetting, SchedulerSettings

GANG = "gang"
"""Label of the pods of a gang made here: what `shares` counts by."""
Amount = str | int | float


class Words(TestedWorld):
    space = "default"
    """The namespace that all of it happens in."""

    # --- what is created ----------------------------------------------------------------------------------------------

    async def queue(
        self,
        name: str,
        parent: str = "",
        *,
        gpus: float = 0,
        limit: float = -1,
        weight: float = 1,
        cpu: float = -1,
        **spec: Any,
    ) -> None:
        """A queue that deserves so many GPUs; CPU and memory are unlimited unless said otherwise."""
        free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
        given = {
            "gpu": {"quota": gpus, "limit": limit, "overQuotaWeight": weight},
            "cpu": free | {"quota": cpu},
            "memory": free,
        }
        above = {"parentQueue": parent} if parent else {}
        await self.client.create(QUEUE, {"metadata": {"name": name}, "spec": {"resources": given, **above, **spec}})

    async def pod(
        self,
        name: str,
        *,
        gpus: Amount = 0,
        asks: Mapping[str, Amount] | None = None,
        queue: str = "",
        group: str = "",
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        owner: Raw | None = None,
        **spec: Any,
    ) -> Pod:
        """A pod for our scheduler, in a group if that is said; `asks` are further resources, `spec` further fields of
        its spec."""
        noted = {**({names.POD_GROUP_NAME: group} if group else {}), **(annotations or {})}
        made = pod(name, gpus=gpus, asks=asks, queue=queue, labels=labels, annotations=noted, owner=owner, **spec)
        made["metadata"]["namespace"] = self.space
        return await self.client.create(POD, made)

    async def part(
        self,
        name: str,
        fraction: float | str,
        *,
        devices: int = 1,
        annotations: Mapping[str, str] | None = None,
        **more: Any,
    ) -> Pod:
        """A pod on a part of a GPU."""
        noted = {names.GPU_FRACTION: str(fraction)} | (
            {names.GPU_FRACTION_DEVICES: str(devices)} if devices > 1 else {}
        )
        return await self.pod(name, annotations=noted | dict(annotations or {}), **more)

    async def group(
        self, name: str, minimum: int | None = None, *, queue: str = names.DEFAULT_QUEUE, **spec: Any
    ) -> PodGroup:
        least = {} if minimum is None else {"minMember": minimum}
        return await self.client.create(
            POD_GROUP, {"metadata": {"name": name, "namespace": self.space}, "spec": {"queue": queue, **least, **spec}}
        )

    async def members(
        self,
        group: str,
        count: int,
        *,
        leaf: str = "",
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        first: int = 0,
        **more: Any,
    ) -> None:
        """Pods of a group, in one of its sub-groups if `leaf` says so."""
        marked = {GANG: group, **({names.SUB_GROUP: leaf} if leaf else {}), **(labels or {})}
        stem = f"{group}-{leaf}" if leaf else group
        for number in range(first, first + count):
            await self.pod(f"{stem}-{number}", group=group, labels=marked, annotations=annotations, **more)

    async def gang(
        self,
        name: str,
        size: int,
        *,
        gpus: Amount = 1,
        minimum: int | None = None,
        queue: str = names.DEFAULT_QUEUE,
        asks: Mapping[str, Amount] | None = None,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        pod: Mapping[str, Any] | None = None,
        **spec: Any,
    ) -> None:
        """A PodGroup and its pods; all of them are needed unless `minimum` says fewer. `spec` is the group's, `pod` the
        pods'."""
        await self.group(name, size if minimum is None else minimum, queue=queue, **spec)
        await self.members(name, size, gpus=gpus, asks=asks, labels=labels, annotations=annotations, **(pod or {}))

    async def tree(
        self,
        name: str,
        leaves: Mapping[str, tuple[int, int]],
        *,
        gpus: Amount = 1,
        parents: Mapping[str, Any] | None = None,
        under: Mapping[str, str] | None = None,
        **spec: Any,
    ) -> None:
        """A gang of sub-groups: leaf → (minimum, pods). `parents`: name → its minSubGroup (None: unsaid); `under`:
        child → parent."""
        above = under or {}
        groups = [
            {"name": item, **({} if least is None else {"minSubGroup": least}), **_parent(item, above)}
            for item, least in (parents or {}).items()
        ]
        groups += [{"name": leaf, "minMember": least, **_parent(leaf, above)} for leaf, (least, _) in leaves.items()]
        await self.group(name, subGroups=groups, **spec)
        for leaf, (_, count) in leaves.items():
            await self.members(name, count, leaf=leaf, gpus=gpus)

    async def priority(self, name: str, value: int) -> None:
        """A class; a real server knows of it a moment after it is made."""
        await self.client.create(PRIORITY_CLASS, {"metadata": {"name": name}, "value": value})
        asks = {
            "metadata": {"name": f"asks-for-{name}", "namespace": self.space},
            "spec": {"priorityClassName": name, "containers": [{"name": "c", "image": "i"}]},
        }

        async def known() -> bool:
            try:
                await self.client.create(POD, asks, dry_run=True)
            except Forbidden:
                return False
            return True

        await self.until(known, f"the server to know PriorityClass {name}")

    async def topology(self, name: str, *levels: str | tuple[str, str]) -> None:
        """Levels from wide to narrow: a node label, or a node label and its alias."""
        made = [
            {"nodeLabel": level} if isinstance(level, str) else {"nodeLabel": level[0], "alias": level[1]}
            for level in levels
        ]
        await self.client.create(TOPOLOGY, {"metadata": {"name": name}, "spec": {"levels": made}})

    async def claim(
        self, name: str, *, device_class: str = "gpu.nvidia.com", count: int = 1, queue: str = names.DEFAULT_QUEUE
    ) -> None:
        """A ResourceClaim for whole devices."""
        asked = {
            "name": "gpu",
            "exactly": {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count},
        }
        await self.client.create(
            RESOURCE_CLAIM,
            {
                "metadata": {"name": name, "namespace": self.space, "labels": {names.QUEUE: queue}},
                "spec": {"devices": {"requests": [asked]}},
            },
        )

    async def kind(self, group: str, version: str, kind: str, *, namespaced: bool = True) -> Kind[Any]:
        """Teach the server a third party's kind, without a schema, and give the kind."""
        made = crd(group, version, kind, namespaced=namespaced)
        try:
            await self.client.create(CRD, made)
        except AlreadyExists:
            await self._add_version(made)
        found = Kind(group, version, kind, made["spec"]["names"]["plural"], Untyped, namespaced=namespaced)
        await self._served(found)
        return found

    async def _add_version(self, wanted: Raw) -> None:
        """A definition of another journey that this one needs in a version of its own."""
        known = await self.client.get_raw(CRD, wanted["metadata"]["name"])
        [version] = wanted["spec"]["versions"]
        if version["name"] not in [item["name"] for item in known["spec"]["versions"]]:
            known["spec"]["versions"].append(version | {"storage": False})
            await self.client.replace(CRD, known)

    async def _served(self, kind: Kind[Any]) -> None:
        """A real server serves a new kind after a moment."""
        while True:
            with contextlib.suppress(NotFound):
                await self.client.list(kind)
                return
            await asyncio.sleep(0.05)

    # --- what is seen -------------------------------------------------------------------------------------------------

    async def get_pod(self, name: str) -> Pod:
        return await self.client.get(POD, name, self.space)

    async def get_group(self, name: str) -> PodGroup:
        return await self.client.get(POD_GROUP, name, self.space)

    async def get_queue(self, name: str) -> Queue:
        return await self.client.get(QUEUE, name)

    async def group_of(self, pod: str) -> PodGroup:
        """The PodGroup a pod was put into."""
        return await self.get_group((await self.get_pod(pod)).annotations[names.POD_GROUP_NAME])

    async def runs(self, *pods: str) -> dict[str, str]:
        """Wait until these pods run; gives their nodes."""
        placed: dict[str, str] = {}

        async def all_run() -> bool:
            placed.clear()
            placed.update(
                {
                    pod.name: pod.spec.node_name
                    for pod in (await self.client.list(POD, self.space)).items
                    if pod.name in pods and pod.status.phase == "Running"
                }
            )
            return len(placed) == len(pods)

        await self.at_rest(all_run, f"{', '.join(pods)} running")
        return placed

    async def run_on(self, *pods: str) -> list[str]:
        """The nodes of these pods, in this order, once they run."""
        placed = await self.runs(*pods)
        return [placed[pod] for pod in pods]

    async def waits(self, *pods: str) -> None:
        """When nothing moves any more, these pods are there and have no node."""
        await self.settles()
        for name in pods:
            pod = await self.get_pod(name)
            assert pod.status.phase == "Pending" and not pod.spec.node_name, (
                f"{name} is {pod.status.phase} on {pod.spec.node_name}"
            )

    async def leaves(self, *pods: str) -> None:
        """Wait until these pods are gone."""

        async def none_there() -> bool:
            return not {pod.name for pod in (await self.client.list(POD, self.space)).items} & set(pods)

        await self.at_rest(none_there, f"{', '.join(pods)} gone")

    async def shares(self, **wanted: int) -> None:
        """When nothing moves any more, so many pods of each gang run."""

        async def as_wanted() -> bool:
            return await self._running() == Counter(wanted)

        await self.at_rest(as_wanted, f"running pods as {wanted}")

    async def _running(self) -> Counter[str]:
        pods = (await self.client.list(POD, self.space)).items
        return Counter(pod.labels[GANG] for pod in pods if GANG in pod.labels and pod.status.phase == "Running")

    async def running_of(self, gang: str) -> set[str]:
        """Names of the gang's running pods, when nothing moves any more."""
        await self.settles()
        return {
            pod.name
            for pod in (await self.client.list(POD, self.space, {GANG: gang})).items
            if pod.status.phase == "Running"
        }

    async def nodes_of(self, gang: str) -> Counter[str]:
        """Node → how many pods of the gang run there."""
        await self.settles()
        pods = (await self.client.list(POD, self.space, {GANG: gang})).items
        return Counter(pod.spec.node_name for pod in pods if pod.status.phase == "Running")

    async def events(self, reason: str, about: str = "") -> list[Event]:
        found = (await self.client.list(EVENT)).items
        return [
            item for item in found if item.reason == reason and (not about or item.involved_object.get("name") == about)
        ]

    async def messages(self, reason: str) -> list[str]:
        """What events of this reason say."""
        return [event.message for event in await self.events(reason)]

    async def scheduled(self, pod: str) -> Condition | None:
        """The pod's condition PodScheduled."""
        return condition((await self.get_pod(pod)).status.conditions, "PodScheduled")

    async def reasons(self, group: str) -> list[Raw]:
        """The structured reasons why a group waits."""
        await self.settles()
        told = (await self.get_group(group)).status.scheduling_conditions
        return [reason for item in told for reason in item.reasons]


def pod(
    name: str,
    *,
    gpus: Amount = 0,
    asks: Mapping[str, Amount] | None = None,
    queue: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    owner: Raw | None = None,
    **spec: Any,
) -> Raw:
    marked = {**({names.QUEUE: queue} if queue else {}), **(labels or {})}
    owners = {"ownerReferences": [owner]} if owner else {}
    return {
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": marked,
            "annotations": dict(annotations or {}),
            **owners,
        },
        "spec": pod_spec(gpus=gpus, asks=asks, **spec),
    }


def pod_spec(*, gpus: Amount = 0, asks: Mapping[str, Amount] | None = None, **spec: Any) -> Raw:
    return {"schedulerName": names.KAI_SCHEDULER, "containers": [container(gpus=gpus, asks=asks)], **spec}


def container(name: str = "main", *, gpus: Amount = 0, asks: Mapping[str, Amount] | None = None, **more: Any) -> Raw:
    wanted = {key: str(value) for key, value in {**({names.NVIDIA_GPU: gpus} if gpus else {}), **(asks or {})}.items()}
    firm = {key: value for key, value in wanted.items() if "/" in key}
    return {"name": name, "image": "app", "resources": {"requests": wanted, "limits": firm}, **more}


def crd(group: str, version: str, kind: str, *, namespaced: bool = True) -> Raw:
    word = kind.lower()
    plural = word[:-1] + "ies" if word.endswith("y") else word + ("es" if word.endswith("s") else "s")
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    approved = (
        {"api-approved.kubernetes.io": "unapproved, only told in a test"}
        if group.endswith((".k8s.io", ".kubernetes.io"))
        else {}
    )
    return {
        "metadata": {"name": f"{plural}.{group}", "annotations": approved},
        "spec": {
            "group": group,
            "scope": "Namespaced" if namespaced else "Cluster",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
            "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}],
        },
    }


def numbered(stem: str, count: int, first: int = 0) -> list[str]:
    return [f"{stem}-{number}" for number in range(first, first + count)]


def _parent(name: str, above: Mapping[str, str]) -> Raw:
    return {"parent": above[name]} if name in above else {}


def scheduler(*more: str, placement: str = "binpack", **settings: Any) -> Component:
    """A scheduler that decides at once, with further plugins, another placement, or settings of its own."""
    packs = placement == "binpack"
    chosen = [
        default_plugin.name
        for default_plugin in DEFAULT_PLUGINS
        if packs or default_plugin.name not in ("gpupack", "gpusharingorder")
    ]
    told = {"nodeplacement": {"cpu": placement, "gpu": placement}}
    plugins = tuple(
        PluginSetting(item, told.get(item, {})) for item in [*chosen, *more, *(() if packs else ("gpuspread",))]
    )
    actions = tuple(action for action in DEFAULT_ACTIONS if packs or action != "consolidation")
    return scheduler_component(SchedulerSettings(plugins=plugins, actions=actions, **settings), period=0.0)

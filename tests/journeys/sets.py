"""Words for journeys of PodCliqueSets: the workloads of Grove's catalogue, and nodes that hold one pod each.

A workload is always pc-a beside a scaling group sg-x of pc-b and pc-c, ten pods to a replica of the set. Capacity is
what is not cordoned. Built on a Story; what a scheduler or a kubelet does is never played here."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from gangline.api import names
from gangline.api.core import Node, Pod
from gangline.api.grove import PodClique, PodCliqueScalingGroup, PodCliqueSet
from gangline.api.kinds import NODE, POD, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, SCALING_GROUP, Kind
from gangline.api.meta import Raw, condition
from gangline.client.wire import JSON_PATCH
from journeys.story import Story, told
from journeys.words import scheduler

NAME = "w"
GROUP = "sg-x"
CLIQUES = ("pc-a", "pc-b", "pc-c")


class Size(NamedTuple):
    replicas: int
    minimum: int


@dataclass(frozen=True, slots=True)
class Workload:
    """Sizes of the three cliques and of the group, and how the set starts and is updated."""

    a: Size
    b: Size
    c: Size
    group: Size
    startup: str = ""
    after: dict[str, list[str]] = field(default_factory=dict)
    strategy: str = ""
    delay: str = "4h"
    annotations: dict[str, str] = field(default_factory=dict)

    def manifest(self, replicas: int = 1) -> Raw:
        sizes = dict(zip(CLIQUES, (self.a, self.b, self.c), strict=True))
        template: Raw = {
            "cliques": [clique(name, size, self.after.get(name)) for name, size in sizes.items()],
            "podCliqueScalingGroups": [group(GROUP, ["pc-b", "pc-c"], self.group)],
            "terminationDelay": self.delay,
        } | ({"cliqueStartupType": self.startup} if self.startup else {})
        return pod_clique_set(template, replicas, strategy=self.strategy, annotations=dict(self.annotations))


IN_ORDER, EXPLICIT = "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"
WL1 = Workload(Size(2, 2), Size(1, 1), Size(3, 3), Size(2, 2))
WL2 = Workload(Size(2, 1), Size(1, 1), Size(3, 1), Size(2, 1))
WL3 = replace(WL1, startup=IN_ORDER)
WL4 = replace(WL2, startup=IN_ORDER)
WL5 = replace(WL1, startup=EXPLICIT, after={"pc-c": ["pc-a"], "pc-b": ["pc-c"]})
WL6 = replace(WL2, startup=EXPLICIT, after={"pc-b": ["pc-a"], "pc-c": ["pc-b"]})
ON_DELETE = replace(WL1, a=Size(2, 1), strategy="OnDelete")


def clique(name: str, size: Size, after: Sequence[str] | None = None, **pod: Any) -> Raw:
    main = {"name": "main", "image": "app:1", "resources": {"requests": {"memory": "80Mi"}}}
    spec: Raw = {
        "roleName": name,
        "replicas": size.replicas,
        "minAvailable": size.minimum,
        "podSpec": {"schedulerName": names.KAI_SCHEDULER, "containers": [main], **pod},
    }
    return {"name": name, "spec": spec | ({"startsAfter": list(after)} if after else {})}


def group(name: str, cliques: Sequence[str], size: Size, **more: Any) -> Raw:
    return {"name": name, "cliqueNames": list(cliques), "replicas": size.replicas, "minAvailable": size.minimum, **more}


def pod_clique_set(
    template: Raw, replicas: int = 1, *, name: str = NAME, strategy: str = "", annotations: Raw | None = None
) -> Raw:
    return {
        "apiVersion": POD_CLIQUE_SET.api_version,
        "kind": POD_CLIQUE_SET.kind,
        "metadata": {"name": name, "namespace": "default", "annotations": annotations or {}},
        "spec": {"replicas": replicas, "template": template}
        | ({"updateStrategy": {"type": strategy}} if strategy else {}),
    }


class Sets:
    """A story about sets on nodes that hold one pod each."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.client = story.client

    # --- capacity -----------------------------------------------------------------------------------------------------

    async def nodes(self, count: int, *, usable: int | None = None, **pool: Any) -> None:
        free = count if usable is None else usable
        await self.story.nodes(free, gpus=0, memory="150Mi", **pool)
        await self.story.nodes(count - free, gpus=0, memory="150Mi", unschedulable=True, **pool)

    async def cordon(self, *nodes: str) -> None:
        for node in nodes:
            await self.client.patch(NODE, node, "", {"spec": {"unschedulable": True}})
        await self.story.settles()

    async def cordon_all(self) -> None:
        await self.cordon(*[node.name for node in await self._nodes()])

    async def uncordon(self, count: int | None = None) -> None:
        """Give back so many cordoned nodes, or all."""
        shut = [node.name for node in await self._nodes() if node.spec.unschedulable]
        async with self.story.at_once():
            for node in shut[:count]:
                await self.client.patch(NODE, node, "", {"spec": {"unschedulable": None}})

    async def _nodes(self) -> list[Node]:
        return sorted((await self.client.list(NODE)).items, key=lambda node: node.name)

    # --- what the user does -------------------------------------------------------------------------------------------

    async def create(self, workload: Workload, replicas: int = 1) -> None:
        await self.client.create(POD_CLIQUE_SET, workload.manifest(replicas))
        await self.story.settles()

    async def runs(self, workload: Workload, replicas: int = 1, *, spare: int = 0) -> None:
        """A workload that has started in full, on nodes of its own."""
        await self.nodes(10 * replicas + spare)
        await self.create(workload, replicas)
        await self.running(10 * replicas)

    async def scale(self, replicas: int) -> None:
        await self._scale(POD_CLIQUE_SET, NAME, replicas)

    async def scale_group(self, replicas: int, of: int = 0) -> None:
        await self._scale(SCALING_GROUP, f"{NAME}-{of}-{GROUP}", replicas)

    async def scale_clique(self, replicas: int, name: str = f"{NAME}-0-pc-a") -> None:
        await self._scale(POD_CLIQUE, name, replicas)

    async def _scale(self, kind: Kind[Any], name: str, replicas: int) -> None:
        await self.client.patch(kind, name, "default", {"spec": {"replicas": replicas}}, subresource="scale")
        await self.story.settles()

    async def update(self, *cliques: str, image: str = "app:2") -> None:
        """A new image for these cliques."""
        where = "/spec/template/cliques/{}/spec/podSpec/containers/0/image"
        await self.edit(*[(where.format(CLIQUES.index(name)), image) for name in cliques])

    async def edit(self, *changes: tuple[str, Any]) -> None:
        patch = [{"op": "add", "path": path, "value": value} for path, value in changes]
        await self.client.patch(POD_CLIQUE_SET, NAME, "default", patch, content_type=JSON_PATCH)

    async def lose(self, *pods: Pod) -> None:
        """Pods die, and their nodes take no others."""
        await self.cordon(*[pod.spec.node_name for pod in pods])
        await self.kill(*pods)

    async def kill(self, *pods: Pod) -> None:
        for pod in pods:
            await self.client.delete(POD, pod.name, "default", uid=pod.uid, grace=0)
        await self.story.settles()

    # --- what is seen -------------------------------------------------------------------------------------------------

    async def pods(self, prefix: str = "") -> list[Pod]:
        """Living pods of a clique or of everything whose name starts so."""
        found = [
            pod for pod in await self.story.pods(NAME) if pod.labels[names.POD_CLIQUE].startswith(f"{NAME}-{prefix}")
        ]
        return sorted((pod for pod in found if not pod.metadata.deleting), key=lambda pod: pod.name)

    async def uids(self, prefix: str = "") -> set[str]:
        return {pod.uid for pod in await self.pods(prefix)}

    async def running(self, count: int, *, of: int | None = None) -> None:
        """When nothing moves any more, exactly so many pods run, of so many there are (all of them unless said)."""
        total = count if of is None else of

        async def so() -> bool:
            pods = await self.pods()
            return len(pods) == total and sum(_runs(pod) for pod in pods) == count

        await self.story.at_rest(so, f"{count} of {total} pods running")
        await self.story.until(self._let_go, "the gates of gangs whose base gang runs to be lifted")

    async def _let_go(self) -> bool:
        """No pod waits for a base gang that is there: seen at rest on a busy server, the operator may not have heard of
        it yet."""
        pods = await self.pods()
        running = Counter(pod.labels[names.POD_CLIQUE] for pod in pods if _runs(pod))
        gangs = (await self.client.list(POD_GANG, "default")).items
        there = {
            gang.name
            for gang in gangs
            if all(running[group.name] >= group.min_replicas for group in gang.spec.podgroups)
        }
        return not any(pod.spec.scheduling_gates for pod in pods if pod.labels.get(names.BASE_POD_GANG) in there)

    async def running_by_clique(self) -> Counter[str]:
        return Counter(pod.labels[names.POD_CLIQUE].removeprefix(f"{NAME}-") for pod in await self.pods() if _runs(pod))

    async def images(self, prefix: str = "") -> Counter[str]:
        return Counter(pod.spec.containers[0].image for pod in await self.pods(prefix))

    async def the_set(self) -> PodCliqueSet:
        return await self.client.get(POD_CLIQUE_SET, NAME, "default")

    async def the_group(self, of: int = 0) -> PodCliqueScalingGroup:
        return await self.client.get(SCALING_GROUP, f"{NAME}-{of}-{GROUP}", "default")

    async def the_clique(self, name: str = "0-pc-a") -> PodClique:
        return await self.client.get(POD_CLIQUE, f"{NAME}-{name}", "default")

    async def updated(self, replicas: int, pods: int, image: str = "app:2") -> None:
        """When nothing moves any more, the update has ended, and the set counts so many new replicas and runs so many
        pods."""

        async def ended() -> bool:
            status = (await self.the_set()).status
            return bool((status.update_progress or {}).get("updateEndedAt")) and status.updated_replicas == replicas

        await self.story.at_rest(ended, f"the update's end with {replicas} updated replicas")
        await self.running(pods)

    @asynccontextmanager
    async def diary(self) -> AsyncIterator[Diary]:
        """What happens to the set's pods meanwhile."""
        listing = await self.client.list(POD, "default")
        found = Diary([pod for pod in listing.items if pod.labels.get(names.PART_OF) == NAME])
        watch = asyncio.create_task(self._write(found, listing.revision))
        try:
            yield found
            last = await self.client.list(POD, "default")
            await self.story.until(_caught_up(found, last.items), "the diary to be complete")
        finally:
            watch.cancel()

    async def _write(self, diary: Diary, since: str) -> None:
        async for event in self.client.watch(POD, since, "default"):
            if event.object is not None and event.object.labels.get(names.PART_OF) == NAME:
                diary.note(event.type, event.object)


class Diary:
    """Which pods were away at the same time, which were made, and which were given up, in order."""

    def __init__(self, pods: Sequence[Pod]) -> None:
        self.known = {pod.uid: pod for pod in pods}
        self.first = set(self.known)
        self.made: list[Pod] = []
        self.gone: list[Pod] = []
        self.away: list[Counter[str]] = []
        """After each change: clique → how many of its pods, new and old, are not ready or not there."""
        self.wanted = Counter(pod.labels[names.POD_CLIQUE] for pod in pods)

    def note(self, change: str, pod: Pod) -> None:
        if pod.uid not in self.known:
            self.made.append(pod)
        leaves = change == "DELETED" or pod.metadata.deleting
        if leaves and all(pod.uid != item.uid for item in self.gone):
            self.gone.append(pod)
        self.known[pod.uid] = pod
        leaving = {item.uid for item in self.gone}
        there = Counter(
            item.labels[names.POD_CLIQUE] for item in self.known.values() if item.uid not in leaving and is_ready(item)
        )
        self.away.append(self.wanted - there)

    def most_away(self, of: Callable[[str], str] = str) -> int:
        """The most units that were short of a pod at one time; a unit is what `of` makes of a clique's name."""
        return max((len({of(clique) for clique in away}) for away in self.away), default=0)

    def most_pods_away(self) -> int:
        return max((away.total() for away in self.away), default=0)

    def order(self, of: Callable[[Pod], str]) -> list[str]:
        """Units in the order in which they first lost a pod that was there in the beginning."""
        return list(dict.fromkeys(of(pod) for pod in self.gone if pod.uid in self.first))


def _caught_up(diary: Diary, pods: Sequence[Pod]) -> Callable[[], Any]:
    async def seen() -> bool:
        return all(pod.uid in diary.known for pod in pods if pod.labels.get(names.PART_OF) == NAME)

    return seen


def is_ready(pod: Pod) -> bool:
    found = condition(pod.status.conditions, "Ready")
    return found is not None and found.status == "True"


def _runs(pod: Pod) -> bool:
    return pod.status.phase == "Running"


def set_replica(pod: Pod) -> str:
    return pod.labels[names.SET_REPLICA]


@asynccontextmanager
async def sets_in_time() -> AsyncIterator[Sets]:
    """The same in time that only the test moves, under a scheduler that leaves broken gangs to the operator."""
    async with told(scheduler(staleness_grace=-1), moved=True) as story:
        yield Sets(story)

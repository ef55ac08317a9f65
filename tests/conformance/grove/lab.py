"""A fresh cluster for each case: embedded server, upstream's CRDs, our operator and hooks, and a clock that is moved by
hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from conformance.shared import suite_folder
from embedded import settles
from gangline.admission.sets import podcliqueset, topologybinding
from gangline.api.core import Pod
from gangline.api.kinds import CRD, NAMESPACE, POD, Kind, known
from gangline.api.meta import Raw
from gangline.client import Client, User
from gangline.cluster.server.admit.hooks import admit_with
from gangline.cluster.server.server import Server, ServerSettings
from gangline.cluster.world.component import PARTS, control_plane
from gangline.cluster.world.settings import WorldSettings
from gangline.config import manner
from gangline.errors import NotFound
from gangline.operator.checks import backend_check, schedulers
from gangline.operator.component import component
from gangline.operator.settings import GROVE_PROFILES
from gangline.rules.sets import OperatorSettings, Profile
from gangline.runtime import Manager, ManualClock
from yaml_loading import load_all_yaml, load_yaml

ADMIN = User("admin", ("system:masters", "system:authenticated"))
SECOND_STEPS = (0.02, 0.08, 0.4, 0.5, 1, 1, 1, 1, 1, 1, 1, 1)
"""How the clock is moved while nothing happens, until a state counts as settled."""
RUNNING_PARTS = {"garbage", "namespaces", "accounts", "tokens"}
QUIET = 4
MOST_ROUNDS = 400
DEADLINE = 60.0

COMPUTE_DOMAIN_CRD: Raw = {
    "metadata": {"name": "computedomains.resource.nvidia.com"},
    "spec": {
        "group": "resource.nvidia.com",
        "scope": "Namespaced",
        "names": {
            "kind": "ComputeDomain",
            "listKind": "ComputeDomainList",
            "plural": "computedomains",
            "singular": "computedomain",
        },
        "versions": [
            {
                "name": "v1beta1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
            }
        ],
    },
}

DEFINITIONS = (
    "grove/grove.io_clustertopologybindings.yaml",
    "grove/grove.io_podcliques.yaml",
    "grove/grove.io_podcliquescalinggroups.yaml",
    "grove/grove.io_podcliquesets.yaml",
    "grove/scheduler.grove.io_podgangs.yaml",
    "kai/kai.scheduler_topologies.yaml",
    "kai/scheduling.run.ai_podgroups.yaml",
    "kai/scheduling.run.ai_queues.yaml",
    "volcano/scheduling.volcano.sh_podgroups.yaml",
    "volcano/scheduling.volcano.sh_queues.yaml",
)


def settings(config: str) -> OperatorSettings:
    """The operator configurations the cases were recorded with."""
    off = config == "features-off"
    return OperatorSettings(
        profiles=tuple(Profile(name, backend) for name, backend in GROVE_PROFILES.items()),
        default_profile="kai-scheduler" if config == "kai-default" else "default-scheduler",
        topology_aware=not off,
        auto_mnnvl=not off,
        init_image="grove-initc",
        init_version="v0.1.0-dev",
        manner=manner(("grove",)),
    )


@cache
def definitions() -> tuple[Raw, ...]:
    root = suite_folder("grove").parents[1] / "crds"
    return (*(load_yaml((root / name).read_text()) for name in DEFINITIONS), COMPUTE_DOMAIN_CRD)


@cache
def environment(folder: Path) -> tuple[Raw, ...]:
    return tuple(document for document in load_all_yaml((folder / "environment.yaml").read_text()) if document)


@dataclass
class Lab:
    server: Server
    client: Client
    managers: list[Manager]
    clock: ManualClock
    born: dict[str, list[str]] = field(default_factory=dict)
    """Clique and index → uids of its pods, in order of appearance."""

    async def settle(self, play: Any = None) -> None:
        """Until nothing changes any more, however far the clock moves; `play` is the kubelet's turn."""
        steps = rounds = 0
        while steps < len(SECOND_STEPS):
            rounds += 1
            if rounds > MOST_ROUNDS:
                raise TimeoutError("still changing after a long time")
            before = self._revision()
            await self.idle()
            if play is not None:
                await play()
                await self.idle()
            if self._revision() != before:
                steps = 0
                continue
            self.clock.advance(SECOND_STEPS[steps])
            steps += 1
            await self.idle()
            if self._revision() != before:
                steps = 0

    async def pass_time(self, seconds: float) -> None:
        for _ in range(int(seconds * 2)):
            self.clock.advance(0.5)
            await self.idle()

    def _revision(self) -> int:
        return max(
            (
                shelf.changes[-1].revision
                for shelf in self.server.store.shelves()
                if shelf.changes and "events" not in shelf.key[1]
            ),
            default=0,
        )

    async def idle(self) -> None:
        await settles(self.server, self.managers, "rest of the operator", DEADLINE, rounds=QUIET, pause=0)

    def note(self, before: Pod | None, after: Pod | None) -> None:
        if after is None:
            return
        place = f"{after.labels.get('grove.io/podclique', '')}/{after.labels.get('grove.io/podclique-pod-index', '')}"
        known_pods = self.born.setdefault(place, [])
        if after.uid not in known_pods:
            known_pods.append(after.uid)


@asynccontextmanager
async def lab(folder: Path, config: str, namespace: str) -> AsyncIterator[Lab]:
    clock = ManualClock()
    server = Server(ServerSettings(clock=clock.now, workload_versions=()))
    await server.open()
    client = Client(server.transport(ADMIN), manager="recorder")
    wanted = settings(config)
    operator = Manager(component(wanted), Client(server.transport(ADMIN), manager="grove-operator"), clock)
    world = Manager(
        control_plane(WorldSettings(off=frozenset(PARTS) - RUNNING_PARTS, root_ca="authority")),
        Client(server.transport(ADMIN), manager="kube-controller-manager"),
        clock,
    )
    for hook in (
        *podcliqueset.hooks(wanted, lambda: operator.cache, backend_check(wanted)),
        *topologybinding.hooks(topologybinding.Schedulers(*schedulers(wanted))),
    ):
        admit_with(server.admission, hook)
    for definition in definitions():
        await client.create(CRD, definition)
    here = Lab(server, client, [operator, world], clock)
    operator.cache.informer(POD).on_change(here.note)
    await world.start()
    await operator.start()
    try:
        for document in (
            *environment(folder),
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        ):
            await put(client, document, "")
        await here.settle()
        yield here
    finally:
        await operator.stop()
        await world.stop()
        await server.close()


def kind_of(document: Raw) -> Kind[Any]:
    found = known(document["apiVersion"], document["kind"])
    if found is None:
        raise LookupError(f"the runner does not know {document['apiVersion']} {document['kind']}")
    return found


async def put(client: Client, document: Raw, namespace: str) -> None:
    """Create a document, and its status where it has one."""
    kind = kind_of(document)
    given = document.get("metadata", {}).get("namespace") or (namespace if kind.namespaced else "")
    await client.create(
        kind, {**document, "metadata": {**document["metadata"], **({"namespace": given} if given else {})}}, given
    )
    if document.get("status"):
        try:
            await client.patch(
                kind, document["metadata"]["name"], given, {"status": document["status"]}, subresource="status"
            )
        except NotFound:
            await client.patch(kind, document["metadata"]["name"], given, {"status": document["status"]})


__all__ = ["NAMESPACE", "Lab", "kind_of", "lab", "put"]

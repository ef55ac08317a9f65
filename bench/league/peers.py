"""THE table of schedulers in the league: one line for each. Pure.

A peer says which programs it consists of, with their limits raised, and how a gang and its pods are written for it.
The programs and kinds of third parties are those of the real-scheduler proofs (tests/real/schedulers), and a gang is
written for them by our own backends, as the operator would."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from bench.league.rows import Row

from gangline.api import names
from gangline.api.grove import GangPack
from gangline.api.kinds import BIND_REQUEST, KUBE_POD_GROUP, POD_GROUP, WORKLOAD, WORKLOAD_V1BETA1, Kind
from gangline.api.meta import Raw
from gangline.operator.backends import BUILT_IN
from gangline.operator.backends.contract import Backend, CannotTranslate, Facts, GroupInfo, PodGangInfo
from real.plane import assets, missing, program
from real.releases import RELEASES, USUAL, Release, switched_on
from real.schedulers.scheduler import Program, Scheduler
from real.schedulers.table import SCHEDULERS

Objects = list[tuple[Kind[Any], Raw]]
SPACE = "league"
TOPOLOGY = "racks"
RACK_LABEL = "example.com/rack"
BORROWER, LENDER = "borrower", "lender"
HIGH = "league-high"
"""The priority class of those who take back, where a scheduler knows priorities and no queues."""
SERVED = {"1.35": (WORKLOAD,), "1.37": (KUBE_POD_GROUP, WORKLOAD_V1BETA1)}
NO_QUEUES = "it has no queues that lend to each other in this installation"


def pod(name: str, gpus: int, scheduler: str) -> Raw:
    asks = {"cpu": "1", "memory": "1Gi", names.NVIDIA_GPU: str(gpus)}
    container = {"name": "main", "image": "img", "resources": {"requests": asks, "limits": asks}}
    return {
        "metadata": {"name": name, "namespace": SPACE, "labels": {}, "annotations": {}},
        "spec": {"schedulerName": scheduler, "containers": [container]},
    }


@dataclass(frozen=True)
class Peer:
    """A scheduler as the league sees it; this one is a third party's, written for by our backend."""

    name: str
    product: str
    programs: tuple[Program, ...] = ()
    backend: str = ""
    release: Release = USUAL
    cannot: Mapping[str, str] = field(default_factory=dict)
    """Rows that it is not asked for, and why."""
    proof: Scheduler | None = None
    """Where its kinds, namespaces and configuration come from."""
    config: Callable[[str], str] = str
    """Raises the limits in its configuration."""
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def scheduler_name(self) -> str:
        return self._backend.scheduler_name

    def version(self) -> str:
        return self.proof.version if self.proof else ""

    def missing(self) -> str:
        """Why it cannot be run here; empty: it can."""
        return missing(self.release) or (self.proof.missing() if self.proof else "")

    def not_run(self, row: Row) -> str:
        """Why it is not asked for a row; empty: it is."""
        if row.name in self.cannot:
            return self.cannot[row.name]
        try:
            self.gang(row, "probe")
        except CannotTranslate as error:
            return str(error)
        return ""

    def path(self, program_name: str) -> Path:
        return program(program_name, self.release) if program_name.startswith("kube-") else assets() / program_name

    def gang(self, row: Row, name: str) -> Objects:
        """What tells the scheduler of a gang, before its pods come."""
        if row.size == 1:
            return []
        info = self._info(row, name)
        return [(item.kind, _merged(item.obj, item.once)) for item in self._backend.gang_objects(info, info.facts)]

    def member(self, row: Row, gang: str, number: int) -> Raw:
        made = pod(f"{gang}-{number}", row.gpus, self.scheduler_name)
        made["metadata"]["labels"] |= self.labels
        if row.reclaims:
            made["spec"]["priorityClassName"] = HIGH
        if row.size == 1:
            return made
        made["metadata"]["labels"] |= {names.POD_CLIQUE: gang, names.POD_INDEX: str(number)}
        return self._backend.prepare_pod(made, self._info(row, gang))

    def filler(self, row: Row, name: str, gpus: int) -> Raw:
        """A pod that stands in the cluster before the clock starts."""
        made = pod(name, gpus, self.scheduler_name)
        made["metadata"]["labels"] |= self.labels
        return made

    def leaves(self) -> tuple[Kind[Any], ...]:
        """Kinds of which objects may be left after a row."""
        return self._backend.writes

    @cached_property
    def _backend(self) -> Backend:
        return BUILT_IN[self.backend]()

    def _info(self, row: Row, name: str) -> PodGangInfo:
        facts = Facts(frozenset(SERVED.get(self.release.name, ())), known=True)
        rack = GangPack(required=RACK_LABEL) if row.rack else None
        groups = (GroupInfo(name, row.size),)
        return PodGangInfo(
            name, SPACE, name, groups, constraint=rack, topology=TOPOLOGY, labels=dict(self.labels), facts=facts
        )


@dataclass(frozen=True)
class Gangline(Peer):
    """The scheduler half, each component a process of its own: PodGroups as users write them, singles as they come."""

    @property
    def scheduler_name(self) -> str:
        return names.KAI_SCHEDULER

    def gang(self, row: Row, name: str) -> Objects:
        if row.size == 1:
            return []
        spec: Raw = {"queue": _queue(row), "minMember": row.size}
        if row.rack:
            spec["topologyConstraint"] = {"topology": TOPOLOGY, "requiredTopologyLevel": RACK_LABEL}
        return [(POD_GROUP, {"metadata": {"name": name, "namespace": SPACE}, "spec": spec})]

    def leaves(self) -> tuple[Kind[Any], ...]:
        return (POD_GROUP, BIND_REQUEST)

    def member(self, row: Row, gang: str, number: int) -> Raw:
        made = self._queued(pod(f"{gang}-{number}", row.gpus, self.scheduler_name), _queue(row))
        if row.size > 1:
            made["metadata"]["annotations"] = {names.POD_GROUP_NAME: gang, names.SKIP_GROUPER: "true"}
        return made

    def filler(self, row: Row, name: str, gpus: int) -> Raw:
        queue = BORROWER if row.reclaims else names.DEFAULT_QUEUE
        return self._queued(pod(name, gpus, self.scheduler_name), queue)

    def _queued(self, made: Raw, queue: str) -> Raw:
        made["metadata"]["labels"][names.QUEUE] = queue
        return made


@dataclass(frozen=True)
class Kai(Gangline):
    """Upstream's own programs, from a folder that is given."""

    folder: Path | None = None

    def missing(self) -> str:
        if self.folder is None:
            return "its programs are not in the Go module registry: give their folder with --kai"
        absent = [item.name for item in self.programs if not (self.folder / item.name).exists()]
        return f"no {', '.join(absent)} in the folder given with --kai" if absent else ""

    def path(self, program_name: str) -> Path:
        assert self.folder is not None
        return self.folder / program_name


def _queue(row: Row) -> str:
    return LENDER if row.reclaims else names.DEFAULT_QUEUE


def _merged(obj: Raw, once: Raw) -> Raw:
    return obj | {key: {**(obj.get(key) or {}), **value} for key, value in once.items()}


def _kube_scheduler(release: Release) -> Peer:
    arguments = (
        "--kubeconfig={kubeconfig}",
        "--authentication-kubeconfig={kubeconfig}",
        "--authorization-kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        "--secure-port={port}",
        "--cert-dir={folder}/scheduler-certs",
        f"--feature-gates={switched_on(*release.gates)}",
        "--kube-api-qps=2000",
        "--kube-api-burst=4000",
    )
    return Peer(
        "kube-scheduler" if release is USUAL else f"kube-scheduler-{release.name}",
        "kube-scheduler",
        (Program("kube-scheduler", arguments),),
        "default",
        release,
        proof=next(item for item in SCHEDULERS.values() if item.backend == "default" and item.release is release),
    )


def _third_party(name: str, *raised: str, config: Callable[[str], str] = str) -> Peer:
    """One of the real-scheduler proofs; its first program is told to ask as fast as it can."""
    proof = SCHEDULERS[name]
    first, *rest = proof.programs
    programs = (replace(first, arguments=(*first.arguments, *raised)), *rest)
    cannot = {"reclaim": NO_QUEUES}
    return Peer(name, proof.product, programs, proof.backend, cannot=cannot, proof=proof, config=config)


def _fast_client(text: str) -> str:
    return text.replace("clientConnection:\n", "clientConnection:\n  qps: 2000\n  burst: 4000\n")


OURS = ("grouper", "scheduler", "binder", "podgroup-controller", "queue-controller")
KAI_PROGRAMS = ("scheduler", "binder", "podgrouper", "podgroupcontroller", "queuecontroller")


def peers(kai: Path | None = None) -> dict[str, Peer]:
    """By name, in the order in which they are run."""
    told, raised = {"KUBECONFIG": "{kubeconfig}"}, ("--qps=2000", "--burst=4000")
    found: tuple[Peer, ...] = (
        Gangline("gangline", "gangline", tuple(Program(name, ("--leader-elect=false",)) for name in OURS)),
        _kube_scheduler(USUAL),
        _kube_scheduler(RELEASES["1.37"]),
        _third_party("volcano", "--kube-api-qps=2000", "--kube-api-burst=4000"),
        _third_party("coscheduling", config=_fast_client),
        _third_party("koordinator", config=_fast_client),
        _third_party("yunikorn"),
        Kai("kai", "KAI", tuple(Program(name, raised, told) for name in KAI_PROGRAMS), folder=kai),
    )
    return {peer.name: peer for peer in found}

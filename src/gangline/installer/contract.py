"""What the pure part of the installer is given and what it answers: plain data on both sides.

`InstallFacts` is what the shell found in the cluster, `ComponentParts` what only the composition root knows (the
components' rights, flags and hooks: a component never imports another), `WantedObjects` the answer. Nothing here
reads or writes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gangline.api import names
from gangline.api.kinds import Kind
from gangline.api.meta import Raw

Flags = Mapping[str, str]
"""Of a component, without dashes."""
APP = "app"
"""The label that says to which Deployment an object belongs."""
CONFIG_NAME = "kai-config"
"""The one Config that counts."""
OURS = {names.MANAGED_BY: names.INSTALLER}
"""On everything that the installer makes."""


@dataclass(frozen=True, slots=True)
class CertificatePair:
    """A certificate, its key, and whom to trust for it, in PEM."""

    certificate: bytes
    key: bytes
    authority: bytes


@dataclass(frozen=True, slots=True)
class Address:
    """Where the API server finds the admission server."""

    service: str
    namespace: str
    port: int

    @property
    def hosts(self) -> tuple[str, ...]:
        return (f"{self.service}.{self.namespace}.svc", self.service)


@dataclass(frozen=True, slots=True)
class ShardLeader:
    """The pod that holds a shard's lease."""

    pod: str
    uid: str
    ip: str


@dataclass(frozen=True, slots=True)
class ComponentParts:
    rules: Callable[[str], Mapping[str, Sequence[Raw]]]
    """Component → namespace ("": everywhere) → the rules of its role there."""
    webhooks: Callable[[Flags, Mapping[str, Any], Sequence[str], Address, bytes], Sequence[tuple[Kind[Any], Raw]]]
    """Flags of the admission component, the operator's configuration and the manner → the two webhook configurations
    that stand for its hooks."""
    check: Callable[[str, Flags, Mapping[str, Any], Sequence[str]], str]
    """What a component would refuse to start with, given these flags, this config.yaml and this manner; empty:
    nothing."""
    certificate: Callable[[Sequence[str], float, CertificatePair | None], CertificatePair]
    """Hosts, the time, and the certificate that is kept → that one if it is still good, else a new one."""
    backends: Callable[[Iterable[str]], Sequence[str]] = tuple
    """Names of backends, aliases too → what they are really called, each once."""
    scheduler_flags: frozenset[str] = frozenset()
    """Every flag the scheduler knows."""


@dataclass(frozen=True, slots=True)
class InstallFacts:
    served: frozenset[str] = frozenset()
    """Of the kinds that a cluster may lack, those it serves, by resource name."""
    fake_gpus: bool = False
    """Some node only pretends to have GPUs."""
    cdi: bool = False
    """The GPU operator hands out devices by CDI."""
    certificate: CertificatePair | None = None
    """Of the admission server."""
    answers: bool = False
    """Somebody answers at the admission server's address, so that the webhooks may be registered."""
    shards: tuple[Raw, ...] = ()
    """The spec of every shard."""
    instances: tuple[Raw, ...] = ()
    """Metadata and spec of the Prometheus that was made for this Config."""
    now: float = 0.0
    """Seconds since the epoch."""
    leader: ShardLeader | None = None
    """Of the shard that is looked at."""
    rivals: tuple[str, ...] = ()
    """Older shards with the same node pool as the one that is looked at."""


@dataclass(frozen=True, slots=True)
class WantedObject:
    """One object as it should be, without its owner."""

    kind: Kind[Any]
    obj: Raw

    @property
    def name(self) -> str:
        return str(self.obj["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.obj["metadata"].get("namespace", ""))

    @property
    def app(self) -> str:
        return str(self.obj["metadata"].get("labels", {}).get(APP, ""))

    @property
    def digest(self) -> str:
        return digest(self.obj)

    def __str__(self) -> str:
        return f"{self.kind.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind.kind} {self.name}"


@dataclass(slots=True)
class WantedObjects:
    """Everything that should be there for one Config or one shard."""

    objects: list[WantedObject] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What is wrong with the Config, with the remedy; the apps concerned stay as they are."""
    kept: list[str] = field(default_factory=list)
    """Apps that stay as they are."""
    missing: list[str] = field(default_factory=list)
    """What the cluster lacks, with the remedy."""
    notes: list[str] = field(default_factory=list)
    """Settings without effect."""

    def add(self, kind: Kind[Any], obj: Raw) -> None:
        self.objects.append(WantedObject(kind, obj))


def meta(app: str, name: str = "", namespace: str = "", labels: Mapping[str, str] | None = None) -> Raw:
    """Metadata of an object of ours."""
    metadata: Raw = {"name": name or app, "labels": {APP: app, **OURS, **(labels or {})}}
    return metadata | ({"namespace": namespace} if namespace else {})


def digest(data: Any) -> str:
    """The same for the same data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]

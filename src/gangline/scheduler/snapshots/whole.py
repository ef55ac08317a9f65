"""A whole cluster as records: read from API objects, saved, loaded, replayed.

`records_from_objects` reads every object once; one that makes no sense becomes an `ObjectProblem` and is left out,
the others are read all the same. A saved snapshot is a zip with one `snapshot.json`: settings, time and records, so
that the same cycle can be decided again byte for byte. KAI's own dumps are read too (kai_dump.py). Pure: bytes in,
bytes out; files are the command line's business.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from gangline.api import kai, kinds
from gangline.api.builtin import PriorityClass
from gangline.api.core import ConfigMap, Node, PersistentVolumeClaim, Pod
from gangline.api.meta import Raw
from gangline.errors import BadInput, Problem
from gangline.rules import requests
from gangline.rules.gangs.bind_requests import live, order_for, orders
from gangline.rules.gangs.priorities import priorities
from gangline.scheduler import objects
from gangline.scheduler.cycle import decide
from gangline.scheduler.decisions import Decisions
from gangline.scheduler.model.cluster import ClusterModel
from gangline.scheduler.objects.gangs import level_aliases
from gangline.scheduler.objects.reading import DEFAULTS, ObjectReading, ObjectUnreadable
from gangline.scheduler.records import (
    BudgetRecord,
    ClaimRecord,
    ConfigMapRecord,
    DeviceClassRecord,
    GangRecord,
    NodeRecord,
    QueueRecord,
    Record,
    SliceRecord,
    StorageCapacityRecord,
    TaskRecord,
    TopologyRecord,
    VolumeClaimRecord,
)
from gangline.scheduler.settings import SchedulerSettings

FILE = "snapshot.json"
FORMAT = "gangline-snapshot"
VERSION = 1

T = TypeVar("T")

SECTIONS: Mapping[str, type[Any]] = {
    "nodes": NodeRecord,
    "queues": QueueRecord,
    "gangs": GangRecord,
    "tasks": TaskRecord,
    "topologies": TopologyRecord,
    "deviceClasses": DeviceClassRecord,
    "slices": SliceRecord,
    "claims": ClaimRecord,
    "volumeClaims": VolumeClaimRecord,
    "storageCapacities": StorageCapacityRecord,
    "configMaps": ConfigMapRecord,
    "budgets": BudgetRecord,
}


@dataclass(frozen=True, slots=True)
class ObjectProblem:
    """One object that could not be read."""

    kind: str
    name: str
    problem: Problem

    def __str__(self) -> str:
        return f"{self.kind} {self.name}: {self.problem}"


@dataclass(frozen=True, slots=True)
class Records:
    records: tuple[Record, ...] = ()
    problems: tuple[ObjectProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class Saved:
    """Everything one cycle decides from."""

    records: tuple[Record, ...]
    settings: SchedulerSettings = field(default_factory=SchedulerSettings)
    now: float = 0.0
    problems: tuple[ObjectProblem, ...] = ()


# ── from API objects ──


class _Objects:
    """Plain objects by kind, and what reading them has found wrong."""

    def __init__(self, given: Iterable[Raw]) -> None:
        self.by_kind: dict[str, list[Raw]] = {}
        self.problems: list[ObjectProblem] = []
        for obj in given:
            self.by_kind.setdefault(str(obj.get("kind") or ""), []).append(obj)

    def read(self, kind: kinds.Kind[Any], reader: Callable[[Any], T], typed: type[Any] | None = None) -> list[T]:
        """Every object of a kind through its reader; those that cannot be read become problems."""
        records: list[T] = []
        for obj in self.by_kind.get(kind.kind, ()):
            try:
                records.append(reader(msgspec.convert(obj, typed) if typed else obj))
            except (ObjectUnreadable, ValueError, TypeError, AttributeError, KeyError) as error:
                self.problems.append(_problem(kind.kind, obj, error))
        return records


def _problem(kind: str, obj: Raw, error: Exception) -> ObjectProblem:
    meta = obj.get("metadata")
    meta = meta if isinstance(meta, Mapping) else {}
    name = "/".join(str(part) for part in (meta.get("namespace"), meta.get("name")) if part)
    return ObjectProblem(
        kind,
        name,
        error.problem if isinstance(error, ObjectUnreadable) else Problem("", str(error) or type(error).__name__),
    )


def _by_name(objs: Iterable[Raw]) -> dict[str, Raw]:
    return {str((obj.get("metadata") or {}).get("name")): obj for obj in objs}


def _key(obj: Raw) -> tuple[str, str]:
    meta = obj.get("metadata") or {}
    return str(meta.get("namespace") or ""), str(meta.get("name") or "")


def records_from_objects(
    given: Iterable[Raw], reading: ObjectReading = DEFAULTS, usage: Mapping[str, Mapping[str, float]] | None = None
) -> Records:
    """All objects of a cluster as records; kinds that deciding does not need are passed over."""
    known = _Objects(given)
    topologies = known.read(kinds.TOPOLOGY, _itself, kai.Topology)
    records: list[Record] = [
        *_nodes(known, reading),
        *known.read(kinds.QUEUE, lambda queue: objects.queue_record(queue, (usage or {}).get(queue.name)), kai.Queue),
        *known.read(kinds.TOPOLOGY, objects.topology_record, kai.Topology),
        *_gangs(known, level_aliases(topologies), reading),
        *known.read(kinds.DEVICE_CLASS, objects.device_class_record),
        *known.read(kinds.RESOURCE_SLICE, objects.slice_record),
        *known.read(kinds.RESOURCE_CLAIM, objects.claim_record),
        *_storage(known),
        *known.read(kinds.CONFIG_MAP, objects.config_map_record, ConfigMap),
        *known.read(kinds.PDB, objects.budget_record),
    ]
    nodes = {record.name for record in records if isinstance(record, NodeRecord)}
    records += _tasks(known, nodes, reading)
    return Records(tuple(records), tuple(known.problems))


def _itself(obj: T) -> T:
    return obj


def _nodes(known: _Objects, reading: ObjectReading) -> list[NodeRecord]:
    zones = _by_name(known.by_kind.get("NodeResourceTopology", ()))
    return known.read(kinds.NODE, lambda node: objects.node_record(node, zones.get(node.name), reading), Node)


def _gangs(known: _Objects, aliases: Mapping[str, Mapping[str, str]], reading: ObjectReading) -> list[GangRecord]:
    classes = priorities(known.read(kinds.PRIORITY_CLASS, _itself, PriorityClass))
    return known.read(
        kinds.POD_GROUP, lambda group: objects.gang_record(group, classes, aliases, reading), kai.PodGroup
    )


def _storage(known: _Objects) -> list[Record]:
    volumes = _by_name(known.by_kind.get("PersistentVolume", ()))
    classes = _by_name(known.by_kind.get("StorageClass", ()))
    claims = known.read(
        kinds.PVC, lambda claim: objects.volume_claim_record(claim, volumes, classes), PersistentVolumeClaim
    )
    return [*claims, *known.read(kinds.CSI_STORAGE_CAPACITY, objects.storage_capacity_record)]


def _tasks(known: _Objects, nodes: set[str], reading: ObjectReading) -> list[TaskRecord]:
    """Pods with their BindRequests (those for nodes that are gone do not count) and claims."""
    claims = {_key(claim): claim for claim in known.by_kind.get("ResourceClaim", ())}
    requested = known.read(kinds.BIND_REQUEST, _itself, kai.BindRequest)
    bindings = {
        (request.namespace, order.pod_name): request
        for request in requested
        for order in orders(request)
        if live(request) and order.selected_node in nodes
    }

    def read(pod: Pod) -> TaskRecord:
        names = [*requests.claim_names(pod).values(), requests.extended_claim_name(pod)]
        mine = [claims[pod.namespace, name] for name in names if (pod.namespace, name) in claims]
        request = bindings.get((pod.namespace, pod.name))
        return objects.task_record(pod, None if request is None else order_for(request, pod), mine, reading)

    return known.read(kinds.POD, read, Pod)


# ── save, load, replay ──


def save(saved: Saved) -> bytes:
    """The same snapshot always gives the same bytes."""
    sections = {name: [record for record in saved.records if type(record) is kind] for name, kind in SECTIONS.items()}
    document = {"format": FORMAT, "version": VERSION, "now": saved.now, "settings": saved.settings, "records": sections}
    return zipped(msgspec.json.encode(_whole(msgspec.to_builtins(document)), order="deterministic"))


def _whole(value: Any) -> Any:
    """Plain data with whole numbers written as such, so that 60 and 60.0 save alike."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list | tuple) else value


def zipped(content: bytes) -> bytes:
    stream = io.BytesIO()
    entry = zipfile.ZipInfo(FILE, date_time=(1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(entry, content)
    return stream.getvalue()


def unzipped(data: bytes) -> dict[str, Any]:
    """The document inside a snapshot, zipped or plain."""
    try:
        if data[:2] == b"PK":
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                data = archive.read(FILE)
        document = json.loads(data)
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise BadInput(f"this is not a snapshot: {error}; give a zip with a {FILE}, or that file itself") from error
    if not isinstance(document, dict):
        raise BadInput(f"this is not a snapshot: {FILE} holds {type(document).__name__}, not an object")
    return document


def load(data: bytes) -> Saved:
    """A snapshot of ours or a dump of KAI's scheduler."""
    document = unzipped(data)
    if "rawObjects" in document:
        from gangline.scheduler.snapshots.kai_dump import read_dump

        return read_dump(document)
    if document.get("format") != FORMAT:
        raise BadInput(f"this is not a snapshot: it has neither format {FORMAT!r} nor rawObjects")
    if document.get("version") != VERSION:
        raise BadInput(f"this snapshot has version {document.get('version')!r}; this program reads version {VERSION}")
    return _saved(document)


def _saved(document: Mapping[str, Any]) -> Saved:
    try:
        sections: Mapping[str, Any] = document["records"]
        records = tuple(
            msgspec.convert(record, kind) for name, kind in SECTIONS.items() for record in sections.get(name, [])
        )
        return Saved(records, msgspec.convert(document["settings"], SchedulerSettings), float(document["now"]))
    except (KeyError, ValueError, TypeError) as error:
        raise BadInput(f"this snapshot is damaged: {error}") from error


def replay(saved: Saved) -> Decisions:
    """Decide the saved cycle again."""
    return decide(ClusterModel.build(saved.records), saved.settings, saved.now)

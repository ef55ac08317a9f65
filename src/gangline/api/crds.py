"""Our custom resource definitions, printed from the tables `grove` and `kai`.

    crds() -> list[dict]          every definition, ready to apply

Pod templates and the other built-in types inside them come from the same tables the embedded server serves built-in
kinds from. `python -m gangline.api.crds FOLDER` prints them as YAML; the chart's crds folder holds that, and a test
keeps the two equal."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gangline.api import notation
from gangline.api.descriptions import HEAD, described
from gangline.api.notation import MISSING, Field, Struct, Type
from gangline.api.yaml_text import yaml_text

Obj = dict[str, Any]
QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
_INT_OR_STRING: Obj = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
_SCALARS: dict[str, Obj] = {
    "str": {"type": "string"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "bytes": {"type": "string", "format": "byte"},
    "time": {"type": "string", "format": "date-time"},
    "microtime": {"type": "string", "format": "date-time"},
    "quantity": {**_INT_OR_STRING, "pattern": QUANTITY_PATTERN},
    "intstr": _INT_OR_STRING,
    "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    "json": {"x-kubernetes-preserve-unknown-fields": True},
}


@dataclass(frozen=True, slots=True)
class Definition:
    """What a definition says besides its schema. Columns are `name type path`, `!` before the name hides it from the
    plain table."""

    group: str
    version: str
    table: str
    kind: str
    plural: str
    short: str = ""
    cluster: bool = False
    status: bool = True
    selector: str = ""
    """The status field of the scale subresource's selector; empty: no scale subresource."""
    columns: tuple[str, ...] = ()


_AGE = "Age date .metadata.creationTimestamp"
_BREACHED = '!MinBreached string .status.conditions[?(@.type=="MinAvailableBreached")].status'
_PROGRESS = (
    "PCLQs-Updated integer .status.updateProgress.updatedPodCliquesCount",
    "PCLQs-Total integer .status.updateProgress.totalPodCliquesCount",
)
_READY = (
    'Ready string .status.conditions[?(@.type=="Ready")].status',
    '!Why string .status.conditions[?(@.type=="Ready")].message',
)
_HEAD = ("MinAvail integer .spec.minAvailable", "Replicas integer .spec.replicas")

DEFINITIONS = (
    Definition(
        "grove.io",
        "v1alpha1",
        "grove",
        "PodCliqueSet",
        "podcliquesets",
        "pcs",
        selector="hpaPodSelector",
        columns=(
            _HEAD[1],
            "Available integer .status.availableReplicas",
            "Updated integer .status.updatedReplicas",
            *_PROGRESS,
            "PCSGs-Updated integer .status.updateProgress.updatedPodCliqueScalingGroupsCount",
            "PCSGs-Total integer .status.updateProgress.totalPodCliqueScalingGroupsCount",
            _AGE,
        ),
    ),
    Definition(
        "grove.io",
        "v1alpha1",
        "grove",
        "PodClique",
        "podcliques",
        "pclq",
        selector="hpaPodSelector",
        columns=(
            *_HEAD,
            "Ready integer .status.readyReplicas",
            "Scheduled integer .status.scheduledReplicas",
            "Updated integer .status.updatedReplicas",
            "!Gated integer .status.scheduleGatedReplicas",
            _BREACHED,
            _AGE,
        ),
    ),
    Definition(
        "grove.io",
        "v1alpha1",
        "grove",
        "PodCliqueScalingGroup",
        "podcliquescalinggroups",
        "pcsg",
        selector="selector",
        columns=(
            *_HEAD,
            "Available integer .status.availableReplicas",
            "Scheduled integer .status.scheduledReplicas",
            "Updated integer .status.updatedReplicas",
            *_PROGRESS,
            _BREACHED,
            _AGE,
        ),
    ),
    Definition(
        "grove.io",
        "v1alpha1",
        "grove",
        "ClusterTopologyBinding",
        "clustertopologybindings",
        "ct",
        cluster=True,
        columns=("Domains string .spec.levels[*].domain", _AGE),
    ),
    Definition(
        "scheduler.grove.io",
        "v1alpha1",
        "grove",
        "PodGang",
        "podgangs",
        "pg",
        columns=(
            "Phase string .status.phase",
            r"Backend string .metadata.labels.grove\.io/scheduler-backend",
            "Starts-By string .status.start.latest",
            "!Starts string .status.start.expected",
            '!Why string .status.conditions[?(@.type=="Scheduled")].message',
            _AGE,
        ),
    ),
    Definition(
        "scheduling.run.ai",
        "v2",
        "kai",
        "Queue",
        "queues",
        cluster=True,
        columns=(
            "Priority string .spec.priority",
            "Parent string .spec.parentQueue",
            "Children string .status.childQueues",
            "DisplayName string .spec.displayName",
            "Quota number .spec.resources.gpu.quota",
            "!Limit number .spec.resources.gpu.limit",
            r"Asked string .status.requested.nvidia\.com/gpu",
            r"Used string .status.allocated.nvidia\.com/gpu",
        ),
    ),
    Definition(
        "scheduling.run.ai",
        "v2alpha2",
        "kai",
        "PodGroup",
        "podgroups",
        "pg",
        columns=(
            "Queue string .spec.queue",
            'Phase string .status.conditions[?(@.type=="Phase")].reason',
            "Min integer .spec.minMember",
            r"Asked string .status.resourcesStatus.requested.nvidia\.com/gpu",
            r"GPUs string .status.resourcesStatus.allocated.nvidia\.com/gpu",
            "Starts-By string .status.start.latest",
            "!Starts string .status.start.expected",
            "!Priority string .spec.priorityClassName",
            _AGE,
            "Why string .status.schedulingConditions[-1:].message",
        ),
    ),
    Definition(
        "scheduling.run.ai",
        "v1alpha2",
        "kai",
        "BindRequest",
        "bindrequests",
        columns=(
            "Gang string .spec.gang",
            "Pods integer .spec.podCount",
            "Nodes integer .spec.nodeCount",
            "Phase string .status.phase",
            "!Pod string .spec.podName",
            "!Node string .spec.selectedNode",
            "!Failed integer .status.failedAttempts",
            "!Why string .status.reason",
            _AGE,
        ),
    ),
    Definition(
        "kai.scheduler",
        "v1alpha1",
        "kai",
        "Topology",
        "topologies",
        cluster=True,
        status=False,
        columns=("Levels string .spec.levels[*].nodeLabel", _AGE),
    ),
    Definition("kai.scheduler", "v1", "kai", "Config", "configs", cluster=True, columns=(*_READY, _AGE)),
    Definition(
        "kai.scheduler",
        "v1",
        "kai",
        "SchedulingShard",
        "schedulingshards",
        cluster=True,
        columns=("Pool string .spec.partitionLabelValue", *_READY, _AGE),
    ),
)

ABOUT = {
    "PodCliqueSet": "A workload of several roles that starts as gangs: its replicas, their cliques, and how they "
    "start and change.",
    "PodClique": "Pods of one role of a PodCliqueSet, with the fewest that must run.",
    "PodCliqueScalingGroup": "Cliques of a PodCliqueSet that grow and shrink together.",
    "ClusterTopologyBinding": "Which node labels stand for which levels of the cluster's topology, and what each "
    "scheduler calls them.",
    "PodGang": "Pods that start together or not at all, in words that every scheduler backend can translate.",
    "Queue": "A share of the cluster: what it deserves, what it may use at most, and whose part it is.",
    "PodGroup": "Pods that the KAI scheduler starts together: their minimum, their queue, and where they may go.",
    "BindRequest": "The order to bind a gang's pods, or one pod, with the devices they get; the binder carries it out.",
    "Topology": "The levels of the cluster's topology, from wide to narrow, each by its node label.",
    "Config": "How the scheduler half is set up: its services and their settings.",
    "SchedulingShard": "A scheduler of its own for a part of the nodes, with its own settings.",
}
"""What `kubectl explain` says of each kind."""


def crds() -> list[Obj]:
    """Every definition; the caller's own copies."""
    definitions: list[Obj] = json.loads(json.dumps([_definition(definition) for definition in DEFINITIONS]))
    return definitions


def printed() -> dict[str, str]:
    """File name → YAML of one definition."""
    return {
        f"{crd['spec']['group']}_{crd['spec']['names']['plural']}.yaml": yaml_text(crd, width=120) for crd in crds()
    }


def _definition(about: Definition) -> Obj:
    names = {
        "kind": about.kind,
        "listKind": f"{about.kind}List",
        "plural": about.plural,
        "singular": about.kind.lower(),
    }
    if about.short:
        names["shortNames"] = [about.short]  # type: ignore[assignment]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{about.plural}.{about.group}"},
        "spec": {
            "group": about.group,
            "names": names,
            "scope": "Cluster" if about.cluster else "Namespaced",
            "versions": [_version(about)],
        },
    }


def _version(about: Definition) -> Obj:
    version: Obj = {
        "name": about.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"description": ABOUT[about.kind], **schema_of(about.table, about.kind)}},
    }
    if about.columns:
        version["additionalPrinterColumns"] = [_column(text) for text in about.columns]
    if about.status:
        version["subresources"] = {"status": {}}
    if about.selector:
        version["subresources"]["scale"] = {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": f".status.{about.selector}",
        }
    return version


def _column(text: str) -> Obj:
    name, kind, path = text.split(" ", 2)
    column: Obj = {"name": name.lstrip("!"), "type": kind, "jsonPath": path}
    return {**column, "priority": 1} if name.startswith("!") else column


_NEWER = {"PodSpec": ("schedulingGroup",)}
"""Fields of built-in types that came after the release upstream's definitions were made with."""


@cache
def schema_of(table: str, name: str) -> Obj:
    """The OpenAPI schema of a type, everything inside it written out."""
    struct = notation.struct(table, name)
    schema: Obj = {"type": "object"}
    properties = _head(struct) | {
        field.name: {"description": described(table, name, field.name), **_field_schema(field)}
        for field in struct.fields
        if field.name not in _NEWER.get(name, ())
    }
    if properties:
        schema["properties"] = properties
    required = [field.name for field in struct.fields if field.required]
    if required:
        schema["required"] = required
    if struct.crd_atomic:
        schema["x-kubernetes-map-type"] = "atomic"
    return {**schema, **struct.extra}


def _head(struct: Struct) -> Obj:
    typed = {name: {"description": HEAD[name], "type": "string"} for name in HEAD} if struct.typed else {}
    return typed | ({"metadata": {"type": "object"}} if struct.meta else {})


def _field_schema(about: Field) -> Obj:
    schema = _type_schema(about.type)
    if about.default is not MISSING:
        schema["default"] = about.default
    if about.list_type and about.type.form == "list":
        schema["x-kubernetes-list-type"] = about.list_type
        if about.keys:
            schema["x-kubernetes-list-map-keys"] = list(about.keys)
    elif about.atomic:
        schema["x-kubernetes-map-type"] = "atomic"
    return {**schema, **about.extra}


def _type_schema(kind: Type) -> Obj:
    if kind.form == "scalar":
        return dict(_SCALARS[kind.name])
    if kind.form == "struct":
        if (kind.table, kind.name) == ("meta", "ObjectMeta"):
            return {"type": "object"}
        return dict(schema_of(kind.table, kind.name))
    assert kind.inner is not None
    inner = _type_schema(kind.inner)
    if kind.form == "list":
        return {"type": "array", "items": inner}
    return {"type": "object", "additionalProperties": inner}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in printed().items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: python -m gangline.api.crds FOLDER")
    main(Path(sys.argv[1]))

"""The pods of a clique: which to make, which to remove, which to let go, and how one is built.

Names follow from the clique's uid and the pod's index, so that a second attempt on a stale view meets the first and
fails. Holes are filled from below: a replaced pod gets its predecessor's hostname. Nothing here knows how a pod is
scheduled; the backend prepares it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gangline.api import names
from gangline.api.core import Pod
from gangline.api.grove import PodClique, PodCliqueSet
from gangline.api.kinds import POD_CLIQUE
from gangline.api.meta import Raw
from gangline.operator.desired import claims, podspec, services
from gangline.operator.desired.layout import CliquePlace
from gangline.operator.desired.metadata import default_labels, metadata
from gangline.operator.desired.startup import minimum_of
from gangline.operator.status import is_true

FINISHED = ("Succeeded", "Failed")


def index_of(pod: Pod) -> int | None:
    """The index in a pod's hostname; None for a pod that is not numbered."""
    _, _, number = pod.spec.hostname.rpartition("-")
    return int(number) if number.isdigit() else None


def active(pod: Pod) -> bool:
    return not pod.metadata.deleting and pod.status.phase not in FINISHED


def failed(pod: Pod) -> bool:
    """Whether it has ended in failure: it never runs again."""
    return pod.status.phase == "Failed"


def free_indices(pods: Iterable[Pod], count: int) -> list[int]:
    """The lowest indices that no active pod has."""
    taken = {index_of(pod) for pod in pods if active(pod)}
    free: list[int] = []
    number = 0
    while len(free) < count:
        if number not in taken:
            free.append(number)
        number += 1
    return free


def pod_name(clique: PodClique, index: int, pods: Mapping[str, Pod]) -> str:
    """The name of the next pod with this index: the first name, or one that follows from the pod that still holds
    it."""
    name = f"{clique.name}-{names.suffix(clique.uid, str(index))}"
    while name in pods:
        name = f"{clique.name}-{names.suffix(clique.uid, str(index), pods[name].uid)}"
    return name


# --- who goes first when there are too many


def ready(pod: Pod) -> bool:
    return is_true(pod.status.conditions, "Ready")


def scheduled(pod: Pod) -> bool:
    return is_true(pod.status.conditions, "PodScheduled")


_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def removal_order(pods: Iterable[Pod], wanted_hash: str) -> list[Pod]:
    """Pods in the order in which they are given up: unscheduled, pending, unready, outdated, young first."""

    def key(pod: Pod) -> tuple[int, int, int, int]:
        return (
            bool(pod.spec.node_name),
            _PHASES.get(pod.status.phase, 0),
            ready(pod),
            pod.labels.get(names.TEMPLATE_HASH) == wanted_hash,
        )

    youngest_first = sorted(
        pods, key=lambda pod: (pod.metadata.creation_timestamp or "", index_of(pod) or 0), reverse=True
    )
    return sorted(youngest_first, key=key)


# --- building one


@dataclass(frozen=True, slots=True)
class PodRecipe:
    """What a pod is built from, apart from its clique."""

    pcs: PodCliqueSet
    place: CliquePlace
    init_image: str
    gate: str
    keep_gates: bool
    priority_class: str
    init_command: tuple[str, ...] = ()


def build(clique: PodClique, recipe: PodRecipe, index: int, name: str) -> Raw:
    """A pod before its backend has prepared it."""
    pcs, place = recipe.pcs, recipe.place
    meta = metadata(name, POD_CLIQUE, clique, _labels(clique, place, pcs.name, index), annotations=clique.annotations)
    meta["generateName"] = f"{clique.name}-"
    spec = dict(clique.spec.pod_spec)
    spec["schedulingGates"] = [*(spec.get("schedulingGates") or [] if recipe.keep_gates else []), {"name": recipe.gate}]
    spec = podspec.each_container(
        spec, lambda container: podspec.with_variables(container, _variables(clique, place, pcs))
    )
    spec |= {
        "hostname": names.pod_hostname(clique.name, index),
        "subdomain": names.set_replica(pcs.name, place.replica),
    }
    if recipe.priority_class and not spec.get("priorityClassName"):
        spec["priorityClassName"] = recipe.priority_class
    spec = claims.with_claims(spec, claims.names_for_pod(pcs, place, index))
    if clique.spec.starts_after:
        spec = _waiting(spec, clique, recipe)
    return {"metadata": meta, "spec": spec}


def _labels(clique: PodClique, place: CliquePlace, set_name: str, index: int) -> dict[str, str]:
    return (
        default_labels(set_name)
        | clique.labels
        | {
            names.POD_CLIQUE: clique.name,
            names.SET_REPLICA: str(place.replica),
            names.POD_GANG: clique.labels[names.POD_GANG],
            names.POD_INDEX: str(index),
        }
    )


def _variables(clique: PodClique, place: CliquePlace, pcs: PodCliqueSet) -> list[Raw]:
    return [
        podspec.value("GROVE_PCS_NAME", pcs.name),
        podspec.value("GROVE_PCS_INDEX", str(place.replica)),
        podspec.value("GROVE_PCLQ_NAME", clique.name),
        podspec.value("GROVE_HEADLESS_SERVICE", services.address(clique.namespace, pcs.name, str(place.replica))),
        podspec.from_label("GROVE_PCLQ_POD_INDEX", names.POD_INDEX),
    ]


def _waiting(spec: Raw, clique: PodClique, recipe: PodRecipe) -> Raw:
    """The spec with the init container that waits for the cliques that start before this one."""
    arguments = [
        f"--podcliques={parent}:{minimum_of(recipe.pcs, parent, recipe.place.replica)}"
        for parent in clique.spec.starts_after
    ]
    container: Raw = {
        "name": names.INIT_CONTAINER,
        "image": recipe.init_image,
        "args": arguments,
        "volumeMounts": [
            {"name": names.POD_INFO_VOLUME, "mountPath": names.POD_INFO_FOLDER, "readOnly": True},
            {"name": names.TOKEN_VOLUME, "mountPath": names.TOKEN_FOLDER, "readOnly": True},
        ],
    }
    container |= {"command": list(recipe.init_command)} if recipe.init_command else {}
    volumes = [
        {"name": names.TOKEN_VOLUME, "secret": {"secretName": names.token_secret(recipe.pcs.name), "defaultMode": 420}},
        {
            "name": names.POD_INFO_VOLUME,
            "downwardAPI": {
                "defaultMode": 420,
                "items": [
                    {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}},
                    {
                        "path": "podgangname",
                        "fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.labels['{names.POD_GANG}']"},
                    },
                ],
            },
        },
    ]
    return spec | {
        "volumes": [*(spec.get("volumes") or ()), *volumes],
        "initContainers": [*(spec.get("initContainers") or ()), container],
    }


def without_gates(pod: Pod, gates: Iterable[str]) -> list[Raw]:
    """The scheduling gates that stay when ours are lifted."""
    lifted = set(gates)
    return [{"name": gate.name} for gate in pod.spec.scheduling_gates if gate.name not in lifted]


def names_by_clique(pods: Sequence[Pod], gang: str) -> dict[str, list[str]]:
    """Living pods of a gang, by clique."""
    by_clique: dict[str, list[str]] = {}
    for pod in pods:
        if not pod.metadata.deleting and pod.labels.get(names.POD_GANG) == gang:
            by_clique.setdefault(pod.labels.get(names.POD_CLIQUE, ""), []).append(pod.name)
    return by_clique

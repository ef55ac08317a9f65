"""Small changes of a pod spec as plain data: variables, claims, GPU requests.

Each function copies what it changes; a template is shared by many pods and is never touched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gangline.api import names
from gangline.api.meta import Raw
from gangline.api.resources import nanos

LISTS = ("containers", "initContainers")


def each_container(spec: Raw, change: Callable[[Raw], Raw]) -> Raw:
    """The spec with every container and init container changed."""
    return spec | {key: [change(container) for container in spec[key]] for key in LISTS if spec.get(key)}


def with_variables(container: Raw, variables: Sequence[Raw]) -> Raw:
    """Variables before the container's own; one of the same name is dropped, because these names are ours."""
    ours = {variable["name"] for variable in variables}
    rest = [variable for variable in container.get("env") or () if variable.get("name") not in ours]
    return container | {"env": [*variables, *rest]}


def with_claim(container: Raw, claim: str) -> Raw:
    resources = container.get("resources") or {}
    claims = resources.get("claims") or []
    if any(item.get("name") == claim for item in claims):
        return container
    return container | {"resources": resources | {"claims": [*claims, {"name": claim}]}}


def wants_gpu(container: Raw) -> bool:
    resources = container.get("resources") or {}
    return any(nanos((resources.get(part) or {}).get(names.NVIDIA_GPU, 0)) != 0 for part in ("requests", "limits"))


def wants_gpus(spec: Raw) -> bool:
    return any(wants_gpu(container) for key in LISTS for container in spec.get(key) or ())


def value(name: str, text: str) -> Raw:
    return {"name": name, "value": text}


def from_label(name: str, label: str) -> Raw:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{label}']"}}}

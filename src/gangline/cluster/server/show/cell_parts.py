"""What cells of many kinds are made of: a name, an age, a selector, the containers of a template.

Pure; used by the files of cells.
"""

from __future__ import annotations

from typing import Any

from gangline.cluster.server.show.tables import Obj, age
from gangline.cluster.server.verbs.subresources.scale_object import selector_text

NONE = "<none>"


def value_at(obj: Any, *path: str) -> Any:
    for key in path:
        obj = obj.get(key) if isinstance(obj, dict) else None
    return obj


def age_of(obj: Obj, now: float) -> str:
    return age(value_at(obj, "metadata", "creationTimestamp"), now)


def name_of(obj: Obj) -> str:
    return str(value_at(obj, "metadata", "name") or "")


def template_cells(obj: Obj) -> list[str]:
    containers = value_at(obj, "spec", "template", "spec", "containers") or []
    return [
        ",".join(container.get("name", "") for container in containers),
        ",".join(container.get("image", "") for container in containers),
    ]


def selector_cell(obj: Obj) -> str:
    selector = value_at(obj, "spec", "selector")
    return (selector_text(selector) if selector else "") or NONE


def few(texts: list[str]) -> str:
    """The first three, and how many more there are."""
    return ",".join(texts[:3]) + (f" + {len(texts) - 3} more..." if len(texts) > 3 else "")


def labels_cell(labels: Obj | None) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE

"""Objects as somebody would write them: without what the cluster wrote into them (`gangline get --clean`).

What is left can be kept in a file and applied to another cluster, or to the same one later. Pure; reads no cluster."""

from __future__ import annotations

from typing import Any

WRITTEN = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "generateName")
HELD = ("ownerReferences", "finalizers", "deletionTimestamp", "deletionGracePeriodSeconds")
"""Who holds an object, and that it goes: an owner is another object in another cluster, and its keeper comes back by
itself."""
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def cleaned(answer: Any) -> Any:
    """An object, or a list with each of its objects. An object that is going is left out of a list."""
    if not isinstance(answer.get("items"), list):
        return _cleaned(answer)
    about = {key: answer[key] for key in ("apiVersion", "kind") if key in answer}
    kept = [item for item in answer["items"] if "deletionTimestamp" not in item["metadata"]]
    return about | {"items": [_cleaned(item) for item in kept]}


def _cleaned(obj: dict[str, Any]) -> dict[str, Any]:
    meta = {key: value for key, value in obj["metadata"].items() if key not in (*WRITTEN, *HELD)}
    notes = {key: value for key, value in meta.pop("annotations", {}).items() if key != APPLIED}
    rest = {key: value for key, value in obj.items() if key not in ("metadata", "status")}
    return rest | {"metadata": meta | ({"annotations": notes} if notes else {})}

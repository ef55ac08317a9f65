"""Cells of volumes, claims to them, and what drives them.

Pure; table_cells.py lists them by kind.
"""

from __future__ import annotations

from typing import Any

from gangline.cluster.server.show.cell_parts import age_of, name_of, value_at
from gangline.cluster.server.show.tables import Obj


def volume_claim_cells(obj: Obj, now: float) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    phase = "Terminating" if value_at(obj, "metadata", "deletionTimestamp") else status.get("phase", "")
    volume = spec.get("volumeName") or ""
    capacity = (value_at(status, "capacity", "storage") or "") if volume else ""
    modes = _modes(status.get("accessModes") or []) if volume else ""
    return [
        name_of(obj),
        phase,
        volume,
        capacity,
        modes,
        spec.get("storageClassName") or "",
        spec.get("volumeAttributesClassName") or "<unset>",
        age_of(obj, now),
        spec.get("volumeMode") or "<unset>",
    ]


def _modes(modes: list[str]) -> str:
    short = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
    return ",".join(word for mode, word in short.items() if mode in modes)


def volume_cells(obj: Obj, now: float) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    claim = spec.get("claimRef")
    phase = "Terminating" if value_at(obj, "metadata", "deletionTimestamp") else status.get("phase", "")
    return [
        name_of(obj),
        value_at(spec, "capacity", "storage") or "",
        _modes(spec.get("accessModes") or []),
        spec.get("persistentVolumeReclaimPolicy") or "",
        phase,
        f"{claim.get('namespace')}/{claim.get('name')}" if claim else "",
        spec.get("storageClassName") or "",
        spec.get("volumeAttributesClassName") or "<unset>",
        status.get("reason") or "",
        age_of(obj, now),
        spec.get("volumeMode") or "<unset>",
    ]


def driver_cells(obj: Obj, now: float) -> list[Any]:
    spec = obj.get("spec") or {}
    return [
        name_of(obj),
        *(bool(spec.get(flag)) for flag in ("attachRequired", "podInfoOnMount", "storageCapacity")),
        _audiences(obj),
        bool(spec.get("requiresRepublish")),
        ",".join(spec.get("volumeLifecycleModes") or []),
        age_of(obj, now),
    ]


def _audiences(obj: Obj) -> str:
    return ",".join(item.get("audience", "") for item in value_at(obj, "spec", "tokenRequests") or []) or "<unset>"

"""What may change of a pod, and through which endpoint: its spec, its ephemeral containers, its resources.

Pure; pods.py asks. The status has rules of its own there.
"""

from __future__ import annotations

from typing import Any

from gangline.cluster.kinds.checks import Obj, Problems, with_paths
from gangline.cluster.kinds.pods import placement
from gangline.cluster.kinds.pods.service_quality import quality
from gangline.rules.values import problems as say

_UPDATABLE = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)


_RESIZABLE = ("cpu", "memory")


def spec_update(new: Obj, old: Obj) -> Problems:
    for name in ("containers", "initContainers"):
        if len(new.get(name) or []) != len(old.get(name) or []):
            yield say.forbidden(f"spec.{name}", "pod updates may not add or remove containers")
            return
    for where, container in with_paths(new.get("containers"), "spec.containers"):
        if not container.get("image"):
            yield say.required(f"{where}.image")
    yield from _deadline(new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds"))
    yield from placement.only_added(new.get("tolerations") or [], old.get("tolerations") or [], "spec.tolerations")
    yield from placement.only_deleted(
        new.get("schedulingGates") or [], old.get("schedulingGates") or [], "spec.schedulingGates"
    )
    gated = bool(old.get("schedulingGates"))
    if gated:
        yield from _gated_changes(new, old)
    if _fixed(new, old, gated) != _fixed(old, old, gated):
        yield say.forbidden("spec", f"pod updates may not change fields other than {','.join(_UPDATABLE)}\n")


def _deadline(new: Any, old: Any) -> Problems:
    path = "spec.activeDeadlineSeconds"
    if new is None:
        if old is not None:
            yield say.invalid(path, None, "must not update from a positive integer to nil value")
    elif not 0 <= new <= 2147483647:
        yield say.invalid(path, new, "must be between 0 and 2147483647, inclusive")
    elif old is not None and new > old:
        yield say.invalid(path, new, "must be less than or equal to previous value")


def _fixed(spec: Obj, old: Obj, gated: bool) -> Obj:
    """The part of a spec that may not change."""
    changing = {"activeDeadlineSeconds", "tolerations", "schedulingGates"} | ({"nodeSelector"} if gated else set())
    out = {name: value for name, value in spec.items() if name not in changing}
    for name in ("containers", "initContainers"):
        if out.get(name):
            out[name] = [{key: value for key, value in item.items() if key != "image"} for item in out[name]]
    if old.get("terminationGracePeriodSeconds", 0) < 0 and out.get("terminationGracePeriodSeconds") == 1:
        out["terminationGracePeriodSeconds"] = old["terminationGracePeriodSeconds"]
    if gated:
        rest = {name: value for name, value in (out.pop("affinity", None) or {}).items() if name != "nodeAffinity"}
        if rest:
            out["affinity"] = rest
    return out


def _gated_changes(new: Obj, old: Obj) -> Problems:
    before, after = old.get("nodeSelector") or {}, new.get("nodeSelector") or {}
    if any(after.get(name) != value for name, value in before.items()):
        yield say.invalid(
            "spec.nodeSelector", after, "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        )
    yield from _narrower(
        ((new.get("affinity") or {}).get("nodeAffinity")), (old.get("affinity") or {}).get("nodeAffinity")
    )


def _narrower(new: Obj | None, old: Obj | None) -> Problems:
    """While gated, required node affinity may only become stricter."""
    name = "requiredDuringSchedulingIgnoredDuringExecution"
    path = f"spec.affinity.nodeAffinity.{name}.nodeSelectorTerms"
    terms, before = (((each_one or {}).get(name) or {}).get("nodeSelectorTerms") or [] for each_one in (new, old))
    if not before or terms == before:
        return
    if len(terms) != len(before):
        yield say.invalid(path, terms, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")
        return
    for index, (term, was) in enumerate(zip(terms, before, strict=True)):
        for part in ("matchExpressions", "matchFields"):
            now = {say.compact(rule) for rule in term.get(part) or []}
            if any(say.compact(rule) not in now for rule in was.get(part) or []):
                yield say.invalid(f"{path}[{index}]", term, "only additions are allowed (no mutations or deletions)")
                break


def ephemeral_update(new: Obj, old: Obj) -> Problems:
    path = "spec.ephemeralContainers"
    after = {item.get("name"): item for item in new.get("ephemeralContainers") or []}
    for item in old.get("ephemeralContainers") or []:
        name = item.get("name")
        if name not in after:
            yield say.forbidden(path, f'existing ephemeral containers "{name}" may not be removed\n')
        elif after[name] != item:
            yield say.forbidden(path, f'existing ephemeral containers "{name}" may not be changed\n')


def resize_update(new: Obj, old: Obj) -> Problems:
    if quality(new) != quality(old):
        yield say.invalid("spec", quality(old), "Pod QOS Class may not change as a result of resizing")
    for name in ("containers", "initContainers"):
        if [item.get("name") for item in new.get(name) or []] != [item.get("name") for item in old.get(name) or []]:
            yield say.forbidden(f"spec.{name}", f"{name} may not be added or removed on resize")
            return
        for index, (after, before) in enumerate(zip(new.get(name) or [], old.get(name) or [], strict=True)):
            yield from _not_removed(
                after.get("resources") or {}, before.get("resources") or {}, f"spec.{name}[{index}].resources"
            )
            if _fixed_resources(after) != _fixed_resources(before):
                yield say.forbidden("spec", "only cpu and memory resources are mutable")
                return


def _not_removed(new: Obj, old: Obj, path: str) -> Problems:
    for part in ("limits", "requests"):
        if any(name not in (new.get(part) or {}) for name in old.get(part) or {} if name in _RESIZABLE):
            yield say.forbidden(f"{path}.{part}", f"resource {part} cannot be removed")


def _fixed_resources(container: Obj) -> Obj:
    needs = container.get("resources") or {}
    return {
        part: {name: value for name, value in (needs.get(part) or {}).items() if name not in _RESIZABLE}
        for part in ("requests", "limits")
    }

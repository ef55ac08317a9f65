"""Rules of Pod: what the server adds at creation, what may change afterwards and through which endpoint."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

from gangline.api import resources
from gangline.cluster.kinds.checks import IMMUTABLE, Obj, Problems, ip, qualified, subdomain, with_paths
from gangline.cluster.kinds.pods import containers, placement
from gangline.cluster.kinds.pods.spec_checks import pod_spec
from gangline.cluster.kinds.pods.spec_defaults import default_pod_spec, default_requests
from gangline.cluster.kinds.rules import KindRules
from gangline.errors import Problem
from gangline.rules.values import problems as say

_UPDATABLE = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)
_RESIZABLE = ("cpu", "memory")


class PodRules(KindRules):
    generation = True
    has_status = True
    status_keeps = ("ownerReferences",)

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        default_pod_spec(spec)
        default_requests(spec)
        spec.setdefault("enableServiceLinks", True)

    def prepare_create(self, obj: Obj) -> None:
        obj["metadata"]["generation"] = 1
        if obj["spec"].get("terminationGracePeriodSeconds", 0) < 0:
            obj["spec"]["terminationGracePeriodSeconds"] = 1
        obj["status"] = {"phase": "Pending", "qosClass": quality(obj["spec"])}
        if obj["spec"].get("schedulingGates"):
            obj["status"]["conditions"] = [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "reason": "SchedulingGated",
                    "lastProbeTime": None,
                    "lastTransitionTime": obj["metadata"].get("creationTimestamp"),
                    "message": "Scheduling is blocked due to non-empty scheduling gates",
                }
            ]

    def prepare_update(self, new: Obj, old: Obj, subresource: str = "") -> None:
        if subresource in ("resize", "ephemeralcontainers"):
            _only_part(new, old, subresource)
        else:
            self.keep_other_half(new, old, subresource)
        if subresource == "status" and not (new.get("status") or {}).get("qosClass"):
            new.setdefault("status", {})["qosClass"] = (old.get("status") or {}).get("qosClass", "BestEffort")
        if subresource == "status":
            _agree_on_address(new["status"])
        before = old["metadata"].get("generation", 0)
        new["metadata"]["generation"] = (
            before + 1 if subresource not in ("status", "binding") and self.spec_changed(new, old) else before
        )
        if not new["metadata"]["generation"]:
            del new["metadata"]["generation"]

    def validate(self, obj: Obj) -> list[Problem]:
        return [*self._whole(obj), *_at_creation(obj["spec"])]

    def _whole(self, obj: Obj) -> Problems:
        spec = obj.get("spec") or {}
        if obj["metadata"].get("annotations"):
            yield from _annotations(obj["metadata"]["annotations"], spec)
        yield from pod_spec(spec, "spec")
        yield from containers.image_spaces(spec.get("containers") or [], "spec.containers")
        yield from containers.image_spaces(spec.get("initContainers") or [], "spec.initContainers")
        if not spec.get("serviceAccountName"):
            yield from _tokens_of_nobody(spec)

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource == "status":
            return [*_status_update(new, old)]
        if subresource == "ephemeralcontainers":
            return [*self._whole(new), *_ephemeral_update(new["spec"], old["spec"])]
        if subresource == "resize":
            return [*self._whole(new), *_resize(new["spec"], old["spec"])]
        if subresource == "binding":
            return []
        if self.spec_changed(new, old) or new["metadata"].get("annotations") != old["metadata"].get("annotations"):
            return [*self._whole(new), *_spec_update(new["spec"], old["spec"])]
        return []

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        if old is not None and not self.spec_changed(obj, old):
            return []
        critical = "scheduler.alpha.kubernetes.io/critical-pod" in (obj["metadata"].get("annotations") or ())
        told = (
            "metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "
            '"priorityClassName" '
            "field instead"
        )
        return [*([told] if critical else ()), *spec_warnings(obj.get("spec") or {}, "spec")]


def _tokens_of_nobody(spec: Obj) -> Problems:
    for where, volume in with_paths(spec.get("volumes") or [], "spec.volumes"):
        for source, item in with_paths(
            (volume.get("projected") or {}).get("sources") or [], f"{where}.projected.sources"
        ):
            if item.get("serviceAccountToken") is not None:
                yield say.forbidden(
                    f"{source}.serviceAccountToken", "must not be specified when serviceAccountName is not set"
                )


def _agree_on_address(status: Obj) -> None:
    """podIP leads where it is given, podIPs where it is not."""
    first = next((item.get("ip") for item in status.get("podIPs") or []), None)
    if status.get("podIP") and status["podIP"] != first:
        status["podIPs"] = [{"ip": status["podIP"]}]
    elif first and not status.get("podIP"):
        status["podIP"] = first


def quality(spec: Obj) -> str:
    """The quality-of-service class: guaranteed only when every container's cpu and memory limits equal its requests."""
    shared = spec.get("resources") or {}
    if shared.get("requests") or shared.get("limits"):
        needs = [shared]
    else:
        containers = [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
        needs = [container.get("resources") or {} for container in containers]
    pairs = [(_compute(need.get("requests")), _compute(need.get("limits"))) for need in needs]
    if not any(requests or limits for requests, limits in pairs):
        return "BestEffort"
    guaranteed = all(set(limits) == {"cpu", "memory"} and requests == limits for requests, limits in pairs)
    return "Guaranteed" if guaranteed else "Burstable"


def _compute(amounts: Obj | None) -> dict[str, int]:
    found = {name: resources.nanos(value) for name, value in (amounts or {}).items() if name in ("cpu", "memory")}
    return {name: value for name, value in found.items() if value > 0}


def _only_part(new: Obj, old: Obj, subresource: str) -> None:
    """These endpoints write one part of the spec; the rest stays as it was."""
    wanted = new.get("spec") or {}
    spec = copy.deepcopy(old["spec"])
    if subresource == "ephemeralcontainers":
        if wanted.get("ephemeralContainers"):
            spec["ephemeralContainers"] = wanted["ephemeralContainers"]
        else:
            spec.pop("ephemeralContainers", None)
    else:
        for name in ("containers", "initContainers"):
            asked = {item.get("name"): item for item in wanted.get(name) or []}
            for item in spec.get(name) or []:
                source = asked.get(item.get("name"))
                if source is not None:
                    for part in ("resources", "resizePolicy"):
                        if part in source:
                            item[part] = source[part]
    new["spec"] = spec
    new["status"] = old.get("status") or {}
    kept = new["metadata"].get("managedFields")
    new["metadata"] = {**old["metadata"], **({"managedFields": kept} if kept else {})}


def _at_creation(spec: Obj) -> Problems:
    if spec.get("ephemeralContainers"):
        yield say.forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        yield say.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")


def _spec_update(new: Obj, old: Obj) -> Problems:
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
            if any(rule not in (term.get(part) or []) for rule in was.get(part) or []):
                yield say.invalid(f"{path}[{index}]", term, "only additions are allowed (no mutations or deletions)")
                break


def _ephemeral_update(new: Obj, old: Obj) -> Problems:
    path = "spec.ephemeralContainers"
    after = {item.get("name"): item for item in new.get("ephemeralContainers") or []}
    for item in old.get("ephemeralContainers") or []:
        name = item.get("name")
        if name not in after:
            yield say.forbidden(path, f'existing ephemeral containers "{name}" may not be removed\n')
        elif after[name] != item:
            yield say.forbidden(path, f'existing ephemeral containers "{name}" may not be changed\n')


def _resize(new: Obj, old: Obj) -> Problems:
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


def _status_update(new: Obj, old: Obj) -> Problems:
    spec, after, before = new.get("spec") or {}, new.get("status") or {}, old.get("status") or {}
    yield from _nominated_node(spec, after, before)
    yield from _addresses(after)
    for where, condition in with_paths(after.get("conditions"), "status.conditions"):
        yield from qualified(condition.get("type") or "", f"{where}.Type")
    if before.get("qosClass") and after.get("qosClass") != before["qosClass"]:
        yield say.invalid("status.qosClass", after.get("qosClass"), IMMUTABLE)
    claims = [claim.get("name") for claim in spec.get("resourceClaims") or []]
    for where, item in with_paths(after.get("resourceClaimStatuses"), "status.resourceClaimStatuses"):
        if item.get("name") not in claims:
            yield say.invalid(
                f"{where}.name", item.get("name") or "", "must match the name of an entry in `spec.resourceClaims`"
            )
    if spec.get("restartPolicy") != "Always":
        for name in ("containerStatuses", "initContainerStatuses"):
            yield from _ended_containers(name, after, before, spec.get("restartPolicy"))


def _nominated_node(spec: Obj, after: Obj, before: Obj) -> Problems:
    node = after.get("nominatedNodeName")
    if not node:
        return
    yield from subdomain(node, "status.nominatedNodeName")
    if spec.get("nodeName") and node != before.get("nominatedNodeName"):
        yield say.forbidden("status.nominatedNodeName", "may not be set on pods that are already bound to a node")


def _ended_containers(name: str, after: Obj, before: Obj, restart: str | None) -> Problems:
    """A container that has ended for good does not run again."""
    was = {item.get("name"): item for item in before.get(name) or []}
    for where, item in with_paths(after.get(name), f"status.{name}"):
        ended = ((was.get(item.get("name")) or {}).get("state") or {}).get("terminated")
        if ended is None or (restart == "OnFailure" and ended.get("exitCode", 0) != 0):
            continue
        if (item.get("state") or {}).get("terminated") is None:
            yield say.forbidden(f"{where}.state", "may not be transitioned to non-terminated state")


def _addresses(status: Obj) -> Problems:
    items = status.get("podIPs") or []
    for where, item in with_paths(items, "status.podIPs"):
        yield from ip(item.get("ip"), where)
    families = [":" in (item.get("ip") or "") for item in items]
    if len(families) != len(set(families)):
        dumped = [{"IP": item.get("ip") or ""} for item in items]
        yield say.invalid("status.podIPs", dumped, "may specify no more than one IP for each IP family")
    hosts = status.get("hostIPs") or []
    if hosts and hosts[0].get("ip") != (status.get("hostIP") or ""):
        yield say.invalid("status.hostIPs[0].ip", hosts[0].get("ip"), "must be equal to `hostIP`")


def _annotations(given: Obj, spec: Obj) -> Problems:
    """Annotations that mean something."""
    cost = given.get("controller.kubernetes.io/pod-deletion-cost")
    if cost is not None and not _is_int32(cost):
        yield say.invalid(
            "metadata.annotations[controller.kubernetes.io/pod-deletion-cost]", cost, "must be a 32bit integer"
        )
    mirror = given.get("kubernetes.io/config.mirror")
    if mirror is not None and not spec.get("nodeName"):
        yield say.invalid(
            "metadata.annotations[kubernetes.io/config.mirror]",
            mirror,
            "must set spec.nodeName if mirror pod annotation is set",
        )


def _is_int32(text: str) -> bool:
    return bool(re.fullmatch(r"-?(0|[1-9][0-9]*)", text)) and -(2**31) <= int(text) < 2**31


def spec_warnings(spec: Obj, path: str) -> list[str]:
    """What is accepted but probably not meant."""
    found: list[str] = []
    for where, secret in with_paths(spec.get("imagePullSecrets"), f"{path}.imagePullSecrets"):
        if not secret.get("name"):
            found.append(f'{where}.name: invalid empty name ""')
    for name in ("initContainers", "containers"):
        for where, container in with_paths(spec.get(name), f"{path}.{name}"):
            found += _container_warnings(container, where)
    for where, volume in with_paths(spec.get("volumes"), f"{path}.volumes"):
        if volume.get("gitRepo") is not None:
            found.append(f"{where}.gitRepo: deprecated in v1.11, and disabled by default in v1.33+")
        if any(not source for source in (volume.get("projected") or {}).get("sources") or []):
            found.append(f'volume "{volume.get("name")}" (Projected) has no sources provided')
    return found


def _container_warnings(container: Obj, path: str) -> list[str]:
    found = []
    for kind in ("limits", "requests"):
        amounts = (container.get("resources") or {}).get(kind) or {}
        for name in ("ephemeral-storage", "memory"):
            amount = amounts.get(name)
            if amount is not None and resources.nanos(amount) % resources.NANO:
                found.append(
                    f'{path}.resources.{kind}[{name}]: fractional byte value "{amount}" is invalid, must be an integer'
                )
    seen: set[Any] = set()
    for index, variable in enumerate(container.get("env") or []):
        if variable.get("name") in seen:
            found.append(
                f'{path}.env[{index}]: hides previous definition of "{variable.get("name")}", which may be dropped '
                f"when using "
                "apply"
            )
        seen.add(variable.get("name"))
    return [*found, *_port_warnings(container.get("ports") or [], path)]


def _port_warnings(items: list[Obj], path: str) -> Iterator[str]:
    for index, item in enumerate(items):
        same = (item.get("containerPort"), item.get("protocol"), item.get("hostPort") or 0, item.get("hostIP") or "")
        for earlier, other in enumerate(items[:index]):
            if same == (
                other.get("containerPort"),
                other.get("protocol"),
                other.get("hostPort") or 0,
                other.get("hostIP") or "",
            ):
                yield f"{path}.ports[{index}]: duplicate port definition with {path}.ports[{earlier}]"
                break

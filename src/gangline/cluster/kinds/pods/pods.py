"""Rules of Pod: what the server adds at creation, what its status may say, and what is warned of.

What may change of its spec, and through which endpoint, is in pod_updates.py.
"""

from __future__ import annotations

import copy
import re

from gangline.cluster.kinds.checks import IMMUTABLE, Obj, Problems, ip, qualified, subdomain, with_paths
from gangline.cluster.kinds.pods import containers
from gangline.cluster.kinds.pods.pod_updates import ephemeral_update, resize_update, spec_update
from gangline.cluster.kinds.pods.pod_warnings import name_warnings, pod_warnings
from gangline.cluster.kinds.pods.service_quality import quality
from gangline.cluster.kinds.pods.spec_checks import pod_spec
from gangline.cluster.kinds.pods.spec_defaults import default_pod_spec, default_requests
from gangline.cluster.kinds.rules import KindRules
from gangline.errors import Problem
from gangline.rules.values import problems as say


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
            new["metadata"].pop("deletionTimestamp", None)
            if "deletionTimestamp" in old["metadata"]:
                new["metadata"]["deletionTimestamp"] = old["metadata"]["deletionTimestamp"]
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
            return [*self._whole(new), *ephemeral_update(new["spec"], old["spec"])]
        if subresource == "resize":
            return [*self._whole(new), *resize_update(new["spec"], old["spec"])]
        if subresource == "binding":
            return []
        if self.spec_changed(new, old) or new["metadata"].get("annotations") != old["metadata"].get("annotations"):
            return [*self._whole(new), *spec_update(new["spec"], old["spec"])]
        return []

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        """People rarely change pods by hand: only a new one is warned of."""
        if old is not None:
            return []
        return [*name_warnings(obj["metadata"].get("name") or "", "the Pod's hostname"), *pod_warnings(obj)]


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

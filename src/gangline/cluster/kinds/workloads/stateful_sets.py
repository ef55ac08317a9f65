"""Rules of StatefulSet: pods with names and claims of their own."""

from __future__ import annotations

from gangline.cluster.kinds.checks import Obj, Problems, label, not_negative, one_of, with_paths
from gangline.cluster.kinds.pods.pod_warnings import claim_warnings
from gangline.cluster.kinds.storage.claims import claim_spec
from gangline.cluster.kinds.workloads.workloads import WorkloadRules
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.names import label_problems


class StatefulSetRules(WorkloadRules):
    names_pods = False
    noun = "statefulset"
    keeper = "StatefulSet"
    unreadable = ""
    counts = (
        "replicas",
        "readyReplicas",
        "currentReplicas",
        "updatedReplicas",
        "availableReplicas",
        "observedGeneration",
    )
    ceilings = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    too_available = "cannot be greater than status.readyReplicas"

    def name_problems(self, name: str) -> list[str]:
        return label_problems(name)

    def own_defaults(self, obj: Obj, spec: Obj) -> None:
        spec.setdefault("podManagementPolicy", "OrderedReady")
        strategy = spec.setdefault("updateStrategy", {})
        strategy.setdefault("type", "RollingUpdate")
        if strategy["type"] == "RollingUpdate":
            rolling = strategy.setdefault("rollingUpdate", {})
            rolling.setdefault("partition", 0)
            rolling.pop("maxUnavailable", None)  # behind a gate that is off
        retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
        retention.setdefault("whenDeleted", "Retain")
        retention.setdefault("whenScaled", "Retain")
        spec.setdefault("replicas", 1)
        spec.setdefault("revisionHistoryLimit", 10)
        for claim in spec.get("volumeClaimTemplates") or []:
            claim.setdefault("apiVersion", "v1")
            claim.setdefault("kind", "PersistentVolumeClaim")
            claim.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
            claim.setdefault("status", {}).setdefault("phase", "Pending")

    def checks(self, spec: Obj) -> Problems:
        policy = spec.get("podManagementPolicy")
        if not policy:
            yield say.required("spec.podManagementPolicy")
        elif policy not in ("OrderedReady", "Parallel"):
            yield say.invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
        yield from _update_strategy(spec.get("updateStrategy") or {})
        retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
        for name in ("whenScaled", "whenDeleted"):
            yield from one_of(
                retention.get(name), ("Retain", "Delete"), f"spec.persistentVolumeClaimRetentionPolicy.{name}"
            )
        for where, claim in with_paths(spec.get("volumeClaimTemplates"), "spec.volumeClaimTemplates"):
            yield from claim_spec(claim.get("spec") or {}, f"{where}.spec")
        yield from not_negative(spec.get("replicas"), "spec.replicas")
        yield from not_negative(spec.get("minReadySeconds", 0), "spec.minReadySeconds")
        yield from not_negative((spec.get("ordinals") or {}).get("start"), "spec.ordinals.start")
        if spec.get("serviceName"):
            yield from label(spec["serviceName"], "spec.serviceName")
        yield from self.selector(spec)
        yield from self.pods(_with_claims(spec))

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        limit = obj["spec"].get("revisionHistoryLimit")
        negative_limit = [
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
        ]
        below = "" if old is None else ".Spec"
        return [
            *super().warnings(obj, old),
            *(
                warning
                for where, claim in with_paths(obj["spec"].get("volumeClaimTemplates"), "spec.volumeClaimTemplates")
                for warning in claim_warnings(claim.get("spec") or {}, f"{where}{below}")
            ),
            *(negative_limit if limit is not None and limit < 0 else ()),
        ]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource == "status":
            return [*self.status_checks(new.get("status") or {}, old.get("status") or {})]
        free = (
            "replicas",
            "ordinals",
            "template",
            "updateStrategy",
            "revisionHistoryLimit",
            "persistentVolumeClaimRetentionPolicy",
            "minReadySeconds",
        )
        fixed = [
            {name: value for name, value in spec.items() if name not in free} for spec in (new["spec"], old["spec"])
        ]
        problems = [*self.checks(new["spec"])]
        if fixed[0] != fixed[1]:
            problems.append(
                say.forbidden(
                    "spec",
                    "updates to statefulset spec for fields other than "
                    + ", ".join(f"'{name}'" for name in free[:-1])
                    + " and 'minReadySeconds' are forbidden",
                )
            )
        return problems


def _with_claims(spec: Obj) -> Obj:
    """A spec whose pods have the volumes that its claim templates will give them."""
    claims = [(claim.get("metadata") or {}).get("name") or "" for claim in spec.get("volumeClaimTemplates") or []]
    if not claims:
        return spec
    about = spec.get("template") or {}
    pod = about.get("spec") or {}
    own = [volume for volume in pod.get("volumes") or [] if volume.get("name") not in claims]
    given = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in dict.fromkeys(claims)]
    return {**spec, "template": {**about, "spec": {**pod, "volumes": [*given, *own]}}}


def _update_strategy(strategy: Obj) -> Problems:
    path, kind = "spec.updateStrategy", strategy.get("type")
    if not kind:
        yield say.required(path)
    elif kind == "OnDelete":
        if strategy.get("rollingUpdate") is not None:
            yield say.invalid(
                f"{path}.rollingUpdate", strategy["rollingUpdate"], "only allowed for updateStrategy 'RollingUpdate'"
            )
    elif kind == "RollingUpdate":
        yield from not_negative(
            (strategy.get("rollingUpdate") or {}).get("partition", 0), f"{path}.rollingUpdate.partition"
        )
    else:
        yield say.invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")

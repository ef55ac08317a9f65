"""A Config as it is meant: what it says, and the defaults of what it leaves out.

KAI's definitions carry no defaults, so readers fill them in; here that is done once, in memory, and never
written back. services.py, shapes.py and shards.py ask here. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gangline.api import names
from gangline.api.meta import Raw
from gangline.config import GROVE, KAI, manner
from gangline.installer.settings import Image, InstallerSettings
from gangline.rules.schedulers import served

HOST = "kubernetes.io/hostname"
SECURITY: Raw = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "runAsUser": 10000,
    "capabilities": {"drop": ["ALL"]},
}


def at(data: Any, path: str, default: Any = None) -> Any:
    """What stands at `a.b.c`; a null counts as nothing."""
    for part in path.split("."):
        data = data.get(part) if isinstance(data, Mapping) else None
    return default if data is None else data


@dataclass(frozen=True, slots=True)
class ConfigReading:
    spec: Raw
    settings: InstallerSettings = field(default_factory=InstallerSettings)

    def at(self, path: str, default: Any = None) -> Any:
        return at(self.spec, path, default)

    # --- names --------------------------------------------------------------------------------------------------------

    @property
    def namespace(self) -> str:
        return str(self.at("namespace") or names.KAI_NAMESPACE)

    @property
    def compat(self) -> tuple[str, ...]:
        """Upstream systems that all components imitate."""
        return tuple(item for item in self.at("global.compat", self.settings.compat) if item in (GROVE, KAI))

    @property
    def scheduler_names(self) -> str:
        """Whose pods are served, as a flag says it."""
        return str(self.at("global.schedulerName") or ",".join(served(manner(self.compat))))

    @property
    def scheduler_name(self) -> str:
        """The first one, after which schedulers and their leases are called."""
        return next(filter(None, (part.strip() for part in self.scheduler_names.split(","))), names.KAI_SCHEDULER)

    @property
    def pool_key(self) -> str:
        return str(self.at("global.nodePoolLabelKey", names.NODE_POOL))

    @property
    def queue_key(self) -> str:
        return str(self.at("global.queueLabelKey") or names.QUEUE)

    @property
    def reservation_namespace(self) -> str:
        return str(self.at("binder.resourceReservation.namespace") or names.RESERVATION_NAMESPACE)

    @property
    def reservation_account(self) -> str:
        return str(self.at("binder.resourceReservation.serviceAccountName") or names.RESERVATION_NAMESPACE)

    @property
    def reservation_app(self) -> str:
        return str(self.at("binder.resourceReservation.appLabel") or names.RESERVATION_NAMESPACE)

    @property
    def scale_namespace(self) -> str:
        return str(self.at("nodeScaleAdjuster.args.nodeScaleNamespace") or names.SCALE_NAMESPACE)

    @property
    def scale_account(self) -> str:
        return str(self.at("nodeScaleAdjuster.args.nodeScaleServiceAccount") or names.SCALE_NAMESPACE)

    @property
    def namespaces(self) -> dict[str, str]:
        """Where the rights of components are needed: the usual namespace → the one that this Config names."""
        return {
            names.KAI_NAMESPACE: self.namespace,
            names.SYSTEM_NAMESPACE: self.namespace,
            names.RESERVATION_NAMESPACE: self.reservation_namespace,
            names.SCALE_NAMESPACE: self.scale_namespace,
        }

    # --- how pods of a section run ------------------------------------------------------------------------------------

    def enabled(self, section: str) -> bool:
        return bool(self.at(f"{section}.service.enabled", True))

    def replicas(self, section: str) -> int:
        return int(self.at(f"{section}.replicas", self.at("global.replicaCount", 1)))

    def image(self, path: str) -> Image:
        return self.settings.image.with_parts(self.at(path, {}))

    def pull_secrets(self) -> list[Raw]:
        """Each once; the older field counts as one of them."""
        secrets = [*self.at("global.additionalImagePullSecrets", []), self.at("global.imagesPullSecret", "")]
        return [{"name": name} for name in sorted(set(filter(None, secrets)))]

    def security(self) -> Raw | None:
        """Of every container; OpenShift chooses its own."""
        if self.at("global.openshift", False):
            return None
        context: Raw = self.at("global.securityContext", SECURITY)
        return context

    def resources(self, section: str, usual: Mapping[str, Mapping[str, str]]) -> Raw:
        """What the section says, and the component's own defaults for the rest. A default never contradicts what was
        said: a limit alone is the request too, as in Kubernetes, and a request alone has no limit."""
        given = self.at(f"{section}.service.resources", {})
        asked, most = dict(given.get("requests") or {}), dict(given.get("limits") or {})
        requests = {**usual.get("requests", {}), **most, **asked}
        limits = {name: value for name, value in usual.get("limits", {}).items() if name not in asked} | most
        return {"requests": requests, "limits": limits} | ({"claims": given["claims"]} if given.get("claims") else {})

    def affinity(self, section: str, app: str) -> Raw:
        """Each part from the section, else from `global`; copies of one app go to different nodes unless another rule
        is given."""
        own, common = self.at(f"{section}.service.affinity", {}), self.at("global.affinity", {})
        parts = ("nodeAffinity", "podAffinity", "podAntiAffinity")
        rules: Raw = {part: own.get(part) or common.get(part) for part in parts if own.get(part) or common.get(part)}
        return rules if "podAntiAffinity" in rules else rules | {"podAntiAffinity": self._apart(app)}

    @property
    def strictly_apart(self) -> bool:
        return bool(self.at("global.requireDefaultPodAntiAffinityTerm", False))

    def _apart(self, app: str) -> Raw:
        term: Raw = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": HOST}
        preferred: Raw = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]}
        return preferred | ({"requiredDuringSchedulingIgnoredDuringExecution": [term]} if self.strictly_apart else {})

    def autoscaler(self, section: str) -> Raw | None:
        """The section's vertical autoscaler, or the one for all; None where it is off."""
        autoscaler: Raw = self.at(f"{section}.vpa") or self.at("global.vpa", {})
        return autoscaler if autoscaler.get("enabled") else None

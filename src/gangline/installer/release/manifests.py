"""What `gangline install` brings into a cluster: definitions, namespaces, the installer with its rights, defaults, a
Config and a shard.

Everything after that is the installer's work. Each object says how it is written: what is ours is applied anew by every
install, what an administrator may have changed since is only made where it is missing. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gangline.api import names
from gangline.api.kinds import CONFIG, CRD, DEPLOYMENT, NAMESPACE, SCHEDULING_SHARD, SERVICE_ACCOUNT, Kind
from gangline.api.meta import Raw
from gangline.errors import BadInput
from gangline.installer.config_reader import ConfigReading, at
from gangline.installer.contract import CONFIG_NAME, OURS, meta
from gangline.installer.objects.services import PROBES, SMALL
from gangline.installer.objects.shapes import RunningComponent, deployment
from gangline.installer.settings import InstallerSettings

ACCOUNT = "installer"
DEFAULT_SHARD = "default"
DEFAULT_CONFIG: Raw = {"nodeScaleAdjuster": {"service": {"enabled": False}}}
"""Clusters without an autoscaler need no adjuster; a Config of one's own says otherwise."""


@dataclass(frozen=True, slots=True)
class Manifest:
    kind: Kind[Any]
    obj: Raw
    once: bool = False
    """Only made where it is missing."""

    @property
    def name(self) -> str:
        return str(self.obj["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.obj["metadata"].get("namespace", ""))

    @property
    def whole(self) -> Raw:
        """As it is printed."""
        return {"apiVersion": self.kind.api_version, "kind": self.kind.kind, **self.obj}


Pairs = Iterable[tuple[Kind[Any], Raw]]
MOST_NAMED = 5
"""Objects that a refusal names."""


def manifests(
    settings: InstallerSettings, definitions: Iterable[Raw], rights: Pairs, defaults: Pairs, given: Sequence[Raw]
) -> list[Manifest]:
    """In the order in which they are written. `given`: the user's own Config and shards."""
    config, shards = wanted(given)
    reading = ConfigReading(config.obj.get("spec") or {}, settings)
    spaces = dict.fromkeys(
        (names.SYSTEM_NAMESPACE, reading.namespace, reading.reservation_namespace, reading.scale_namespace)
    )
    return [
        *(Manifest(CRD, definition) for definition in definitions),
        *(Manifest(NAMESPACE, {"metadata": {"name": name, "labels": dict(OURS)}}, once=True) for name in spaces),
        Manifest(SERVICE_ACCOUNT, {"metadata": meta(names.INSTALLER, ACCOUNT, names.SYSTEM_NAMESPACE)}),
        *(Manifest(kind, obj) for kind, obj in rights),
        Manifest(DEPLOYMENT, _installer(reading)),
        *(Manifest(kind, obj, once=True) for kind, obj in defaults),
        config,
        *shards,
    ]


def wanted(given: Sequence[Raw]) -> tuple[Manifest, list[Manifest]]:
    """The Config and the shards: the user's, or else the usual ones."""
    configs = [item for item in given if _is(item, CONFIG)]
    shards = [item for item in given if _is(item, SCHEDULING_SHARD)]
    others = [
        f"{item.get('kind')} {at(item, 'metadata.name', '')}"
        for item in given
        if not _is(item, CONFIG) and not _is(item, SCHEDULING_SHARD)
    ]
    if others:
        rest = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
        others_text = ", ".join(others[:MOST_NAMED]) + rest
        raise BadInput(f"--config takes a Config and SchedulingShards of {CONFIG.api_version}, not {others_text}")
    strange = [str(at(config, "metadata.name", "")) for config in configs if at(config, "metadata.name") != CONFIG_NAME]
    if strange or len(configs) > 1:
        raise BadInput(
            f"there is one Config, named {CONFIG_NAME}; found {', '.join(strange) or f'{len(configs)} of them'}"
        )
    usual = Manifest(CONFIG, {"metadata": {"name": CONFIG_NAME}, "spec": DEFAULT_CONFIG}, once=True)
    shard = Manifest(SCHEDULING_SHARD, {"metadata": {"name": DEFAULT_SHARD}, "spec": {}}, once=True)
    return (
        Manifest(CONFIG, _bare(configs[0])) if configs else usual,
        [Manifest(SCHEDULING_SHARD, _bare(item)) for item in shards] or [shard],
    )


def _is(obj: Raw, kind: Kind[Any]) -> bool:
    return (obj.get("apiVersion"), obj.get("kind")) == (kind.api_version, kind.kind)


def _bare(obj: Raw) -> Raw:
    """Without what only a server writes."""
    meta = {key: value for key, value in obj["metadata"].items() if key in ("name", "labels", "annotations")}
    return {"metadata": meta, "spec": obj.get("spec") or {}}


def _installer(reading: ConfigReading) -> Raw:
    """The installer's own Deployment, where the Config lets all pods go: one copy, which keeps no distance from others.
    Manners are the Config's to say, as it stands later."""
    flags = {
        "image": str(reading.settings.image),
        "half": reading.settings.half,
        "health-probe-bind-address": f":{PROBES}",
    }
    alone = {"replicaCount": 1, "requireDefaultPodAntiAffinityTerm": False, "compat": []}
    home = ConfigReading(
        {"namespace": names.SYSTEM_NAMESPACE, "global": {**reading.at("global", {}), **alone}}, reading.settings
    )
    return deployment(
        home, RunningComponent(names.INSTALLER, "installer", "installer", flags, SMALL, PROBES, account=ACCOUNT)
    )

"""The NUMA placement exporter, a DaemonSet: KAI's own program, which ours reads the answers of.

Our exporter serves simulated nodes only, so a Config that wants one on real nodes must name an image of KAI's. Wanted
by hand, or, by default, when some shard switches the plugin `numa` on. Pure."""

from __future__ import annotations

from gangline.api.kinds import DAEMON_SET, SERVICE_ACCOUNT
from gangline.api.meta import Raw
from gangline.installer.config_reader import ConfigReading, at
from gangline.installer.contract import APP, OURS, ComponentParts, InstallFacts, WantedObjects, meta
from gangline.installer.objects.roles import add_roles
from gangline.installer.objects.shapes import account

NAME, SECTION = "numa-placement-exporter", "numaPlacementExporter"
SOCKET_FOLDER, SYSTEM_FOLDER, SEEN_AS = "/var/lib/kubelet/pod-resources", "/sys", "/host/sys"
NODES = {"feature.node.kubernetes.io/memory-numa": "true"}
RESOURCES = {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"cpu": "200m", "memory": "128Mi"}}


def wanted(reading: ConfigReading, facts: InstallFacts) -> bool:
    switch = reading.at(f"{SECTION}.service.enabled")
    return (
        bool(switch) if switch is not None else any(at(shard, "plugins.numa.enabled", False) for shard in facts.shards)
    )


def add_exporter(wishes: WantedObjects, reading: ConfigReading, facts: InstallFacts, parts: ComponentParts) -> None:
    if not wanted(reading, facts):
        return
    if not reading.at(f"{SECTION}.service.image.name") and not reading.at(f"{SECTION}.service.image.repository"):
        wishes.missing.append(
            f"NUMA placement exporter: gangline's serves simulated nodes only; name KAI's image in spec.{SECTION}"
            ".service.image, or switch the exporter off"
        )
        return
    wishes.add(SERVICE_ACCOUNT, account(reading, NAME))
    add_roles(wishes, reading, parts, NAME, NAME)
    wishes.add(DAEMON_SET, _daemon_set(reading))


def _daemon_set(reading: ConfigReading) -> Raw:
    image = reading.image(f"{SECTION}.service.image")
    sockets = str(reading.at(f"{SECTION}.podResourcesHostPath") or SOCKET_FOLDER)
    container: Raw = {
        "name": NAME,
        "image": str(image),
        "imagePullPolicy": image.pull_policy,
        "args": _arguments(reading),
        "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}}],
        "securityContext": {"runAsUser": 0, "runAsNonRoot": False},
        "resources": reading.resources(SECTION, RESOURCES),
        "volumeMounts": [
            {"name": "podresources", "mountPath": sockets, "readOnly": True},
            {"name": "sysfs", "mountPath": SEEN_AS, "readOnly": True},
        ],
    }
    folders = (("podresources", sockets), ("sysfs", str(reading.at(f"{SECTION}.sysfsHostPath") or SYSTEM_FOLDER)))
    tolerations = [*reading.at("global.daemonsetsTolerations", []), *reading.at(f"{SECTION}.tolerations", [])]
    spec: Raw = {
        "serviceAccountName": NAME,
        "containers": [container],
        "nodeSelector": reading.at(f"{SECTION}.nodeSelector", NODES),
        "volumes": [{"name": name, "hostPath": {"path": path, "type": "Directory"}} for name, path in folders],
        "tolerations": tolerations,
        "affinity": reading.at(f"{SECTION}.service.affinity"),
        "priorityClassName": reading.at("global.priorityClassName"),
        "imagePullSecrets": reading.pull_secrets(),
    }
    template = {
        "metadata": {"labels": {APP: NAME, **OURS}},
        "spec": {key: value for key, value in spec.items() if value},
    }
    return {
        "metadata": meta(NAME, NAME, reading.namespace),
        "spec": {"selector": {"matchLabels": {APP: NAME}}, "template": template},
    }


def _arguments(reading: ConfigReading) -> list[str]:
    """KAI's flags, not ours."""
    socket = reading.at(f"{SECTION}.podResourcesSocket") or f"{SOCKET_FOLDER}/kubelet.sock"
    flags = {
        "podresources-socket": socket,
        "sysfs-root": SEEN_AS,
        "poll-interval": reading.at(f"{SECTION}.pollInterval"),
        "drift-resync-interval": reading.at(f"{SECTION}.driftResyncInterval"),
    }
    return [f"--{name}={value}" for name, value in flags.items() if value]

"""A Config → every object that should be there for it: services with their accounts and rights, admission's webhooks,
reservation and scaling accounts, monitoring. Schedulers are the shards' (shards.py).

Each command line is shown to the component's own reader of flags first; what that refuses becomes a condition and is
not deployed. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api.kinds import SERVICE_ACCOUNT
from gangline.api.meta import Raw
from gangline.installer.config_reader import ConfigReading
from gangline.installer.contract import ComponentParts, InstallFacts, WantedObjects, digest
from gangline.installer.objects import monitoring, numa
from gangline.installer.objects.roles import add_roles
from gangline.installer.objects.services import (
    ADMISSION,
    CERTIFICATES,
    OPERATOR,
    SCHEDULER,
    InstalledService,
    probe_ports,
    services,
)
from gangline.installer.objects.shapes import RunningComponent, account, add_running
from gangline.installer.objects.webhooks import TLS_SECRET, add_admission
from gangline.installer.objects.workload import (
    FILE,
    FOLDER,
    add_configuration,
    backends,
    configuration,
    in_vain,
    printed,
    volume,
)


def wishes_of_config(reading: ConfigReading, facts: InstallFacts, parts: ComponentParts) -> WantedObjects:
    wishes, config = WantedObjects(notes=in_vain(reading, parts.backends)), configuration(reading, parts.backends)
    if not parts.check(OPERATOR.component, {}, config, reading.compat):
        add_configuration(wishes, reading, config)
    for service in (*services(reading), *backends(reading, parts.backends)):
        _add_service(wishes, reading, facts, parts, service, config)
    if reading.enabled(SCHEDULER):
        wishes.add(SERVICE_ACCOUNT, account(reading, SCHEDULER))
        add_roles(wishes, reading, parts, "scheduler", SCHEDULER)
    if reading.enabled("binder"):
        _add_helper(
            wishes,
            reading,
            parts,
            "binder",
            "resource-reservation",
            (reading.reservation_account, reading.reservation_namespace),
        )
    if reading.enabled("nodeScaleAdjuster"):
        wishes.add(
            SERVICE_ACCOUNT, account(reading, reading.scale_account, reading.scale_namespace, "node-scale-adjuster")
        )
    numa.add_exporter(wishes, reading, facts, parts)
    monitoring.add_monitoring(wishes, reading, facts)
    return wishes


def flags_of(reading: ConfigReading, facts: InstallFacts, service: InstalledService) -> dict[str, str]:
    """All flags of a service's component."""
    probe, metrics = probe_ports(reading, service.section)
    ports = {"metrics-bind-address": f":{metrics}", "health-probe-bind-address": f":{probe}"}
    return service.flags(reading, facts) | ports


def _add_service(
    wishes: WantedObjects,
    reading: ConfigReading,
    facts: InstallFacts,
    parts: ComponentParts,
    service: InstalledService,
    operators: Raw,
) -> None:
    """`operators`: the operator's configuration."""
    flags = flags_of(reading, facts, service)
    config = operators if service in (OPERATOR, ADMISSION) or service.words else {}
    refused = parts.check(service.component, flags, config, reading.compat)
    if refused:
        wishes.problems.append(f"{service.name} stays as it is, because it would not start: {refused}")
        wishes.kept.append(service.name)
        return
    running = RunningComponent(
        service.name,
        service.component,
        service.section,
        flags,
        service.resources,
        probe_ports(reading, service.section)[0],
        everywhere=service.everywhere,
        mounts=tuple(_mounts(service, config)),
        words=service.words,
        config=f"{FOLDER}/{FILE}" if config else "",
        mark=digest(printed(config)) if config else "",
    )
    add_running(wishes, reading, running, service.ports(reading), facts)
    add_roles(wishes, reading, parts, service.component, service.name)
    if service is ADMISSION:
        add_admission(wishes, reading, facts, parts, flags, config)


def _mounts(service: InstalledService, config: Raw) -> Iterable[tuple[str, Raw]]:
    """What a container finds in its folders: a certificate, the operator's configuration."""
    if service is ADMISSION:
        yield CERTIFICATES, {"name": "certificate", "secret": {"secretName": TLS_SECRET, "defaultMode": 0o644}}
    if config:
        yield FOLDER, volume()


def _add_helper(
    wishes: WantedObjects,
    reading: ConfigReading,
    parts: ComponentParts,
    app: str,
    component: str,
    holder: tuple[str, str],
) -> None:
    """The account that pods of a service's own making run under, and its rights."""
    wishes.add(SERVICE_ACCOUNT, account(reading, holder[0], holder[1], app))
    add_roles(wishes, reading, parts, component, component, holder)

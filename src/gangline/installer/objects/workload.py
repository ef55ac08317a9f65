"""What a Config says of the operator of sets → Grove's OperatorConfiguration, one file that the operator, backends that
run on their own and admission read; and those backends as services.

A Config that says nothing of it writes no file: components then start as they do by themselves. What the file would be
refused for is told before anything is deployed (desired.py). Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gangline.api.kinds import CONFIG_MAP
from gangline.api.meta import Raw
from gangline.api.yaml_text import yaml_text
from gangline.installer.config_reader import ConfigReading
from gangline.installer.contract import APP, InstallFacts, WantedObjects, meta
from gangline.installer.objects.services import METRICS, OPERATOR, PROBES, SMALL, InstalledService, plain_ports
from gangline.installer.objects.shapes import RunningComponent, deployment
from gangline.installer.settings import BOTH
from gangline.rules.sets import OperatorSettings

SECTION, FOLDER, FILE = "workload", "/etc/gangline/operator", "config.yaml"
FIELDS = ("authorizer", "controllers", "logLevel", "network", "scheduler", "topologyAwareScheduling")
"""Of the section, those that are fields of an OperatorConfiguration too."""
HEAD = {"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration"}
BACKEND = "backend"
RealNames = Callable[[Iterable[str]], Sequence[str]]
"""Names of backends, aliases too → what they are really called, each once."""


def configuration(reading: ConfigReading, real: RealNames) -> Raw:
    """The operator's configuration; empty: none is given. What is left out has its default."""
    given = {name: reading.at(f"{SECTION}.{name}") for name in FIELDS if reading.at(f"{SECTION}.{name}") is not None}
    if not given or reading.settings.half != BOTH:
        return {}
    usual: Raw = {
        "scheduler": {"profiles": _profiles(reading)},
        "topologyAwareScheduling": {"enabled": OperatorSettings().topology_aware},
    }
    merged = {name: usual[name] | given.get(name, {}) for name in usual}
    logs = {"logFormat": "json" if reading.at("global.jsonLog", False) else "text"} if "logLevel" in given else {}
    return HEAD | given | merged | logs | _authorizer(reading, real)


def _profiles(reading: ConfigReading) -> list[Raw]:
    """The usual ones, of backends that are switched on."""
    on = reading.at(f"{SECTION}.scheduler.backends") or ()
    return [
        {"name": profile.name, "backend": profile.backend}
        for profile in OperatorSettings().profiles
        if not on or profile.backend in on
    ]


def _authorizer(reading: ConfigReading, real: RealNames) -> Raw:
    """Whoever keeps the objects of sets may change them: the operator and its backends, by the accounts they have
    here."""
    given = reading.at(f"{SECTION}.authorizer", {})
    if not given.get("enabled"):
        return {}
    apps = [OPERATOR.name, *(app_of(name) for name in outside(reading, real))]
    keepers = [f"system:serviceaccount:{reading.namespace}:{app}" for app in apps]
    return {
        "authorizer": given
        | {"exemptServiceAccountUserNames": [*given.get("exemptServiceAccountUserNames", []), *keepers]}
    }


def outside(reading: ConfigReading, real: RealNames) -> Sequence[str]:
    """Backends that run as processes of their own."""
    return real(reading.at(f"{SECTION}.scheduler.outside") or ()) if reading.settings.half == BOTH else ()


def app_of(backend: str) -> str:
    return f"gangline-{BACKEND}-{backend}"


def backends(reading: ConfigReading, real: RealNames) -> list[InstalledService]:
    """Those that are deployed here; somebody else may run the others."""
    installed_services = [
        InstalledService(
            app_of(name),
            f"{BACKEND}-{name}",
            f"{SECTION}.backendServices.{name}",
            _no_flags,
            plain_ports,
            SMALL,
            words=(BACKEND, name),
        )
        for name in outside(reading, real)
    ]
    return [service for service in installed_services if reading.enabled(service.section)]


def _no_flags(reading: ConfigReading, facts: InstallFacts) -> dict[str, str]:
    return {}


def alone(reading: ConfigReading, component: str) -> Raw:
    """The Deployment of a backend without an installer, under the account that `gangline rights` prints."""
    name = component.removeprefix(f"{BACKEND}-")
    flags = {"metrics-bind-address": f":{METRICS}", "health-probe-bind-address": f":{PROBES}"}
    made = deployment(
        reading,
        RunningComponent(
            app_of(name), component, SECTION, flags, SMALL, PROBES, account=component, words=(BACKEND, name)
        ),
    )
    return unmanaged(made)


def unmanaged(obj: Raw) -> Raw:
    """Without the mark of what the installer keeps."""
    spec = obj["spec"]
    template = spec["template"] | {"metadata": {"labels": {APP: obj["metadata"]["name"]}}}
    return {
        "metadata": obj["metadata"] | {"labels": {APP: obj["metadata"]["name"]}},
        "spec": spec | {"template": template},
    }


def volume() -> Raw:
    return {"name": "configuration", "configMap": {"name": OPERATOR.name}}


def printed(config: Raw) -> str:
    return yaml_text(config)


def add_configuration(wishes: WantedObjects, reading: ConfigReading, config: Raw) -> None:
    if config:
        wishes.add(
            CONFIG_MAP,
            {"metadata": meta(OPERATOR.name, OPERATOR.name, reading.namespace), "data": {FILE: printed(config)}},
        )


def in_vain(reading: ConfigReading, real: RealNames) -> list[str]:
    """What the section says of something that is not deployed."""
    if reading.at(SECTION) and reading.settings.half != BOTH:
        return [
            f"spec.{SECTION}: nothing of it is deployed, because the installer was started with "
            f"--half={reading.settings.half}"
        ]
    there = outside(reading, real)
    return [
        f"spec.{SECTION}.backendServices.{name}: it is deployed only if spec.{SECTION}.scheduler.outside lists {name}"
        for name in sorted(reading.at(f"{SECTION}.backendServices", {}))
        if not {*real([name])} & {*there}
    ]

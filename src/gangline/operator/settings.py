"""Grove's OperatorConfiguration, read unchanged.

`read` turns the file's content into the settings of rules/sets.py, `process` into how the process runs. Settings that
are wrong or contradict each other are named all at once and stop the start. Settings that are unknown, or have no
effect here, are named by `notes` and stop nothing: Grove itself ignores them, and its chart writes such a field.
Nothing here opens a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gangline.api import names
from gangline.api.meta import Raw
from gangline.config import NATIVE, Manner
from gangline.errors import ConfigError, Problem, list_problems
from gangline.operator.backends import ALIASES
from gangline.rules.sets import LeaderElection, OperatorProcess, OperatorSettings, Profile, WebhookServer, Workers
from gangline.rules.values.times import duration

__all__ = ["BadConfiguration", "OperatorSettings", "Profile", "Workers", "notes", "process", "read"]

API_VERSION = "operator.config.grove.io/v1alpha1"
KIND = "OperatorConfiguration"

GROVE_PROFILES: Mapping[str, str] = {
    names.DEFAULT_SCHEDULER: "default",
    names.KAI_SCHEDULER: "kai",
    names.VOLCANO: "volcano",
    names.LPX_SCHEDULER: "passthrough",
}

_SYNCS = ("concurrentSyncs",)
_KNOWN: Mapping[str, tuple[str, ...]] = {
    "": (
        "apiVersion",
        "kind",
        "runtimeClientConnection",
        "leaderElection",
        "server",
        "debugging",
        "controllers",
        "logLevel",
        "logFormat",
        "authorizer",
        "topologyAwareScheduling",
        "network",
        "scheduler",
    ),
    "runtimeClientConnection": ("qps", "burst", "contentType", "acceptContentTypes"),
    "leaderElection": (
        "enabled",
        "leaseDuration",
        "renewDeadline",
        "retryPeriod",
        "resourceLock",
        "resourceName",
        "resourceNamespace",
    ),
    "server": ("webhooks", "healthProbes", "metrics"),
    "server.webhooks": ("bindAddress", "port", "serverCertDir", "secretName", "certProvisionMode"),
    "server.healthProbes": ("bindAddress", "port"),
    "server.metrics": ("bindAddress", "port"),
    "debugging": ("enableProfiling", "pprofBindHost", "pprofBindPort"),
    "controllers": ("podCliqueSet", "podClique", "podCliqueScalingGroup", "podGang"),
    "controllers.podCliqueSet": _SYNCS,
    "controllers.podClique": _SYNCS,
    "controllers.podCliqueScalingGroup": _SYNCS,
    "controllers.podGang": _SYNCS,
    "authorizer": ("enabled", "exemptServiceAccountUserNames"),
    "topologyAwareScheduling": ("enabled",),
    "network": ("autoMNNVLEnabled",),
    "scheduler": ("profiles", "defaultProfileName", "backends", "outside"),
}
_WITHOUT_EFFECT: Mapping[str, str] = {
    "runtimeClientConnection": "the client waits for its answers instead of counting queries",
    "debugging": "there is no profiling server",
    "leaderElection.resourceNamespace": "the lease is kept in the operator's own namespace",
}
_SWITCHES = (
    "leaderElection.enabled",
    "authorizer.enabled",
    "topologyAwareScheduling.enabled",
    "network.autoMNNVLEnabled",
    "debugging.enableProfiling",
)
_NUMBERS: Mapping[str, tuple[int, int]] = {
    "runtimeClientConnection.burst": (0, 2**31 - 1),
    "server.webhooks.port": (0, 65535),
    "server.healthProbes.port": (0, 65535),
    "server.metrics.port": (0, 65535),
    "debugging.pprofBindPort": (0, 65535),
    **{f"controllers.{name}.concurrentSyncs": (1, 1000) for name in _KNOWN["controllers"]},
}
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "server.webhooks.certProvisionMode": ("auto", "manual"),
    "logLevel": ("debug", "info", "error"),
    "logFormat": ("json", "text"),
    "leaderElection.resourceLock": ("leases",),
}
_DURATIONS = ("leaderElection.leaseDuration", "leaderElection.renewDeadline", "leaderElection.retryPeriod")
_LISTS = ("authorizer.exemptServiceAccountUserNames", "scheduler.profiles", "scheduler.backends", "scheduler.outside")


class BadConfiguration(ConfigError):
    """The operator cannot start with its configuration."""

    exit_code = 2


def read(config: Raw, manner: Manner = NATIVE, *, init_image: str = "", operator_user: str = "") -> OperatorSettings:
    """An OperatorConfiguration as settings; raises BadConfiguration with every problem."""
    _check(config)
    plain = OperatorSettings()
    return OperatorSettings(
        profiles=_profiles(config),
        default_profile=_default_profile(config),
        backends=tuple(_at(config, "scheduler.backends", ())),
        outside=tuple(_at(config, "scheduler.outside", ())),
        topology_aware=_at(config, "topologyAwareScheduling.enabled", False),
        auto_mnnvl=_at(config, "network.autoMNNVLEnabled", False),
        init_image=init_image or plain.init_image,
        workers=_workers(config),
        manner=manner,
        authorizer=_at(config, "authorizer.enabled", False),
        exempt_users=tuple(_at(config, "authorizer.exemptServiceAccountUserNames", ())),
        operator_user=operator_user or plain.operator_user,
    )


def process(config: Raw) -> OperatorProcess:
    """How a process with this configuration runs: election, ports, certificate, log."""
    _check(config)
    plain = OperatorProcess()
    lease, serving = plain.election, plain.webhooks
    return OperatorProcess(
        LeaderElection(
            _at(config, "leaderElection.enabled", lease.enabled),
            _at(config, "leaderElection.resourceName", lease.name),
            _seconds(config, "leaderElection.leaseDuration", lease.duration),
            _seconds(config, "leaderElection.renewDeadline", lease.deadline),
            _seconds(config, "leaderElection.retryPeriod", lease.retry),
        ),
        WebhookServer(
            _at(config, "server.webhooks.bindAddress", serving.host),
            _at(config, "server.webhooks.port", serving.port),
            _at(config, "server.webhooks.serverCertDir", serving.folder),
            _at(config, "server.webhooks.secretName", serving.secret),
            _at(config, "server.webhooks.certProvisionMode", "auto") == "manual",
        ),
        _at(config, "server.healthProbes.port", plain.health_port),
        _at(config, "server.metrics.port", plain.metrics_port),
        _at(config, "logLevel", plain.log_level),
        _at(config, "logFormat", plain.log_format),
    )


def notes(config: Raw) -> list[str]:
    """What a configuration says in vain, one line each."""
    unknown = [
        f"{path} is not a setting, and ignored (known here: {', '.join(known)})" for path, known in _unknown(config)
    ]
    idle = [
        f"{path} has no effect: {why}"
        for path, why in _WITHOUT_EFFECT.items()
        if _at(config, path, None) not in (None, {}, "")
    ]
    raw = [
        f"scheduler.profiles[{index}].config has no effect: no backend reads it"
        for index, item in enumerate(_at(config, "scheduler.profiles", ()))
        if item.get("config")
    ]
    return unknown + idle + raw


# --- reading


def _at(config: Raw, path: str, default: Any) -> Any:
    """The value at a dotted path; the default where nothing, or null, is given."""
    value: Any = config
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return default if value is None or value == "" else value


def _seconds(config: Raw, path: str, default: float) -> float:
    return duration(str(_at(config, path, f"{default}s")))


def _profiles(config: Raw) -> tuple[Profile, ...]:
    profiles = [
        Profile(item["name"], item.get("backend") or GROVE_PROFILES.get(item["name"], ""), item.get("config") or {})
        for item in _at(config, "scheduler.profiles", ())
    ]
    if all(profile.name != names.DEFAULT_SCHEDULER for profile in profiles):
        profiles.append(Profile(names.DEFAULT_SCHEDULER, "default"))
    return tuple(profiles)


def _default_profile(config: Raw) -> str:
    return str(_at(config, "scheduler.defaultProfileName", names.DEFAULT_SCHEDULER))


def _workers(config: Raw) -> Workers:
    plain = Workers()
    defaults = (plain.pod_clique_set, plain.pod_clique, plain.scaling_group, plain.pod_gang)
    return Workers(
        *(
            _at(config, f"controllers.{name}.concurrentSyncs", default)
            for name, default in zip(_KNOWN["controllers"], defaults, strict=True)
        )
    )


# --- what is wrong


def _check(config: Raw) -> None:
    problems = list(_misshapen(config)) or [
        *_wrong(config),
        *_contradictory(config),
        *_wrong_profiles(config),
        *_left_out_backends(config),
    ]
    if problems:
        raise BadConfiguration(f"the operator's configuration cannot be used: {list_problems(problems)}")


def _unknown(config: Raw) -> Iterable[tuple[str, tuple[str, ...]]]:
    for where, known in _KNOWN.items():
        part = config if not where else _at(config, where, {})
        for key in sorted(set(part) - set(known)) if isinstance(part, dict) else ():
            yield f"{where}.{key}".lstrip("."), known


def _misshapen(config: Raw) -> Iterable[Problem]:
    if config.get("apiVersion", API_VERSION) != API_VERSION or config.get("kind", KIND) != KIND:
        yield Problem("kind", f"must be {KIND} of {API_VERSION}")
    for where in _KNOWN:
        if where and not isinstance(_at(config, where, {}), dict):
            yield Problem(where, "must be a mapping", "FieldValueTypeInvalid")
    for path in _LISTS:
        if not isinstance(_at(config, path, []), list):
            yield Problem(path, "must be a list", "FieldValueTypeInvalid")


def _wrong(config: Raw) -> Iterable[Problem]:
    for path in _SWITCHES:
        if not isinstance(_at(config, path, False), bool):
            yield Problem(path, "must be true or false", "FieldValueTypeInvalid")
    for path, (least, most) in _NUMBERS.items():
        given = _at(config, path, least)
        if not isinstance(given, int) or isinstance(given, bool) or not least <= given <= most:
            yield Problem(path, "must be greater than 0" if least == 1 else f"must be a number from {least} to {most}")
    for path, choices in _CHOICES.items():
        if _at(config, path, choices[0]) not in choices:
            yield Problem(path, f"must be {' or '.join(choices)}", "FieldValueNotSupported")
    for path in _DURATIONS:
        if _positive(config, path) is None:
            yield Problem(path, "must be a duration above 0", hint="for example 15s")


def _positive(config: Raw, path: str) -> float | None:
    try:
        length = _seconds(config, path, 1.0)
    except ValueError:
        return None
    return length if length > 0 else None


def _contradictory(config: Raw) -> Iterable[Problem]:
    plain = LeaderElection()
    if all(_positive(config, path) is not None for path in _DURATIONS):
        lease, renew, retry = (
            _seconds(config, path, default)
            for path, default in zip(_DURATIONS, (plain.duration, plain.deadline, plain.retry), strict=True)
        )
        if lease <= renew:
            yield Problem(
                "leaderElection.leaseDuration", f"{lease:g} s must be longer than renewDeadline, which is {renew:g} s"
            )
        if renew <= retry:
            yield Problem(
                "leaderElection.renewDeadline", f"{renew:g} s must be longer than retryPeriod, which is {retry:g} s"
            )
    serving = OperatorProcess()
    ports = {
        "server.webhooks.port": serving.webhooks.port,
        "server.healthProbes.port": serving.health_port,
        "server.metrics.port": serving.metrics_port,
    }
    taken: dict[Any, str] = {}
    for path, default in ports.items():
        port = _at(config, path, default)
        if port and port in taken:
            yield Problem(path, f"{port} is the port of {taken[port]} already", "FieldValueDuplicate")
        taken.setdefault(port, path)


def _wrong_profiles(config: Raw) -> Iterable[Problem]:
    profiles = _at(config, "scheduler.profiles", ())
    given = [str(profile.get("name") or "") if isinstance(profile, dict) else "" for profile in profiles]
    for index, name in enumerate(given):
        if not name:
            yield Problem(f"scheduler.profiles[{index}].name", "must be given", "FieldValueRequired")
        elif name in given[:index]:
            yield Problem(f"scheduler.profiles[{index}].name", f"{name} is listed twice", "FieldValueDuplicate")
    default = _default_profile(config)
    if default not in {*given, names.DEFAULT_SCHEDULER}:
        yield Problem(
            "scheduler.defaultProfileName",
            f"{default} is not one of the profiles",
            hint=f"profiles: {', '.join(given)}",
        )


def _left_out_backends(config: Raw) -> Iterable[Problem]:
    """Backends that something needs and scheduler.backends does not switch on."""
    on = [ALIASES.get(name, name) for name in _at(config, "scheduler.backends", ())]
    if not on:
        return
    for index, profile in enumerate(_at(config, "scheduler.profiles", ())):
        backend = _backend_of(profile)
        if backend and ALIASES.get(backend, backend) not in on:
            yield Problem(
                f"scheduler.profiles[{index}]", f"needs backend {backend}, which scheduler.backends leaves out"
            )
    for index, name in enumerate(_at(config, "scheduler.outside", ())):
        if ALIASES.get(name, name) not in on:
            yield Problem(f"scheduler.outside[{index}]", f"{name} cannot run outside: scheduler.backends leaves it out")


def _backend_of(profile: Any) -> str:
    if not isinstance(profile, dict):
        return ""
    return str(profile.get("backend") or GROVE_PROFILES.get(str(profile.get("name")), ""))

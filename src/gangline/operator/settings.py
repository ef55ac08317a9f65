"""Grove's OperatorConfiguration, read unchanged.

`read` turns the file's content into the settings of rules/sets.py; what is unknown or contradictory is named, all at
once, and stops the start. Nothing here opens a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gangline.api import names
from gangline.api.meta import Raw
from gangline.config import NATIVE, Manner
from gangline.errors import ConfigError, Problem, list_problems
from gangline.rules.sets import OperatorSettings, Profile, Workers

__all__ = ["OperatorSettings", "Profile", "Workers", "read"]

API_VERSION = "operator.config.grove.io/v1alpha1"
KIND = "OperatorConfiguration"

GROVE_PROFILES: Mapping[str, str] = {
    names.DEFAULT_SCHEDULER: "default", names.KAI_SCHEDULER: "kai", names.VOLCANO: "volcano", names.LPX_SCHEDULER: "passthrough",
}

_KNOWN = {
    "": ("apiVersion", "kind", "runtimeClientConnection", "leaderElection", "server", "debugging", "controllers", "logLevel", "logFormat",
         "authorizer", "topologyAwareScheduling", "network", "scheduler"),
    "controllers": ("podCliqueSet", "podClique", "podCliqueScalingGroup", "podGang"),
    "scheduler": ("profiles", "defaultProfileName", "backends", "outside"),
    "topologyAwareScheduling": ("enabled",),
    "network": ("autoMNNVLEnabled",),
    "authorizer": ("enabled", "exemptServiceAccountUserNames"),
}


def read(config: Raw, manner: Manner = NATIVE, *, init_image: str = "", operator_user: str = "") -> OperatorSettings:
    """An OperatorConfiguration as settings; raises ConfigError with every problem."""
    problems = [*_unknown(config), *_wrong(config)]
    if problems:
        raise ConfigError(f"the operator's configuration cannot be used: {list_problems(problems)}")
    plain = OperatorSettings()
    authorizer = config.get("authorizer") or {}
    return OperatorSettings(
        profiles=_profiles(config), default_profile=_default_profile(config),
        backends=tuple((config.get("scheduler") or {}).get("backends") or ()),
        outside=tuple((config.get("scheduler") or {}).get("outside") or ()),
        topology_aware=bool((config.get("topologyAwareScheduling") or {}).get("enabled", False)),
        auto_mnnvl=bool((config.get("network") or {}).get("autoMNNVLEnabled", False)),
        init_image=init_image or plain.init_image, workers=_workers(config), manner=manner,
        authorizer=bool(authorizer.get("enabled", False)),
        exempt_users=tuple(authorizer.get("exemptServiceAccountUserNames") or ()),
        operator_user=operator_user or plain.operator_user)


def _profiles(config: Raw) -> tuple[Profile, ...]:
    given = (config.get("scheduler") or {}).get("profiles") or []
    found = [Profile(each["name"], each.get("backend") or GROVE_PROFILES.get(each["name"], ""), each.get("config") or {})
             for each in given]
    if all(profile.name != names.DEFAULT_SCHEDULER for profile in found):
        found.append(Profile(names.DEFAULT_SCHEDULER, "default"))
    return tuple(found)


def _default_profile(config: Raw) -> str:
    return str((config.get("scheduler") or {}).get("defaultProfileName") or names.DEFAULT_SCHEDULER)


def _workers(config: Raw) -> Workers:
    given = config.get("controllers") or {}
    plain = Workers()

    def count(key: str, default: int) -> int:
        return int((given.get(key) or {}).get("concurrentSyncs") or default)

    return Workers(count("podCliqueSet", plain.pod_clique_set), count("podClique", plain.pod_clique),
                   count("podCliqueScalingGroup", plain.scaling_group), count("podGang", plain.pod_gang))


def _unknown(config: Raw) -> Iterable[Problem]:
    for where, known in _KNOWN.items():
        part = config if not where else config.get(where) or {}
        for key in sorted(set(part) - set(known)):
            yield Problem(f"{where}.{key}".lstrip("."), "is not a setting", "FieldValueNotSupported",
                          hint=f"known here: {', '.join(known)}")


def _wrong(config: Raw) -> Iterable[Problem]:
    if config.get("apiVersion", API_VERSION) != API_VERSION or config.get("kind", KIND) != KIND:
        yield Problem("kind", f"must be {KIND} of {API_VERSION}")
    for key, value in (config.get("controllers") or {}).items():
        if int((value or {}).get("concurrentSyncs", 1)) <= 0:
            yield Problem(f"controllers.{key}.concurrentSyncs", "must be greater than 0")
    yield from _wrong_profiles(config)


def _wrong_profiles(config: Raw) -> Iterable[Problem]:
    given = [str(each.get("name", "")) for each in (config.get("scheduler") or {}).get("profiles") or []]
    for index, name in enumerate(given):
        if not name:
            yield Problem(f"scheduler.profiles[{index}].name", "must be given", "FieldValueRequired")
        elif name in given[:index]:
            yield Problem(f"scheduler.profiles[{index}].name", f"{name} is listed twice", "FieldValueDuplicate")
    default = _default_profile(config)
    if default not in {*given, names.DEFAULT_SCHEDULER}:
        yield Problem("scheduler.defaultProfileName", f"{default} is not one of the profiles", hint=f"profiles: {', '.join(given)}")

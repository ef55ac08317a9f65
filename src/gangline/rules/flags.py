"""Command-line flags as upstream's components take them: `--name=value`, `--name value`, and `--name` alone for true.

Each component has one table of the flags it knows; anything else is refused with the known ones. No component is named
here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gangline.errors import ConfigError

Table = Mapping[str, tuple[str, Callable[[str], Any]]]
"""Flag → name of the setting, and how its text is read."""


def parse(arguments: Iterable[str]) -> dict[str, str]:
    """Arguments → flag and value; a flag without one is `true`."""
    flags: dict[str, str] = {}
    name = ""
    for argument in arguments:
        if argument.startswith("-"):
            name, equals, value = argument.lstrip("-").partition("=")
            flags[name] = value if equals else "true"
            name = "" if equals else name
        elif name:
            flags[name] = argument
            name = ""
        else:
            raise ConfigError(f"{argument!r} is no flag: write --name=value")
    return flags


def values(flags: Mapping[str, str], table: Table) -> dict[str, Any]:
    """Those of the flags that are in the table, read."""
    settings: dict[str, Any] = {}
    for flag, (setting, read) in table.items():
        if flag in flags:
            try:
                settings[setting] = read(flags[flag])
            except ValueError as error:
                raise ConfigError(f"--{flag}={flags[flag]}: {error}") from error
    return settings


def refuse_unknown(component: str, flags: Iterable[str], known: Iterable[str], options: Iterable[str] = ()) -> None:
    """`options`: what the program reads itself, and somebody may have meant."""
    accepted = sorted(set(known))
    unknown = sorted(set(flags) - set(accepted))
    if unknown:
        raise ConfigError(
            f"the {component} has no flag --{', --'.join(unknown)}; it knows --{', --'.join(accepted)}"
            f"{_meant(unknown, [*accepted, *options])}"
        )


def _meant(unknown: Iterable[str], known: list[str]) -> str:
    from difflib import get_close_matches

    near = [f"--{closest[0]}" for item in unknown if (closest := get_close_matches(item, known, 1, 0.75))]
    return f"; did you mean {' and '.join(near)}?" if near else ""


def truth(text: str) -> bool:
    """As Go reads it; nothing counts as true."""
    if text.lower() not in ("true", "t", "false", "f", "1", "0", ""):
        raise ValueError(f"{text!r} is neither true nor false")
    return text.lower() in ("true", "t", "1", "")


def positive(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError("it must be above 0")
    return number


def pairs(text: str) -> dict[str, str]:
    """`a=b,c=d`"""
    by_key: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"{part!r} is not of the form key=value")
        by_key[key.strip()] = value.strip()
    return by_key


COMMON = (
    "qps",
    "burst",
    "leader-elect",
    "namespace",
    "metrics-bind-address",
    "health-probe-bind-address",
    "zap-devel",
    "zap-log-level",
    "log-level",
    "max-concurrent-reconciles",
    "skip-controller-name-validation",
    "v",
)
"""Of every component: what `gangline run` itself reads, and what only concerns Go."""
IDLE = (
    "qps",
    "burst",
    "zap-devel",
    "zap-log-level",
    "log-level",
    "max-concurrent-reconciles",
    "skip-controller-name-validation",
    "v",
)
"""Of those, what does nothing here, unless a component reads it."""

"""Name → class: what is built in, and what other packages bring through entry points.

Every kind of extension (backend, scheduler plugin, grouper, binder plugin) has one table of its own and asks here for
the rest. A built-in name wins over an entry point of the same name. A package that cannot be loaded, or whose class is
not what its contract asks for, is named in the log and does not stop the others.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

log = logging.getLogger(__name__)
T = TypeVar("T")


def table(group: str, built_in: Mapping[str, type[T]], contract: type[T] | None = None) -> dict[str, type[T]]:
    """Everything of one kind of extension; `group` is the entry point group, such as `gangline.backends`. With a
    contract, classes that lack something of it are left out; without, the caller looks at them itself."""
    extensions: dict[str, type[T]] = dict(built_in)
    for point in sorted(entry_points(group=group), key=lambda entry_point: entry_point.name):
        if point.name in extensions:
            log.warning("entry point %s of %s is ignored: that name is built in", point.name, group)
            continue
        loaded = _load(group, point)
        why = "" if loaded is None or contract is None else unusable(loaded, contract)
        if why:
            log.error("entry point %s of %s is left out: %s", point.name, group, why)
        elif loaded is not None:
            extensions[point.name] = loaded
    return extensions


def _load(group: str, point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception:
        log.exception("entry point %s of %s cannot be loaded", point.name, group)
        return None


def members_of(contract: type) -> tuple[str, ...]:
    """Everything that a contract asks for or has a default for."""
    named = dict.fromkeys((*contract.__annotations__, *vars(contract)))
    return tuple(name for name in named if not name.startswith("_"))


def unusable(given: Any, contract: type) -> str:
    """Why what a package brings is no class of this contract; empty: it is one."""
    if not isinstance(given, type):
        return f"{given!r} is no class"
    where, known = f"{given.__qualname__} of {given.__module__}", set(dir(given))
    if not issubclass(given, contract):
        lacks = [name for name in members_of(contract) if name not in known]
        lacking = f", and lacks {', '.join(lacks)}" if lacks else ""
        return f"{where} is not a subclass of {contract.__module__}.{contract.__qualname__}{lacking}"
    required = [name for name in contract.__annotations__ if name not in vars(contract)]
    lacks = [name for name in required if name not in known] + sorted(vars(given).get("__abstractmethods__", ()))
    return f"{where} does not say {', '.join(lacks)}" if lacks else ""

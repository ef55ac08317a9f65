"""Name → class: what is built in, and what other packages bring through entry points.

Every kind of extension (backend, scheduler plugin, grouper, binder plugin) has one table of its own and asks here for
the rest. A built-in name wins over an entry point of the same name; a package that cannot be loaded is named, and
does not stop the others.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, TypeVar

log = logging.getLogger(__name__)
T = TypeVar("T")


def table(group: str, built_in: Mapping[str, type[T]]) -> dict[str, type[T]]:
    """Everything of one kind of extension; `group` is the entry point group, such as `gangline.backends`."""
    extensions: dict[str, type[T]] = dict(built_in)
    for point in sorted(entry_points(group=group), key=lambda entry_point: entry_point.name):
        if point.name in extensions:
            log.warning("entry point %s of %s is ignored: that name is built in", point.name, group)
            continue
        loaded = _load(group, point)
        if loaded is not None:
            extensions[point.name] = loaded
    return extensions


def _load(group: str, point: Any) -> Any:
    try:
        return point.load()
    except Exception:
        log.exception("entry point %s of %s cannot be loaded", point.name, group)
        return None

"""Built-in kinds: for each, its schema, its defaults, what is right and wrong, and what a write may touch.

    rules(group, version, kind) -> KindRules
        .schema                                          the compiled Schema (admit, unknown fields, apply, strategic
        merge, OpenAPI)
        .defaults(obj)                                   fill in what the real server fills in, in place
        .prepare_create(obj) / .prepare_update(new, old, subresource)
                                                         what this endpoint may write: status reset, generation, kept
                                                         fields; in place
        .validate(obj) / .validate_update(new, old, subresource)  -> list[Problem]   complete lists, metadata excluded
        .warnings(obj, old) -> list[str]                 texts for Warning headers
        .name_problems(name) -> list[str]                what a name of this kind must be
        .reset(subresource) -> paths nobody owns on this endpoint in server-side apply

Kinds without rules of their own get `KindRules` with the schema alone. Pure.
"""

from __future__ import annotations

from gangline.cluster.kinds.rules import KindRules
from gangline.cluster.kinds.table import GROUPS, lookup

__all__ = ["KindRules", "has_version", "rules"]


def has_version(group: str, version: str) -> bool:
    """Whether there are built-in kinds in a version of a group."""
    return (group, version) in GROUPS


def rules(group: str, version: str, kind: str) -> KindRules:
    """The rules of a built-in kind. Raises LookupError for a kind that is not built in."""
    return lookup(group, version, kind)

"""What `kubectl explain` says of each field of our kinds, from the tables of `api/words`.

    described(table, type, field) -> str

A table is lines of text: a line that starts in column one opens a type, a line with two spaces is a field and, behind
two more, what it means and in which unit; four spaces continue a line. Fields of built-in types inside ours (pod
templates, claims, metrics) mean what they mean in Kubernetes, and say where that is written. Pure; api/crds.py puts
them into the definitions."""

from __future__ import annotations

import importlib
from functools import cache

TABLES = {"grove": ("grove",), "kai": ("kai", "config")}
"""Table of shapes → tables of words."""
HEAD = {
    "apiVersion": "The API group and version of this object, as in group/version.",
    "kind": "The kind of this object.",
}
"""Not metadata: an API server describes it itself, and refuses a definition that does."""


def described(table: str, kind: str, field: str) -> str:
    """Raises KeyError for a field of ours that nobody has described."""
    if table in TABLES:
        return _words(table)[kind, field]
    return f"As in Kubernetes: {field} of {kind}."


@cache
def _words(table: str) -> dict[tuple[str, str], str]:
    words: dict[tuple[str, str], str] = {}
    for name in TABLES[table]:
        kind = field = ""
        text: str = importlib.import_module(f"gangline.api.words.{name}").TEXT
        for line in filter(None, text.splitlines()):
            if line.startswith("    "):
                words[kind, field] += f" {line.strip()}"
            elif line.startswith("  "):
                field, _, meaning = line.strip().partition("  ")
                words[kind, field] = meaning
            else:
                kind = line.strip()
    return words


def words_of(table: str) -> set[tuple[str, str]]:
    """Every field that is described, for the test that none is described in vain."""
    return set(_words(table))

"""Words for what the user may not read, and whom to ask for it."""

from __future__ import annotations

from collections.abc import Sequence

from gangline.why.words.amounts import listed

ASK = (
    "ask an administrator for the right to get, list and watch them there: the ClusterRole view has it once "
    "`gangline rights tenant` is applied"
)


def may_not_read(resources: Sequence[str], namespace: str) -> str:
    return f"you may not read {listed(resources, len(resources))} in namespace {namespace}"

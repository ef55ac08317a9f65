"""Plugins that a configuration may name but that take no part in deciding: the service answers for them over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..session import Session


class Passive:
    def __init__(self, session: Session, arguments: Mapping[str, str]) -> None:
        pass


class Snapshot(Passive):
    """`/get-snapshot`: the cluster of the last cycle."""

    name = "snapshot"


class ReflectJobOrder(Passive):
    """`/get-job-order`: in which order gangs would be allocated."""

    name = "reflectjoborder"

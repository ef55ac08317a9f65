"""Plugins that a configuration may name but that take no part in deciding: the service answers for them over HTTP."""

from __future__ import annotations

from gangline.scheduler.plugin import Plugin


class SnapshotPlugin(Plugin):
    """`/get-snapshot`: the cluster of the last cycle."""

    name = "snapshot"


class ReflectJobOrderPlugin(Plugin):
    """`/get-job-order`: in which order gangs would be allocated."""

    name = "reflectjoborder"

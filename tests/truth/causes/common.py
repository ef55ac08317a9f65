"""Nodes and labels that many cases share."""

from __future__ import annotations

from gangline.api import names

ONE = ({"name": "n", "gpus": 8},)
TWO = ({"name": "n", "count": 2, "gpus": 8},)
HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
DEPARTMENT = names.DEFAULT_PARENT_QUEUE

"""The causes for which a GPU is idle, by the names that `gangline idle`, metrics and the map show.

scheduler/time/idle.py finds the cause of each GPU. Plain data."""

from __future__ import annotations

NO_DEMAND, QUOTA, FRAGMENTS, TOPOLOGY = "no demand", "quota", "fragments", "topology"
RESERVED, MISSING, CLOSED = "reserved", "gate or missing pods", "taint or cordon"
STARTING, FAILED, SHORTAGE = "starting", "failed", "shortage"
IDLE_CAUSES = (NO_DEMAND, QUOTA, FRAGMENTS, SHORTAGE, TOPOLOGY, RESERVED, MISSING, CLOSED, STARTING, FAILED)

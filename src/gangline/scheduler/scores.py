"""The whole placement policy in one table: how much each wish weighs. A bigger row always beats everything below it.

Scores of all plugins are added; equal totals go by node name. Only numa and node placement give parts of their row.
"""

from __future__ import annotations

from typing import Final

NOMINATED_NODE: Final = 10_000_000.0
POD_AFFINITY: Final = 1_000_000.0
SPREAD: Final = 1_000_000.0
"""For each pod of its kind that stands in the domain already; more where there are many domains."""
TOPOLOGY: Final = 100_000.0
"""Times 0 to 10."""
GPU_SHARING: Final = 10_000.0
AVAILABILITY: Final = 1_000.0
NUMA: Final = 100.0
RESOURCE_TYPE: Final = 10.0
DENSITY: Final = 9.0
"""Times 0 to 1."""

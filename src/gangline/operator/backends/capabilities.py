"""What each scheduler can express, as data: the one table that refusals, conditions and docs/backends.md are made from.

A backend with generations has one row per generation. Nothing here asks a cluster which generation it serves.
"""

from __future__ import annotations

from collections.abc import Mapping

from gangline.operator.backends.contract import GANG, GROUP, MINIMA_FIRST, NO_GANG, PARENT, SIZE, SURPLUS_GATED, Capabilities

EVERY = (GANG, PARENT, GROUP)
KUBE_NONE = "default without the Workload API"
KUBE_135 = "default on Kubernetes 1.35"
KUBE_136 = "default on Kubernetes 1.36"
KUBE_137_FLAT = "default on Kubernetes 1.37"
KUBE_137 = "default on Kubernetes 1.37 with CompositePodGroup"

CAPABILITIES: Mapping[str, Capabilities] = {
    KUBE_NONE: Capabilities(gang=False, groups=NO_GANG),
    KUBE_135: Capabilities(groups=SURPLUS_GATED),
    KUBE_136: Capabilities(groups=SURPLUS_GATED, required=(GANG,)),
    KUBE_137_FLAT: Capabilities(groups=SURPLUS_GATED, required=(GANG,)),
    KUBE_137: Capabilities(groups=MINIMA_FIRST, required=EVERY),
    "kai": Capabilities(topology=True, required=EVERY, preferred=EVERY, both=True, queue=True),
    "volcano": Capabilities(required=(GANG, GROUP), preferred=(GANG, GROUP), both=True, queue=True),
    "koordinator": Capabilities(groups=MINIMA_FIRST, required=(GANG,), queue=True),
    "yunikorn": Capabilities(queue=True),
    "kueue": Capabilities(groups=SIZE, required=(GROUP,), preferred=(GROUP,), queue=True, reuse=False, places=False),
    "coscheduling": Capabilities(groups=SURPLUS_GATED),
    "passthrough": Capabilities(gang=False, groups=NO_GANG),
}


def able(level: str) -> list[str]:
    """The backends that can bind pods to one domain at a level."""
    return [name for name, each in CAPABILITIES.items() if level in each.required]

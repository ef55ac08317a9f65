"""Every setting of the simulated world, with its default and its meaning.

Read by component.py, which builds the parts. `off` is the switch of each part: a part named there is not started.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gangline.api import names
from gangline.cluster.world.nodes.nodes import DEFAULT_NODES, NodePool, ProvisionerPart, read_file


@dataclass(frozen=True, slots=True)
class NodePace:
    """How long things take on a simulated node, in seconds, where no annotation says otherwise."""

    start: float = 0.0
    """From being bound to the first container."""
    init: float = 0.0
    """Each init container."""
    ready: float = 0.0
    """From a container's start to its being ready."""
    stop: float = 0.0
    """From the wish to delete a pod to its end; never more than its grace period."""
    job: float = 1.0
    """How long pods owned by a Job run; all other pods run for ever."""


@dataclass(frozen=True, slots=True)
class PoolGrowth:
    """What the simulated autoscaler may add: a pool of nodes, its limits, and how long a machine takes to come."""

    pool: NodePool
    least: int = 0
    most: int = 10
    delay: float = 30.0
    """From the wish to a node that is ready."""
    idle: float = 600.0
    """A node of the pool that has held nothing for so long is taken away."""


@dataclass(frozen=True, slots=True)
class WorldSettings:
    nodes: tuple[NodePool, ...] = DEFAULT_NODES
    """Simulated nodes to register at start."""
    off: frozenset[str] = frozenset()
    """Names of parts (component.PARTS) that do not run."""
    needs: bool = True
    """Whether containers wait for the Secrets and ConfigMaps that their pod names."""
    pace: NodePace = field(default_factory=NodePace)
    heartbeat: float = 10.0
    """Seconds between renewals of a node's lease."""
    lease: int = 40
    """Seconds after which a node that did not renew is unknown."""
    reservation_namespace: str = names.RESERVATION_NAMESPACE
    """Pods here hold a GPU for fractional pods; the kubelet tells them which one."""
    root_ca: str = ""
    """Certificate authority of the server, published in every namespace as kube-root-ca.crt."""
    growth: tuple[PoolGrowth, ...] = ()
    """What the autoscaler may add; nothing: it does not run."""
    provisions: tuple[ProvisionerPart, ...] = ()
    """What the provisioner may add; nothing: it does not run."""


def read_settings(text: str, source: str = "the nodes file") -> WorldSettings:
    """A world with the nodes of a file: those that stand, those that grow, those that are provisioned."""
    file = read_file(text, source)
    growth = tuple(
        PoolGrowth(pool, pool.grow.least, pool.grow.most, pool.grow.delay, pool.grow.idle)
        for pool in file.nodes
        if pool.grow is not None
    )
    return WorldSettings(
        nodes=tuple(pool for pool in file.nodes if pool.grow is None), growth=growth, provisions=file.provisioners
    )

"""What is inside a simulated node: its GPUs by UUID, its NUMA zones, its devices for dynamic allocation.

Made from the pool a node belongs to; heartbeats.py registers it beside the node. Pure.
"""

from __future__ import annotations

import zlib

from gangline.api import resources
from gangline.api.core import Node
from gangline.api.kinds import NODE, reference
from gangline.api.meta import Raw
from gangline.cluster.world.nodes.nodes import NodePool, amounts

DRIVER = "gpu.nvidia.com"
DEVICE_CLASS_OBJECT: Raw = {
    "metadata": {"name": DRIVER},
    "spec": {
        "selectors": [
            {"cel": {"expression": f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == 'gpu'"}}
        ]
    },
}


def gpu_uuid(node: str, index: int) -> str:
    """The UUID that a device of a simulated node reports."""
    digits = f"{zlib.crc32(node.encode()):08x}"
    return f"GPU-{digits}-{index:04x}-0000-0000-{digits}{index:04x}"


def device_slice(pool: NodePool, node: Node) -> Raw:
    """The node's GPUs as devices that claims can ask for."""
    memory = resources.canonical(pool.gpu_memory)
    devices = [
        {
            "name": f"gpu-{index}",
            "capacity": {"memory": {"value": memory}},
            "attributes": {
                "type": {"string": "gpu"},
                "uuid": {"string": gpu_uuid(node.name, index)},
                "index": {"int": index},
                "productName": {"string": pool.gpu_product or "simulated"},
            },
        }
        for index in range(pool.gpus)
    ]
    return {
        "metadata": {"name": f"{node.name}-{DRIVER}", "ownerReferences": [reference(NODE, node)]},
        "spec": {
            "driver": DRIVER,
            "nodeName": node.name,
            "devices": devices,
            "pool": {"name": node.name, "generation": 1, "resourceSliceCount": 1},
        },
    }


def numa_zones(pool: NodePool, node: Node) -> Raw:
    """The node's resources shared out over its NUMA zones; what cannot be shared evenly goes to the first ones."""
    shared = {
        name: _shares(name, value, pool.numa)
        for name, value in amounts(pool).items()
        if name not in ("pods", "ephemeral-storage")
    }
    zones = [
        {
            "name": f"node-{zone}",
            "type": "Node",
            "resources": [
                {"name": name, "capacity": parts[zone], "allocatable": parts[zone], "available": parts[zone]}
                for name, parts in shared.items()
            ],
            "costs": [{"name": f"node-{other}", "value": 10 if other == zone else 20} for other in range(pool.numa)],
        }
        for zone in range(pool.numa)
    ]
    return {
        "metadata": {"name": node.name, "ownerReferences": [reference(NODE, node)]},
        "zones": zones,
        "topologyPolicies": ["SingleNUMANodeContainerLevel"],
        "attributes": [
            {"name": "topologyManagerPolicy", "value": "single-numa-node"},
            {"name": "topologyManagerScope", "value": "container"},
        ],
    }


def _shares(name: str, value: str, zones: int) -> list[str]:
    if name == "cpu":
        parts = _even(resources.milli(value), zones)
        return [resources.canonical(f"{part}m") for part in parts]
    write = resources.binary if name == "memory" or name.startswith("hugepages-") else resources.decimal
    return [write(part * resources.NANO) for part in _even(resources.units(value), zones)]


def _even(total: int, parts: int) -> list[int]:
    share, rest = divmod(total, parts)
    return [share + (at < rest) for at in range(parts)]

"""Topology trees: the domains (zones, racks, hosts…) that node labels spell out, from coarse to fine.

A node belongs to a topology only if it carries every level's label. The tree is built from the present nodes on
demand and kept until nodes or topologies change; free capacity per domain is the topology plugin's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from gangline.scheduler.records import TopologyRecord

ROOT = "root"


class LabelledObject(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def labels(self) -> Mapping[str, str]: ...


class TopologyDomain:
    """`id` is the label values from the top joined with "."; `level` -1 is the artificial root. `nodes` are names,
    sorted."""

    __slots__ = ("children", "id", "level", "nodes", "parent", "value")

    def __init__(self, id: str, value: str, level: int, parent: TopologyDomain | None) -> None:
        self.id = id
        self.value = value
        self.level = level
        self.parent = parent
        self.children: dict[str, TopologyDomain] = {}
        self.nodes: list[str] = []

    def __repr__(self) -> str:
        return f"<domain {self.id}>"


class TopologyTree:
    """`levels` are label keys; `domains[level]` maps id → domain; `leaf_of` maps a node to its finest domain."""

    __slots__ = ("domains", "leaf_of", "levels", "name", "root")

    def __init__(self, record: TopologyRecord, nodes: Iterable[LabelledObject]) -> None:
        self.name = record.name
        self.levels = record.levels
        self.root = TopologyDomain(ROOT, ROOT, -1, None)
        self.domains: list[dict[str, TopologyDomain]] = [{} for _ in record.levels]
        self.leaf_of: dict[str, TopologyDomain] = {}
        for node in sorted(nodes, key=lambda node: node.name):
            self._add(node)

    def level(self, label: str) -> int | None:
        """The place of a level, -1 excluded; None when the topology has no such level."""
        return self.levels.index(label) if label in self.levels else None

    def _add(self, node: LabelledObject) -> None:
        values = [node.labels.get(level) for level in self.levels]
        if not values or any(value is None for value in values):
            return
        domain = self.root
        domain.nodes.append(node.name)
        for level, value in enumerate(values):
            assert value is not None
            domain = self._child(domain, value, level)
            domain.nodes.append(node.name)
        self.leaf_of[node.name] = domain

    def _child(self, parent: TopologyDomain, value: str, level: int) -> TopologyDomain:
        id = value if parent.level < 0 else f"{parent.id}.{value}"
        child = parent.children.get(id)
        if child is None:
            child = parent.children[id] = self.domains[level][id] = TopologyDomain(id, value, level, parent)
        return child

"""What one backend may do in a cluster, when it runs as a process of its own: rules for its ClusterRole and for the
Role of its lease.

Derived from what the backend says it reads and writes, and from what the controller of gangs needs for every backend.
Just that: no secrets, no pods but to look at, no object of another scheduler. For the installer and the chart. Pure."""

from __future__ import annotations

from typing import Any

from gangline.api.kinds import EVENT, LEASE, NODE, POD, POD_CLIQUE, POD_CLIQUE_SET, POD_GANG, TOPOLOGY_BINDING, Kind
from gangline.api.meta import Raw
from gangline.operator.backends.contract import Backend

FOLLOW = ["list", "watch"]
WRITE = ["create", "delete", "patch"]
"""`create` also for dry runs, and because server-side apply of something new asks for it."""


def rights(backend: Backend) -> list[Raw]:
    """Rules of a ClusterRole: follow gangs and what they are made of, write the scheduler's objects, tell how gangs
    fare."""
    looked_at = [
        kind
        for kind in (NODE, POD, POD_CLIQUE, POD_CLIQUE_SET, TOPOLOGY_BINDING, *backend.reads)
        if kind not in backend.writes
    ]
    return [
        _rule(POD_GANG, [*FOLLOW, "patch"]),
        _rule(POD_GANG, ["patch"], "status"),
        _rule(EVENT, ["create", "patch"]),
        *_distinct([_rule(kind, FOLLOW) for kind in looked_at]),
        *_distinct([_rule(kind, [*FOLLOW, *WRITE]) for kind in backend.writes]),
    ]


def election_rights(lease: str) -> list[Raw]:
    """Rules of a Role in the namespace of the process's lease."""
    return [_rule(LEASE, ["create"]), _rule(LEASE, ["get", "patch"]) | {"resourceNames": [lease]}]


def _rule(kind: Kind[Any], verbs: list[str], part: str = "") -> Raw:
    return {
        "apiGroups": [kind.group],
        "resources": [f"{kind.plural}/{part}" if part else kind.plural],
        "verbs": list(verbs),
    }


def _distinct(rules: list[Raw]) -> list[Raw]:
    """Versions of one kind need one rule."""
    return list({(rule["apiGroups"][0], rule["resources"][0]): rule for rule in rules}.values())

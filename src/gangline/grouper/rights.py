"""What the pod grouper may do in a cluster: rules for its ClusterRole, derived from what the groupers say they read,
those of other packages among them.

Used when manifests are printed. An owner of a kind that is not listed here ends the owner walk, as a missing right
does. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from gangline.api.kinds import CONFIG_MAP, EVENT, NAMESPACE, POD, POD_GROUP, PRIORITY_CLASS, known
from gangline.api.meta import Raw
from gangline.grouper.groupers import all_groupers
from gangline.grouper.groupers.karta import KartaGrouper

READ = ["get", "list", "watch"]


def rights() -> list[Raw]:
    """Rules of a ClusterRole: read every kind of workload, write PodGroups, mark pods, tell events."""
    kinds = [kind for grouper in all_groupers() for kind in (*grouper.kinds, *grouper.reads)] + list(KartaGrouper.reads)
    readable = sorted({_resource(kind) for kind in kinds})
    rules = [
        {"apiGroups": [group], "resources": [plural for its, plural in readable if its == group], "verbs": READ}
        for group in _groups(readable)
    ]
    own = [
        (POD, ["patch"]),
        (POD_GROUP, [*READ, "create", "patch"]),
        (EVENT, ["create", "patch"]),
        (PRIORITY_CLASS, READ),
        (CONFIG_MAP, READ),
        (NAMESPACE, READ),
    ]
    return rules + [{"apiGroups": [kind.group], "resources": [kind.plural], "verbs": verbs} for kind, verbs in own]


def _groups(readable: Iterable[tuple[str, str]]) -> list[str]:
    return sorted({group for group, _ in readable})


def _resource(kind: str) -> tuple[str, str]:
    """`batch/v1 Job` → (`batch`, `jobs`)."""
    api_version, _, name = kind.rpartition(" ")
    resource = known(api_version, name)
    return api_version.rpartition("/")[0], resource.plural if resource else f"{name.lower()}s"

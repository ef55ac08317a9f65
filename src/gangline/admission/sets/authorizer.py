"""Who may touch what the operator made: the operator, the components beside it, the cluster's own controllers, those
whom the configuration exempts, and whoever the set itself lets.

Only objects with the operator's label are asked about, and only where the authorizer is switched on. Deleting a pod is
always allowed: the operator makes a new one. An object whose set is gone is nobody's, and free."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from gangline.api import names
from gangline.api.kinds import (
    HPA,
    POD,
    POD_CLIQUE,
    POD_CLIQUE_SET,
    POD_GANG,
    ROLE,
    ROLE_BINDING,
    SCALING_GROUP,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
)
from gangline.api.meta import Raw
from gangline.rules.hooks import Denied, Hook, HookReview
from gangline.rules.sets import OperatorSettings

if TYPE_CHECKING:
    from gangline.runtime import Reader

CHANGED = ("UPDATE", "DELETE")
PROTECTED = (
    *((kind, CHANGED) for kind in (SECRET, SERVICE_ACCOUNT, SERVICE, ROLE, ROLE_BINDING, HPA)),
    (POD, ("UPDATE",)),
    *((kind, ("CREATE", *CHANGED)) for kind in (POD_CLIQUE, SCALING_GROUP, POD_GANG)),
)
"""Kinds of the operator, and which writes of others are refused."""
CONTROL_PLANE = ("system:apiserver", "system:kube-controller-manager", "system:kube-scheduler")
CLUSTER_ACCOUNTS = ("system:serviceaccount:kube-system:", "system:node:")
"""Prefixes of the accounts that bind, run, complete and collect objects on behalf of all."""


def hooks(settings: OperatorSettings, read: Callable[[], Reader | None]) -> list[Hook]:
    if not settings.authorizer:
        return []
    return [
        Hook(
            "authorizer.webhooks.grove.io",
            kind.group,
            kind.plural,
            operations=operations,
            condition=condition(settings),
            matches=lambda review: ours(review) and not _keeps(review.user, settings),
            validate=lambda review: allowed(review, settings, read()),
            warn=lambda review: warnings(review, read()),
        )
        for kind, operations in PROTECTED
    ]


def _judged(review: HookReview) -> Raw:
    """The object that decides: the stored one, where there is one."""
    return review.old if review.old is not None else review.obj


def _labels(review: HookReview) -> dict[str, str]:
    return (_judged(review).get("metadata") or {}).get("labels") or {}


def ours(review: HookReview) -> bool:
    return _labels(review).get(names.MANAGED_BY) == names.GROVE_OPERATOR


def _set_of(review: HookReview, read: Reader | None) -> tuple[str, bool, bool]:
    """The set an object belongs to, whether it exists, and whether it gives up its protection."""
    name = _labels(review).get(names.PART_OF, "")
    pod_clique_set = read.get(POD_CLIQUE_SET, name, review.namespace) if read is not None and name else None
    return (
        name,
        pod_clique_set is not None,
        pod_clique_set is not None and pod_clique_set.annotations.get(names.UNPROTECTED) == "true",
    )


def _keepers(settings: OperatorSettings) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Who does the cluster's work or ours, by name and by how names begin; without them no gang would start and no set
    would go."""
    return (
        (settings.operator_user, *settings.exempt_users, *CONTROL_PLANE),
        (f"system:serviceaccount:{settings.namespace}:", *CLUSTER_ACCOUNTS),
    )


def _keeps(user: str, settings: OperatorSettings) -> bool:
    named, beginnings = _keepers(settings)
    return user in named or user.startswith(beginnings)


def condition(settings: OperatorSettings) -> str:
    """The same in CEL: a cluster does not ask about them, so they go on with their work while nobody answers."""
    named, beginnings = _keepers(settings)
    user = "request.userInfo.username"
    return " && ".join(
        [
            f"!({user} in {json.dumps(named)})",
            *(f"!{user}.startsWith({json.dumps(beginning)})" for beginning in beginnings),
        ]
    )


def allowed(review: HookReview, settings: OperatorSettings, read: Reader | None) -> Denied | None:
    name, exists, unprotected = _set_of(review, read)
    if not exists or unprotected or _keeps(review.user, settings):
        return None
    return Denied(
        f"{review.name} belongs to PodCliqueSet {name} and is kept by its operator; {review.user} may not "
        f"{review.operation.lower()} it. Change the set, or annotate it with {names.UNPROTECTED}=true"
    )


def warnings(review: HookReview, read: Reader | None) -> list[str]:
    name, exists, _ = _set_of(review, read)
    return (
        []
        if exists
        else [f"{review.name} carries the operator's label, but its PodCliqueSet {name or '(none)'} does not exist"]
    )

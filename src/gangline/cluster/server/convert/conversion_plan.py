"""What a definition says about converting its objects by a webhook: whom to ask, and which version is stored.

custom.py makes a plan of each definition with strategy Webhook; version_views.py carries it out. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from gangline.cluster.server.catalogue import Resource

Obj = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ConversionPlan:
    group: str
    kind: str
    client: Obj
    """The clientConfig of the webhook."""
    reviews: tuple[str, ...]
    """Versions of ConversionReview that it knows."""
    storage: str
    first: str
    """The version of objects that were stored before there was a webhook."""
    written: list[Obj]
    """The versions as the definition has them."""
    versions: dict[str, Resource] = field(default_factory=dict, compare=False)
    """Each version, also those that are not served."""

    def named(self, version: str) -> str:
        return f"{self.group}/{version}"


def conversion_plan(crd: Obj) -> ConversionPlan | None:
    """None for a definition whose versions differ in nothing but their name."""
    spec = crd["spec"]
    conversion = spec.get("conversion") or {}
    storage = next((item["name"] for item in spec["versions"] if item.get("storage")), "")
    if conversion.get("strategy") != "Webhook" or not storage:
        return None
    webhook = conversion.get("webhook") or {}
    stored = (crd.get("status") or {}).get("storedVersions") or [storage]
    return ConversionPlan(
        spec["group"],
        spec["names"]["kind"],
        webhook.get("clientConfig") or {},
        tuple(webhook.get("conversionReviewVersions") or ()),
        storage,
        stored[0],
        spec["versions"],
    )


def plan_of(resource: Resource) -> ConversionPlan | None:
    """How objects of a resource are converted; None if by nobody."""
    plan: ConversionPlan | None = resource.custom.plan if resource.custom else None
    return plan


def stored_as(resource: Resource) -> Resource:
    """The version of a resource that its objects are stored in."""
    plan = plan_of(resource)
    return resource if plan is None else plan.versions[plan.storage]

"""Admission webhooks that keep pods from being made: which configuration they stand in, and what happens while nobody
answers for them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects

SILENT = re.compile(r'failed calling webhook "([\w.-]+)": (.+)$', re.DOTALL)
DENIED = re.compile(r'admission webhook "([\w.-]+)" denied the request')
CONFIGURATIONS = (kinds.VALIDATING_WEBHOOK, kinds.MUTATING_WEBHOOK)


def silent_webhook(objects: ClusterObjects, message: str, maker: str) -> Cause | None:
    """A webhook that the server could not ask, and without whose answer it makes no pods."""
    match = SILENT.search(message)
    if match is None:
        return None
    name, error = match.groups()
    where = list(_strict(objects, name))
    field = "".join(f" ({title} webhooks[{place}].failurePolicy: Fail)" for _, title, place in where[:1])
    return Cause(
        "webhook",
        f"webhook {name} cannot be asked, so the server refuses its pods{field}: {' '.join(error.split())}",
        (f"{maker} cannot make them until whoever answers for {name} is reached again",),
        tuple((change,) for change, _, _ in where),
        pods_change=True,
    )


def denying_webhook(objects: ClusterObjects, message: str) -> str:
    """Where the webhook stands that denied a request; "" where none did."""
    match = DENIED.search(message)
    titles = [title for _, title, _ in _entries(objects, match[1])] if match is not None else []
    return f"webhook {match[1]} stands in {' and '.join(titles)}" if match is not None and titles else ""


def _strict(objects: ClusterObjects, name: str) -> Iterator[tuple[ObjectChange, str, int]]:
    """Its entries, and the change after which pods are made without it."""
    for raw, title, place in _entries(objects, name):
        hooks = [{**hook, "failurePolicy": "Ignore"} if hook["name"] == name else hook for hook in raw["webhooks"]]
        kind = next(kind for kind in CONFIGURATIONS if title.startswith(f"{kind.kind}/"))
        if raw["webhooks"][place].get("failurePolicy", "Fail") == "Fail":
            yield ObjectChange(kind, raw["metadata"]["name"], {"webhooks": hooks}), title, place


def _entries(objects: ClusterObjects, name: str) -> Iterator[tuple[Raw, str, int]]:
    for kind in CONFIGURATIONS:
        for raw in objects.raws(kind):
            for place, hook in enumerate(raw.get("webhooks") or ()):
                if hook.get("name") == name:
                    yield raw, f"{kind.kind}/{raw['metadata']['name']}", place

"""Device claims made anew without what no device can meet: selectors and constraints of their requests.

Asked by no_room.py for when no new node helps. A claim and a template cannot be changed in place; pods of a template
have their claims already, so their workload is made anew with it. The whole platform tries these. Pure.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator

from gangline.api import kinds
from gangline.api.meta import Raw
from gangline.why.changes import ObjectChange
from gangline.why.fixes.anew import again, pods_with
from gangline.why.objects import ClusterObjects, dig
from gangline.why.workloads import Subject


def unselective(objects: ClusterObjects, subject: Subject) -> tuple[tuple[ObjectChange, ...], ...]:
    """The claims and templates of its pods that select, all of them without; nothing where none does."""
    claims = tuple(_without_wishes(objects, subject, False))
    templates = tuple(_without_wishes(objects, subject, True))
    again_made = next(iter(pods_with(objects, subject, {})), ()) if templates else ()
    if templates and not again_made:
        return ()
    return ((*claims, *templates, *again_made),) if claims or templates else ()


def _without_wishes(objects: ClusterObjects, subject: Subject, templates: bool) -> Iterator[ObjectChange]:
    kind = kinds.RESOURCE_CLAIM_TEMPLATE if templates else kinds.RESOURCE_CLAIM
    uses = [item for pod in subject.pods for item in pod.spec.resource_claims]
    names = [item.resource_claim_template_name if templates else item.resource_claim_name for item in uses]
    for name in dict.fromkeys(filter(None, names)):
        live = objects.raw(kind, name, subject.namespace)
        if live is None:
            continue
        fresh = again(live)
        devices = dig(fresh, "spec", "spec", "devices") if templates else dig(fresh, "spec", "devices")
        if isinstance(devices, dict) and _drop_wishes(devices):
            yield ObjectChange(kind, name, fresh, subject.namespace, "replace")


def _drop_wishes(devices: Raw) -> bool:
    """Whether there was something to drop."""
    before = copy.deepcopy(devices)
    devices.pop("constraints", None)
    for request in devices.get("requests") or ():
        for asked in (request.get("exactly") or {}, *(request.get("firstAvailable") or ())):
            asked.pop("selectors", None)
    return before != devices

"""Pods of ours that nobody has put into a PodGroup."""

from __future__ import annotations

from collections.abc import Sequence

from gangline.api import kinds, names
from gangline.api.meta import Raw
from gangline.rights import LEASES
from gangline.rules.values.nearest import nearest
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects, dig
from gangline.why.pods.refused import last_event
from gangline.why.schedulers.components import lease_text
from gangline.why.states.members import living
from gangline.why.workloads import Subject, owners


def ungrouped(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """Pods of ours that nobody has put into a PodGroup."""
    pods = living(subject)
    if subject.group is not None or not pods or subject.gang is not None:
        return None
    pod = pods[0]
    warning = last_event(objects, subject.namespace, [item.uid for item in pods], ("PodGrouperWarning",))
    if warning is not None:
        return Cause("ungrouped", f"the pod grouper cannot group its pods: {warning.get('message')}")
    skipped = next(
        (
            where
            for where in (
                pod.annotations,
                *(dig(owner, "metadata", "annotations") or {} for owner in owners(objects, pod)),
            )
            if where.get(names.SKIP_GROUPER) == "true"
        ),
        None,
    )
    if skipped is not None:
        return Cause(
            "ungrouped",
            f"annotation {names.SKIP_GROUPER} keeps the pod grouper away, and nobody else made a PodGroup for it",
        )
    named = pod.annotations.get(names.POD_GROUP_NAME)
    if named:
        body: Raw = {"spec": {"minMember": len(pods), "queue": names.DEFAULT_QUEUE}}
        near = nearest(named, _groups_of_people(objects, subject.namespace))
        marked: Raw = {"metadata": {"annotations": {names.POD_GROUP_NAME: near}}}
        meant = tuple(ObjectChange(kinds.POD, item.name, marked, item.namespace) for item in pods if near)
        made = (ObjectChange(kinds.POD_GROUP, named, body, subject.namespace, "new"),)
        return Cause(
            "ungrouped",
            f"PodGroup {named}, which its pods name (annotation {names.POD_GROUP_NAME}), does not exist"
            + (f"; did you mean {near}?" if near else ""),
            fixes=(meant, made) if meant else (made,),
        )
    return Cause(
        "ungrouped",
        "its pods are in no PodGroup yet: the pod grouper has not looked at "
        f"them{lease_note(objects, (LEASES['grouper'], 'gangline-grouper'))}",
        ("is it running? `gangline run grouper` starts it",),
    )


def _groups_of_people(objects: ClusterObjects, namespace: str) -> list[str]:
    """PodGroups that no controller made."""
    return [group.name for group in objects.all(kinds.POD_GROUP, namespace) if not group.metadata.owner_references]


def lease_note(objects: ClusterObjects, lease_names: Sequence[str]) -> str:
    text = lease_text(objects, lease_names)
    return f" ({text})" if text else ""

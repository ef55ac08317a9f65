"""Pods that the server refused: by a ResourceQuota, a LimitRange, a missing PriorityClass, RuntimeClass or
ServiceAccount, in the words that their controller got."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gangline.api import kinds, names, resources
from gangline.api.meta import Raw
from gangline.rules.values.nearest import nearest
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.fixes.anew import pods_with
from gangline.why.objects import ClusterObjects, dig
from gangline.why.pods.limits import containers_of, largest_asked, outside_limits
from gangline.why.pods.minimum import lacking_pods
from gangline.why.pods.webhooks import denying_webhook, silent_webhook
from gangline.why.states.members import ENDED, leaves_of, living
from gangline.why.workloads import Subject, owned_by, owners, runs_of

MAKERS = ("Job", "Deployment", "StatefulSet", "ReplicaSet")
ENFORCE = "pod-security.kubernetes.io/enforce"
QUOTA = re.compile(r"exceeded quota: ([\w.-]+), requested: (.+?), used: (.+?), limited: (.+?)(?:$|\.\s| \(and)")


def refused_creation(objects: ClusterObjects, subject: Subject, short: dict[str, int]) -> Cause | None:
    """Pods that the server refused, in the words that their controller got."""
    makers = _makers(objects, subject)
    event = last_event(
        objects,
        subject.namespace,
        makers,
        ("FailedCreate", "FailedCreatePod", "CreatePodFailed", "PodCreationFailed", "PodCreateFailed"),
    )
    refusal = (
        _clique_error(objects, subject)
        if event is None
        else (
            f"{dig(event, 'involvedObject', 'kind')}/{dig(event, 'involvedObject', 'name')}",
            str(event.get("message") or ""),
        )
    )
    if refusal is None:
        return None
    maker, message = refusal[0], refusal[1].removeprefix("Error creating: ")
    leaves = leaves_of(subject)
    return (
        over_resource_quota(objects, subject, message, maker)
        or outside_limits(objects, subject, message, maker)
        or unstated_requests(subject, message, maker)
        or no_priority_class(objects, subject, message, maker)
        or no_service_account(subject, message, maker)
        or no_runtime_class(message, maker)
        or insecure(subject, message, maker)
        or silent_webhook(objects, message, maker)
        or Cause(
            "refused-pods",
            f"the server refuses its pods: {message}",
            tuple(
                filter(
                    None,
                    (
                        "; ".join(filter(None, (f"{maker} cannot make them", lacking_pods(short, leaves)))),
                        denying_webhook(objects, message),
                    ),
                )
            ),
        )
    )


def refused_beside(objects: ClusterObjects, subjects: Sequence[Subject]) -> list[Subject]:
    """Pods that an owner should have beside those whose gangs have all they need, and that the server refused: one
    more workload to speak of, or none."""
    whole = [subject for subject in subjects if len(living(subject)) >= sum(leaves_of(subject).values())]
    top = subjects[0].top if subjects and len(whole) == len(subjects) else None
    if top is None or top.get("kind") not in MAKERS or dig(top, "metadata", "deletionTimestamp"):
        return []
    rest = replace(subjects[0], kind=str(top["kind"]).lower(), name=top["metadata"]["name"], group=None, pods=())
    missing = _pods_wanted(rest) - _ended(top) - sum(len(living(subject)) for subject in subjects)
    return [rest] if missing > 0 and refused_creation(objects, rest, {"": missing}) is not None else []


def _ended(top: Raw) -> int:
    """Pods of a Job that have finished, and are not made again."""
    status = top.get("status") or {}
    return int(status.get("succeeded") or 0) + int(status.get("failed") or 0) if top.get("kind") == "Job" else 0


def _clique_error(objects: ClusterObjects, subject: Subject) -> tuple[str, str] | None:
    """What the server answered when the operator created pods of a clique."""
    if subject.gang is None:
        return None
    for clique in objects.all(kinds.POD_CLIQUE, subject.namespace):
        errors = [
            last_error.description
            for last_error in clique.status.last_errors
            if "pod" in last_error.description.lower()
        ]
        if clique.labels.get(names.POD_GANG) == subject.gang.name and errors:
            return f"PodClique/{clique.name}", re.sub(r"^cannot create Pod [\w.-]+: ", "", errors[-1])
    return None


def _makers(objects: ClusterObjects, subject: Subject) -> set[str]:
    """Uids of the objects that make its pods."""
    uids = {str(dig(item, "metadata", "uid") or "") for item in (subject.top, *runs_of(objects, subject.top))}
    for pod in subject.pods:
        uids |= {str(dig(item, "metadata", "uid") or "") for item in owners(objects, pod)}
    if subject.gang is not None:
        uids |= {
            clique.uid
            for clique in objects.all(kinds.POD_CLIQUE, subject.namespace)
            if clique.labels.get(names.PART_OF) == subject.gang.labels.get(names.PART_OF)
        }
    for item in objects.all(kinds.REPLICA_SET, subject.namespace):
        if any(owner.uid in uids for owner in item.metadata.owner_references):
            uids.add(item.uid)
    return uids - {""}


def last_event(objects: ClusterObjects, namespace: str, uids: Iterable[str], reasons: Sequence[str]) -> Raw | None:
    wanted = set(uids)
    events = [
        event
        for event in objects.raws(kinds.EVENT, namespace)
        if event.get("reason") in reasons and dig(event, "involvedObject", "uid") in wanted
    ]
    return max(events, key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime") or ""), default=None)


def over_resource_quota(objects: ClusterObjects, subject: Subject, message: str, maker: str) -> Cause | None:
    match = QUOTA.search(message)
    if match is None:
        return None
    name, asked, used, limited = match.groups()
    quota = objects.raw(kinds.RESOURCE_QUOTA, name, subject.namespace)
    pods = max(_pods_wanted(subject), _of_cliques(objects, subject))
    there = max(len(living(subject)), _owned(objects, subject))
    missing = max(pods - there, 1)
    hard: dict[str, str] = {}
    for resource, amount in _pairs(asked).items():
        held = _pairs(used).get(resource, "0")
        hard[resource] = resources.canonical(_sum(held, amount, missing))
    what = "volume claims" if all("persistentvolumeclaims" in key or "storage" in key for key in hard) else "pods"
    fixes = (
        ((ObjectChange(kinds.RESOURCE_QUOTA, name, {"spec": {"hard": hard}}, subject.namespace),),)
        if quota is not None
        else ()
    )
    return Cause(
        "resource-quota",
        f"ResourceQuota {name} refuses its {what}: {asked} asked, {used} used, {limited} allowed (spec.hard)",
        (f"{maker} cannot make them: {there} of {pods} pods are there",),
        fixes,
        pods_change=True,
    )


def _of_cliques(objects: ClusterObjects, subject: Subject) -> int:
    """Pods that the cliques of its gang ask for, surplus included."""
    gang = subject.gang.name if subject.gang is not None else ""
    cliques = objects.all(kinds.POD_CLIQUE, subject.namespace) if gang else []
    return sum(clique.spec.replicas for clique in cliques if clique.labels.get(names.POD_GANG) == gang)


def _owned(objects: ClusterObjects, subject: Subject) -> int:
    """Pods that its owner has, of whatever gang."""
    if subject.top_kind not in MAKERS or subject.top is None:
        return 0
    mine = [pod for pod in objects.all(kinds.POD, subject.namespace) if owned_by(objects, pod, subject.top)]
    return len([pod for pod in mine if pod.status.phase not in ENDED and not pod.metadata.deleting])


def _pairs(text: str) -> dict[str, str]:
    return {key.strip(): value for key, _, value in (part.partition("=") for part in text.split(","))}


def _sum(held: str, amount: str, times: int) -> str:
    total = resources.nanos(held) + resources.nanos(amount) * times
    return (
        resources.decimal(total) if not any(letter in held + amount for letter in "iKMGT") else resources.binary(total)
    )


def _pods_wanted(subject: Subject) -> int:
    top = subject.top or {}
    wanted = dig(top, "spec", "parallelism") if top.get("kind") == "Job" else dig(top, "spec", "replicas")
    return max(int(wanted) if isinstance(wanted, int) else 1, sum(leaves_of(subject).values()))


def unstated_requests(subject: Subject, message: str, maker: str) -> Cause | None:
    """A ResourceQuota that counts what the pods do not say: a LimitRange may say it for them."""
    match = re.search(r"failed quota: ([\w.-]+): must specify (.+)$", message)
    if match is None:
        return None
    names_said = re.findall(r"(requests|limits)?\.?([\w./-]+) for:", match[2])
    limit: Raw = {"type": "Container"}
    for kind, resource in names_said:
        field = "default" if kind == "limits" else "defaultRequest"
        limit.setdefault(field, {})[resource] = _enough(subject, resource)
    made = ObjectChange(
        kinds.LIMIT_RANGE, f"{match[1]}-defaults", {"spec": {"limits": [limit]}}, subject.namespace, "new"
    )
    why = f"ResourceQuota {match[1]} refuses its pods, because they do not say {match[2]}"
    return Cause("resource-quota", why, (f"{maker} cannot make them",), ((made,),), pods_change=True)


def _enough(subject: Subject, resource: str) -> str:
    """An amount that is no less than what any of its containers says."""
    amounts = [
        asked[resource] for container in containers_of(subject) if resource in (asked := largest_asked(container))
    ]
    return max(amounts, key=resources.nanos, default="1Gi" if resource == "memory" else "1")


def no_priority_class(objects: ClusterObjects, subject: Subject, message: str, maker: str) -> Cause | None:
    match = re.search(r"no PriorityClass with name ([\w.-]+) was found", message)
    if match is None:
        return None
    near = nearest(match[1], (item.name for item in objects.all(kinds.PRIORITY_CLASS)))
    meant = pods_with(objects, subject, {"priorityClassName": near, "priority": None}) if near else ()
    body = {"value": 50, "description": "made because a workload asks for it"}
    return Cause(
        "priority-class",
        f"PriorityClass {match[1]} does not exist, so the server refuses its pods"
        + (f"; did you mean {near}?" if near else ""),
        (f"{maker} cannot make them: {message}",),
        (*meant, (ObjectChange(kinds.PRIORITY_CLASS, match[1], body, how="new"),)),
        pods_change=True,
    )


def no_service_account(subject: Subject, message: str, maker: str) -> Cause | None:
    match = re.search(r'service ?account "?(?:[\w.-]+/)?([\w.-]+)"? (?:was )?not found', message, re.IGNORECASE)
    if match is None:
        return None
    change = ObjectChange(kinds.SERVICE_ACCOUNT, match[1], {}, subject.namespace, "new")
    return Cause(
        "service-account",
        f"ServiceAccount {match[1]} does not exist, so the server refuses its pods",
        (f"{maker} cannot make them: {message}",),
        ((change,),),
        pods_change=True,
    )


def no_runtime_class(message: str, maker: str) -> Cause | None:
    match = re.search(r'RuntimeClass "([\w.-]+)" not found', message)
    if match is None:
        return None
    change = ObjectChange(kinds.RUNTIME_CLASS, match[1], {"handler": match[1]}, how="new")
    return Cause(
        "runtime-class",
        f"RuntimeClass {match[1]} (spec.runtimeClassName) does not exist, so the server refuses its pods",
        (f"{maker} cannot make them: {message}",),
        ((change,),),
        pods_change=True,
    )


def insecure(subject: Subject, message: str, maker: str) -> Cause | None:
    """The level of Pod Security that the namespace asks for."""
    match = re.search(r'violates PodSecurity "([a-z]+):[\w.-]+": (.+)$', message)
    if match is None:
        return None
    relaxed: Raw = {"metadata": {"labels": {ENFORCE: "privileged"}}}
    return Cause(
        "pod-security",
        f"Namespace {subject.namespace} allows pods of level {match[1]} only (label {ENFORCE}), so the server refuses "
        f"its pods: {match[2]}",
        (f"{maker} cannot make them",),
        ((ObjectChange(kinds.NAMESPACE, subject.namespace, relaxed),),),
        pods_change=True,
    )

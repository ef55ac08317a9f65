"""Pods that a gang needs and that are not there, or not let go: who would make them, who refuses, whose gate holds
them.

Reads owners, gates, quotas, limits and the events that controllers wrote. Which scheduler a pod is for is judged
here too: one that nobody serves never looks at it.
"""

from __future__ import annotations

import copy
import difflib
import re
from collections.abc import Iterable, Iterator, Sequence

from gangline.api import kinds, names, resources
from gangline.api.core import Pod
from gangline.api.meta import Raw, condition
from gangline.rules.schedulers import SERVED
from gangline.scheduler.why.verdict import counted
from gangline.why.amounts import listed
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.components import lease_text
from gangline.why.objects import ClusterObjects, dig
from gangline.why.states import count_by_leaf, leaves_of, living
from gangline.why.subjects import Subject, owners

OTHER_SCHEDULERS = {
    names.DEFAULT_SCHEDULER: "kube-scheduler",
    "volcano": "Volcano",
    "koord-scheduler": "Koordinator",
    "yunikorn": "YuniKorn",
    "scheduler-plugins-scheduler": "scheduler-plugins",
    names.LPX_SCHEDULER: "LPX",
}
GATE_OWNERS = {
    "kueue.x-k8s.io": "Kueue",
    "grove.io": "gangline's operator",
    "gangline.io": "gangline's operator",
    "scheduling.k8s.io": "gangline's operator",
}
QUOTA = re.compile(r"exceeded quota: ([\w.-]+), requested: (.+?), used: (.+?), limited: (.+?)(?:$|\.\s)")


# ── which scheduler ──


def scheduler_cause(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """Pods that name a scheduler which is not ours."""
    names_said = {pod.spec.scheduler_name or names.DEFAULT_SCHEDULER for pod in subject.pods} or _template_scheduler(
        subject
    )
    foreign = sorted(name for name in names_said if name not in SERVED)
    if not foreign or subject.gang is not None:
        return None
    name = foreign[0]
    pod = next((item for item in subject.pods if (item.spec.scheduler_name or names.DEFAULT_SCHEDULER) == name), None)
    said = _said_by(pod) if pod is not None else ""
    if name in OTHER_SCHEDULERS:
        who = OTHER_SCHEDULERS[name]
        told = f"; it says: {said}" if said else "; it has said nothing yet"
        return Cause(
            "other-scheduler",
            f"its pods are for another scheduler, {name} ({who}){told}",
            facts=(f"spec.schedulerName of its pods is {name}; gangline serves {listed(SERVED)}",),
            fixes=_renamed(subject, SERVED[0]),
            pods_change=True,
        )
    near = (
        difflib.get_close_matches(name, (*SERVED, names.DEFAULT_SCHEDULER), n=1, cutoff=0.75)
        or [item for item in SERVED if item.startswith(name)][:1]
    )
    lease = next((item for item in objects.all(kinds.LEASE) if item.name == name), None)
    if near:
        return Cause(
            "scheduler-name",
            f"no scheduler is called {name!r} (spec.schedulerName); did you mean {near[0]}?",
            fixes=_renamed(subject, near[0]),
            pods_change=True,
        )
    running = (
        f"Lease {lease.namespace}/{lease.name} says that it runs"
        if lease is not None
        else "no Lease of that name says that it runs"
    )
    return Cause(
        "other-scheduler",
        f"its pods are for another scheduler, {name} (spec.schedulerName)" + (f", which says: {said}" if said else ""),
        facts=(f"{running}; gangline serves {listed(SERVED)}",),
        fixes=_renamed(subject, SERVED[0]),
        pods_change=True,
    )


def _template_scheduler(subject: Subject) -> set[str]:
    template = dig(subject.top, "spec", "template", "spec")
    return {str(template.get("schedulerName") or names.DEFAULT_SCHEDULER)} if isinstance(template, dict) else set()


def _said_by(pod: Pod) -> str:
    found = condition(pod.status.conditions, "PodScheduled")
    return found.message if found is not None and found.status == "False" else ""


def _renamed(subject: Subject, scheduler: str) -> tuple[tuple[ObjectChange, ...], ...]:
    top = subject.top or {}
    kind = kinds.known(str(top.get("apiVersion") or ""), str(top.get("kind") or ""))
    if kind is None:
        return ()
    name, namespace = top["metadata"]["name"], top["metadata"].get("namespace", "")
    if kind.kind in ("Job", "Pod"):
        fresh = again(top)
        spec = fresh["spec"] if kind.kind == "Pod" else fresh["spec"]["template"]["spec"]
        spec["schedulerName"] = scheduler
        return ((ObjectChange(kind, name, fresh, namespace, "replace"),),)
    return ((ObjectChange(kind, name, {"spec": {"template": {"spec": {"schedulerName": scheduler}}}}, namespace),),)


def again(live: Raw) -> Raw:
    """An object as a person would create it once more."""
    meta = live["metadata"]
    kept = {key: meta[key] for key in ("name", "namespace", "labels", "annotations") if meta.get(key)}
    kept["annotations"] = {
        key: value
        for key, value in (meta.get("annotations") or {}).items()
        if key not in (names.LAST_APPLIED, names.POD_GROUP_NAME, "batch.kubernetes.io/job-tracking")
    }
    spec = copy.deepcopy(live.get("spec") or {})
    spec.pop("selector", None)
    spec.pop("nodeName", None)
    template = dig(spec, "template", "metadata")
    labels = {"controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"}
    for holder in (kept, template):
        if isinstance(holder, dict) and holder.get("labels"):
            holder["labels"] = {key: value for key, value in holder["labels"].items() if key not in labels}
    return {"metadata": kept, "spec": spec}


# ── pods that are not there ──


def missing_pods(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """Fewer pods than the minimum, with who should make them and what he says."""
    top = subject.top or {}
    name = dig(top, "metadata", "name")
    if top.get("kind") == "Job" and dig(top, "spec", "suspend"):
        return Cause(
            "suspended",
            f"Job/{name} is suspended (spec.suspend: true), so it has no pods",
            fixes=((ObjectChange(kinds.JOB, name, {"spec": {"suspend": False}}, subject.namespace),),),
            pods_change=True,
        )
    if top.get("kind") == "CronJob":
        return _between_runs(top, subject.namespace)
    if subject.kind == "set" and subject.gang is None:
        return None
    if dig(top, "spec", "replicas") == 0:
        kind = kinds.known(str(top.get("apiVersion")), str(top.get("kind")))
        fixes = (
            () if kind is None else ((ObjectChange(kind, str(name), {"spec": {"replicas": 1}}, subject.namespace),),)
        )
        why = f"{top.get('kind')}/{name} asks for no pods (spec.replicas: 0)"
        return Cause("empty", why, fixes=fixes, pods_change=True)
    counts, leaves = count_by_leaf(subject, living(subject)), leaves_of(subject)
    short = {leaf: minimum - counts[leaf] for leaf, minimum in leaves.items() if counts[leaf] < minimum}
    if not short:
        return None
    return (
        _refused_creation(objects, subject, short)
        or _too_few_wanted(objects, subject, short)
        or _gang_says(objects, subject)
        or _just_missing(subject, short, leaves)
    )


def _between_runs(top: Raw, namespace: str) -> Cause:
    """A CronJob makes its pods by Jobs, at its times."""
    name, schedule = top["metadata"]["name"], dig(top, "spec", "schedule")
    if dig(top, "spec", "suspend"):
        fix = ObjectChange(kinds.CRON_JOB, name, {"spec": {"suspend": False}}, namespace)
        return Cause(
            "suspended", f"CronJob/{name} is suspended (spec.suspend: true)", fixes=((fix,),), pods_change=True
        )
    last = dig(top, "status", "lastScheduleTime")
    told = f"; its last run began at {last}" if last else "; it has not run yet"
    return Cause("between-runs", f"CronJob/{name} has no run now (spec.schedule: {schedule}){told}", transient=True)


def _lacking(short: dict[str, int], leaves: dict[str, int]) -> str:
    return "; ".join(
        f"{counted(number, 'more pod')}{f' of {leaf}' if leaf else ''} must be there "
        f"({leaves[leaf] - number} of {leaves[leaf]} are)"
        for leaf, number in sorted(short.items())
    )


def _just_missing(subject: Subject, short: dict[str, int], leaves: dict[str, int]) -> Cause:
    why = f"{_lacking(short, leaves)} before it can start"
    strays = [pod for pod in living(subject) if pod.labels.get(names.SUB_GROUP, "") not in leaves and "" not in leaves]
    facts = [
        f"pod {pod.name} names sub-group {pod.labels.get(names.SUB_GROUP) or '(none)'} (label {names.SUB_GROUP}), "
        f"which the PodGroup does not have: {listed(sorted(leaves))}"
        for pod in strays[:3]
    ]
    field = "spec.minMember" if "" in leaves else "spec.subGroups[].minMember"
    return Cause(
        "not-ready",
        why,
        (*facts, f"its PodGroup asks for {counted(sum(leaves.values()), 'pod')} ({field})"),
        fixes=_fewer(subject, short),
    )


def _fewer(subject: Subject, short: dict[str, int]) -> tuple[tuple[ObjectChange, ...], ...]:
    """A minimum that the pods which are there can meet."""
    there = leaves_of(subject).get("", 0) - short.get("", 0)
    return (lowered(subject, there),) if "" in short and there > 0 else ()


def lowered(subject: Subject, minimum: int) -> tuple[ObjectChange, ...]:
    """The gang's minimum, where it is said and where it stands."""
    group = subject.group
    if group is None or subject.gang is not None:
        return ()
    changes = []
    if subject.top_kind == "Job":
        changes.append(
            ObjectChange(
                kinds.JOB,
                subject.top["metadata"]["name"],  # type: ignore[index]
                {"metadata": {"annotations": {names.BATCH_MIN_MEMBER: str(minimum)}}},
                subject.namespace,
            )
        )
    elif subject.top is not None and subject.top_kind != "Pod":
        return ()
    word = f"PodGroup/{group.name}" if subject.top is None else f"the PodGroup of {subject.top_kind}/{subject.name}"
    changes.append(
        ObjectChange(kinds.POD_GROUP, group.name, {"spec": {"minMember": minimum}}, subject.namespace, word=word)
    )
    return tuple(changes)


def _too_few_wanted(objects: ClusterObjects, subject: Subject, short: dict[str, int]) -> Cause | None:
    """A Job whose parallelism, or completions, can never give the pods that its minimum asks for."""
    top = subject.top or {}
    if top.get("kind") != "Job":
        return None
    name, minimum = top["metadata"]["name"], sum(leaves_of(subject).values())
    parallelism = dig(top, "spec", "parallelism")
    parallelism = 1 if parallelism is None else parallelism
    completions = dig(top, "spec", "completions")
    most = parallelism if completions is None else min(parallelism, completions)
    if most >= minimum:
        return None
    patch: Raw = {"spec": {"parallelism": minimum}}
    field, value = ("parallelism", parallelism) if parallelism < minimum else ("completions", completions)
    if not most:
        return Cause(
            "empty",
            f"Job/{name} has spec.{field}: {value}, so it makes no pods",
            fixes=((ObjectChange(kinds.JOB, name, patch, subject.namespace),),) if field == "parallelism" else (),
            pods_change=True,
        )
    why = (
        f"its minimum of {counted(minimum, 'pod')} ({names.BATCH_MIN_MEMBER}) can never be met: Job/{name} has "
        f"spec.{field}: {value}"
    )
    fixes = (
        [(ObjectChange(kinds.JOB, name, patch, subject.namespace),)]
        if field == "parallelism" and completions is None
        else []
    )
    return Cause(
        "minimum",
        why,
        (f"{minimum - short.get('', 0)} of {minimum} pods are there",),
        fixes=(lowered(subject, most), *fixes),
    )


def _gang_says(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """What a PodGang says of itself while its pods are not complete."""
    gang = subject.gang
    found = condition(gang.status.conditions, "Initialized") if gang is not None else None
    if gang is None or found is None or found.status == "True":
        return None
    return Cause("not-ready", found.message or found.reason)


def _refused_creation(objects: ClusterObjects, subject: Subject, short: dict[str, int]) -> Cause | None:
    """Pods that the server refused, as their controller was told."""
    makers = _makers(objects, subject)
    event = last_event(
        objects,
        subject.namespace,
        makers,
        ("FailedCreate", "FailedCreatePod", "CreatePodFailed", "PodCreationFailed", "PodCreateFailed"),
    )
    said = (
        _clique_error(objects, subject)
        if event is None
        else (
            f"{dig(event, 'involvedObject', 'kind')}/{dig(event, 'involvedObject', 'name')}",
            str(event.get("message") or ""),
        )
    )
    if said is None:
        return None
    maker, told = said[0], said[1].removeprefix("Error creating: ")
    leaves = leaves_of(subject)
    return (
        _over_resource_quota(objects, subject, told, maker)
        or _outside_limits(objects, subject, told, maker)
        or _unstated(subject, told, maker)
        or _no_class(subject, told, maker)
        or _no_account(subject, told, maker)
        or Cause(
            "refused-pods",
            f"the server refuses its pods: {told}",
            (f"{maker} cannot make them; {_lacking(short, leaves)}",),
        )
    )


def _clique_error(objects: ClusterObjects, subject: Subject) -> tuple[str, str] | None:
    """What the operator was told when it made pods of a clique."""
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
    found = {str(dig(subject.top, "metadata", "uid") or "")}
    for pod in subject.pods:
        found |= {str(dig(item, "metadata", "uid") or "") for item in owners(objects, pod)}
    if subject.gang is not None:
        found |= {
            clique.uid
            for clique in objects.all(kinds.POD_CLIQUE, subject.namespace)
            if clique.labels.get(names.PART_OF) == subject.gang.labels.get(names.PART_OF)
        }
    for item in objects.all(kinds.REPLICA_SET, subject.namespace):
        if any(owner.uid in found for owner in item.metadata.owner_references):
            found.add(item.uid)
    return found - {""}


def last_event(objects: ClusterObjects, namespace: str, uids: Iterable[str], reasons: Sequence[str]) -> Raw | None:
    wanted = set(uids)
    events = [
        event
        for event in objects.raws(kinds.EVENT, namespace)
        if event.get("reason") in reasons and dig(event, "involvedObject", "uid") in wanted
    ]
    return max(events, key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime") or ""), default=None)


def _over_resource_quota(objects: ClusterObjects, subject: Subject, told: str, maker: str) -> Cause | None:
    match = QUOTA.search(told)
    if match is None:
        return None
    name, asked, used, limited = match.groups()
    quota = objects.raw(kinds.RESOURCE_QUOTA, name, subject.namespace)
    pods = _pods_wanted(subject)
    there = len(living(subject))
    missing = max(pods - there, 1)
    hard: dict[str, str] = {}
    for resource, amount in _pairs(asked).items():
        held = _pairs(used).get(resource, "0")
        hard[resource] = resources.canonical(_sum(held, amount, missing))
    fixes = (
        ((ObjectChange(kinds.RESOURCE_QUOTA, name, {"spec": {"hard": hard}}, subject.namespace),),)
        if quota is not None
        else ()
    )
    return Cause(
        "resource-quota",
        f"ResourceQuota {name} refuses its pods: {asked} asked, {used} used, {limited} allowed (spec.hard)",
        (f"{maker} cannot make them: {there} of {pods} pods are there",),
        fixes,
        pods_change=True,
    )


def _pairs(text: str) -> dict[str, str]:
    return {key.strip(): value for key, _, value in (part.partition("=") for part in text.split(","))}


def _sum(held: str, amount: str, times: int) -> str:
    total = resources.nanos(held) + resources.nanos(amount) * times
    return (
        resources.decimal(total) if not any(letter in held + amount for letter in "iKMGT") else resources.binary(total)
    )


def _pods_wanted(subject: Subject) -> int:
    top = subject.top or {}
    said = dig(top, "spec", "parallelism") if top.get("kind") == "Job" else dig(top, "spec", "replicas")
    return max(int(said) if isinstance(said, int) else 1, sum(leaves_of(subject).values()))


def _outside_limits(objects: ClusterObjects, subject: Subject, told: str, maker: str) -> Cause | None:
    """A LimitRange that the pods' template does not keep, by its own figures."""
    broken = [(raw, list(_breaches(raw, subject))) for raw in objects.raws(kinds.LIMIT_RANGE, subject.namespace)]
    broken = [(raw, breaches) for raw, breaches in broken if breaches]
    if not broken:
        return None
    raw, breaches = broken[0]
    said = "; ".join(
        f"{per} may have {bound} {limits} of {resource}, {asked} asked (spec.limits)"
        for bound, resource, per, limits, asked in breaches
    )
    fix = tuple(_widened(item, told_here, subject.namespace) for item, told_here in broken)
    return Cause(
        "limit-range",
        f"LimitRange {raw['metadata']['name']} refuses its pods: {said}",
        (f"{maker} cannot make them: {told}",),
        (fix,),
        pods_change=True,
    )


Breach = tuple[str, str, str, str, str]
"""Bound (max or min), resource, type of the limit, what it allows, what is asked."""


def _breaches(found: Raw, subject: Subject) -> Iterator[Breach]:
    specs = [
        dig(subject.top, "spec", "template", "spec"),
        dig(subject.top, "spec"),
        *(dig(item, "spec", "podSpec") for item in dig(subject.top, "spec", "template", "cliques") or ()),
    ]
    containers = [item for spec in specs for item in dig(spec, "containers") or ()]
    for limit in dig(found, "spec", "limits") or ():
        asks = [_asked(container) for container in containers]
        if limit.get("type") == "Pod":
            asks = [{key: _total(asks, key) for ask in asks for key in ask}]
        elif limit.get("type") != "Container":
            continue
        for bound, beyond in (("max", 1), ("min", -1)):
            for resource, allowed in (limit.get(bound) or {}).items():
                wrong = [
                    ask[resource]
                    for ask in asks
                    if resource in ask and beyond * (resources.nanos(ask[resource]) - resources.nanos(allowed)) > 0
                ]
                if wrong:
                    yield bound, resource, str(limit["type"]), str(allowed), str(wrong[0])


def _total(asks: Sequence[dict[str, str]], key: str) -> str:
    total = sum(resources.nanos(ask.get(key, 0)) for ask in asks)
    return resources.binary(total) if any("i" in str(ask.get(key, "")) for ask in asks) else resources.decimal(total)


def _asked(container: Raw) -> dict[str, str]:
    """Request or limit, whichever is larger."""
    given = container.get("resources") or {}
    found = dict(given.get("requests") or {})
    for key, value in (given.get("limits") or {}).items():
        if key not in found or resources.nanos(value) > resources.nanos(found[key]):
            found[key] = value
    return found


def _widened(found: Raw, breaches: Sequence[Breach], namespace: str) -> ObjectChange:
    limits = copy.deepcopy(dig(found, "spec", "limits") or [])
    for bound, resource, per, _, asked in breaches:
        for limit in limits:
            if limit.get("type") == per == "Pod" and resource in (limit.get(bound) or {}):
                del limit[bound][resource]
            elif limit.get("type") == per and resource in (limit.get(bound) or {}):
                for field in (bound, "default", "defaultRequest") if bound == "max" else (bound,):
                    if resource in (limit.get(field) or {}):
                        limit[field][resource] = asked
    return ObjectChange(kinds.LIMIT_RANGE, found["metadata"]["name"], {"spec": {"limits": limits}}, namespace)


def _unstated(subject: Subject, told: str, maker: str) -> Cause | None:
    """A ResourceQuota that counts what the pods do not say: a LimitRange may say it for them."""
    match = re.search(r"failed quota: ([\w.-]+): must specify (.+)$", told)
    if match is None:
        return None
    names_said = re.findall(r"(requests|limits)?\.?([\w./-]+) for:", match[2])
    limit: Raw = {"type": "Container"}
    for kind, resource in names_said:
        field = "default" if kind == "limits" else "defaultRequest"
        limit.setdefault(field, {})[resource] = "1Gi" if resource == "memory" else "1"
    made = ObjectChange(
        kinds.LIMIT_RANGE, f"{match[1]}-defaults", {"spec": {"limits": [limit]}}, subject.namespace, "new"
    )
    why = f"ResourceQuota {match[1]} refuses its pods, because they do not say {match[2]}"
    return Cause("resource-quota", why, (f"{maker} cannot make them",), ((made,),), pods_change=True)


def _no_class(subject: Subject, told: str, maker: str) -> Cause | None:
    match = re.search(r"no PriorityClass with name ([\w.-]+) was found", told)
    if match is None:
        return None
    body = {"value": 50, "description": "made because a workload asks for it"}
    return Cause(
        "priority-class",
        f"PriorityClass {match[1]} does not exist, so the server refuses its pods",
        (f"{maker} cannot make them: {told}",),
        ((ObjectChange(kinds.PRIORITY_CLASS, match[1], body, how="new"),),),
        pods_change=True,
    )


def _no_account(subject: Subject, told: str, maker: str) -> Cause | None:
    match = re.search(r'service ?account "?(?:[\w.-]+/)?([\w.-]+)"? (?:was )?not found', told, re.IGNORECASE)
    if match is None:
        return None
    change = ObjectChange(kinds.SERVICE_ACCOUNT, match[1], {}, subject.namespace, "new")
    return Cause(
        "service-account",
        f"ServiceAccount {match[1]} does not exist, so the server refuses its pods",
        (f"{maker} cannot make them: {told}",),
        ((change,),),
        pods_change=True,
    )


# ── gates ──


def gated_pods(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """Pods behind a scheduling gate: no scheduler looks at them."""
    held = [pod for pod in living(subject) if pod.spec.scheduling_gates]
    free = [pod for pod in living(subject) if not pod.spec.scheduling_gates]
    counts = count_by_leaf(subject, free)
    if not held or all(counts[leaf] >= minimum for leaf, minimum in leaves_of(subject).items()):
        return None
    gates = sorted({gate.name for pod in held for gate in pod.spec.scheduling_gates})
    foreign = [gate for gate in gates if gate not in names.OUR_GATES]
    if foreign:
        told = ", ".join(f"{gate} of {gate_owner(gate)}" for gate in foreign)
        changes = tuple(
            _opened(pod, foreign) for pod in held if any(gate.name in foreign for gate in pod.spec.scheduling_gates)
        )
        return Cause(
            "gate",
            f"{counted(len(held), 'pod')} {'is' if len(held) == 1 else 'are'} behind the scheduling gate {told}",
            ("whoever set it has to take it away (spec.schedulingGates)",),
            (changes,),
        )
    return Cause(
        "gate",
        _our_gate(objects, subject, held, gates),
        (
            f"{counted(len(held), 'pod')} {'is' if len(held) == 1 else 'are'} behind the gate {listed(gates)} "
            "of gangline's operator",
        ),
    )


def gate_owner(gate: str) -> str:
    domain = gate.partition("/")[0]
    return GATE_OWNERS.get(domain) or (domain if "/" in gate else "somebody")


def _opened(pod: Pod, foreign: Sequence[str]) -> ObjectChange:
    kept = [{"name": gate.name} for gate in pod.spec.scheduling_gates if gate.name not in foreign]
    return ObjectChange(kinds.POD, pod.name, {"spec": {"schedulingGates": kept}}, pod.namespace)


def base_gang(objects: ClusterObjects, subject: Subject) -> str:
    """The gang that must be placed before this one, while it is not; "" where there is none."""
    gang = subject.gang
    if gang is None or not any(pod.spec.scheduling_gates for pod in living(subject)):
        return ""
    base = next((pod.labels[names.BASE_POD_GANG] for pod in subject.pods if names.BASE_POD_GANG in pod.labels), "")
    base = base or gang.labels.get(names.BASE_POD_GANG, "")
    other = objects.get(kinds.POD_GANG, base, subject.namespace) if base and base != gang.name else None
    if other is None:
        return ""
    stands = condition(other.status.conditions, "Scheduled")
    return base if stands is None or stands.status != "True" else ""


def _our_gate(objects: ClusterObjects, subject: Subject, held: Sequence[Pod], gates: Sequence[str]) -> str:
    """Why the operator has not lifted it: the backend, or pods that are not there."""
    gang = subject.gang
    whole = condition(gang.status.conditions, "Initialized") if gang is not None else None
    if whole is not None and whole.status != "True":
        return whole.message or whole.reason
    told = [
        item.message
        for clique in objects.all(kinds.POD_CLIQUE, subject.namespace)
        if any(pod.labels.get(names.POD_CLIQUE) == clique.name for pod in held)
        for item in clique.status.conditions
        if item.type == "PodsGated" and item.status == "True"
    ]
    return told[0] if told else "the operator has not lifted the gate of its pods"


def ungrouped(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """Pods of ours that nobody has put into a PodGroup."""
    pods = living(subject)
    if subject.group is not None or not pods or subject.gang is not None:
        return None
    pod = pods[0]
    told = last_event(objects, subject.namespace, [item.uid for item in pods], ("PodGrouperWarning",))
    if told is not None:
        return Cause("ungrouped", f"the pod grouper cannot group its pods: {told.get('message')}")
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
        return Cause(
            "ungrouped",
            f"PodGroup {named}, which its pods name (annotation {names.POD_GROUP_NAME}), does not exist",
            fixes=((ObjectChange(kinds.POD_GROUP, named, body, subject.namespace, "new"),),),
        )
    return Cause(
        "ungrouped",
        "its pods are in no PodGroup yet: the pod grouper has not looked at "
        f"them{lease_note(objects, ('pod-grouper', 'gangline-grouper'))}",
    )


def lease_note(objects: ClusterObjects, lease_names: Sequence[str]) -> str:
    found = lease_text(objects, lease_names)
    return f" ({found})" if found else ""

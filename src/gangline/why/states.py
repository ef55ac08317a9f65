"""What became of a workload that is not waiting for room: running, starting, finished, failed, evicted, being
deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from gangline.api import kinds, names
from gangline.api.core import ContainerStatus, Pod
from gangline.api.meta import Raw, condition
from gangline.rules.evictions import last_eviction
from gangline.rules.values import times
from gangline.scheduler.why.verdict import counted, spoken
from gangline.why.amounts import listed
from gangline.why.cause import Cause
from gangline.why.changes import ObjectChange
from gangline.why.objects import ClusterObjects, dig
from gangline.why.subjects import Subject

ENDED = ("Succeeded", "Failed")
FINALIZERS = {
    names.SET_FINALIZER: "gangline's operator",
    names.CLIQUE_FINALIZER: "gangline's operator",
    names.SCALING_GROUP_FINALIZER: "gangline's operator",
    "foregroundDeletion": "the garbage collector, which deletes what belongs to it first",
    "orphan": "the garbage collector",
    "batch.kubernetes.io/job-tracking": "the Job controller",
    "kubernetes.io/pvc-protection": "the volume protection controller",
}


def living(subject: Subject) -> list[Pod]:
    return [pod for pod in subject.pods if pod.status.phase not in ENDED and not pod.metadata.deleting]


def leaves_of(subject: Subject) -> dict[str, int]:
    """Sub-group → its minimum; "" where there is one group only."""
    group = subject.group
    if group is None:
        return {"": 1}
    parents = {(sub_group.parent or "").lower() for sub_group in group.spec.sub_groups}
    found = {
        sub_group.name: sub_group.min_member or 0
        for sub_group in group.spec.sub_groups
        if sub_group.name not in parents
    }
    return found or {"": 1 if group.spec.min_member is None else group.spec.min_member}


def count_by_leaf(subject: Subject, pods: Sequence[Pod]) -> Counter[str]:
    leaves = leaves_of(subject)
    return Counter("" if "" in leaves else pod.labels.get(names.SUB_GROUP, "") for pod in pods)


def holds_minimum(subject: Subject) -> bool:
    bound = [pod for pod in living(subject) if pod.spec.node_name]
    done = [pod for pod in subject.pods if pod.status.phase == "Succeeded"]
    counts = count_by_leaf(subject, [*bound, *done])
    return bool(bound) and all(counts[leaf] >= minimum for leaf, minimum in leaves_of(subject).items())


def state_of(objects: ClusterObjects, subject: Subject) -> Cause | None:
    """None: it waits, or has no pods yet."""
    return deletion(objects, subject) or evicted(subject) or ended(objects, subject) or placed(objects, subject)


# ── being deleted ──


def deletion(objects: ClusterObjects, subject: Subject) -> Cause | None:
    objs = [obj for obj in _objects(objects, subject) if dig(obj, "metadata", "deletionTimestamp")]
    if not objs:
        pods = [pod for pod in subject.pods if pod.metadata.deleting]
        if not pods or len(pods) < len(subject.pods):
            return None
        objs = [objects.raw(kinds.POD, pod.name, pod.namespace) or {} for pod in pods]
    top = objs[0]
    held = [obj for obj in objs if dig(obj, "metadata", "finalizers")]
    since = dig(top, "metadata", "deletionTimestamp")
    ago = objects.now - (times.seconds(since) or objects.now)
    said = f"since {since}" + (f" ({spoken(ago)})" if ago >= 1 else "")
    if not held:
        nodes = sorted({pod.spec.node_name for pod in subject.pods if pod.metadata.deleting and pod.spec.node_name})
        return Cause(
            "deleting",
            said + (f"; its pods stop on {listed(nodes)}" if nodes else ""),
            state="is being deleted",
            transient=True,
        )
    blocking = held[0]
    finalizers = [str(item) for item in dig(blocking, "metadata", "finalizers") or ()]
    whose = ", ".join(f"finalizer {finalizer} of {_whose(finalizer)}" for finalizer in finalizers)
    title = f"{blocking.get('kind')}/{dig(blocking, 'metadata', 'name')}"
    kind = kinds.known(str(blocking.get("apiVersion")), str(blocking.get("kind")))
    fixes = (
        ()
        if kind is None
        else (
            (
                ObjectChange(
                    kind,
                    blocking["metadata"]["name"],
                    {"metadata": {"finalizers": []}},
                    blocking["metadata"].get("namespace", ""),
                ),
            ),
        )
    )
    return Cause(
        "deleting",
        f"{said}; {title} is held by {whose}",
        state="is being deleted",
        fixes=fixes,
        facts=(f"it goes when whoever set {listed(finalizers)} has taken it away",),
    )


def _objects(objects: ClusterObjects, subject: Subject) -> Iterator[Raw]:
    if subject.top is not None:
        yield subject.top
    for kind, held in ((kinds.POD_GANG, subject.gang), (kinds.POD_GROUP, subject.group)):
        live = objects.raw(kind, held.name, held.namespace) if held is not None else None
        if live is not None:
            yield live


def _whose(finalizer: str) -> str:
    return FINALIZERS.get(finalizer) or (finalizer.partition("/")[0] if "/" in finalizer else "an unnamed controller")


# ── finished and failed ──


def ended(objects: ClusterObjects, subject: Subject) -> Cause | None:
    top = subject.top or {}
    if top.get("kind") == "Job":
        for item in dig(top, "status", "conditions") or ():
            if item.get("status") == "True" and item.get("type") in ("Complete", "SuccessCriteriaMet"):
                when = item.get("lastTransitionTime", "")
                return Cause(
                    "finished",
                    f"Job/{top['metadata']['name']} completed at {when}; "
                    f"{counted(dig(top, 'status', 'succeeded') or 0, 'pod')} succeeded",
                    state="has finished",
                )
            if item.get("status") == "True" and item.get("type") in ("Failed", "FailureTarget"):
                told = ": ".join(str(part) for part in (item.get("reason"), item.get("message")) if part)
                return Cause(
                    "failed",
                    f"Job/{top['metadata']['name']} failed at {item.get('lastTransitionTime', '')}: {told}",
                    facts=tuple(failure_lines(subject)),
                    state="has failed",
                )
    if not subject.pods or living(subject) or any(pod.metadata.deleting for pod in subject.pods):
        return None
    failed = [pod for pod in subject.pods if pod.status.phase == "Failed"]
    if failed and top.get("kind") not in ("Job", "Deployment", "StatefulSet", "ReplicaSet", "PodCliqueSet"):
        last = failure(max(failed, key=lambda pod: pod.metadata.creation_timestamp or ""))
        return Cause(
            "failed", last, facts=tuple(line for line in failure_lines(subject) if line != last), state="has failed"
        )
    if not failed:
        return Cause("finished", f"{counted(len(subject.pods), 'pod')} succeeded", state="has finished")
    return None


def failure_lines(subject: Subject) -> list[str]:
    failed = sorted(
        (pod for pod in subject.pods if pod.status.phase == "Failed"),
        key=lambda pod: pod.metadata.creation_timestamp or "",
    )
    return [failure(pod) for pod in failed[-3:]]


def failure(pod: Pod) -> str:
    where = f" on {pod.spec.node_name}" if pod.spec.node_name else ""
    said = [pod.status.reason, pod.status.message]
    for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        over = dig(status.state, "terminated") or {}
        if over.get("exitCode"):
            said.append(
                f"container {status.name} ended with exit code {over['exitCode']}"
                + (f" ({over['reason']})" if over.get("reason") else "")
                + (f": {over['message']}" if over.get("message") else "")
            )
    why = ": ".join(part for part in said if part)
    return f"pod {pod.name} failed{where}" + (f": {why}" if why else "")


# ── on nodes ──


def placed(objects: ClusterObjects, subject: Subject) -> Cause | None:
    if not holds_minimum(subject):
        return None
    bound = [pod for pod in living(subject) if pod.spec.node_name]
    late = [pod for pod in bound if not _is_ready(pod)]
    nodes = Counter(pod.spec.node_name for pod in bound)
    where = ", ".join(f"{node} ({count})" if count > 1 else node for node, count in sorted(nodes.items())[:6])
    queue = f", queue {subject.group.spec.queue}" if subject.group is not None and subject.group.spec.queue else ""
    waiting = [pod for pod in living(subject) if not pod.spec.node_name]
    if late:
        first = late[0]
        return Cause(
            "starting",
            f"{len(bound) - len(late)} of {counted(len(bound), 'pod')} are ready; {starting(objects, subject, first)}",
            facts=(f"on {where}{queue}", *(starting(objects, subject, pod) for pod in late[1:4])),
            state="is starting",
            transient=True,
        )
    began = min((pod.status.start_time or pod.metadata.creation_timestamp or "" for pod in bound), default="")
    since = f" since {began} ({spoken(max(objects.now - (times.seconds(began) or objects.now), 0))})" if began else ""
    why = f"{counted(len(bound), 'pod')} on {where}{since}{queue}"
    if waiting:
        return Cause(
            "surplus",
            f"{why}; {counted(len(waiting), 'more pod')} above its minimum of {sum(leaves_of(subject).values())} "
            f"{'waits' if len(waiting) == 1 else 'wait'}",
            state="runs",
        )
    return Cause("running", why, state="runs")


def _is_ready(pod: Pod) -> bool:
    found = condition(pod.status.conditions, "Ready")
    if found is not None:
        return found.status == "True"
    return pod.status.phase == "Running" and all(status.ready for status in pod.status.container_statuses)


def starting(objects: ClusterObjects, subject: Subject, pod: Pod) -> str:
    """Why a pod that has its node is not ready."""
    where = f"pod {pod.name} on {pod.spec.node_name}"
    for status in pod.status.init_container_statuses:
        if status.name == names.INIT_CONTAINER and not _done(status):
            return f"{where} waits, by startup order, for {_parents(objects, pod)}"
    for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        waiting = dig(status.state, "waiting") or {}
        over = dig(status.last_state, "terminated") or dig(status.state, "terminated") or {}
        if waiting.get("reason") and waiting["reason"] not in ("PodInitializing", "ContainerCreating"):
            last = f"; it ended with exit code {over['exitCode']}" if over.get("exitCode") else ""
            return (
                f"{where}: container {status.name} is waiting: {waiting['reason']}"
                + (f": {waiting['message']}" if waiting.get("message") else "")
                + f" (image {_image(pod, status.name)})"
                + last
            )
    for status in pod.status.init_container_statuses:
        if not _done(status):
            return f"{where}: init container {status.name} has not finished"
    for status in pod.status.container_statuses:
        if not status.ready and dig(status.state, "running") is not None:
            return f"{where}: container {status.name} runs, but its readiness probe has not succeeded yet"
        if not status.ready:
            reason = dig(status.state, "waiting", "reason") or "not started"
            return f"{where}: container {status.name} is not ready ({reason})"
    return f"{where} has not been started by its kubelet yet (phase {pod.status.phase or 'Pending'})"


def _done(status: ContainerStatus) -> bool:
    over = dig(status.state, "terminated")
    return over is not None and not over.get("exitCode")


def _image(pod: Pod, container: str) -> str:
    return next(
        (
            init_container.image
            for init_container in (*pod.spec.init_containers, *pod.spec.containers)
            if init_container.name == container
        ),
        "",
    )


def _parents(objects: ClusterObjects, pod: Pod) -> str:
    """Cliques that must be ready before this one, with how far they are."""
    init = next(
        (init_container for init_container in pod.spec.init_containers if init_container.name == names.INIT_CONTAINER),
        None,
    )
    told = []
    for argument in init.args if init is not None else ():
        clique, _, minimum = argument.removeprefix("--podcliques=").rpartition(":")
        pods = [item for item in objects.all(kinds.POD, pod.namespace) if item.labels.get(names.POD_CLIQUE) == clique]
        ready = sum(_is_ready(item) for item in pods)
        if ready < int(minimum or 1):
            late = next((item for item in pods if not _is_ready(item)), None)
            told.append(
                f"clique {clique}: {ready} of {minimum} pods ready"
                + (f", {late.name} is not" if late is not None else "")
            )
    return "; ".join(told) or "the cliques it starts after"


# ── evicted ──


def evicted(subject: Subject) -> Cause | None:
    """A gang that lost its pods to others, and that nobody makes anew."""
    eviction = last_eviction(subject.group) if subject.group is not None else None
    if eviction is None or living(subject) or (subject.top is not None and subject.top_kind != "Pod"):
        return None
    by = f" by {eviction.by.partition('/')[2] or eviction.by}" if eviction.by else ""
    return Cause(
        "evicted",
        f"at {eviction.at}{by} ({eviction.action}): {eviction.pods} of {counted(eviction.of, 'pod')}; no "
        "controller makes them "
        "anew, so it does not come back by itself",
        state="was evicted",
    )


def eviction_line(objects: ClusterObjects, subject: Subject, titles: dict[str, str]) -> str:
    """When, by whom and why pods of it were evicted last, and whether they come back; "" where none were."""
    eviction = last_eviction(subject.group) if subject.group is not None else None
    if eviction is None:
        return ""
    reason = {
        "reclaim": "reclaim: its queue gave back what it had borrowed",
        "preempt": "preempt: higher priority in the same queue",
        "consolidation": "consolidation: to move closer together",
        "stalegangeviction": "stalegangeviction: it was below its minimum for too long",
    }.get(eviction.action, eviction.action)
    by = f" by {titles.get(eviction.by, eviction.by)}" if eviction.by else ""
    controlled = subject.top is not None and subject.top_kind != "Pod"
    back = (
        f"; {subject.top_kind}/{(subject.top or {})['metadata']['name']} makes them anew"
        if controlled
        else "; no controller makes them anew"
    )
    return f"last evicted {eviction.at}{by} ({reason}): {eviction.pods} of {eviction.of} pods{back}"

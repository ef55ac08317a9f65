"""Cells of the built-in kinds, as `kubectl get` shows them below the headings. One function per kind, in the table at
the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from gangline.cluster.server.show.table_headings import headings
from gangline.cluster.server.show.tables import PLAIN, Cells, Obj, Printer, age, duration, plain_cells, seconds
from gangline.cluster.server.verbs.subresources.scale_object import selector_text

NONE = "<none>"


def _get(obj: Any, *path: str) -> Any:
    for key in path:
        obj = obj.get(key) if isinstance(obj, dict) else None
    return obj


def _age(obj: Obj, now: float) -> str:
    return age(_get(obj, "metadata", "creationTimestamp"), now)


def _name(obj: Obj) -> str:
    return str(_get(obj, "metadata", "name") or "")


def _template(obj: Obj) -> list[str]:
    containers = _get(obj, "spec", "template", "spec", "containers") or []
    return [
        ",".join(container.get("name", "") for container in containers),
        ",".join(container.get("image", "") for container in containers),
    ]


def _selector(obj: Obj) -> str:
    found = _get(obj, "spec", "selector")
    return (selector_text(found) if found else "") or NONE


def pod_status(pod: Obj) -> str:
    """The one word (or reason) that sums up a pod."""
    status = pod.get("status") or {}
    reason = status.get("reason") or status.get("phase") or ""
    for condition in status.get("conditions") or []:
        if condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    starting = _init_reason(pod)
    if starting is not None:
        reason = starting
    else:
        reason = _running_reason(status, reason)
    if _get(pod, "metadata", "deletionTimestamp") and status.get("phase") not in ("Succeeded", "Failed"):
        return "Unknown" if status.get("reason") == "NodeLost" else "Terminating"
    return str(reason)


def _init_reason(pod: Obj) -> str | None:
    """Why a pod's init containers hold it up; None once they do not."""
    asked = _get(pod, "spec", "initContainers") or []
    always = {item["name"] for item in asked if item.get("restartPolicy") == "Always"}
    for index, container in enumerate(_get(pod, "status", "initContainerStatuses") or []):
        state = container.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting") or {}
        if ended is not None and not ended.get("exitCode"):
            continue
        if container.get("name") in always and container.get("started"):
            continue
        if ended is not None:
            return "Init:" + _ended(ended)
        if waiting.get("reason") and waiting["reason"] != "PodInitializing":
            return f"Init:{waiting['reason']}"
        return f"Init:{index}/{len(asked)}"
    return None


def _ended(ended: Obj) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode', 0)}"


def _running_reason(status: Obj, reason: str) -> str:
    has_running = False
    for container in reversed(status.get("containerStatuses") or []):
        state = container.get("state") or {}
        if (state.get("waiting") or {}).get("reason"):
            reason = state["waiting"]["reason"]
        elif state.get("terminated") is not None:
            reason = _ended(state["terminated"])
        elif container.get("ready") and state.get("running") is not None:
            has_running = True
    if reason == "Completed" and has_running:
        ready = any(
            condition.get("type") == "Ready" and condition.get("status") == "True"
            for condition in status.get("conditions") or []
        )
        return "Running" if ready else "NotReady"
    return reason


def _restarts(pod: Obj, now: float) -> str:
    status = pod.get("status") or {}
    always = {
        item["name"] for item in _get(pod, "spec", "initContainers") or [] if item.get("restartPolicy") == "Always"
    }
    counted = [
        init_container_status
        for init_container_status in status.get("initContainerStatuses") or []
        if init_container_status.get("name") in always
    ]
    starting = _init_reason(pod) is not None
    counted = (
        (status.get("initContainerStatuses") or []) if starting else counted + (status.get("containerStatuses") or [])
    )
    total = sum(item.get("restartCount", 0) for item in counted)
    ends = [seconds(_get(item, "lastState", "terminated", "finishedAt")) for item in counted]
    last = max((end for end in ends if end is not None), default=None)
    return f"{total} ({duration(now - last)} ago)" if total and last is not None else str(total)


def _pod(pod: Obj, now: float) -> list[Any]:
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    address = ((status.get("podIPs") or [{}])[0].get("ip")) or status.get("podIP") or NONE
    return [
        _name(pod),
        f"{_ready_containers(status)}/{len(spec.get('containers') or [])}",
        pod_status(pod),
        _restarts(pod, now),
        _age(pod, now),
        address,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _readiness_gates(spec.get("readinessGates") or [], status),
    ]


def _ready_containers(status: Obj) -> int:
    return sum(
        1
        for container_status in status.get("containerStatuses") or []
        if container_status.get("ready") and _get(container_status, "state", "running") is not None
    )


def _readiness_gates(gates: list[Obj], status: Obj) -> str:
    met = sum(
        1
        for gate in gates
        for condition in status.get("conditions") or []
        if condition.get("type") == gate.get("conditionType") and condition.get("status") == "True"
    )
    return f"{met}/{len(gates)}" if gates else NONE


def _node(node: Obj, now: float) -> list[Any]:
    status = node.get("status") or {}
    info = status.get("nodeInfo") or {}
    address = {item.get("type"): item.get("address") for item in status.get("addresses") or []}
    return [
        _name(node),
        ",".join(_node_states(node, status)),
        ",".join(role for role in _node_roles(node) if role) or NONE,
        _age(node, now),
        info.get("kubeletVersion", ""),
        address.get("InternalIP") or NONE,
        address.get("ExternalIP") or NONE,
        *(info.get(key) or "<unknown>" for key in ("osImage", "kernelVersion", "containerRuntimeVersion")),
    ]


def _node_states(node: Obj, status: Obj) -> list[str]:
    ready = [item.get("status") for item in status.get("conditions") or [] if item.get("type") == "Ready"]
    state = "Unknown"
    if ready:
        state = "Ready" if ready[-1] == "True" else "NotReady"
    return [state, "SchedulingDisabled"] if _get(node, "spec", "unschedulable") else [state]


def _node_roles(node: Obj) -> list[str]:
    labels = _get(node, "metadata", "labels") or {}
    mark = "node-role.kubernetes.io/"
    roles = {key.removeprefix(mark) for key in labels if key.startswith(mark)}
    return sorted(roles | ({labels["kubernetes.io/role"]} if labels.get("kubernetes.io/role") else set()))


def _service(service: Obj, now: float) -> list[Any]:
    spec = service.get("spec") or {}
    ports = [
        f"{port.get('port')}{':' + str(port['nodePort']) if port.get('nodePort') else ''}/{port.get('protocol', 'TCP')}"
        for port in spec.get("ports") or []
    ]
    selector = ",".join(f"{key}={value}" for key, value in sorted((spec.get("selector") or {}).items()))
    return [
        _name(service),
        spec.get("type", "ClusterIP"),
        spec.get("clusterIP") or NONE,
        _external(service),
        ",".join(ports) or NONE,
        _age(service, now),
        selector or NONE,
    ]


def _external(service: Obj) -> str:
    spec = service.get("spec") or {}
    own = list(spec.get("externalIPs") or [])
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName") or NONE)
    if spec.get("type") == "LoadBalancer":
        given = [
            item.get("ip") or item.get("hostname") for item in _get(service, "status", "loadBalancer", "ingress") or []
        ]
        return ",".join([item for item in given if item] + own) or "<pending>"
    return ",".join(own) or NONE


def _group(obj: Obj, now: float) -> list[Any]:
    """A PodGroup of kube-scheduler: its policy, its Workload, and how it fares."""
    conditions = {condition.get("type"): condition for condition in (obj.get("status") or {}).get("conditions") or []}
    placed = conditions.get("PodGroupInitiallyScheduled") or conditions.get("PodGroupScheduled")
    status = "Pending"
    if placed is not None:
        status = "Scheduled" if placed.get("status") == "True" else "Unschedulable"
    if "DisruptionTarget" in conditions:
        status = conditions["DisruptionTarget"].get("reason") or ""
    name, policy, workload, old = _composite_group(obj, now)
    return [name, policy, workload, status, old]


def _composite_group(obj: Obj, now: float) -> list[Any]:
    spec = obj.get("spec") or {}
    link = spec.get("workloadRef") or (spec.get("podGroupTemplateRef") or {}).get("workload") or {}
    return [
        obj["metadata"].get("name", ""),
        "Gang" if (spec.get("schedulingPolicy") or {}).get("gang") is not None else "Basic",
        link.get("workloadName") or "<none>",
        age(obj["metadata"].get("creationTimestamp"), now),
    ]


def _scale(obj: Obj, now: float) -> list[Any]:
    replicas = [(obj.get(part) or {}).get("replicas", 0) for part in ("spec", "status")]
    return [obj["metadata"].get("name", ""), *replicas, age(obj["metadata"].get("creationTimestamp"), now)]


def _replica_set(obj: Obj, now: float) -> list[Any]:
    status = obj.get("status") or {}
    return [
        _name(obj),
        _get(obj, "spec", "replicas") or 0,
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        _age(obj, now),
        *_template(obj),
        _selector(obj),
    ]


def _deployment(obj: Obj, now: float) -> list[Any]:
    status = obj.get("status") or {}
    return [
        _name(obj),
        f"{status.get('readyReplicas', 0)}/{_get(obj, 'spec', 'replicas') or 0}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        _age(obj, now),
        *_template(obj),
        _selector(obj),
    ]


def _stateful_set(obj: Obj, now: float) -> list[Any]:
    ready, wanted = _get(obj, "status", "readyReplicas") or 0, _get(obj, "spec", "replicas") or 0
    return [_name(obj), f"{ready}/{wanted}", _age(obj, now), *_template(obj)]


def _daemon_set(obj: Obj, now: float) -> list[Any]:
    status = obj.get("status") or {}
    nodes = _get(obj, "spec", "template", "spec", "nodeSelector") or {}
    return [
        _name(obj),
        *(
            status.get(key, 0)
            for key in (
                "desiredNumberScheduled",
                "currentNumberScheduled",
                "numberReady",
                "updatedNumberScheduled",
                "numberAvailable",
            )
        ),
        ",".join(f"{key}={value}" for key, value in sorted(nodes.items())) or NONE,
        _age(obj, now),
        *_template(obj),
        _selector(obj),
    ]


def _job(job: Obj, now: float) -> list[Any]:
    spec, status = job.get("spec") or {}, job.get("status") or {}
    wanted, done = spec.get("completions"), status.get("succeeded", 0)
    if wanted is not None:
        count = f"{done}/{wanted}"
    else:
        parallel = spec.get("parallelism") or 0
        count = f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"
    begin, end = seconds(status.get("startTime")), seconds(status.get("completionTime"))
    length = "" if begin is None else duration((end if end is not None else now) - begin)
    return [_name(job), _job_status(job), count, length, _age(job, now), *_template(job), _selector(job)]


def _job_status(job: Obj) -> str:
    conditions = {item.get("type") for item in _get(job, "status", "conditions") or [] if item.get("status") == "True"}
    for condition, word in (("Complete", "Complete"), ("Failed", "Failed")):
        if condition in conditions:
            return word
    if _get(job, "metadata", "deletionTimestamp"):
        return "Terminating"
    for condition, word in (
        ("Suspended", "Suspended"),
        ("FailureTarget", "FailureTarget"),
        ("SuccessCriteriaMet", "SuccessCriteriaMet"),
    ):
        if condition in conditions:
            return word
    return "Running"


def _cron_job(obj: Obj, now: float) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    containers = _get(spec, "jobTemplate", "spec", "template", "spec", "containers") or []
    last = status.get("lastScheduleTime")
    selector = _get(spec, "jobTemplate", "spec", "selector")
    return [
        _name(obj),
        spec.get("schedule", ""),
        spec.get("timeZone") or NONE,
        "True" if spec.get("suspend") else "False",
        len(status.get("active") or []),
        age(last, now) if last else NONE,
        _age(obj, now),
        ",".join(container.get("name", "") for container in containers),
        ",".join(container.get("image", "") for container in containers),
        (selector_text(selector) if selector else "") or NONE,
    ]


def _autoscaler(obj: Obj, now: float) -> list[Any]:
    spec = obj.get("spec") or {}
    target = spec.get("scaleTargetRef") or {}
    least = spec.get("minReplicas")
    return [
        _name(obj),
        f"{target.get('kind')}/{target.get('name')}",
        _metrics(obj),
        "<unset>" if least is None else str(least),
        spec.get("maxReplicas", 0),
        _get(obj, "status", "currentReplicas") or 0,
        _age(obj, now),
    ]


def _metrics(obj: Obj) -> str:
    wanted = _get(obj, "spec", "metrics") or []
    present = _get(obj, "status", "currentMetrics") or []
    if not wanted:
        return NONE
    texts = [_metric(item, present[index] if index < len(present) else {}) for index, item in enumerate(wanted)]
    return ", ".join(texts[:2]) + (f" + {len(texts) - 2} more..." if len(texts) > 2 else "")


def _metric(metric: Obj, present: Obj) -> str:
    kind = metric.get("type", "")
    key = kind[0].lower() + kind[1:] if kind else ""
    part = metric.get(key) or {}
    target, now = part.get("target") or {}, _get(present, key, "current") or {}
    label = f"{part.get('name')}: " if kind in ("Resource", "ContainerResource") else ""
    if target.get("averageUtilization") is not None:
        found = now.get("averageUtilization")
        return f"{label}{'<unknown>' if found is None else f'{found}%'}/{target['averageUtilization']}%"
    wanted, average = (target["averageValue"], " (avg)") if target.get("averageValue") else (target.get("value"), "")
    found = now.get("averageValue") if average else now.get("value")
    return f"{label}{found or '<unknown>'}/{wanted}{average if kind in ('Object', 'External') else ''}"


def _budget(obj: Obj, now: float) -> list[Any]:
    spec = obj.get("spec") or {}

    def shown(key: str) -> str:
        return "N/A" if spec.get(key) is None else str(spec[key])

    return [
        _name(obj),
        shown("minAvailable"),
        shown("maxUnavailable"),
        _get(obj, "status", "disruptionsAllowed") or 0,
        _age(obj, now),
    ]


def _volume_claim(obj: Obj, now: float) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    phase = "Terminating" if _get(obj, "metadata", "deletionTimestamp") else status.get("phase", "")
    volume = spec.get("volumeName") or ""
    capacity = (_get(status, "capacity", "storage") or "") if volume else ""
    modes = _modes(status.get("accessModes") or []) if volume else ""
    return [
        _name(obj),
        phase,
        volume,
        capacity,
        modes,
        spec.get("storageClassName") or "",
        spec.get("volumeAttributesClassName") or "<unset>",
        _age(obj, now),
        spec.get("volumeMode") or "<unset>",
    ]


def _modes(modes: list[str]) -> str:
    short = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
    return ",".join(word for mode, word in short.items() if mode in modes)


def _volume(obj: Obj, now: float) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    claim = spec.get("claimRef")
    phase = "Terminating" if _get(obj, "metadata", "deletionTimestamp") else status.get("phase", "")
    return [
        _name(obj),
        _get(spec, "capacity", "storage") or "",
        _modes(spec.get("accessModes") or []),
        spec.get("persistentVolumeReclaimPolicy") or "",
        phase,
        f"{claim.get('namespace')}/{claim.get('name')}" if claim else "",
        spec.get("storageClassName") or "",
        spec.get("volumeAttributesClassName") or "<unset>",
        status.get("reason") or "",
        _age(obj, now),
        spec.get("volumeMode") or "<unset>",
    ]


def _event(obj: Obj, now: float) -> list[Any]:
    series, about = obj.get("series") or {}, obj.get("involvedObject") or {}
    first = obj.get("firstTimestamp") or obj.get("eventTime")
    last = series.get("lastObservedTime") or obj.get("lastTimestamp") or first
    kind = (about.get("kind") or "").lower()
    return [
        age(last, now),
        obj.get("type", ""),
        obj.get("reason", ""),
        f"{kind}/{about['name']}" if about.get("name") else kind,
        about.get("fieldPath") or "",
        _event_source(obj),
        (obj.get("message") or "").strip(),
        age(first, now),
        series.get("count") or obj.get("count") or (1 if first else 0),
        _name(obj),
    ]


def _event_source(obj: Obj) -> str:
    component = _get(obj, "source", "component") or obj.get("reportingComponent") or ""
    host = _get(obj, "source", "host") or obj.get("reportingInstance") or ""
    return f"{component}, {host}" if host else component


def _claim(obj: Obj, now: float) -> list[Any]:
    status = obj.get("status") or {}
    words = [
        word
        for word, is_so in (
            ("deleted", _get(obj, "metadata", "deletionTimestamp")),
            ("allocated", status.get("allocation")),
            ("reserved", status.get("reservedFor")),
        )
        if is_so
    ]
    return [_name(obj), ",".join(words) if words else "pending", _age(obj, now)]


def _size(*keys: str) -> Any:
    return lambda obj: sum(len(obj.get(key) or {}) for key in keys)


def _role_ref(obj: Obj) -> str:
    ref = obj.get("roleRef") or {}
    return f"{ref.get('kind')}/{ref.get('name')}"


def _endpoints(obj: Obj) -> str:
    found = [
        f"{address.get('ip')}:{port.get('port')}"
        for subset in obj.get("subsets") or []
        for port in subset.get("ports") or []
        for address in subset.get("addresses") or []
    ]
    return (",".join(found[:3]) + (f" + {len(found) - 3} more..." if len(found) > 3 else "")) or NONE


def _few(texts: list[str]) -> str:
    """The first three, and how many more there are."""
    return ",".join(texts[:3]) + (f" + {len(texts) - 3} more..." if len(texts) > 3 else "")


def _labels(labels: Obj | None) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE


def _subjects(kind: str) -> Any:
    def shown(obj: Obj) -> str:
        subjects = [subject for subject in obj.get("subjects") or [] if subject.get("kind") == kind]
        return ", ".join(
            f"{item['namespace']}/{item['name']}" if item.get("namespace") else item["name"] for item in subjects
        )

    return shown


def _binding(obj: Obj, now: float) -> list[Any]:
    return [
        _name(obj),
        _role_ref(obj),
        _age(obj, now),
        *(_subjects(kind)(obj) for kind in ("User", "Group", "ServiceAccount")),
    ]


def _priority_class(obj: Obj, now: float) -> list[Any]:
    return [
        _name(obj),
        obj.get("value", 0),
        bool(obj.get("globalDefault")),
        _age(obj, now),
        obj.get("preemptionPolicy") or "",
    ]


def _pod_template(obj: Obj, now: float) -> list[Any]:
    containers = _get(obj, "template", "spec", "containers") or []
    return [
        _name(obj),
        ",".join(container.get("name", "") for container in containers),
        ",".join(container.get("image", "") for container in containers),
        _labels(_get(obj, "template", "metadata", "labels")),
    ]


def _quota(part: str) -> Any:
    def shown(obj: Obj) -> str:
        hard, used = _get(obj, "status", "hard") or {}, _get(obj, "status", "used") or {}
        names = [name for name in sorted(hard) if name.startswith("limits.") is (part == "limits")]
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return shown


def _controller(obj: Obj) -> str:
    owner = next((item for item in _get(obj, "metadata", "ownerReferences") or [] if item.get("controller")), None)
    if owner is None:
        return NONE
    group = owner["apiVersion"].rpartition("/")[0]
    return f"{owner['kind'].lower()}{'.' + group if group else ''}/{owner['name']}"


def _slice_ports(obj: Obj) -> str:
    return _few([str(port.get("port") or "*") for port in obj.get("ports") or []]) or "<unset>"


def _slice_addresses(obj: Obj) -> str:
    return (
        _few([address for endpoint in obj.get("endpoints") or [] for address in endpoint.get("addresses") or []])
        or "<unset>"
    )


def _ingress_hosts(obj: Obj) -> str:
    return _few([item["host"] for item in _get(obj, "spec", "rules") or [] if item.get("host")]) or "*"


def _ingress_addresses(obj: Obj) -> str:
    return ",".join(
        item.get("ip") or item.get("hostname") or "" for item in _get(obj, "status", "loadBalancer", "ingress") or []
    )


def _param_kind(obj: Obj) -> str:
    kind = _get(obj, "spec", "paramKind")
    return f"{kind['apiVersion']}/{kind['kind']}" if kind else "<unset>"


def _param_ref(obj: Obj) -> str:
    ref = _get(obj, "spec", "paramRef")
    if not ref:
        return "<unset>"
    return f"{ref.get('namespace') or '*'}/{ref['name']}" if ref.get("name") else "*"


def _audiences(obj: Obj) -> str:
    return ",".join(item.get("audience", "") for item in _get(obj, "spec", "tokenRequests") or []) or "<unset>"


def _flag(name: str) -> Any:
    return lambda obj: bool(_get(obj, "spec", name))


def _service_cidrs(obj: Obj) -> str:
    return ",".join(_get(obj, "spec", "cidrs") or [])


def _parent(obj: Obj) -> str:
    ref = _get(obj, "spec", "parentRef") or {}
    where = "/".join(part for part in (ref.get("namespace"), ref.get("name")) if part)
    return f"{'.'.join(part for part in (ref.get('resource'), ref.get('group')) if part)}/{where}" if ref else ""


def _served_by(obj: Obj) -> str:
    service = _get(obj, "spec", "service")
    return f"{service.get('namespace')}/{service.get('name')}" if service else "Local"


def _available(obj: Obj) -> str:
    found = next((item for item in _get(obj, "status", "conditions") or [] if item.get("type") == "Available"), None)
    if found is None:
        return "Unknown"
    return (
        str(found["status"]) if found.get("status") == "True" else f"{found.get('status')} ({found.get('reason', '')})"
    )


def _class_parameters(obj: Obj) -> str:
    given = _get(obj, "spec", "parameters")
    if not given:
        return NONE
    return f"{given['kind']}{'.' + given['apiGroup'] if given.get('apiGroup') else ''}/{given['name']}"


def _driver(obj: Obj, now: float) -> list[Any]:
    spec = obj.get("spec") or {}
    return [
        _name(obj),
        *(bool(spec.get(flag)) for flag in ("attachRequired", "podInfoOnMount", "storageCapacity")),
        _audiences(obj),
        bool(spec.get("requiresRepublish")),
        ",".join(spec.get("volumeLifecycleModes") or []),
        _age(obj, now),
    ]


def _simple(*shown: str | Callable[[Obj], Any]) -> Cells:
    """Cells from what each column between the name and the age shows: a dotted path, or a function of the object."""
    finders = [_at(show) if isinstance(show, str) else show for show in shown]
    return lambda obj, now: [_name(obj), *(find(obj) for find in finders), _age(obj, now)]


def _at(dotted: str) -> Callable[[Obj], Any]:
    path = dotted.split(".")

    def find(obj: Obj) -> Any:
        value = _get(obj, *path)
        return "" if value is None else value

    return find


def _count(dotted: str) -> Callable[[Obj], Any]:
    return lambda obj: len(_at(dotted)(obj))


CELLS: dict[tuple[str, str], Cells] = {
    ("", "pods"): _pod,
    ("", "nodes"): _node,
    ("", "services"): _service,
    ("", "events"): _event,
    ("events.k8s.io", "events"): _event,
    ("", "persistentvolumes"): _volume,
    ("", "persistentvolumeclaims"): _volume_claim,
    ("", "replicationcontrollers"): _replica_set,
    ("autoscaling", "scales"): _scale,
    ("scheduling.k8s.io", "podgroups"): _group,
    ("scheduling.k8s.io", "compositepodgroups"): _composite_group,
    ("custom", "scales"): _scale,
    ("", "configmaps"): _simple(_size("data", "binaryData")),
    ("", "secrets"): _simple("type", _size("data")),
    ("", "namespaces"): _simple("status.phase"),
    ("", "serviceaccounts"): plain_cells,
    ("", "podtemplates"): _pod_template,
    ("", "resourcequotas"): _simple(_quota("requests"), _quota("limits")),
    ("", "endpoints"): _simple(_endpoints),
    ("apps", "replicasets"): _replica_set,
    ("apps", "deployments"): _deployment,
    ("apps", "statefulsets"): _stateful_set,
    ("apps", "daemonsets"): _daemon_set,
    ("apps", "controllerrevisions"): _simple(_controller, "revision"),
    ("batch", "jobs"): _job,
    ("batch", "cronjobs"): _cron_job,
    ("autoscaling", "horizontalpodautoscalers"): _autoscaler,
    ("policy", "poddisruptionbudgets"): _budget,
    ("coordination.k8s.io", "leases"): _simple("spec.holderIdentity"),
    ("resource.k8s.io", "resourceclaims"): _claim,
    ("resource.k8s.io", "resourceslices"): _simple(
        lambda obj: _get(obj, "spec", "nodeName") or "<unset>", "spec.driver", "spec.pool.name"
    ),
    ("resource.k8s.io", "deviceclasses"): plain_cells,
    ("resource.k8s.io", "resourceclaimtemplates"): plain_cells,
    ("rbac.authorization.k8s.io", "rolebindings"): _binding,
    ("rbac.authorization.k8s.io", "clusterrolebindings"): _binding,
    ("scheduling.k8s.io", "priorityclasses"): _priority_class,
    ("scheduling.k8s.io", "workloads"): plain_cells,
    ("storage.k8s.io", "storageclasses"): _simple(
        "provisioner", "reclaimPolicy", "volumeBindingMode", lambda obj: bool(obj.get("allowVolumeExpansion"))
    ),
    ("storage.k8s.io", "csidrivers"): _driver,
    ("storage.k8s.io", "csinodes"): _simple(_count("spec.drivers")),
    ("storage.k8s.io", "volumeattachments"): _simple(
        "spec.attacher",
        "spec.source.persistentVolumeName",
        "spec.nodeName",
        lambda obj: bool(_get(obj, "status", "attached")),
    ),
    ("storage.k8s.io", "volumeattributesclasses"): _simple("driverName"),
    ("discovery.k8s.io", "endpointslices"): _simple("addressType", _slice_ports, _slice_addresses),
    ("networking.k8s.io", "networkpolicies"): _simple(
        lambda obj: selector_text(_get(obj, "spec", "podSelector") or {}) or NONE
    ),
    ("networking.k8s.io", "ingresses"): _simple(
        lambda obj: _get(obj, "spec", "ingressClassName") or NONE,
        _ingress_hosts,
        _ingress_addresses,
        lambda obj: "80, 443" if _get(obj, "spec", "tls") else "80",
    ),
    ("networking.k8s.io", "ingressclasses"): _simple("spec.controller", _class_parameters),
    ("networking.k8s.io", "servicecidrs"): _simple(_service_cidrs),
    ("networking.k8s.io", "ipaddresses"): _simple(_parent),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"): _simple(_count("spec.validations"), _param_kind),
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"): _simple("spec.policyName", _param_ref),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"): _simple(_count("webhooks")),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"): _simple(_count("webhooks")),
    ("apiregistration.k8s.io", "apiservices"): _simple(_served_by, _available),
    ("node.k8s.io", "runtimeclasses"): _simple("handler"),
}


@cache
def printer_for(group: str, plural: str) -> Printer:
    cells, columns = CELLS.get((group, plural)), headings(group, plural)
    return Printer(columns, cells) if cells and columns else PLAIN

"""Columns and cells of the built-in kinds, as `kubectl get` shows them. One printer per kind, in the table at the end."""

from __future__ import annotations

from typing import Any

from gangline.apiserver.scale import selector_text
from gangline.apiserver.tables import AGE, NAME, NAME_AND_AGE, PLAIN, Cells, Column, Obj, Printer, age, duration, seconds

NONE = "<none>"


def _get(obj: Any, *path: str) -> Any:
    for key in path:
        obj = obj.get(key) if isinstance(obj, dict) else None
    return obj


def _age(obj: Obj, now: float) -> str:
    return age(_get(obj, "metadata", "creationTimestamp"), now)


def _name(obj: Obj) -> str:
    return str(_get(obj, "metadata", "name") or "")


def _string(name: str, told: str, wide: bool = False) -> Column:
    return Column(name, description=told, priority=int(wide))


def _number(name: str, told: str) -> Column:
    return Column(name, "integer", description=told)


_CONTAINERS = _string("Containers", "The names of the template's containers.", True)
_IMAGES = _string("Images", "The images of the template's containers.", True)
_SELECTOR = _string("Selector", "Which pods are meant, by their labels.", True)


def _template(obj: Obj) -> list[str]:
    containers = _get(obj, "spec", "template", "spec", "containers") or []
    return [",".join(each.get("name", "") for each in containers), ",".join(each.get("image", "") for each in containers)]


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
    always = {each["name"] for each in asked if each.get("restartPolicy") == "Always"}
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
        ready = any(each.get("type") == "Ready" and each.get("status") == "True" for each in status.get("conditions") or [])
        return "Running" if ready else "NotReady"
    return reason


def _restarts(pod: Obj, now: float) -> str:
    status = pod.get("status") or {}
    always = {each["name"] for each in _get(pod, "spec", "initContainers") or [] if each.get("restartPolicy") == "Always"}
    counted = [each for each in status.get("initContainerStatuses") or [] if each.get("name") in always]
    starting = _init_reason(pod) is not None
    counted = (status.get("initContainerStatuses") or []) if starting else counted + (status.get("containerStatuses") or [])
    total = sum(each.get("restartCount", 0) for each in counted)
    ends = [seconds(_get(each, "lastState", "terminated", "finishedAt")) for each in counted]
    last = max((end for end in ends if end is not None), default=None)
    return f"{total} ({duration(now - last)} ago)" if total and last is not None else str(total)


def _pod(pod: Obj, now: float) -> list[Any]:
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    ready = sum(1 for each in status.get("containerStatuses") or [] if each.get("ready") and _get(each, "state", "running") is not None)
    gates = spec.get("readinessGates") or []
    met = sum(1 for gate in gates for each in status.get("conditions") or []
              if each.get("type") == gate.get("conditionType") and each.get("status") == "True")
    address = ((status.get("podIPs") or [{}])[0].get("ip")) or status.get("podIP") or NONE
    return [_name(pod), f"{ready}/{len(spec.get('containers') or [])}", pod_status(pod), _restarts(pod, now), _age(pod, now), address,
            spec.get("nodeName") or NONE, status.get("nominatedNodeName") or NONE, f"{met}/{len(gates)}" if gates else NONE]


_POD = Printer((NAME, _string("Ready", "Containers that are ready, of all."), _string("Status", "What the pod is doing, in one word."),
                _string("Restarts", "How often its containers were started again."), AGE,
                _string("IP", "The pod's address.", True), _string("Node", "Where the pod runs.", True),
                _string("Nominated Node", "Where room is being made for it.", True),
                _string("Readiness Gates", "Further conditions that are met, of all.", True)), _pod)


def _node(node: Obj, now: float) -> list[Any]:
    status = node.get("status") or {}
    conditions = {each.get("type"): each.get("status") for each in status.get("conditions") or []}
    words = [{"True": "Ready"}.get(conditions["Ready"], "NotReady")] if "Ready" in conditions else ["Unknown"]
    if _get(node, "spec", "unschedulable"):
        words.append("SchedulingDisabled")
    labels = _get(node, "metadata", "labels") or {}
    roles = sorted({key.removeprefix("node-role.kubernetes.io/") for key in labels if key.startswith("node-role.kubernetes.io/")}
                   | ({labels["kubernetes.io/role"]} if labels.get("kubernetes.io/role") else set()))
    info = status.get("nodeInfo") or {}
    address = {each.get("type"): each.get("address") for each in status.get("addresses") or []}
    return [_name(node), ",".join(words), ",".join(role for role in roles if role) or NONE, _age(node, now),
            info.get("kubeletVersion", ""), address.get("InternalIP") or NONE, address.get("ExternalIP") or NONE,
            *(info.get(key) or "<unknown>" for key in ("osImage", "kernelVersion", "containerRuntimeVersion"))]


_NODE = Printer((NAME, _string("Status", "Whether the node is ready."), _string("Roles", "What the node is for."), AGE,
                 _string("Version", "The version of its kubelet."), _string("Internal-IP", "Its address inside the cluster.", True),
                 _string("External-IP", "Its address outside the cluster.", True), _string("OS-Image", "Its operating system.", True),
                 _string("Kernel-Version", "Its kernel.", True), _string("Container-Runtime", "What runs its containers.", True)), _node)


def _service(service: Obj, now: float) -> list[Any]:
    spec = service.get("spec") or {}
    ports = [f"{each.get('port')}{':' + str(each['nodePort']) if each.get('nodePort') else ''}/{each.get('protocol', 'TCP')}"
             for each in spec.get("ports") or []]
    selector = ",".join(f"{key}={value}" for key, value in sorted((spec.get("selector") or {}).items()))
    return [_name(service), spec.get("type", "ClusterIP"), spec.get("clusterIP") or NONE, _external(service), ",".join(ports) or NONE,
            _age(service, now), selector or NONE]


def _external(service: Obj) -> str:
    spec = service.get("spec") or {}
    own = list(spec.get("externalIPs") or [])
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName") or NONE)
    if spec.get("type") == "LoadBalancer":
        given = [each.get("ip") or each.get("hostname") for each in _get(service, "status", "loadBalancer", "ingress") or []]
        return ",".join([each for each in given if each] + own) or "<pending>"
    return ",".join(own) or NONE


_SERVICE = Printer((NAME, _string("Type", "How the service is reached."), _string("Cluster-IP", "Its address inside the cluster."),
                    _string("External-IP", "Its addresses outside."), _string("Port(s)", "Its ports."), AGE, _SELECTOR), _service)


def _replica_set(obj: Obj, now: float) -> list[Any]:
    status = obj.get("status") or {}
    return [_name(obj), _get(obj, "spec", "replicas") or 0, status.get("replicas", 0), status.get("readyReplicas", 0), _age(obj, now),
            *_template(obj), _selector(obj)]


_REPLICA_SET = Printer((NAME, _number("Desired", "Pods that should be."), _number("Current", "Pods that are."),
                        _number("Ready", "Pods that are ready."), AGE, _CONTAINERS, _IMAGES, _SELECTOR), _replica_set)


def _deployment(obj: Obj, now: float) -> list[Any]:
    status = obj.get("status") or {}
    return [_name(obj), f"{status.get('readyReplicas', 0)}/{_get(obj, 'spec', 'replicas') or 0}", status.get("updatedReplicas", 0),
            status.get("availableReplicas", 0), _age(obj, now), *_template(obj), _selector(obj)]


_DEPLOYMENT = Printer((NAME, _string("Ready", "Pods that are ready, of those wanted."), _string("Up-to-date", "Pods of the present "
                       "template."), _string("Available", "Pods ready for long enough."), AGE, _CONTAINERS, _IMAGES, _SELECTOR),
                      _deployment)


def _stateful_set(obj: Obj, now: float) -> list[Any]:
    ready, wanted = _get(obj, "status", "readyReplicas") or 0, _get(obj, "spec", "replicas") or 0
    return [_name(obj), f"{ready}/{wanted}", _age(obj, now), *_template(obj)]


_STATEFUL_SET = Printer((NAME, _string("Ready", "Pods that are ready, of those wanted."), AGE, _CONTAINERS, _IMAGES), _stateful_set)


def _daemon_set(obj: Obj, now: float) -> list[Any]:
    status = obj.get("status") or {}
    nodes = _get(obj, "spec", "template", "spec", "nodeSelector") or {}
    return [_name(obj), *(status.get(key, 0) for key in ("desiredNumberScheduled", "currentNumberScheduled", "numberReady",
            "updatedNumberScheduled", "numberAvailable")), ",".join(f"{key}={value}" for key, value in sorted(nodes.items())) or NONE,
            _age(obj, now), *_template(obj), _selector(obj)]


_DAEMON_SET = Printer((NAME, _number("Desired", "Nodes that should have a pod."), _number("Current", "Nodes that have one."),
                       _number("Ready", "Pods that are ready."), _number("Up-to-date", "Pods of the present template."),
                       _number("Available", "Pods ready for long enough."), _string("Node Selector", "Which nodes are meant."), AGE,
                       _CONTAINERS, _IMAGES, _SELECTOR), _daemon_set)


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
    conditions = {each.get("type") for each in _get(job, "status", "conditions") or [] if each.get("status") == "True"}
    for condition, word in (("Complete", "Complete"), ("Failed", "Failed")):
        if condition in conditions:
            return word
    if _get(job, "metadata", "deletionTimestamp"):
        return "Terminating"
    for condition, word in (("Suspended", "Suspended"), ("FailureTarget", "FailureTarget"), ("SuccessCriteriaMet", "SuccessCriteriaMet")):
        if condition in conditions:
            return word
    return "Running"


_JOB = Printer((NAME, _string("Status", "How far the job is."), _string("Completions", "Pods that succeeded, of those wanted."),
                _string("Duration", "How long it has taken."), AGE, _CONTAINERS, _IMAGES, _SELECTOR), _job)


def _cron_job(obj: Obj, now: float) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    containers = _get(spec, "jobTemplate", "spec", "template", "spec", "containers") or []
    last = status.get("lastScheduleTime")
    selector = _get(spec, "jobTemplate", "spec", "selector")
    return [_name(obj), spec.get("schedule", ""), spec.get("timeZone") or NONE, "True" if spec.get("suspend") else "False",
            len(status.get("active") or []), age(last, now) if last else NONE, _age(obj, now),
            ",".join(each.get("name", "") for each in containers), ",".join(each.get("image", "") for each in containers),
            (selector_text(selector) if selector else "") or NONE]


_CRON_JOB = Printer((NAME, _string("Schedule", "When it runs."), _string("Timezone", "Whose clock it goes by."),
                     Column("Suspend", "boolean", description="Whether it is held back."), _number("Active", "Jobs now running."),
                     _string("Last Schedule", "How long ago it last ran."), AGE, _CONTAINERS, _IMAGES, _SELECTOR), _cron_job)


def _autoscaler(obj: Obj, now: float) -> list[Any]:
    spec = obj.get("spec") or {}
    target = spec.get("scaleTargetRef") or {}
    least = spec.get("minReplicas")
    return [_name(obj), f"{target.get('kind')}/{target.get('name')}", _metrics(obj), "<unset>" if least is None else str(least),
            spec.get("maxReplicas", 0), _get(obj, "status", "currentReplicas") or 0, _age(obj, now)]


def _metrics(obj: Obj) -> str:
    wanted = _get(obj, "spec", "metrics") or []
    present = _get(obj, "status", "currentMetrics") or []
    if not wanted:
        return NONE
    texts = [_metric(each, present[index] if index < len(present) else {}) for index, each in enumerate(wanted)]
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


_AUTOSCALER = Printer((NAME, _string("Reference", "What it scales."), _string("Targets", "Each metric: what is, and what should be."),
                       _string("MinPods", "Never fewer pods."), _string("MaxPods", "Never more pods."),
                       _string("Replicas", "Pods there are."), AGE), _autoscaler)


def _budget(obj: Obj, now: float) -> list[Any]:
    spec = obj.get("spec") or {}

    def shown(key: str) -> str:
        return "N/A" if spec.get(key) is None else str(spec[key])

    return [_name(obj), shown("minAvailable"), shown("maxUnavailable"), _get(obj, "status", "disruptionsAllowed") or 0, _age(obj, now)]


_BUDGET = Printer((NAME, _string("Min Available", "Pods that must stay."), _string("Max Unavailable", "Pods that may be missing."),
                   _number("Allowed Disruptions", "Pods that may go now."), AGE), _budget)


def _volume_claim(obj: Obj, now: float) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    phase = "Terminating" if _get(obj, "metadata", "deletionTimestamp") else status.get("phase", "")
    volume = spec.get("volumeName") or ""
    capacity = (_get(status, "capacity", "storage") or "") if volume else ""
    modes = _modes(status.get("accessModes") or []) if volume else ""
    return [_name(obj), phase, volume, capacity, modes, spec.get("storageClassName") or "",
            spec.get("volumeAttributesClassName") or "<unset>", _age(obj, now), spec.get("volumeMode") or "<unset>"]


def _modes(modes: list[str]) -> str:
    short = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
    return ",".join(word for mode, word in short.items() if mode in modes)


_VOLUME_CLAIM = Printer((NAME, _string("Status", "Whether it is bound."), _string("Volume", "The volume it has."),
                         _string("Capacity", "How much it holds."), _string("Access Modes", "How it may be mounted."),
                         _string("StorageClass", "Its storage class."), _string("VolumeAttributesClass", "Its attributes class."), AGE,
                         _string("VolumeMode", "File system or block device.", True)), _volume_claim)


def _volume(obj: Obj, now: float) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    claim = spec.get("claimRef")
    phase = "Terminating" if _get(obj, "metadata", "deletionTimestamp") else status.get("phase", "")
    return [_name(obj), _get(spec, "capacity", "storage") or "", _modes(spec.get("accessModes") or []),
            spec.get("persistentVolumeReclaimPolicy") or "", phase, f"{claim.get('namespace')}/{claim.get('name')}" if claim else "",
            spec.get("storageClassName") or "", spec.get("volumeAttributesClassName") or "<unset>", status.get("reason") or "",
            _age(obj, now), spec.get("volumeMode") or "<unset>"]


_VOLUME = Printer((NAME, _string("Capacity", "How much it holds."), _string("Access Modes", "How it may be mounted."),
                   _string("Reclaim Policy", "What becomes of it."), _string("Status", "Whether it is bound."),
                   _string("Claim", "Who has it."), _string("StorageClass", "Its storage class."),
                   _string("VolumeAttributesClass", "Its attributes class."), _string("Reason", "Why it is as it is."), AGE,
                   _string("VolumeMode", "File system or block device.", True)), _volume)


def _event(obj: Obj, now: float) -> list[Any]:
    series, about = obj.get("series") or {}, obj.get("involvedObject") or {}
    first = obj.get("firstTimestamp") or obj.get("eventTime")
    last = series.get("lastObservedTime") or obj.get("lastTimestamp") or first
    source = _get(obj, "source", "component") or obj.get("reportingComponent") or ""
    where = _get(obj, "source", "host") or obj.get("reportingInstance") or ""
    target = f"{(about.get('kind') or '').lower()}/{about.get('name')}" if about.get("name") else (about.get("kind") or "").lower()
    count = series.get("count") or obj.get("count") or (1 if first else 0)
    return [age(last, now), obj.get("type", ""), obj.get("reason", ""), target, about.get("fieldPath") or "",
            f"{source}, {where}" if where else source, (obj.get("message") or "").strip(), age(first, now), count, _name(obj)]


_EVENT = Printer((_string("Last Seen", "How long ago it was last seen."), _string("Type", "Normal or Warning."),
                  _string("Reason", "What happened, in one word."), _string("Object", "Whom it happened to."),
                  _string("Subobject", "Which part of it.", True), _string("Source", "Who says so.", True),
                  _string("Message", "What happened."), _string("First Seen", "How long ago it was first seen.", True),
                  _string("Count", "How often it was seen.", True), Column("Name", format="name", description=NAME.description,
                                                                          priority=1)), _event)


def _claim(obj: Obj, now: float) -> list[Any]:
    status = obj.get("status") or {}
    words = [word for word, is_so in (("deleted", _get(obj, "metadata", "deletionTimestamp")), ("allocated", status.get("allocation")),
                                      ("reserved", status.get("reservedFor"))) if is_so]
    return [_name(obj), ",".join(words) if words else "pending", _age(obj, now)]


def _simple(columns: list[tuple[Column, Any]], with_age: bool = True) -> Printer:
    """A printer from columns and what each shows: a dotted path, or a function of the object."""
    def cells(obj: Obj, now: float) -> list[Any]:
        values = [show(obj) if callable(show) else (_get(obj, *show.split(".")) if _get(obj, *show.split(".")) is not None else "")
                  for _, show in columns]
        return [_name(obj), *values, *([_age(obj, now)] if with_age else [])]

    shown: Cells = cells
    return Printer((NAME, *(column for column, _ in columns), *([AGE] if with_age else [])), shown)


def _size(*keys: str) -> Any:
    return lambda obj: sum(len(obj.get(key) or {}) for key in keys)


def _role_ref(obj: Obj) -> str:
    ref = obj.get("roleRef") or {}
    return f"{ref.get('kind')}/{ref.get('name')}"


def _endpoints(obj: Obj) -> str:
    found = [f"{address.get('ip')}:{port.get('port')}" for subset in obj.get("subsets") or []
             for port in subset.get("ports") or [] for address in subset.get("addresses") or []]
    return (",".join(found[:3]) + (f" + {len(found) - 3} more..." if len(found) > 3 else "")) or NONE


def _few(texts: list[str]) -> str:
    """The first three, and how many more there are."""
    return ",".join(texts[:3]) + (f" + {len(texts) - 3} more..." if len(texts) > 3 else "")


def _labels(labels: Obj | None) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE


def _subjects(kind: str) -> Any:
    def shown(obj: Obj) -> str:
        found = [each for each in obj.get("subjects") or [] if each.get("kind") == kind]
        return ", ".join(f"{each['namespace']}/{each['name']}" if each.get("namespace") else each["name"] for each in found)

    return shown


def _binding(obj: Obj, now: float) -> list[Any]:
    return [_name(obj), _role_ref(obj), _age(obj, now), *(_subjects(kind)(obj) for kind in ("User", "Group", "ServiceAccount"))]


_BINDING = Printer((NAME, _string("Role", "The role that is given."), AGE, _string("Users", "The people who have it.", True),
                    _string("Groups", "The groups that have it.", True),
                    _string("ServiceAccounts", "The service accounts that have it.", True)), _binding)


def _priority_class(obj: Obj, now: float) -> list[Any]:
    return [_name(obj), obj.get("value", 0), bool(obj.get("globalDefault")), _age(obj, now), obj.get("preemptionPolicy") or ""]


_PRIORITY_CLASS = Printer((NAME, _number("Value", "The priority."), Column("Global-Default", "boolean", description="Whether pods without "
                           "a class get it."), AGE, _string("PreemptionPolicy", "Whether its pods may push others out.")), _priority_class)


def _pod_template(obj: Obj, now: float) -> list[Any]:
    containers = _get(obj, "template", "spec", "containers") or []
    return [_name(obj), ",".join(each.get("name", "") for each in containers), ",".join(each.get("image", "") for each in containers),
            _labels(_get(obj, "template", "metadata", "labels"))]


_POD_TEMPLATE = Printer((NAME, _string("Containers", _CONTAINERS.description), _string("Images", _IMAGES.description),
                         _string("Pod Labels", "The labels of its pods.")), _pod_template)


def _quota(part: str) -> Any:
    def shown(obj: Obj) -> str:
        hard, used = _get(obj, "status", "hard") or {}, _get(obj, "status", "used") or {}
        names = [name for name in sorted(hard) if name.startswith("limits.") is (part == "limits")]
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return shown


def _controller(obj: Obj) -> str:
    owner = next((each for each in _get(obj, "metadata", "ownerReferences") or [] if each.get("controller")), None)
    if owner is None:
        return NONE
    group = owner["apiVersion"].rpartition("/")[0]
    return f"{owner['kind'].lower()}{'.' + group if group else ''}/{owner['name']}"


def _slice_ports(obj: Obj) -> str:
    return _few([str(each.get("port") or "*") for each in obj.get("ports") or []]) or "<unset>"


def _slice_addresses(obj: Obj) -> str:
    return _few([address for each in obj.get("endpoints") or [] for address in each.get("addresses") or []]) or "<unset>"


def _ingress_hosts(obj: Obj) -> str:
    return _few([each["host"] for each in _get(obj, "spec", "rules") or [] if each.get("host")]) or "*"


def _ingress_addresses(obj: Obj) -> str:
    return ",".join(each.get("ip") or each.get("hostname") or "" for each in _get(obj, "status", "loadBalancer", "ingress") or [])


def _param_kind(obj: Obj) -> str:
    kind = _get(obj, "spec", "paramKind")
    return f"{kind['apiVersion']}/{kind['kind']}" if kind else "<unset>"


def _param_ref(obj: Obj) -> str:
    ref = _get(obj, "spec", "paramRef")
    if not ref:
        return "<unset>"
    return f"{ref.get('namespace') or '*'}/{ref['name']}" if ref.get("name") else "*"


def _driver_flags() -> list[tuple[Column, Any]]:
    told = {"AttachRequired": "Whether volumes are attached first.", "PodInfoOnMount": "Whether it is told about pods.",
            "StorageCapacity": "Whether it says how much room there is."}
    flags: list[tuple[Column, Any]] = [(Column(name, "boolean", description=text), _flag(name[0].lower() + name[1:]))
                                       for name, text in told.items()]
    tokens = _string("TokenRequests", "Whose tokens it asks for.")
    again = Column("RequiresRepublish", "boolean", description="Whether it is told again and again.")
    modes = _string("Modes", "The kinds of volumes it makes.")
    return [*flags, (tokens, _audiences), (again, _flag("requiresRepublish")),
            (modes, lambda obj: ",".join(_get(obj, "spec", "volumeLifecycleModes") or []))]


def _audiences(obj: Obj) -> str:
    return ",".join(each.get("audience", "") for each in _get(obj, "spec", "tokenRequests") or []) or "<unset>"


def _flag(name: str) -> Any:
    return lambda obj: bool(_get(obj, "spec", name))


_DATA = _string("Data", "How many entries it has.")
_WEBHOOKS = _simple([(_number("Webhooks", "How many webhooks it has."), lambda obj: len(obj.get("webhooks") or []))])

PRINTERS: dict[tuple[str, str], Printer] = {
    ("", "pods"): _POD,
    ("", "nodes"): _NODE,
    ("", "services"): _SERVICE,
    ("", "events"): _EVENT,
    ("events.k8s.io", "events"): _EVENT,
    ("", "persistentvolumes"): _VOLUME,
    ("", "persistentvolumeclaims"): _VOLUME_CLAIM,
    ("", "replicationcontrollers"): _REPLICA_SET,
    ("", "configmaps"): _simple([(_DATA, _size("data", "binaryData"))]),
    ("", "secrets"): _simple([(_string("Type", "What kind of secret it is."), "type"), (_DATA, _size("data"))]),
    ("", "namespaces"): _simple([(_string("Status", "Whether it is in use or on its way out."), "status.phase")]),
    ("", "serviceaccounts"): NAME_AND_AGE,
    ("", "podtemplates"): _POD_TEMPLATE,
    ("", "resourcequotas"): _simple([(_string("Request", "What is used of what may be asked for."), _quota("requests")),
                                     (_string("Limit", "What is used of the limits."), _quota("limits"))]),
    ("", "endpoints"): _simple([(_string("Endpoints", "Where it leads."), _endpoints)]),
    ("apps", "replicasets"): _REPLICA_SET,
    ("apps", "deployments"): _DEPLOYMENT,
    ("apps", "statefulsets"): _STATEFUL_SET,
    ("apps", "daemonsets"): _DAEMON_SET,
    ("batch", "jobs"): _JOB,
    ("batch", "cronjobs"): _CRON_JOB,
    ("autoscaling", "horizontalpodautoscalers"): _AUTOSCALER,
    ("policy", "poddisruptionbudgets"): _BUDGET,
    ("coordination.k8s.io", "leases"): _simple([(_string("Holder", "Who has it."), "spec.holderIdentity")]),
    ("resource.k8s.io", "resourceclaims"): Printer((NAME, _string("State", "Whether it is allocated and reserved."), AGE), _claim),
    ("resource.k8s.io", "resourceslices"): _simple([
        (_string("Node", "Whose devices these are."), lambda obj: _get(obj, "spec", "nodeName") or "<unset>"),
        (_string("Driver", "Who offers them."), "spec.driver"), (_string("Pool", "The pool they belong to."), "spec.pool.name")]),
    ("rbac.authorization.k8s.io", "rolebindings"): _BINDING,
    ("rbac.authorization.k8s.io", "clusterrolebindings"): _BINDING,
    ("scheduling.k8s.io", "priorityclasses"): _PRIORITY_CLASS,
    ("scheduling.k8s.io", "workloads"): NAME_AND_AGE,
    ("resource.k8s.io", "deviceclasses"): NAME_AND_AGE,
    ("resource.k8s.io", "resourceclaimtemplates"): NAME_AND_AGE,
    ("apps", "controllerrevisions"): _simple([(_string("Controller", "Whose revision it is."), _controller),
                                              (_string("Revision", "Its number."), "revision")]),
    ("storage.k8s.io", "storageclasses"): _simple([
        (_string("Provisioner", "Who makes the volumes."), "provisioner"),
        (_string("ReclaimPolicy", "What becomes of them."), "reclaimPolicy"),
        (_string("VolumeBindingMode", "When they are made."), "volumeBindingMode"),
        (_string("AllowVolumeExpansion", "Whether they may grow."), lambda obj: bool(obj.get("allowVolumeExpansion")))]),
    ("storage.k8s.io", "csidrivers"): _simple(_driver_flags()),
    ("storage.k8s.io", "csinodes"): _simple([(_number("Drivers", "How many drivers it has."),
                                             lambda obj: len(_get(obj, "spec", "drivers") or []))]),
    ("storage.k8s.io", "volumeattachments"): _simple([
        (_string("Attacher", "Who attaches it."), "spec.attacher"), (_string("PV", "Which volume."), "spec.source.persistentVolumeName"),
        (_string("Node", "To which node."), "spec.nodeName"),
        (Column("Attached", "boolean", description="Whether it is attached."), lambda obj: bool(_get(obj, "status", "attached")))]),
    ("storage.k8s.io", "volumeattributesclasses"): _simple([(_string("DriverName", "Whose attributes these are."), "driverName")]),
    ("discovery.k8s.io", "endpointslices"): _simple([
        (_string("AddressType", "What kind of addresses."), "addressType"), (_string("Ports", "Its ports."), _slice_ports),
        (_string("Endpoints", "Its addresses."), _slice_addresses)]),
    ("networking.k8s.io", "networkpolicies"): _simple([
        (_string("Pod-Selector", _SELECTOR.description), lambda obj: selector_text(_get(obj, "spec", "podSelector") or {}) or NONE)]),
    ("networking.k8s.io", "ingresses"): _simple([
        (_string("Class", "Who serves it."), lambda obj: _get(obj, "spec", "ingressClassName") or NONE),
        (_string("Hosts", "The names it answers to."), _ingress_hosts), (_string("Address", "Where it is reached."), _ingress_addresses),
        (_string("Ports", "Its ports."), lambda obj: "80, 443" if _get(obj, "spec", "tls") else "80")]),
    ("networking.k8s.io", "ingressclasses"): _simple([
        (_string("Controller", "Who serves it."), "spec.controller"),
        (_string("Parameters", "What it is given."), lambda obj: NONE if not _get(obj, "spec", "parameters") else (
            f"{_get(obj, 'spec', 'parameters', 'kind')}/{_get(obj, 'spec', 'parameters', 'name')}"))]),
    ("admissionregistration.k8s.io", "validatingadmissionpolicies"): _simple([
        (_number("Validations", "How many rules it has."), lambda obj: len(_get(obj, "spec", "validations") or [])),
        (_string("ParamKind", "What it is given."), _param_kind)]),
    ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"): _simple([
        (_string("PolicyName", "Which policy it binds."), "spec.policyName"), (_string("ParamRef", "What it gives it."), _param_ref)]),
    ("node.k8s.io", "runtimeclasses"): _simple([(_string("Handler", "What runs its pods."), "handler")]),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"): _WEBHOOKS,
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations"): _WEBHOOKS,
}


def printer_for(group: str, plural: str) -> Printer:
    return PRINTERS.get((group, plural), PLAIN)

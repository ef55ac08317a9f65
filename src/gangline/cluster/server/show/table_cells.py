"""Cells of the built-in kinds, as `kubectl get` shows them below the headings. One function per kind, in the table at
the end."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from gangline.cluster.server.show.cell_parts import NONE, age_of, few, labels_cell, name_of, value_at
from gangline.cluster.server.show.pod_cells import node_cells, pod_cells
from gangline.cluster.server.show.storage_cells import driver_cells, volume_cells, volume_claim_cells
from gangline.cluster.server.show.table_headings import headings
from gangline.cluster.server.show.tables import PLAIN, Cells, Obj, Printer, age, plain_cells
from gangline.cluster.server.show.workload_cells import (
    autoscaler_cells,
    budget_cells,
    composite_group_cells,
    cron_job_cells,
    daemon_set_cells,
    deployment_cells,
    job_cells,
    pod_group_cells,
    replica_set_cells,
    scale_cells,
    stateful_set_cells,
)
from gangline.cluster.server.verbs.subresources.scale_object import selector_text


def _service(service: Obj, now: float) -> list[Any]:
    spec = service.get("spec") or {}
    ports = [
        f"{port.get('port')}{':' + str(port['nodePort']) if port.get('nodePort') else ''}/{port.get('protocol', 'TCP')}"
        for port in spec.get("ports") or []
    ]
    selector = ",".join(f"{key}={value}" for key, value in sorted((spec.get("selector") or {}).items()))
    return [
        name_of(service),
        spec.get("type", "ClusterIP"),
        spec.get("clusterIP") or NONE,
        _external(service),
        ",".join(ports) or NONE,
        age_of(service, now),
        selector or NONE,
    ]


def _external(service: Obj) -> str:
    spec = service.get("spec") or {}
    own = list(spec.get("externalIPs") or [])
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName") or NONE)
    if spec.get("type") == "LoadBalancer":
        given = [
            item.get("ip") or item.get("hostname")
            for item in value_at(service, "status", "loadBalancer", "ingress") or []
        ]
        return ",".join([item for item in given if item] + own) or "<pending>"
    return ",".join(own) or NONE


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
        name_of(obj),
    ]


def _event_source(obj: Obj) -> str:
    component = value_at(obj, "source", "component") or obj.get("reportingComponent") or ""
    host = value_at(obj, "source", "host") or obj.get("reportingInstance") or ""
    return f"{component}, {host}" if host else component


def _claim(obj: Obj, now: float) -> list[Any]:
    status = obj.get("status") or {}
    words = [
        word
        for word, is_so in (
            ("deleted", value_at(obj, "metadata", "deletionTimestamp")),
            ("allocated", status.get("allocation")),
            ("reserved", status.get("reservedFor")),
        )
        if is_so
    ]
    return [name_of(obj), ",".join(words) if words else "pending", age_of(obj, now)]


def _size(*keys: str) -> Any:
    return lambda obj: sum(len(obj.get(key) or {}) for key in keys)


def _role_ref(obj: Obj) -> str:
    ref = obj.get("roleRef") or {}
    return f"{ref.get('kind')}/{ref.get('name')}"


def _endpoints(obj: Obj) -> str:
    """Addresses with their ports; a headless Service may have none."""
    addresses = [
        f"{address.get('ip')}{port}"
        for subset in obj.get("subsets") or []
        for port in _ports_behind(subset)
        for address in subset.get("addresses") or []
    ]
    return few(addresses) or NONE


def _ports_behind(subset: Obj) -> list[str]:
    return [f":{port.get('port')}" for port in subset.get("ports") or []] or [""]


def _subjects(kind: str) -> Any:
    def shown(obj: Obj) -> str:
        subjects = [subject for subject in obj.get("subjects") or [] if subject.get("kind") == kind]
        return ", ".join(
            f"{item['namespace']}/{item['name']}" if item.get("namespace") else item["name"] for item in subjects
        )

    return shown


def _binding(obj: Obj, now: float) -> list[Any]:
    return [
        name_of(obj),
        _role_ref(obj),
        age_of(obj, now),
        *(_subjects(kind)(obj) for kind in ("User", "Group", "ServiceAccount")),
    ]


def _priority_class(obj: Obj, now: float) -> list[Any]:
    return [
        name_of(obj),
        obj.get("value", 0),
        bool(obj.get("globalDefault")),
        age_of(obj, now),
        obj.get("preemptionPolicy") or "",
    ]


def _pod_template(obj: Obj, now: float) -> list[Any]:
    containers = value_at(obj, "template", "spec", "containers") or []
    return [
        name_of(obj),
        ",".join(container.get("name", "") for container in containers),
        ",".join(container.get("image", "") for container in containers),
        labels_cell(value_at(obj, "template", "metadata", "labels")),
    ]


def _quota(part: str) -> Any:
    def shown(obj: Obj) -> str:
        hard, used = value_at(obj, "status", "hard") or {}, value_at(obj, "status", "used") or {}
        names = [name for name in sorted(hard) if name.startswith("limits.") is (part == "limits")]
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return shown


def _controller(obj: Obj) -> str:
    owner = next((item for item in value_at(obj, "metadata", "ownerReferences") or [] if item.get("controller")), None)
    if owner is None:
        return NONE
    group = owner["apiVersion"].rpartition("/")[0]
    return f"{owner['kind'].lower()}{'.' + group if group else ''}/{owner['name']}"


def _slice_ports(obj: Obj) -> str:
    return few([str(port.get("port") or "*") for port in obj.get("ports") or []]) or "<unset>"


def _slice_addresses(obj: Obj) -> str:
    return (
        few([address for endpoint in obj.get("endpoints") or [] for address in endpoint.get("addresses") or []])
        or "<unset>"
    )


def _ingress_hosts(obj: Obj) -> str:
    return few([item["host"] for item in value_at(obj, "spec", "rules") or [] if item.get("host")]) or "*"


def _ingress_addresses(obj: Obj) -> str:
    return ",".join(
        item.get("ip") or item.get("hostname") or ""
        for item in value_at(obj, "status", "loadBalancer", "ingress") or []
    )


def _param_kind(obj: Obj) -> str:
    kind = value_at(obj, "spec", "paramKind")
    return f"{kind['apiVersion']}/{kind['kind']}" if kind else "<unset>"


def _param_ref(obj: Obj) -> str:
    ref = value_at(obj, "spec", "paramRef")
    if not ref:
        return "<unset>"
    return f"{ref.get('namespace') or '*'}/{ref['name']}" if ref.get("name") else "*"


def _service_cidrs(obj: Obj) -> str:
    return ",".join(value_at(obj, "spec", "cidrs") or [])


def _parent(obj: Obj) -> str:
    ref = value_at(obj, "spec", "parentRef") or {}
    where = "/".join(part for part in (ref.get("namespace"), ref.get("name")) if part)
    return f"{'.'.join(part for part in (ref.get('resource'), ref.get('group')) if part)}/{where}" if ref else ""


def _served_by(obj: Obj) -> str:
    service = value_at(obj, "spec", "service")
    return f"{service.get('namespace')}/{service.get('name')}" if service else "Local"


def _available(obj: Obj) -> str:
    condition = next(
        (item for item in value_at(obj, "status", "conditions") or [] if item.get("type") == "Available"), None
    )
    if condition is None:
        return "Unknown"
    return (
        str(condition["status"])
        if condition.get("status") == "True"
        else f"{condition.get('status')} ({condition.get('reason', '')})"
    )


def _class_parameters(obj: Obj) -> str:
    given = value_at(obj, "spec", "parameters")
    if not given:
        return NONE
    return f"{given['kind']}{'.' + given['apiGroup'] if given.get('apiGroup') else ''}/{given['name']}"


def _simple(*shown: str | Callable[[Obj], Any]) -> Cells:
    """Cells from what each column between the name and the age shows: a dotted path, or a function of the object."""
    finders = [_at(show) if isinstance(show, str) else show for show in shown]
    return lambda obj, now: [name_of(obj), *(find(obj) for find in finders), age_of(obj, now)]


def _at(dotted: str) -> Callable[[Obj], Any]:
    path = dotted.split(".")

    def find(obj: Obj) -> Any:
        value = value_at(obj, *path)
        return "" if value is None else value

    return find


def _count(dotted: str) -> Callable[[Obj], Any]:
    return lambda obj: len(_at(dotted)(obj))


CELLS: dict[tuple[str, str], Cells] = {
    ("", "pods"): pod_cells,
    ("", "nodes"): node_cells,
    ("", "services"): _service,
    ("", "events"): _event,
    ("events.k8s.io", "events"): _event,
    ("", "persistentvolumes"): volume_cells,
    ("", "persistentvolumeclaims"): volume_claim_cells,
    ("", "replicationcontrollers"): replica_set_cells,
    ("autoscaling", "scales"): scale_cells,
    ("scheduling.k8s.io", "podgroups"): pod_group_cells,
    ("scheduling.k8s.io", "compositepodgroups"): composite_group_cells,
    ("custom", "scales"): scale_cells,
    ("", "configmaps"): _simple(_size("data", "binaryData")),
    ("", "secrets"): _simple("type", _size("data")),
    ("", "namespaces"): _simple("status.phase"),
    ("", "serviceaccounts"): plain_cells,
    ("", "podtemplates"): _pod_template,
    ("", "resourcequotas"): _simple(_quota("requests"), _quota("limits")),
    ("", "endpoints"): _simple(_endpoints),
    ("apps", "replicasets"): replica_set_cells,
    ("apps", "deployments"): deployment_cells,
    ("apps", "statefulsets"): stateful_set_cells,
    ("apps", "daemonsets"): daemon_set_cells,
    ("apps", "controllerrevisions"): _simple(_controller, "revision"),
    ("batch", "jobs"): job_cells,
    ("batch", "cronjobs"): cron_job_cells,
    ("autoscaling", "horizontalpodautoscalers"): autoscaler_cells,
    ("policy", "poddisruptionbudgets"): budget_cells,
    ("coordination.k8s.io", "leases"): _simple("spec.holderIdentity"),
    ("resource.k8s.io", "resourceclaims"): _claim,
    ("resource.k8s.io", "resourceslices"): _simple(
        lambda obj: value_at(obj, "spec", "nodeName") or "<unset>", "spec.driver", "spec.pool.name"
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
    ("storage.k8s.io", "csidrivers"): driver_cells,
    ("storage.k8s.io", "csinodes"): _simple(_count("spec.drivers")),
    ("storage.k8s.io", "volumeattachments"): _simple(
        "spec.attacher",
        "spec.source.persistentVolumeName",
        "spec.nodeName",
        lambda obj: bool(value_at(obj, "status", "attached")),
    ),
    ("storage.k8s.io", "volumeattributesclasses"): _simple("driverName"),
    ("discovery.k8s.io", "endpointslices"): _simple("addressType", _slice_ports, _slice_addresses),
    ("networking.k8s.io", "networkpolicies"): _simple(
        lambda obj: selector_text(value_at(obj, "spec", "podSelector") or {}) or NONE
    ),
    ("networking.k8s.io", "ingresses"): _simple(
        lambda obj: value_at(obj, "spec", "ingressClassName") or NONE,
        _ingress_hosts,
        _ingress_addresses,
        lambda obj: "80, 443" if value_at(obj, "spec", "tls") else "80",
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

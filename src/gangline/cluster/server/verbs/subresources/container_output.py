"""What is asked of a container: its log, and what would need a node that really runs it.

server.py asks for the subresources log, exec, attach, portforward and proxy. Logs come from whoever simulates the pod.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from gangline.cluster.server.call import ServerCall, truth
from gangline.cluster.server.core import Core
from gangline.cluster.server.status import absent, bad_request, failure, invalid, not_found
from gangline.cluster.server.verbs.meta import Obj
from gangline.errors import Problem
from gangline.rules.values import canonical

LEAST = {"tailLines": 0, "limitBytes": 1, "sinceSeconds": 1}
"""Options of a log that are numbers, and how small they may be."""
_STATUSES = ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses")
_PARTS = ("initContainers", "containers", "ephemeralContainers")


def connect(core: Core, call: ServerCall) -> NoReturn:
    """What a container is asked through its node; on nodes that are only simulated there is nobody to answer."""
    pod = _pod(core, call)
    if call.subresource != "portforward":
        _container(call, pod)
    node = pod["spec"].get("nodeName")
    if not node:
        raise bad_request(f"pod {call.name} does not have a host assigned")
    _check_node(core, node)
    raise bad_request(f"pod {call.name} runs on {node}, which is only simulated: nothing can be run or reached there")


def proxy(core: Core, call: ServerCall) -> NoReturn:
    """What listens in a pod, behind a service or on a node; nobody does where nodes are only simulated."""
    resource = call.resource
    obj = core.read(resource, call.place)
    if obj is None:
        raise absent(resource.group, resource.plural, call.name)
    if resource.kind == "Pod":
        if not (obj.get("status") or {}).get("podIP"):
            raise bad_request("address not allowed")
        what = f"pod {call.name} runs on {obj['spec'].get('nodeName')}, which"
    elif resource.kind == "Service":
        if core.store.get(("", "endpoints"), call.place) is None:
            raise failure(503, "ServiceUnavailable", f'no endpoints available for service "{call.name}"')
        what = f"what service {call.name} leads to"
    else:
        what = f"node {call.name}"
    raise bad_request(f"{what} is only simulated: nothing can be run or reached there")


def log(core: Core, call: ServerCall) -> bytes | None:
    """What a pod's container has written, as far as somebody simulates that; None for a pod that is on no node."""
    _check_time(call.request.argument("sinceTime"))
    problems = list(_option_problems(call))
    if problems:
        raise invalid("", "PodLogOptions", call.name, problems)
    pod = _pod(core, call)
    container = _container(call, pod)
    node = pod["spec"].get("nodeName")
    if not node:
        return None
    _check_node(core, node)
    if truth(call.request.argument("previous")) and not _restarts(pod, container):
        raise bad_request(f'previous terminated container "{container}" in pod "{call.name}" not found')
    text, last = core.logs(pod, container), call.number("tailLines")
    if last is not None:
        text = b"".join(text.splitlines(keepends=True)[-last:]) if last else b""
    return text[: call.number("limitBytes")]


def _restarts(pod: Obj, container: str) -> int:
    statuses = [item for part in _STATUSES for item in (pod.get("status") or {}).get(part) or []]
    return next((item.get("restartCount") or 0 for item in statuses if item.get("name") == container), 0)


def _check_time(text: str) -> None:
    try:
        canonical.time(text or "2006-01-02T15:04:05Z")
    except canonical.BadForm as error:
        raise bad_request(str(error)) from None


def _check_node(core: Core, node: str) -> None:
    """A node that does not exist is refused in the words of a kube-apiserver."""
    if core.store.get(("", "nodes"), ("", node)) is None:
        raise not_found("", "pods", node)


def _pod(core: Core, call: ServerCall) -> Obj:
    pod = core.read(call.resource, call.place)
    if pod is None:
        raise absent("", "pods", call.name)
    return pod


def _option_problems(call: ServerCall) -> Iterator[Problem]:
    for name, least in LEAST.items():
        value = call.number(name)
        if value is not None and value < least:
            bound = "greater than or equal to 0" if least == 0 else "greater than 0"
            yield Problem(name, f"Invalid value: {value}: must be {bound}", "FieldValueInvalid")
    argument = call.request.argument
    if argument("sinceSeconds") and argument("sinceTime"):
        message = "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"
        yield Problem("[]", message, "FieldValueForbidden")
    if argument("stream"):
        yield Problem("stream", "Forbidden: may not be specified", "FieldValueForbidden")


def _container(call: ServerCall, pod: Obj) -> str:
    """The one that is asked for, or the only one. (Which one is meant by default, kubectl says.)"""
    spec, asked = pod["spec"], call.request.argument("container")
    names = [str(item["name"]) for part in _PARTS for item in spec.get(part) or []]
    if asked and asked not in names:
        raise bad_request(f"container {asked} is not valid for pod {call.name}")
    if not asked and len(spec["containers"]) > 1:
        message = f"a container name must be specified for pod {call.name}, choose one of: [{' '.join(names)}]"
        raise bad_request(message)
    return asked or str(spec["containers"][0]["name"])

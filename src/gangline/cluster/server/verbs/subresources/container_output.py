"""What is asked of a container: its log, and what would need a node that really runs it.

server.py asks for the subresources log, exec, attach and portforward. Logs come from whoever simulates the pod.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.core import Core
from gangline.cluster.server.status import bad_request, invalid, not_found
from gangline.cluster.server.verbs.meta import Obj
from gangline.errors import Problem

LEAST = {"tailLines": 0, "limitBytes": 1, "sinceSeconds": 1}
"""Options of a log that are numbers, and how small they may be."""
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


def log(core: Core, call: ServerCall) -> bytes | None:
    """What a pod's container has written, as far as somebody simulates that; None for a pod that is on no node."""
    problems = list(_option_problems(call))
    if problems:
        raise invalid("", "PodLogOptions", call.name, problems)
    pod = _pod(core, call)
    container = _container(call, pod)
    node = pod["spec"].get("nodeName")
    if not node:
        return None
    _check_node(core, node)
    text, last = core.logs(pod, container), call.number("tailLines")
    if last is not None:
        text = b"".join(text.splitlines(keepends=True)[-last:]) if last else b""
    return text[: call.number("limitBytes")]


def _check_node(core: Core, node: str) -> None:
    """A node that nobody registered is told of as a kube-apiserver does."""
    if core.store.get(("", "nodes"), ("", node)) is None:
        raise not_found("", "pods", node)


def _pod(core: Core, call: ServerCall) -> Obj:
    pod = core.read(call.resource, call.place)
    if pod is None:
        raise not_found("", "pods", call.name)
    return pod


def _option_problems(call: ServerCall) -> Iterator[Problem]:
    for name, least in LEAST.items():
        value = call.number(name)
        if value is not None and value < least:
            bound = "greater than or equal to 0" if least == 0 else "greater than 0"
            yield Problem(name, f"Invalid value: {value}: must be {bound}", "FieldValueInvalid")
    argument = call.request.argument
    if argument("sinceSeconds") and argument("sinceTime"):
        told = "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"
        yield Problem("[]", told, "FieldValueForbidden")
    if argument("stream"):
        yield Problem("stream", "Forbidden: may not be specified", "FieldValueForbidden")


def _container(call: ServerCall, pod: Obj) -> str:
    """The one that is asked for, or the only one. (Which one is meant by default, kubectl says.)"""
    spec, asked = pod["spec"], call.request.argument("container")
    names = [str(item["name"]) for part in _PARTS for item in spec.get(part) or []]
    if asked and asked not in names:
        raise bad_request(f"container {asked} is not valid for pod {call.name}")
    if not asked and len(spec["containers"]) > 1:
        told = f"a container name must be specified for pod {call.name}, choose one of: [{' '.join(names)}]"
        raise bad_request(told)
    return asked or str(spec["containers"][0]["name"])

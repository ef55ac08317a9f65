"""What is asked of a container: its log, and what would need a node that really runs it.

server.py asks for the subresources log, exec, attach and portforward. Logs come from whoever simulates the pod.
"""

from __future__ import annotations

from typing import NoReturn

from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.core import Core
from gangline.cluster.server.status import bad_request, not_found
from gangline.cluster.server.verbs.meta import Obj


def connect(core: Core, call: ServerCall) -> NoReturn:
    """What a container is asked through its node; on nodes that are only simulated there is nobody to answer."""
    pod = core.read(call.resource, call.place)
    if pod is None:
        raise not_found("", "pods", call.name)
    node = pod["spec"].get("nodeName")
    if not node:
        raise bad_request(f"pod {call.name} does not have a host assigned")
    raise bad_request(f"pod {call.name} runs on {node}, which is only simulated: nothing can be run or reached there")


def log(core: Core, call: ServerCall) -> bytes:
    """What a pod's container has written, as far as somebody simulates that."""
    pod = core.read(call.resource, call.place)
    if pod is None:
        raise not_found("", "pods", call.name)
    container = _container(call, pod)
    text = core.logs(pod, container) if pod["spec"].get("nodeName") else b""
    last = call.number("tailLines")
    if last is None:
        return text
    return b"".join(text.splitlines(keepends=True)[-last:]) if last else b""


def _container(call: ServerCall, pod: Obj) -> str:
    """The one that is asked for, or the one that a pod means where nobody says which."""
    spec, asked = pod["spec"], call.request.argument("container")
    parts = ("initContainers", "containers", "ephemeralContainers")
    if asked and asked not in [item["name"] for part in parts for item in spec.get(part) or []]:
        raise bad_request(f"container {asked} is not valid for pod {call.name}")
    preferred = (pod["metadata"].get("annotations") or {}).get("kubectl.kubernetes.io/default-container")
    if not asked and not preferred and len(spec["containers"]) > 1:
        names = " ".join(container["name"] for container in spec["containers"])
        raise bad_request(f"a container name must be specified for pod {call.name}, choose one of: [{names}]")
    return str(asked or preferred or spec["containers"][0]["name"])

"""What is asked of a container: its log, and what would need a node that really runs it.

server.py asks for the subresources log, exec, attach and portforward. Logs come from whoever simulates the pod.
"""

from __future__ import annotations

from typing import NoReturn

from gangline.cluster.server.call import ServerCall
from gangline.cluster.server.core import Core
from gangline.cluster.server.status import bad_request, not_found


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
    spec = pod["spec"]
    known = [
        item["name"]
        for part in ("initContainers", "containers", "ephemeralContainers")
        for item in spec.get(part) or []
    ]
    asked = call.request.argument("container")
    if asked and asked not in known:
        raise bad_request(f"container {asked} is not valid for pod {call.name}")
    preferred = (pod["metadata"].get("annotations") or {}).get("kubectl.kubernetes.io/default-container")
    if not asked and len(spec["containers"]) > 1 and not preferred:
        names = " ".join(container["name"] for container in spec["containers"])
        raise bad_request(f"a container name must be specified for pod {call.name}, choose one of: [{names}]")
    text = core.logs(pod, asked or preferred or spec["containers"][0]["name"]) if spec.get("nodeName") else b""
    last = call.number("tailLines")
    return text if last is None else b"".join(text.splitlines(keepends=True)[-last:] if last else [])

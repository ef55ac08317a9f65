"""Replays the admission cases: a dry run of each write, then the write itself where later steps need it.

Compared are whether it was allowed, the code and the object as our hooks left it; the text only where the server's own
checks refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from conformance.kai_services.lab import Environment, Lab
from conformance.kai_services.placeholders import Uids, difference
from conformance.kai_services.steps import NAMESPACE, UnknownCase, check_keys, scoped
from gangline.admission.scheduling import kai
from gangline.admission.scheduling.settings import from_flags
from gangline.client.wire import JSON, MERGE_PATCH
from gangline.config import KAI, manner
from gangline.controllers.component import queue_controller
from gangline.errors import ApiError
from gangline.rules.hooks import Hook

Raw = dict[str, Any]
KEYS = {"name", "area", "kind", "config", "steps", "note"}
CONFIG_KEYS = {"component", "flags", "operations"}
PLURALS = {
    "admission": ("pods", "topologies"),
    "queuecontroller webhook": ("queues",),
    "podgroupcontroller webhook": ("podgroups",),
}
RANDOM = re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{7}-shared-gpu")
SUFFIX = re.compile(r'(Pod "[a-z0-9.-]*-)[a-z0-9]{5}"')


async def check(case: Raw, environment: Environment) -> str:
    config = case["config"]
    if case.keys() - KEYS or config.keys() - CONFIG_KEYS or config["component"] not in PLURALS:
        raise UnknownCase("the case has keys or a configuration that are not known")
    queues: dict[str, Raw] = {}
    lab = Lab(environment, hooks=_hooks(config, queues))
    await lab.open()
    try:
        await lab.start(queue_controller())
        return await _replay(lab, case, queues)
    finally:
        await lab.close()


def _hooks(config: Raw, queues: dict[str, Raw]) -> list[Hook]:
    settings = from_flags(config["flags"], manner([KAI]))
    chosen = [
        hook for hook in kai.hooks(settings, find_queue=queues.get) if hook.plural in PLURALS[config["component"]]
    ]
    operations = config.get("operations")
    return [replace(hook, operations=tuple(operations)) for hook in chosen] if operations else chosen


async def _replay(lab: Lab, case: Raw, queues: dict[str, Raw]) -> str:
    uids = Uids()
    last = case["steps"][-1]
    for number, step in enumerate(case["steps"], 1):
        *earlier, op = step["apply"]
        await _store(lab, uids, earlier)
        check_keys(op)
        stored = await lab.admin.list_raw(lab.kind("scheduling.run.ai/v2", "Queue"))
        queues.clear()
        queues.update({item["metadata"]["name"]: item for item in stored})
        found = await _try(lab, uids.real(op))
        problem = _compare(step["result"], found)
        if problem:
            return f"step {number}: {problem}"
        if step is not last and found["allowed"]:
            await _store(lab, uids, [op])
    return ""


async def _store(lab: Lab, uids: Uids, ops: Sequence[Raw]) -> None:
    for op in ops:
        await _send(lab, uids.real(op), dry=False)
    await lab.settle()


async def _try(lab: Lab, op: Raw) -> Raw:
    try:
        status, body = await _send(lab, op, dry=True)
    except ApiError as error:
        return {"allowed": False, "code": error.code, "message": str(error)}
    return {"allowed": True, "code": status, "object": None if op["op"] == "delete" else _reduced(body)}


async def _send(lab: Lab, op: Raw, *, dry: bool) -> tuple[int, Raw]:
    query = (("dryRun", "All"),) if dry else ()
    method, path, body, form = _request(lab, op)
    answer = await lab.admin.send(method, path, msgspec.json.encode(body), query=query, content_type=form)
    return answer.status, msgspec.json.decode(answer.body)


def _request(lab: Lab, op: Raw) -> tuple[str, str, Raw, str]:
    if op["op"] == "create":
        kind, obj, namespace = scoped(lab, op["object"])
        return "POST", kind.path(namespace), obj, JSON
    kind = lab.kind(op["apiVersion"], op["kind"])
    path = kind.path(op.get("namespace", NAMESPACE) if kind.namespaced else "", op["name"])
    if op["op"] == "patch":
        return "PATCH", path, op["patch"], MERGE_PATCH
    if op["op"] == "delete":
        return "DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions"}, JSON
    raise UnknownCase(f"operation {op['op']!r} is not known here")


def _reduced(obj: Raw) -> Raw:
    """What the hooks can touch."""
    meta = {key: obj["metadata"][key] for key in ("name", "annotations", "labels") if obj["metadata"].get(key)}
    if obj["kind"] != "Pod":
        return {"metadata": meta, "spec": obj.get("spec") or {}}
    spec = {
        key: [_container(item) for item in obj["spec"][key]]
        for key in ("containers", "initContainers")
        if obj["spec"].get(key)
    }
    spec |= {key: obj["spec"][key] for key in ("volumes", "runtimeClassName") if obj["spec"].get(key)}
    return {"metadata": meta, "spec": spec}


def _container(container: Raw) -> Raw:
    return {key: container[key] for key in ("name", "env", "envFrom", "resources") if container.get(key)}


def _compare(expected: Raw, found: Raw) -> str:
    for key in ("allowed", "code"):
        if expected[key] != found[key]:
            return (
                f"{key}: {expected[key]} expected, {found[key]} found; {found.get('message', '')} / "
                f"{expected.get('message', '')}"
            )
    if expected["allowed"]:
        return difference(expected.get("object"), _named(found["object"]), "object")
    if expected["code"] != 422:
        return ""
    said = SUFFIX.sub(r'\1<rand5>"', RANDOM.sub("-<rand7>-shared-gpu", found["message"]))
    return "" if said == expected["message"] else f"message: {expected['message']!r} expected, {said!r} found"


def _named(value: Any) -> Any:
    """With a name for what is random."""
    if isinstance(value, str):
        return RANDOM.sub("-<rand7>-shared-gpu", value)
    if isinstance(value, dict):
        return {key: _named(item) for key, item in value.items()}
    return [_named(item) for item in value] if isinstance(value, list) else value

"""A patch or a new object in words: every value with its path, what it was before, how many new nodes.

Where changes.py gets its sentences from. Never applies anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gangline.api.kinds import QUEUE, Kind
from gangline.api.meta import Raw
from gangline.why.objects import dig

SHOWN_LEAVES = 3
SHORT_LIST = 80
"""Characters of a list that is shown whole."""
SERVER_FIELDS = {"nodeName"}
"""What the server writes into a pod, and nobody asks for."""
TOLD_BESIDE = ("provisioner", "volumeBindingMode", "value")
"""Fields of objects that have no spec."""


Keys = tuple[str | int, ...]


def leaves(body: Any, live: Any = None, keys: Keys = ()) -> Iterator[tuple[str, Keys, Any]]:
    """Every value of a patch with its path, as people write it. Of a long list that `live` has with the same items,
    only what differs."""
    if isinstance(body, Mapping) and body:
        for key, value in body.items():
            yield from leaves(value, live, (*keys, key))
    elif _same_items(body, before := _at(live, keys)) and body != before and len(shown(body)) > SHORT_LIST:
        yield from _differing(body, before, keys)
    else:
        yield _path(keys), keys, body


def _differing(new: Any, old: Any, keys: Keys) -> Iterator[tuple[str, Keys, Any]]:
    if isinstance(new, Mapping) and isinstance(old, Mapping):
        for key in dict.fromkeys((*new, *old)):
            yield from _differing(new.get(key), old.get(key), (*keys, key))
    elif _same_items(new, old):
        for place, item in enumerate(new):
            yield from _differing(item, old[place], (*keys, place))
    elif new != old:
        yield _path(keys), keys, new


def _same_items(new: Any, old: Any) -> bool:
    """Lists of objects that are known by name, type or key, the same ones in the same order."""
    if not isinstance(new, list) or not isinstance(old, list) or len(new) != len(old):
        return False
    return all(
        isinstance(mine, Mapping) and isinstance(theirs, Mapping) and _known_by(mine) == _known_by(theirs) != ()
        for mine, theirs in zip(new, old, strict=True)
    )


def _known_by(item: Mapping[str, Any]) -> tuple[Any, ...]:
    return next(((word, item[word]) for word in ("name", "type", "key") if word in item), ())


def _path(keys: Keys) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) or "/" in key else f".{key}" for key in keys).lstrip(".")


def shown(value: Any) -> str:
    if value is None:
        return "(none)"
    if value == "":
        return '""'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(_item(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return _item(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _item(value: Any) -> str:
    if isinstance(value, Mapping) and "key" in value and "effect" in value:
        return f"{value['key']}{'=' + str(value['value']) if value.get('value') else ''}:{value['effect']}"
    if isinstance(value, Mapping) and set(value) == {"name"}:
        return str(value["name"])
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_item(item)}" for key, item in value.items()) + "}"
    return shown(value)


def was_text(live: Raw, keys: Keys) -> str:
    value = _at(live, keys)
    return f" (now {shown(value)})" if value is not None else ""


USUAL_AMOUNTS = {"ephemeral-storage": "1Ti"}
USUAL_LABELS = {
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "beta.kubernetes.io/os": "linux",
    "beta.kubernetes.io/arch": "amd64",
}
PLAIN_LABELS = ("kubernetes.io/hostname", "gangline.io/", "nvidia.com/gpu.count", "nvidia.com/gpu.present")
"""Of a new node, what goes without saying."""
OWN_ATTRIBUTES = ("uuid", "index", "minor", "pcieRoot")
"""Of a device, what no other one has."""


SHOWN_NAMES = 8


def more_nodes_text(node_names: Sequence[str], bodies: Sequence[Raw]) -> str:
    """`there were 2 more nodes (a, b), each with …`; `bodies`: what each of them is like."""
    has = dig(bodies[0], "status", "allocatable") or {}
    amounts = ", ".join(
        f"{value} {name}" for name, value in has.items() if str(value) not in ("0", USUAL_AMOUNTS.get(name))
    )
    labels = [dig(body, "metadata", "labels") or {} for body in bodies]
    marked = [
        f"{key}={' and '.join(dict.fromkeys(str(item.get(key)) for item in labels))}"
        for key, value in labels[0].items()
        if not key.startswith(PLAIN_LABELS) and USUAL_LABELS.get(key) != value
    ]
    many = (
        f"{len(node_names)} more nodes ({_names_text(node_names)}), each"
        if len(node_names) > 1
        else f"1 more node (Node/{node_names[0]})"
    )
    return f"there {'were' if len(node_names) > 1 else 'was'} {many} with {amounts}" + (
        f" and labels {', '.join(marked)}" if marked else ""
    )


def _names_text(node_names: Sequence[str]) -> str:
    few = len(node_names) <= SHOWN_NAMES
    return ", ".join(node_names if few else (*node_names[:2], "…", node_names[-1]))


def devices_text(slices: Sequence[Raw]) -> str:
    """The devices of a new node, with what is known of the first: ` and 2 devices of gpu.nvidia.com (memory: 80Gi)`."""
    parts = []
    for item in slices:
        devices = dig(item, "spec", "devices") or []
        first: Raw = devices[0] if devices else {}
        known = {**(first.get("attributes") or {}), **(first.get("capacity") or {})}
        facts = [f"{key}: {next(iter(value.values()))}" for key, value in known.items() if key not in OWN_ATTRIBUTES]
        count = "1 device" if len(devices) == 1 else f"{len(devices)} devices"
        parts.append(f" and {count} of {dig(item, 'spec', 'driver')}" + (f" ({', '.join(facts)})" if facts else ""))
    return "".join(parts)


def about_text(kind: Kind[Any], body: Raw) -> str:
    """What matters of a new object, in brackets."""
    if kind is QUEUE:
        parent = dig(body, "spec", "parentQueue")
        return f" (without limits{f', spec.parentQueue: {parent}' if parent else ''})"
    body = {"spec": body["spec"]} if body.get("spec") else {key: body[key] for key in TOLD_BESIDE if key in body}
    fields = [f"{path}: {shown(value)}" for path, _, value in leaves(body) if path and not isinstance(value, Mapping)]
    return f" ({', '.join(fields[:SHOWN_LEAVES])})" if fields else ""


def differences(body: Raw, live: Raw | None) -> list[str]:
    """What a new version of an object says otherwise."""
    changed = [
        f"{path}: {shown(value)}{was_text(live or {}, keys)}"
        for path, keys, value in leaves({"spec": body.get("spec") or {}}, live)
        if _at(live or {}, keys) != value
    ]
    return [*changed, *_dropped(body, live or {})] or ["the same fields"]


def _dropped(body: Raw, live: Raw) -> Iterator[str]:
    """Fields of the pods that it no longer has."""
    for keys in (("spec",), ("spec", "template", "spec")):
        before, after = _at(live, keys), _at(body, keys)
        if isinstance(before, Mapping) and isinstance(after, Mapping) and "containers" in before:
            for key in before.keys() - after.keys() - SERVER_FIELDS:
                yield f"{_path((*keys, key))}: (none) (now {shown(before[key])})"


def _at(obj: Any, keys: Keys) -> Any:
    for key in keys:
        if isinstance(key, int):
            obj = obj[key] if isinstance(obj, list) and key < len(obj) else None
        else:
            obj = obj.get(key) if isinstance(obj, Mapping) else None
    return obj

"""How the webhook server of request scripts answers a ConversionReview: right, or wrong in the way its path says.

Version v1 of what it converts has `spec.host` and `spec.port`, version v2 `spec.address`, which is both. Pure.

/convert
/convert/way=…   failed (with a message)  mute (without)  fewer  none (no response)  stranger (another question)
                 admission (another review)  old (the version that was sent)  kind  renamed  moved  other (another uid)
                 bare (no metadata)  label (adds one)  mislabel (a bad one)  number (a label that is none)  stamp (other
                 metadata, which nobody takes)  extra (a field that no schema has)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Obj = dict[str, Any]


def conversion_review(review: Obj, told: dict[str, str]) -> Obj:
    asked, way = review["request"], told.get("way", "")
    made = [_spoiled(_converted(obj, asked["desiredAPIVersion"]), obj, way) for obj in asked["objects"]]
    result: Obj = {"status": "Success"}
    if way in ("failed", "mute"):
        result = {"status": "Failure"} | ({"message": "these cannot be converted"} if way == "failed" else {})
    answer = {"uid": asked["uid"], "convertedObjects": made, "result": result}
    if way == "stranger":
        answer["uid"] = "11111111-2222-3333-4444-555555555555"
    if way == "fewer":
        answer["convertedObjects"] = made[1:]
    group = "admission.k8s.io" if way == "admission" else "apiextensions.k8s.io"
    told_as = {"apiVersion": f"{group}/{review['apiVersion'].rpartition('/')[2]}", "kind": review["kind"]}
    return told_as if way == "none" else told_as | {"response": answer}


def _converted(obj: Obj, version: str) -> Obj:
    spec = dict(obj.get("spec") or {})
    if version.endswith("/v2") and "host" in spec:
        spec["address"] = f"{spec.pop('host')}:{spec.pop('port', 0)}"
    elif version.endswith("/v1") and "address" in spec:
        host, _, port = str(spec.pop("address")).partition(":")
        spec |= {"host": host, "port": int(port or 0)}
    return {**obj, "apiVersion": version, "spec": spec, "metadata": dict(obj["metadata"])}


def _changed(obj: Obj, **about: Any) -> Obj:
    return {**obj, "metadata": {**obj["metadata"], **about}}


_WAYS: dict[str, Callable[[Obj, Obj], Obj]] = {
    "old": lambda obj, sent: {**obj, "apiVersion": sent["apiVersion"]},
    "kind": lambda obj, sent: {**obj, "kind": "Other"},
    "renamed": lambda obj, sent: _changed(obj, name="other"),
    "moved": lambda obj, sent: _changed(obj, namespace="other"),
    "other": lambda obj, sent: _changed(obj, uid="11111111-2222-3333-4444-555555555555"),
    "bare": lambda obj, sent: {key: value for key, value in obj.items() if key != "metadata"},
    "label": lambda obj, sent: _changed(obj, labels={"seen": "yes"}),
    "mislabel": lambda obj, sent: _changed(obj, labels={"se en": "y e s"}),
    "number": lambda obj, sent: _changed(obj, labels={"seen": 1}),
    "stamp": lambda obj, sent: _changed(obj, generation=77, finalizers=["example.com/f"], annotations={"a": "b"}),
    "extra": lambda obj, sent: {**obj, "spec": {**obj["spec"], "unheard": True}},
}


def _spoiled(obj: Obj, sent: Obj, way: str) -> Obj:
    return _WAYS[way](obj, sent) if way in _WAYS else obj

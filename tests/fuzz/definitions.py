"""Definitions of kinds with schemas that nobody would write, and objects of them.

There are `KINDS` of them, so that what one request defines others meet."""

from __future__ import annotations

from random import Random
from typing import Any

from fuzz import odd

Obj = dict[str, Any]
PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
KINDS = 4
FIELDS = ("a", "b", "spec", "status", "replicas", "k")
RULES = (
    "self.a == oldSelf.a",
    "self.all(x, self.exists(y, y == x))",
    "self.spec.replicas < 10",
    "has(self.a) ? self.a.size() < 3 : true",
    "self.b.matches(self.a)",
    "quantity(self.a).isGreaterThan(quantity('1'))",
    "self.a.map(x, x + x).join(',').size() > 0",
    "dyn(self).a.b.c",
    "duration(self.a) > duration('1h')",
    "self.a[0] == 1/0",
)
PATHS = (
    ".spec.replicas",
    ".a[0]",
    ".a[*].b",
    ".spec.a[?(@.b=='c')].k",
    ".a..b",
    "{.a}",
    ".a[-1:]",
    ".a[1:2:0]",
    ".a[99999999999999999999]",
    ".a['b','k']",
    ".metadata.labels.a\\.b",
    ".spec" * 200,
    ".",
    ".a[?(@.b<1)]",
)


def schema(random: Random, depth: int = 0, *, tame: bool = False) -> Any:
    """A schema, or nearly one; a tame one is one."""
    kinds = ("object", "array", "string", "integer", "number", "boolean")
    kind = random.choice(kinds if depth < 4 else kinds[2:])
    made: Obj = {"type": kind}
    if kind == "object":
        names = random.sample(FIELDS, random.randrange(4))
        made["properties"] = {name: schema(random, depth + 1, tame=tame) for name in names}
        if random.random() < 0.3:
            made = {"type": kind, "additionalProperties": schema(random, depth + 1, tame=tame)}
    if kind == "array":
        made["items"] = schema(random, depth + 1, tame=tame)
        if random.random() < 0.5 and not tame:
            made["x-kubernetes-list-type"] = random.choice(("set", "map", "atomic"))
            made["x-kubernetes-list-map-keys"] = random.choice(([], ["k"], ["a", "b"]))
    if tame:
        return made | random.choice(
            ({}, {}, {"nullable": True}, {"x-kubernetes-validations": [{"rule": "self == self"}]})
        )
    for _ in range(random.choice((0, 0, 1, 2))):
        made |= _further(random, depth)
    return odd.mutated(random, made) if random.random() < 0.05 else made


def _further(random: Random, depth: int) -> Obj:
    return random.choice(
        (
            lambda: {"default": odd.value(random)},
            lambda: {"enum": [odd.value(random), "a", 1]},
            lambda: {"pattern": odd.text(random)},
            lambda: {"format": random.choice(("date-time", "byte", "int32", "ipv4", "duration", "odd"))},
            lambda: {random.choice(("minimum", "maximum", "multipleOf", "maxLength", "minItems")): odd.value(random)},
            lambda: {random.choice(("anyOf", "oneOf", "allOf")): [schema(random, depth + 3), {"required": ["a"]}]},
            lambda: {"not": {"required": ["a"]}},
            lambda: {"nullable": True},
            lambda: {"x-kubernetes-preserve-unknown-fields": True},
            lambda: {"x-kubernetes-int-or-string": True},
            lambda: {"x-kubernetes-embedded-resource": True},
            lambda: {"required": random.choice((["a"], ["a", "a"], [""]))},
            lambda: {
                "x-kubernetes-validations": [
                    {"rule": random.choice((*RULES, odd.text(random))), "messageExpression": random.choice(RULES)}
                ]
            },
        )
    )()


def plural(random: Random) -> str:
    return f"thing{random.randrange(KINDS)}s"


def definition(random: Random) -> Obj:
    name, tame = plural(random), random.random() < 0.7
    root: Obj = {"type": "object", "properties": {"spec": _spec(random, tame), "status": _spec(random, tame)}}
    root["properties"]["a"] = schema(random, 1, tame=tame)
    version: Obj = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": root},
        "additionalPrinterColumns": [
            {"name": f"C{number}", "type": random.choice(("string", "integer", "date")), "jsonPath": path}
            for number, path in enumerate(random.sample(PATHS[:4] if tame else PATHS, random.randrange(4)))
        ],
    }
    if random.random() < 0.5:
        paths = {key: random.choice(PATHS) for key in ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")}
        version["subresources"] = {"status": {}, "scale": _plain() if tame else paths}
    if random.random() < 0.3 and not tame:
        version["selectableFields"] = [{"jsonPath": random.choice(PATHS)}]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{name}.fuzz.io"},
        "spec": {
            "group": "fuzz.io",
            "scope": "Namespaced",
            "names": {"plural": name, "kind": name.title(), "singular": name[:-1], "listKind": name.title() + "List"},
            **_versions(random, version),
        },
    }


def _versions(random: Random, version: Obj) -> Obj:
    """One, or two that a webhook converts which nobody serves."""
    if random.random() < 0.8:
        return {"versions": [version]}
    stored = random.random() < 0.7
    other = {**version, "name": "v2", "storage": not stored}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:9/convert"}}
    return {
        "versions": [{**version, "storage": stored}, other],
        "conversion": {"strategy": "Webhook", "webhook": webhook},
    }


def _spec(random: Random, tame: bool) -> Obj:
    fields = {field: schema(random, 2, tame=tame) for field in FIELDS}
    return {"type": "object", "properties": fields | {"replicas": {"type": "integer"}}}


def _plain() -> Obj:
    return {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}


def thing(random: Random) -> tuple[str, Obj]:
    """Where an object of one of the kinds goes, and the object."""
    name = plural(random)
    fields = {field: odd.value(random) for field in random.sample(FIELDS, random.randrange(4))}
    inner = {field: odd.value(random) for field in random.sample(FIELDS, random.randrange(4))}
    made = {"apiVersion": "fuzz.io/v1", "kind": name.title(), "metadata": {"name": "one"}, **fields, "spec": inner}
    return f"/apis/fuzz.io/v1/namespaces/default/{name}", made

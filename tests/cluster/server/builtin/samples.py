"""Random objects that fit a kind's schema, mostly: what property tests feed the rules with. A seed gives the same
object again."""

from __future__ import annotations

from random import Random
from typing import Any

from gangline.rules.values.schema_node import SchemaNode

_TEXTS = [
    "",
    "a",
    "b",
    "x.io/a",
    "A_",
    "None",
    "Always",
    "In",
    "Exists",
    "1",
    "10.0.0.1",
    "self.a == 1",
    "object",
    "string",
    "array",
    "5%",
]
_QUANTITIES = ["0", "1", "-1", "500m", "1Gi"]


def sample(node: SchemaNode, random: Random, depth: int = 0) -> Any:
    if random.random() < 0.04:
        return None
    if node.shape in ("struct", "either"):
        share = 0.5 if depth < 3 else 0.3 if depth < 6 else 0.05
        return {
            name: sample(child, random, depth + 1) for name, child in node.fields.items() if random.random() < share
        }
    if node.shape == "list" and node.items is not None:
        return [sample(node.items, random, depth + 1) for _ in range(random.choice([0, 1, 1, 2] if depth < 8 else [0]))]
    if node.shape == "map" and node.values is not None:
        return {
            random.choice(_TEXTS): sample(node.values, random, depth + 1)
            for _ in range(random.choice([0, 1, 2] if depth < 8 else [0]))
        }
    if node.shape == "any":
        return random.choice([{}, {"a": 1}, "x"])
    return _scalar(node, random)


def _scalar(node: SchemaNode, random: Random) -> Any:
    by_form: dict[str, Any] = {
        "quantity": random.choice(_QUANTITIES),
        "time": "2020-01-01T00:00:00Z",
        "microtime": "2020-01-01T00:00:00.000000Z",
        "bytes": "YWJj",
    }
    if node.form in by_form:
        return by_form[node.form]
    if node.shape == "intstr":
        return random.choice([0, 1, 70000, "50%", "x"])
    if node.scalar == "boolean":
        return random.random() < 0.5
    return random.choice([-1, 0, 1, 2, 80, 70000]) if node.scalar in ("integer", "number") else random.choice(_TEXTS)

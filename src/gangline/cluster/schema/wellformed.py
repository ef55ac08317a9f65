"""Is a custom resource's schema one the server can work with? Structural, with sound defaults and rules that compile
and are affordable.

    schema_problems(openapi, path) -> list[Problem]        the complete list, in the order the real server gives them

First the structural form, then defaults against the schema itself, then keywords that are not supported, then CEL
rules. Later steps are skipped when an earlier one found the schema unusable for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from gangline.api.notation import MISSING
from gangline.cluster.schema import compile_schema
from gangline.cluster.schema.findings import Sink
from gangline.cluster.schema.list_keywords import Props, list_type_problems
from gangline.cluster.schema.rulecheck import rule_problems
from gangline.cluster.schema.rules import RuleTree, field_names
from gangline.cluster.schema.structural import structural_node
from gangline.cluster.schema.validate import checker
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.patterns import BadPattern, compile_pattern

ROOT, ITEM, FIELD = "at the root", "for specified array items", "for specified object fields"
_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_NESTED: tuple[tuple[str, str], ...] = (
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
)
_UNSUPPORTED: tuple[tuple[str, str], ...] = (
    ("id", "id is not supported"),
    ("additionalItems", "additionalItems is not supported"),
    ("patternProperties", "patternProperties is not supported"),
    ("definitions", "definitions is not supported"),
    ("dependencies", "dependencies is not supported"),
    ("$ref", "$ref is not supported"),
)


def schema_problems(schema: Props, path: str) -> list[Problem]:
    return list(_judged(json.dumps(schema, separators=(",", ":")), path))


@lru_cache(maxsize=64)
def _judged(text: str, path: str) -> tuple[Problem, ...]:
    """A definition is judged again at every change of it, nearly always with the same schema."""
    return tuple(_problems(json.loads(text), path))


def _problems(schema: Props, path: str) -> list[Problem]:
    readable = not _unreadable(schema)
    unstructured = structure(schema, ROOT, path) if readable else ()
    problems = sorted(unstructured, key=lambda problem: f"{problem.path}: {problem.message}")
    usable = readable and not problems
    if schema.get("nullable"):
        problems.insert(0, say.forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    if usable:
        defaults = [*default_problems(schema, path)]
        problems += defaults
        usable = not defaults
    keywords = [*keyword_problems(schema, path)]
    problems += keywords
    if usable and not keywords:
        problems += rule_problems(schema, path)
    return problems


def _unreadable(schema: Props) -> bool:
    """A schema that says things no structural one can; only its keywords are judged."""
    if isinstance(schema.get("items"), list) or any(schema.get(name) for name, _ in _UNSUPPORTED):
        return True
    return any(_unreadable(child) for _, child, _ in _children(schema, ""))


def structure(schema: Props, level: str, path: str) -> Iterator[Problem]:
    """What keeps a schema from being structural."""
    items = schema.get("items")
    if schema.get("type") == "array" and not isinstance(items, dict):
        yield say.required(f"{path}.items", "must be specified")
    if isinstance(items, dict):
        yield from structure(items, ITEM, f"{path}.items")
    for name, child in (schema.get("properties") or {}).items():
        yield from structure(child, FIELD, f"{path}.properties[{name}]")
    extra = schema.get("additionalProperties")
    if extra is not None and extra is not False:
        if level == ROOT:
            yield say.forbidden(f"{path}.additionalProperties", "must not be used at the root")
        if isinstance(extra, dict):
            yield from structure(extra, FIELD, f"{path}.additionalProperties")
    yield from _alternatives(schema, path, bool(schema.get("x-kubernetes-int-or-string")))
    yield from _own_type(schema, level, path)
    yield from _metadata(schema, level == ROOT or bool(schema.get("x-kubernetes-embedded-resource")), path)


def _own_type(schema: Props, level: str, path: str) -> Iterator[Problem]:
    kind, embedded = schema.get("type") or "", schema.get("x-kubernetes-embedded-resource")
    int_or_string = schema.get("x-kubernetes-int-or-string")
    if int_or_string:
        yield from _int_or_string_alone(schema, path)
    if embedded:
        yield from _embedded(schema, kind, path)
    elif not (kind or int_or_string or schema.get("x-kubernetes-preserve-unknown-fields")):
        yield say.required(f"{path}.type", f"must not be empty {level}")
    if level == ROOT and kind and kind != "object":
        yield say.invalid(f"{path}.type", kind, "must be object at the root")


def _embedded(schema: Props, kind: str, path: str) -> Iterator[Problem]:
    """A whole object inside another."""
    if not schema.get("x-kubernetes-preserve-unknown-fields") and not schema.get("properties"):
        yield say.required(
            f"{path}.properties",
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
        )
    if kind != "object":
        text = "must be object if x-kubernetes-embedded-resource is true"
        yield say.invalid(f"{path}.type", kind, text) if kind else say.required(f"{path}.type", text)
    if schema.get("additionalProperties") is not None:
        yield say.forbidden(f"{path}.additionalProperties", "must not be used if x-kubernetes-embedded-resource is set")


def _int_or_string_alone(schema: Props, path: str) -> Iterator[Problem]:
    for keyword in ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"):
        if schema.get(keyword):
            yield say.invalid(f"{path}.{keyword}", True, "must be false if x-kubernetes-int-or-string is true")


def _metadata(schema: Props, resource: bool, path: str) -> Iterator[Problem]:
    properties = schema.get("properties") or {}
    if not resource:
        return
    for name in ("kind", "apiVersion"):
        if name in properties and properties[name].get("type") != "string":
            yield say.invalid(f"{path}.properties[{name}].type", properties[name].get("type") or "", "must be string")
    if "metadata" in properties:
        yield from _own_metadata(properties["metadata"], f"{path}.properties[metadata]")


def _own_metadata(about: Props, path: str) -> Iterator[Problem]:
    """A schema may narrow the name of its objects, and nothing else of their metadata."""
    if about.get("type") != "object":
        yield say.invalid(f"{path}.type", about.get("type") or "", "must be object")
    inner = about.get("properties") or {}
    if not set(about) <= {"type", "description", "title", "properties"} or not set(inner) <= {"name", "generateName"}:
        yield say.forbidden(
            path, "must not specify anything other than name and generateName, but metadata is implicitly specified"
        )
    for name, child in inner.items():
        if isinstance(child, dict) and child.get("default") is not None:
            yield say.forbidden(f"{path}.properties[{name}].default", "must not be set in top-level metadata")


_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]


def _alternatives(schema: Props, path: str, int_or_string: bool) -> Iterator[Problem]:
    any_of, all_of = schema.get("anyOf") or [], schema.get("allOf") or []
    if not (int_or_string and any_of == _INT_OR_STRING):
        for index, branch in enumerate(any_of):
            yield from _nested(branch, f"{path}.anyOf[{index}]")
    for index, branch in enumerate(all_of):
        plain = int_or_string and index == 0 and branch.get("anyOf") == _INT_OR_STRING
        yield from _nested({**branch, "anyOf": []} if plain else branch, f"{path}.allOf[{index}]")
    for index, branch in enumerate(schema.get("oneOf") or []):
        yield from _nested(branch, f"{path}.oneOf[{index}]")
    if isinstance(schema.get("not"), dict):
        yield from _nested(schema["not"], f"{path}.not")
    if schema.get("pattern"):
        try:
            compile_pattern(schema["pattern"])
        except BadPattern as error:
            yield say.invalid(
                f"{path}.pattern", schema["pattern"], f"must be a valid regular expression, but isn't: {error}"
            )


def _nested(schema: Props, path: str) -> Iterator[Problem]:
    """Inside anyOf, allOf, oneOf and not, only value checks may stand."""
    yield from _alternatives(schema, path, False)
    if isinstance(schema.get("items"), dict):
        yield from _nested(schema["items"], f"{path}.items")
    for name, child in (schema.get("properties") or {}).items():
        yield from _nested(child, f"{path}.properties[{name}]")
    if schema.get("type"):
        yield say.forbidden(f"{path}.type", "must be empty to be structural")
    if schema.get("additionalProperties") is not None:
        yield say.forbidden(f"{path}.additionalProperties", "must be undefined to be structural")
    if schema.get("default") is not None:
        yield say.forbidden(f"{path}.default", "must be undefined to be structural")
    for name, text in _NESTED:
        if schema.get(name):
            yield say.forbidden(f"{path}.{name}", text)
    if "metadata" in (schema.get("properties") or {}):
        yield say.forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context")


def default_problems(schema: Props, path: str) -> Iterator[Problem]:
    """Defaults must themselves be what the schema asks for."""
    if schema.get("default") is not None:
        yield from _judged_default(schema, f"{path}.default")
    if isinstance(schema.get("items"), dict):
        yield from default_problems(schema["items"], f"{path}.items")
    for name, child in (schema.get("properties") or {}).items():
        yield from default_problems(child, f"{path}.properties[{name}]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from default_problems(schema["additionalProperties"], f"{path}.additionalProperties")


def _judged_default(schema: Props, path: str) -> Iterator[Problem]:
    if schema.get("x-kubernetes-int-or-string"):
        return
    node = structural_node(schema, root=False)
    value = schema["default"]
    pruned, unknown = compile_schema({"type": "object", "properties": {"x": {**schema, "default": None}}}).admit(
        {"x": value}
    )
    if unknown:
        yield say.invalid(path, value, "must not have unknown fields")
        return
    sink = Sink(path)
    check = checker(node)
    if check is not None:
        check(pruned.get("x", value), MISSING, None, sink)
    yield from sink.problems
    if sink.exhausted:
        yield say.invalid(path, None, sink.effort.spent)
    elif not sink.problems:
        for problem in RuleTree(node).judge(value, MISSING):
            yield Problem(
                f"{path}.{problem.path}" if problem.path else path, problem.message, problem.kind, problem.value
            )


def keyword_problems(schema: Props, path: str) -> Iterator[Problem]:
    """Keywords that are unknown to the server, or stand where they make no sense."""
    yield from _unsupported(schema, path)
    if schema.get("uniqueItems"):
        yield say.forbidden(
            f"{path}.uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        )
    if isinstance(schema.get("additionalProperties"), dict) and schema.get("properties"):
        yield say.forbidden(f"{path}.additionalProperties", "additionalProperties and properties are mutual exclusive")
    for name, child, where in _children(schema, path):
        if name != "not" or isinstance(child, dict):
            yield from keyword_problems(child, where)
    yield from _extensions(schema, path)
    for index, rule in enumerate(schema.get("x-kubernetes-validations") or []):
        yield from _rule_keywords(schema, rule, f"{path}.x-kubernetes-validations[{index}]")


def _children(schema: Props, path: str) -> Iterator[tuple[str, Any, str]]:
    if isinstance(schema.get("additionalProperties"), dict):
        yield "additionalProperties", schema["additionalProperties"], f"{path}.additionalProperties"
    for name, child in (schema.get("properties") or {}).items():
        yield name, child, f"{path}.properties[{name}]"
    if isinstance(schema.get("not"), dict):
        yield "not", schema["not"], f"{path}.not"
    for word in ("allOf", "oneOf", "anyOf"):
        for index, child in enumerate(schema.get(word) or []):
            yield word, child, f"{path}.{word}[{index}]"
    if isinstance(schema.get("items"), dict):
        yield "items", schema["items"], f"{path}.items"


def _unsupported(schema: Props, path: str) -> Iterator[Problem]:
    kind = schema.get("type") or ""
    if kind and kind not in _TYPES and kind != "null":
        yield say.unsupported(f"{path}.type", kind, _TYPES)
    for name, text in _UNSUPPORTED:
        if schema.get(name):
            yield say.forbidden(f"{path}.{name}", text)
    if kind == "null":
        yield say.forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative")
    if isinstance(schema.get("items"), list):
        yield say.forbidden(f"{path}.items", "items must be a schema object and not an array")


def _extensions(schema: Props, path: str) -> Iterator[Problem]:
    kind, map_type = schema.get("type") or "", schema.get("x-kubernetes-map-type")
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        yield say.invalid(f"{path}.x-kubernetes-preserve-unknown-fields", False, "must be true or undefined")
    if map_type is not None:
        if kind != "object":
            text = "must be object if x-kubernetes-map-type is specified"
            yield say.invalid(f"{path}.type", kind, text) if kind else say.required(f"{path}.type", text)
        if map_type not in ("atomic", "granular"):
            yield say.unsupported(f"{path}.x-kubernetes-map-type", map_type, ("atomic", "granular"))
    yield from list_type_problems(schema, path)


def _rule_keywords(schema: Props, rule: Props, path: str) -> Iterator[Problem]:
    yield from _rule_text(rule, path)
    if rule.get("messageExpression") and not rule["messageExpression"].strip():
        yield say.required(f"{path}.messageExpression", "messageExpression must be non-empty if specified")
    if rule.get("reason") and rule["reason"] not in _REASONS:
        yield say.unsupported(f"{path}.reason", rule["reason"], _REASONS)
    field_path = rule.get("fieldPath") or ""
    if field_path and not field_path.strip():
        yield say.invalid(f"{path}.fieldPath", field_path, "must be non-empty if specified")
    if "\n" in field_path:
        yield say.invalid(f"{path}.fieldPath", field_path, "must not contain line breaks")
    if field_path and not _points_to_field(schema, field_path):
        yield say.invalid(f"{path}.fieldPath", field_path, "must be a valid path")


def _rule_text(rule: Props, path: str) -> Iterator[Problem]:
    """The expression and the message that explains it."""
    text, message = (rule.get("rule") or "").strip(), rule.get("message") or ""
    if not text:
        yield say.required(f"{path}.rule", "rule is not specified")
    elif message and not message.strip():
        yield say.invalid(f"{path}.message", message, "must be non-empty if specified")
    elif "\n" in message.strip():
        yield say.invalid(f"{path}.message", message, "must not contain line breaks")
    elif "\n" in text and not message.strip():
        yield say.required(f"{path}.message", "message must be specified if rule contains line breaks")


def _points_to_field(schema: Props, field_path: str) -> bool:
    for name in field_names(field_path) or [""]:
        properties = schema.get("properties") or {}
        extra = schema.get("additionalProperties")
        if name in properties:
            schema = properties[name]
        elif isinstance(extra, dict):
            schema = extra
        else:
            return False
    return True

"""Label and field selectors as the server reads them from a query, compiled to functions on a record.

Parsing refuses what a kube-apiserver refuses, with its words. Nothing here touches the store.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.status import bad_request
from gangline.cluster.server.store.shelf import Record
from gangline.rules.values.names import label_value_problems, qualified_name_problems

Test = Callable[[Record], bool]
LabelTest = Callable[[dict[str, str]], bool]

_TOKEN = re.compile(r"\s*(?:(==|!=|=|!|,|\(|\)|<|>)|([^\s=!,()<>]+))")
_SYMBOLS = {"==", "!=", "=", "!", ",", "(", ")", "<", ">"}


def parse_labels(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """`a=b,c in (d,e),!f` as (key, operator, values); operators are = != in notin exists ! < >."""
    tokens = _tokens(text)
    requirements: list[tuple[str, str, tuple[str, ...]]] = []
    while tokens:
        requirements.append(_requirement(tokens))
        if not tokens:
            break
        comma = tokens.pop(0)
        if comma != ",":
            raise bad_request(f"found '{comma}', expected: ',' or 'end of string'")
        following = tokens[0] if tokens else ""
        if following != "!" and (not following or following in _SYMBOLS):
            raise bad_request(f"found '{following}', expected: identifier after ','")
    return requirements


def _unparsable(why: str) -> Exception:
    return bad_request(f"unable to parse requirement: {why}")


def _tokens(text: str) -> list[str]:
    tokens, position, text = [], 0, text.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            break
        tokens.append(match.group(1) or match.group(2))
        position = match.end()
    return tokens


def _requirement(tokens: list[str]) -> tuple[str, str, tuple[str, ...]]:
    negated = tokens[0] == "!"
    if negated:
        tokens.pop(0)
    key = tokens.pop(0) if tokens else ""
    if not key or key in _SYMBOLS:
        if negated:
            raise _unparsable(f"found '{key}', expected: identifier")
        raise bad_request(f"found '{key}', expected: !, identifier, or 'end of string'")
    problems = qualified_name_problems(key)
    if problems:
        raise _unparsable(f'<nil>: Invalid value: "{key}": ' + "; ".join(problems))
    if negated:
        return key, "!", ()
    if not tokens or tokens[0] == ",":
        return key, "exists", ()
    return _comparison(key, tokens.pop(0), tokens)


def _comparison(key: str, operator: str, tokens: list[str]) -> tuple[str, str, tuple[str, ...]]:
    if operator in ("in", "notin"):
        values = _value_set(tokens)
    elif operator in ("=", "==", "!=", "<", ">"):
        value = "" if not tokens or tokens[0] == "," else tokens.pop(0)
        if value in _SYMBOLS:
            raise _unparsable(f"found '{value}', expected: identifier")
        values = (value,)
    else:
        raise _unparsable(f"found '{operator}', expected: in, notin, =, ==, !=, gt, lt")
    for index, value in enumerate(values):
        problems = label_value_problems(value)
        if problems:
            raise _unparsable(f'values[{index}][{key}]: Invalid value: "{value}": ' + "; ".join(problems))
    if operator in ("<", ">") and not re.fullmatch(r"[+-]?[0-9]{1,19}", values[0]):
        raise _unparsable(
            f"values[0]: Invalid value: \"{values[0]}\": for 'Gt', 'Lt' operators, the value must be an integer"
        )
    return key, "=" if operator == "==" else operator, values


def _value_set(tokens: list[str]) -> tuple[str, ...]:
    if not tokens or tokens[0] != "(":
        raise _unparsable(f"found '{tokens[0] if tokens else ''}' expected: '('")
    tokens.pop(0)
    values: list[str] = []
    expect_value = True
    while tokens:
        token = tokens.pop(0)
        if token == ")":
            if expect_value:
                values.append("")
            return tuple(sorted(set(values)))
        if token == ",":
            if expect_value:
                values.append("")
            expect_value = True
        elif token in _SYMBOLS or not expect_value:
            raise _unparsable(f"found '{token}', expected: ',' or ')'")
        else:
            values.append(token)
            expect_value = False
    raise _unparsable("found '', expected: ',' or ')'")


def _label_requirement(key: str, operator: str, values: tuple[str, ...]) -> LabelTest:
    if operator == "exists":
        return lambda labels: key in labels
    if operator == "!":
        return lambda labels: key not in labels
    if operator in ("=", "in"):
        return lambda labels: labels.get(key) in values
    if operator in ("!=", "notin"):
        return lambda labels: key not in labels or labels[key] not in values
    wanted = int(values[0])
    above = operator == ">"

    def compare(labels: dict[str, str]) -> bool:
        try:
            number = int(labels[key])
        except (KeyError, ValueError):
            return False
        return number > wanted if above else number < wanted

    return compare


def label_test(text: str) -> LabelTest | None:
    """None where everything matches."""
    tests = [_label_requirement(*requirement) for requirement in parse_labels(text)] if text else []
    if not tests:
        return None
    return tests[0] if len(tests) == 1 else lambda labels: all(test(labels) for test in tests)


def selector_test(selector: dict[str, Any] | None) -> LabelTest:
    """A LabelSelector object as a test; none selects nothing, an empty one everything."""
    if selector is None:
        return lambda labels: False
    tests = [_label_requirement(key, "=", (value,)) for key, value in (selector.get("matchLabels") or {}).items()]
    operators = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}
    tests += [
        _label_requirement(term["key"], operators[term["operator"]], tuple(term.get("values") or ()))
        for term in selector.get("matchExpressions") or []
    ]
    return lambda labels: all(test(labels) for test in tests)


def parse_fields(text: str) -> list[tuple[str, str, str]]:
    """`a=b,c!=d` as (label, operator, value). A backslash keeps the next character from being special."""
    terms = []
    for term in re.findall(r"(?:[^,\\]|\\.)+", text):
        if odd := next((terms for terms in re.finditer(r"\\(.)", term) if terms[1] not in "\\,="), None):
            raise bad_request(f"invalid field selector: invalid escape sequence: {odd[0]}")
        match = re.match(r"((?:[^=!\\]|\\.|!(?!=))*)(==|!=|=)(.*)", term, re.DOTALL)
        if match is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{term}'")
        label, operator, value = match.groups()
        if re.search(r"(?<!\\)=", value):
            raise bad_request("invalid field selector: unescaped character in value: 61")
        terms.append((re.sub(r"\\(.)", r"\1", label), operator, re.sub(r"\\(.)", r"\1", value)))
    return terms


def field_test(resource: Resource, text: str) -> tuple[Test | None, str | None]:
    """The test on a record, and the one name it can match (so that a list need not walk)."""
    tests: list[Test] = []
    only: str | None = None
    for label, operator, value in parse_fields(text):
        if not label and not value:
            continue
        _check_label(resource, label)
        equal = operator != "!="
        if label == "metadata.name" and equal:
            only = value
        tests.append(_field_requirement(resource, label, equal, value))
    if not tests:
        return None, None
    return (tests[0] if len(tests) == 1 else lambda record: all(test(record) for test in tests)), only


_REFUSALS = {
    ("batch", "jobs"): 'field label "{}" not supported for Job',
    ("resource.k8s.io", "resourceslices"): "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {}",
}


def _check_label(resource: Resource, label: str) -> None:
    if label == "metadata.name" or (label == "metadata.namespace") or label in resource.selectable:
        return
    if resource.selectable or resource.custom:
        raise bad_request(_REFUSALS.get(resource.shelf, "field label not supported: {}").format(label))
    raise bad_request(f'"{label}" is not a known field selector: only "metadata.name", "metadata.namespace"')


def _field_requirement(resource: Resource, label: str, equal: bool, value: str) -> Test:
    if label == "metadata.name":
        return lambda record: (record.place[1] == value) is equal
    if label == "metadata.namespace":
        return lambda record: (record.place[0] == value) is equal
    index = resource.field_names.index(label)
    return lambda record: (record.fields[index] == value) is equal


def selectable_values(resource: Resource, obj: dict[str, Any]) -> tuple[str, ...]:
    """What field selectors see of an object, in the order of `resource.selectable`."""
    return (
        tuple([_value(obj, path, zero) for path, zero in _split(tuple(resource.selectable.values()))])
        if resource.selectable
        else ()
    )


@lru_cache(maxsize=1024)
def _split(paths: tuple[str, ...]) -> list[tuple[tuple[str, ...], str]]:
    """Each path in parts, with what stands for an absent value."""
    return [(parts, _ZERO.get(parts, "")) for parts in (tuple(path.split(".")) for path in paths)]


_ZERO: dict[tuple[str, ...], str] = {
    ("status", "succeeded"): "0",
    ("status", "replicas"): "0",
    ("spec", "unschedulable"): "false",
    ("spec", "hostNetwork"): "false",
}


def _value(obj: Any, path: tuple[str, ...], zero: str) -> str:
    value = obj
    for key in path:
        value = value.get(key) if type(value) is dict else None
        if value is None:
            return zero
    if type(value) is str:
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return str(value.get("component", ""))
    if isinstance(value, list):
        return ",".join(str(item.get("ip", "")) for item in value if isinstance(item, dict))
    return str(value)

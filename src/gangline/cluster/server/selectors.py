"""Label and field selectors as the server reads them from a query, compiled to functions on a record.

Label selectors are parsed in `rules/selectors.py`. What a kube-apiserver refuses is refused, with its words. Nothing
here touches the store.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from gangline.api.selectors import SelectorRequirement, from_selector, whole_number
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.status import bad_request
from gangline.cluster.server.store.shelf import Record
from gangline.rules.selectors import SelectorUnreadable, parse_labels

Test = Callable[[Record], bool]
LabelTest = Callable[[dict[str, str]], bool]


def _label_requirement(requirement: SelectorRequirement) -> LabelTest:
    """As `requirement.matches`, compiled: a list asks it of every object."""
    key, operator, values = requirement.key, requirement.operator, requirement.values
    if operator == "exists":
        return lambda labels: key in labels
    if operator == "!exists":
        return lambda labels: key not in labels
    if operator in ("=", "in"):
        return lambda labels: labels.get(key) in values
    if operator in ("!=", "notin"):
        return lambda labels: key not in labels or labels[key] not in values
    wanted = int(values[0])
    above = operator == "gt"

    def compare(labels: dict[str, str]) -> bool:
        number = whole_number(labels.get(key))
        if number is None:
            return False
        return number > wanted if above else number < wanted

    return compare


def label_test(text: str) -> LabelTest | None:
    """None where everything matches."""
    try:
        tests = [_label_requirement(requirement) for requirement in parse_labels(text).requirements]
    except SelectorUnreadable as error:
        raise bad_request(error.why) from error
    if not tests:
        return None
    return tests[0] if len(tests) == 1 else lambda labels: all(test(labels) for test in tests)


def selector_test(selector: dict[str, Any] | None) -> LabelTest:
    """A LabelSelector object as a test; none selects nothing, an empty one everything."""
    if selector is None:
        return lambda labels: False
    tests = [_label_requirement(requirement) for requirement in from_selector(selector).requirements]
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

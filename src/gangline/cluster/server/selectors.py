"""Label and field selectors as the server reads them from a query, compiled to functions on a record.

Label selectors are parsed in `rules/selectors.py`. What a kube-apiserver refuses is refused, with its words. Nothing
here touches the store.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from gangline.api.selectors import LabelTest, from_selector
from gangline.cluster.server.catalogue import Resource
from gangline.cluster.server.status import bad_request
from gangline.cluster.server.store.shelf import Record
from gangline.rules.selectors import SelectorUnreadable, parse_labels

Test = Callable[[Record], bool]


def label_test(text: str) -> LabelTest | None:
    """None where everything matches."""
    try:
        selector = parse_labels(text)
    except SelectorUnreadable as error:
        raise bad_request(error.why) from error
    return selector.test if selector.requirements else None


def selector_test(selector: dict[str, Any] | None) -> LabelTest:
    """A LabelSelector object as a test; none selects nothing, an empty one everything."""
    return from_selector(selector).test if selector is not None else lambda labels: False


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
    wanted: dict[str, set[str]] = defaultdict(set)
    banned: dict[str, set[str]] = defaultdict(set)
    only: str | None = None
    for label, operator, value in parse_fields(text):
        if not label and not value:
            continue
        _check_label(resource, label)
        (banned if operator == "!=" else wanted)[label].add(value)
        if label == "metadata.name" and operator != "!=":
            only = value
    tests = [_field_is(resource, label, values) for label, values in wanted.items()]
    tests += [_field_is_none_of(resource, label, frozenset(values)) for label, values in banned.items()]
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


def _field_is(resource: Resource, label: str, values: set[str]) -> Test:
    """Nothing is two things at once."""
    value, read = next(iter(values)), _field(resource, label)
    return (lambda record: read(record) == value) if len(values) == 1 else lambda record: False


def _field_is_none_of(resource: Resource, label: str, values: frozenset[str]) -> Test:
    read = _field(resource, label)
    return lambda record: read(record) not in values


def _field(resource: Resource, label: str) -> Callable[[Record], str]:
    if label in ("metadata.name", "metadata.namespace"):
        part = 1 if label == "metadata.name" else 0
        return lambda record: record.place[part]
    index = resource.field_paths.index(resource.selectable[label])
    return lambda record: record.fields[index]


def selectable_values(resource: Resource, obj: dict[str, Any]) -> tuple[str, ...]:
    """What field selectors see of an object, in the order of `resource.field_paths`."""
    values = []
    for above, last, zero in _split(resource.field_paths):
        holder: Any = obj
        for key in above:
            holder = holder.get(key) if type(holder) is dict else None
        value = holder.get(last) if type(holder) is dict else None
        if type(value) is not str:
            value = zero if value is None else _text(value)
        values.append(value)
    return tuple(values)


@lru_cache(maxsize=1024)
def _split(paths: tuple[str, ...]) -> list[tuple[tuple[str, ...], str, str]]:
    """Each path as what stands above its last part, that part, and what stands for an absent value."""
    return [(parts[:-1], parts[-1], _ZERO.get(parts, "")) for parts in (tuple(path.split(".")) for path in paths)]


_ZERO: dict[tuple[str, ...], str] = {
    ("status", "succeeded"): "0",
    ("status", "replicas"): "0",
    ("spec", "unschedulable"): "false",
    ("spec", "hostNetwork"): "false",
}


def _text(value: Any) -> str:
    """A value that is no text, as field selectors spell it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return str(value.get("component", ""))
    if isinstance(value, list):
        return ",".join(str(item.get("ip", "")) for item in value if isinstance(item, dict))
    return str(value)

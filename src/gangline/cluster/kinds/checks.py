"""The vocabulary of checks that rules of many kinds share. Each yields Problems; an absent value is no problem unless
said so."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from gangline.api import resources
from gangline.cluster.schema.labels import check_labels
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.names import (
    label_problems,
    label_value_problems,
    qualified_name_problems,
    reason_problems,
    subdomain_problems,
)

Obj = dict[str, Any]
Problems = Iterator[Problem]
NOT_NEGATIVE = "must be greater than or equal to 0"
IMMUTABLE = "field is immutable"
_PORT_NAME = "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"


def with_paths(items: Any, path: str) -> Iterable[tuple[str, Any]]:
    """Items of a list with their paths. Most lists of most objects are absent: nothing is made for those."""
    return [(f"{path}[{index}]", item) for index, item in enumerate(items)] if items else ()


def repeated(items: Iterable[Any]) -> Iterator[int]:
    """Places of items that stood in the list before."""
    seen: set[str] = set()
    for index, item in enumerate(items):
        text = say.compact(item)
        if text in seen:
            yield index
        seen.add(text)


def not_negative(value: Any, path: str) -> Problems:
    if value is not None and value < 0:
        yield say.invalid(path, value, NOT_NEGATIVE)


def positive(value: Any, path: str) -> Problems:
    if value is not None and value <= 0:
        yield say.invalid(path, value, "must be greater than zero")


def within(value: Any, low: int, high: int, path: str) -> Iterable[Problem]:
    if value is None or low <= value <= high:
        return ()
    return (say.invalid(path, value, f"must be between {low} and {high}, inclusive"),)


def one_of(value: Any, supported: Collection[str], path: str, required: bool = False) -> Iterable[Problem]:
    if not value:
        return (say.required(path),) if required else ()
    return () if value in supported else (say.unsupported(path, value, tuple(supported)),)


def given(obj: Obj, path: str, *names: str) -> Problems:
    """Each named field must be there and not empty."""
    for name in names:
        if obj.get(name) in (None, "", [], {}):
            yield say.required(f"{path}.{name}" if path else name)


def named(value: Any, problems: Callable[[str], list[str]], path: str) -> Iterable[Problem]:
    reasons = problems(value) if value is not None else None
    return [say.invalid(path, value, why) for why in reasons] if reasons else ()


def subdomain(value: Any, path: str) -> Iterable[Problem]:
    return named(value, subdomain_problems, path)


def label(value: Any, path: str) -> Iterable[Problem]:
    return named(value, label_problems, path)


def qualified(value: Any, path: str) -> Iterable[Problem]:
    return named(value, qualified_name_problems, path)


def immutable(new: Any, old: Any, path: str) -> Problems:
    if new != old:
        yield say.invalid(path, new, IMMUTABLE)


def port_name_problems(name: str) -> list[str]:
    reasons = ["must be no more than 15 characters"] if len(name) > 15 else []
    if not re.fullmatch(r"[-a-z0-9]+", name):
        reasons.append(_PORT_NAME)
    if not re.search(r"[a-z]", name):
        reasons.append("must contain at least one letter (a-z)")
    if "--" in name:
        reasons.append("must not contain consecutive hyphens")
    if name and (name[0] == "-" or name[-1] == "-"):
        reasons.append("must not begin or end with a hyphen")
    return reasons


def port(value: Any, path: str) -> Problems:
    """A port number, or the name of one."""
    if isinstance(value, str):
        yield from named(value, port_name_problems, path)
    else:
        yield from within(value or 0, 1, 65535, path)


def ip(value: Any, path: str) -> Problems:
    try:
        ipaddress.ip_address(value or "")
        good = "%" not in value
    except ValueError:
        good = False
    if not good:
        yield say.invalid(path, value, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")


def domain_path(value: str, path: str) -> Problems:
    """A name with the domain of its owner: acme.io/foo."""
    domain, slash, rest = value.partition("/")
    if not slash or not domain or not rest:
        yield say.invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        yield from named(domain, subdomain_problems, path)


def quantity_not_negative(value: Any, path: str) -> Problems:
    if resources.nanos(value) < 0:
        yield say.invalid(path, value, NOT_NEGATIVE)


def int_or_percent(value: Any, path: str) -> Problems:
    """What may be a count or a share: no negative count, a percentage when it is text."""
    if isinstance(value, str):
        if not re.fullmatch(r"[0-9]+%", value):
            yield say.invalid(
                path,
                value,
                "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
                "'93%', regex used for validation is '[0-9]+%')",
            )
    elif isinstance(value, int):
        yield from not_negative(value, path)


def percent_at_most_100(value: Any, path: str) -> Problems:
    if isinstance(value, str) and re.fullmatch(r"[0-9]+%", value) and int(value[:-1]) > 100:
        yield say.invalid(path, value, "must not be greater than 100%")


def label_selector(selector: Any, path: str) -> Problems:
    if not selector:
        return
    yield from check_labels(selector.get("matchLabels") or {}, f"{path}.matchLabels")
    for where, term in with_paths(selector.get("matchExpressions"), f"{path}.matchExpressions"):
        yield from _requirement(term, where)


def _requirement(term: Obj, path: str) -> Problems:
    yield from operator_values(term, path)
    yield from label_key(term.get("key") or "", f"{path}.key")
    for where, value in with_paths(term.get("values"), f"{path}.values"):
        yield from named(value, label_value_problems, where)


def operator_values(term: Obj, path: str, compares: bool = False) -> Problems:
    """How many values the operator of a selector's term takes; some selectors compare numbers too."""
    operator, values = term.get("operator") or "", term.get("values") or []
    if operator in ("In", "NotIn"):
        if not values:
            yield say.required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield say.forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    elif compares and operator in ("Gt", "Lt"):
        if len(values) != 1:
            yield say.required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        yield say.invalid(f"{path}.operator", operator, "not a valid selector operator")


def label_key(key: str, path: str) -> Iterable[Problem]:
    return named(key, qualified_name_problems, path)


def conditions(items: Any, path: str, key: str = ".type") -> Problems:
    """Conditions of the common form: typed, true, false or unknown, with a reason; `key` is where a repeated one is
    told of."""
    seen: set[str] = set()
    for where, item in with_paths(items, path):
        kind = item.get("type") or ""
        yield from named(kind, qualified_name_problems, f"{where}.type")
        if kind in seen:
            yield say.duplicate(f"{where}{key}", kind)
        seen.add(kind)
        yield from one_of(item.get("status"), ("False", "True", "Unknown"), f"{where}.status", required=True)
        if not item.get("lastTransitionTime"):
            yield say.required(f"{where}.lastTransitionTime")
        if not item.get("reason"):
            yield say.required(f"{where}.reason")
        else:
            yield from named(item["reason"], reason_problems, f"{where}.reason")


def selector_matches(selector: Any, labels: Any) -> bool:
    """Whether a LabelSelector selects these labels."""
    have: dict[str, str] = labels or {}
    chosen = selector or {}
    if any(have.get(name) != value for name, value in (chosen.get("matchLabels") or {}).items()):
        return False
    for term in chosen.get("matchExpressions") or []:
        present, values = term["key"] in have, term.get("values") or []
        good = {
            "In": present and have.get(term["key"]) in values,
            "NotIn": not present or have.get(term["key"]) not in values,
            "Exists": present,
            "DoesNotExist": not present,
        }.get(term.get("operator") or "", False)
        if not good:
            return False
    return True


def selector_is_empty(selector: Any) -> bool:
    return not (selector or {}).get("matchLabels") and not (selector or {}).get("matchExpressions")

"""What Kubernetes calls a good name: DNS labels and subdomains, qualified names, label values.

Each function returns the problems in Kubernetes' words, empty when there is none. Answers are remembered: do not change
the lists."""

from __future__ import annotations

import re

from gangline.api.kept import kept

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = _LABEL + "(\\." + _LABEL + ")*"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = "(" + _QUALIFIED + ")?"
_DNS1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"

is_label = re.compile(_LABEL).fullmatch
is_subdomain = re.compile(_SUBDOMAIN).fullmatch
is_qualified = re.compile(_QUALIFIED).fullmatch
_IS_VALUE = re.compile(_VALUE).fullmatch
_IS_DNS1035 = re.compile(_DNS1035).fullmatch


def _explain(text: str, pattern: str, *examples: str) -> str:
    quoted = ",  or ".join(f"'{example}'" for example in examples)
    return f"{text} (e.g. {quoted}, regex used for validation is '{pattern}')"


_SUBDOMAIN_TEXT = _explain(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character",
    _SUBDOMAIN,
    "example.com",
)
_LABEL_TEXT = _explain(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character",
    _LABEL,
    "my-name",
    "123-abc",
)
_DNS1035_TEXT = _explain(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, and end with an alphanumeric character",
    _DNS1035,
    "my-name",
    "abc-123",
)
_QUALIFIED_TEXT = _explain(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    _QUALIFIED,
    "MyName",
    "my.name",
    "123-abc",
)
_VALUE_TEXT = _explain(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character",
    _VALUE,
    "MyValue",
    "my_value",
    "12345",
)

_REASON = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_IS_REASON = re.compile(_REASON).fullmatch
_REASON_TEXT = _explain(
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_'",
    _REASON,
    "my_name",
    "MY_NAME",
    "MyName",
    "ReasonA,ReasonB",
    "ReasonA:ReasonB",
)


@kept(16384)
def subdomain_problems(name: str) -> list[str]:
    problems = ["must be no more than 253 characters"] if len(name) > 253 else []
    return problems if is_subdomain(name) else [*problems, _SUBDOMAIN_TEXT]


@kept(16384)
def label_problems(name: str) -> list[str]:
    problems = ["must be no more than 63 characters"] if len(name) > 63 else []
    if is_label(name):
        return problems
    return [*problems, "must not contain dots" if is_subdomain(name) else _LABEL_TEXT]


def reason_problems(reason: str) -> list[str]:
    """Of a condition."""
    return [] if _IS_REASON(reason) else [_REASON_TEXT]


def dns1035_problems(name: str) -> list[str]:
    problems = ["must be no more than 63 characters"] if len(name) > 63 else []
    return problems if _IS_DNS1035(name) else [*problems, _DNS1035_TEXT]


def path_segment_problems(name: str) -> list[str]:
    """Names that need only fit into a URL path (RBAC)."""
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    return [f"may not contain '{mark}'" for mark in "/%" if mark in name]


@kept(16384)
def qualified_name_problems(key: str) -> list[str]:
    prefix, slash, name = key.rpartition("/")
    if slash and "/" in prefix:
        return [
            "a valid label key "
            + _QUALIFIED_TEXT
            + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    problems = []
    if slash and not prefix:
        problems.append("prefix part must be non-empty")
    elif slash:
        problems += ["prefix part " + problem for problem in subdomain_problems(prefix)]
    if not name:
        problems.append("name part must be non-empty")
    elif len(name) > 63:
        problems.append("name part must be no more than 63 bytes")
    if not is_qualified(name):
        problems.append("name part " + _QUALIFIED_TEXT)
    return problems


@kept(16384)
def label_value_problems(value: str) -> list[str]:
    problems = ["must be no more than 63 bytes"] if len(value.encode()) > 63 else []
    return problems if _IS_VALUE(value) else [*problems, _VALUE_TEXT]

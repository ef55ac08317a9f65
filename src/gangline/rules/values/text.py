"""Kubernetes' rules for names, label keys and values, and environment variables, each as a sentence or nothing.

Used by admission and by backends; an empty answer means the text is fine.
"""

from __future__ import annotations

import re

from gangline.rules.values.names import is_label, is_qualified, is_subdomain

_VARIABLE = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")


def label_problem(text: str) -> str:
    """What is wrong with a DNS-1123 label."""
    if len(text) > 63:
        return "must be no more than 63 characters"
    return (
        ""
        if is_label(text)
        else "must consist of lower case letters, digits and '-', and start and end with a letter or digit"
    )


def subdomain_problem(text: str) -> str:
    """What is wrong with a DNS-1123 subdomain."""
    if len(text) > 253:
        return "must be no more than 253 characters"
    if is_subdomain(text):
        return ""
    return "must consist of lower case letters, digits, '-' and '.', and start and end with a letter or digit"


def key_problem(text: str) -> str:
    """What is wrong with the key of a label or annotation."""
    prefix, slash, name = text.rpartition("/")
    if slash and (not prefix or subdomain_problem(prefix)):
        return "the part before '/' must be a DNS subdomain"
    if not name or len(name) > 63 or not is_qualified(name):
        return (
            "must be letters, digits, '-', '_' and '.', at most 63 of them, starting and ending with a letter or digit"
        )
    return ""


def label_value_problem(text: str) -> str:
    if len(text) > 63:
        return "must be no more than 63 characters"
    if not text or is_qualified(text):
        return ""
    return "must be letters, digits, '-', '_' and '.', starting and ending with a letter or digit"


def variable_problem(text: str) -> str:
    """What is wrong with the name of an environment variable."""
    if not text:
        return "must be given"
    if text.startswith("..") or text == ".":
        return "must not be '.' or start with '..'"
    return "" if _VARIABLE.fullmatch(text) else "must be letters, digits, '-', '_' and '.', not starting with a digit"

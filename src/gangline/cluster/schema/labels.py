"""What labels and annotations may be, in Kubernetes' words.

Needed wherever an object has metadata: in its own, in a pod template's, in an embedded resource's. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from gangline.errors import Problem
from gangline.rules.values.names import label_value_problems, qualified_name_problems
from gangline.rules.values.problems import beginning

ANNOTATION_LIMIT = 262144


def invalid(path: str, value: Any, why: str) -> Problem:
    return Problem(path, f"Invalid value: {shown(value)}: {why}", "FieldValueInvalid", value)


def shown(value: Any) -> str:
    """A value as Kubernetes prints it in a refusal."""
    return msgspec.json.encode(beginning(value)).decode()


def check_labels(labels: Mapping[str, str], path: str) -> list[Problem]:
    problems: list[Problem] = []
    for key in sorted(labels):
        if wrong := qualified_name_problems(key):
            problems += [invalid(path, key, why) for why in wrong]
        if wrong := label_value_problems(labels[key]):
            problems += [invalid(path, labels[key], why) for why in wrong]
    return problems


def check_annotations(annotations: Mapping[str, str], path: str) -> list[Problem]:
    problems: list[Problem] = []
    for key in sorted(annotations):
        problems += [invalid(path, key, why) for why in qualified_name_problems(key.lower())]
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > ANNOTATION_LIMIT:
        problems.append(Problem(path, f"Too long: may not be more than {ANNOTATION_LIMIT} bytes", "FieldValueTooLong"))
    return problems

"""What a Job does about pods that fail or succeed: its podFailurePolicy and its successPolicy.

Pure; jobs.py asks.
"""

from __future__ import annotations

import re
from typing import Any

from gangline.cluster.kinds.checks import Obj, Problems, not_negative, one_of, qualified, repeated, with_paths
from gangline.errors import Problem
from gangline.rules.values import problems as say

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")


def failure_policy(spec: Obj, path: str) -> Problems:
    rules = spec["podFailurePolicy"].get("rules") or []
    if len(rules) > 20:
        yield say.too_many(f"{path}.rules", len(rules), 20)
    pod = (spec.get("template") or {}).get("spec") or {}
    names = {container.get("name") for part in ("containers", "initContainers") for container in pod.get(part) or []}
    for where, rule in with_paths(rules, f"{path}.rules"):
        yield from _failure_action(rule.get("action") or "", spec, f"{where}.action")
        yield from _failure_rule(rule, names, where)


def _failure_action(action: str, spec: Obj, path: str) -> Problems:
    if not action:
        yield say.required(path, f"valid values: {list(_ACTIONS)}")
        return
    yield from one_of(action, _ACTIONS, path)
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        yield say.invalid(path, action, "requires the backoffLimitPerIndex to be set")


def _failure_rule(rule: Obj, names: set[Any], path: str) -> Problems:
    """Which failures a rule is about: exit codes or conditions, not both."""
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
    if codes is not None:
        yield from _exit_codes(codes, f"{path}.onExitCodes", names)
    for where, condition in with_paths(conditions, f"{path}.onPodConditions"):
        yield from qualified(condition.get("type") or "", f"{where}.type")
        yield from one_of(condition.get("status"), ("False", "True", "Unknown"), f"{where}.status", required=True)
    if codes is not None and conditions:
        yield say.invalid(path, say.OMIT, "specifying both OnExitCodes and OnPodConditions is not supported")
    if codes is None and not conditions:
        yield say.invalid(path, say.OMIT, "specifying one of OnExitCodes and OnPodConditions is required")


def _exit_codes(about: Obj, path: str, names: set[Any]) -> Problems:
    yield from one_of(about.get("operator"), ("In", "NotIn"), f"{path}.operator", required=True)
    if about.get("containerName") is not None and about["containerName"] not in names:
        yield say.invalid(
            f"{path}.containerName",
            about["containerName"],
            "must be one of the container or initContainer names in the pod template",
        )
    values = about.get("values") or []
    if not values:
        yield say.invalid(f"{path}.values", values, "at least one value is required")
    elif len(values) > 255:
        yield say.too_many(f"{path}.values", len(values), 255)
    for where, value in with_paths(values, f"{path}.values"):
        if about.get("operator") == "In" and value == 0:
            yield say.invalid(where, value, "must not be 0 for the In operator")
    yield from (say.duplicate(f"{path}.values[{at}]", values[at]) for at in repeated(values))
    if values != sorted(values):
        yield say.invalid(f"{path}.values", values, "must be ordered")


def success_policy(spec: Obj, path: str) -> Problems:
    if spec.get("completionMode") != "Indexed":
        yield say.invalid(path, spec["successPolicy"], "requires indexed completion mode")
    rules = spec["successPolicy"].get("rules") or []
    if not rules:
        yield say.required(f"{path}.rules", "at least one rules must be specified when the successPolicy is specified")
    if len(rules) > 20:
        yield say.too_many(f"{path}.rules", len(rules), 20)
    for where, rule in with_paths(rules, f"{path}.rules"):
        if rule.get("succeededCount") is None and rule.get("succeededIndexes") is None:
            yield say.required(where, "at least one of succeededCount or succeededIndexes must be specified")
        yield from _success_rule(rule, where, spec.get("completions") or 0)


def _success_rule(rule: Obj, path: str, completions: int) -> Problems:
    indexes, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    chosen = 0
    if indexes is not None:
        try:
            chosen = count_indexes(indexes, completions)
        except ValueError as wrong:
            yield say.invalid(f"{path}.succeededIndexes", indexes, f"error parsing succeededIndexes: {wrong}")
    if count is None:
        return
    yield from not_negative(count, f"{path}.succeededCount")
    if count > completions:
        yield _too_many_succeeded(path, count, completions, "the number of specified completions")
    elif indexes is not None and count > chosen:
        yield _too_many_succeeded(path, count, chosen, "the number of indexes in the specified succeededIndexes field")


def _too_many_succeeded(path: str, count: int, limit: int, meaning: str) -> Problem:
    return say.invalid(f"{path}.succeededCount", count, f"must be less than or equal to {limit} ({meaning})")


def count_indexes(text: str, completions: int) -> int:
    """How many indexes a list like `0,3-5` names; ValueError says what is wrong with it."""
    total, last = 0, -1
    for part in text.split(",") if text else ():
        ends = part.split("-")
        if len(ends) > 2:
            raise ValueError(
                f'the fragment "{part}" violates the requirement that an index interval can have at most two parts '
                f"separated "
                "by '-'"
            )
        first = _index(ends[0], completions)
        if first <= last:
            raise ValueError(f"non-increasing order, previous: {last}, current: {first}")
        last = _index(ends[-1], completions)
        if last < first or (len(ends) == 2 and last == first):
            raise ValueError(f"non-increasing order, previous: {first}, current: {last}")
        total += last - first + 1
    return total


def _index(text: str, completions: int) -> int:
    if not re.fullmatch(r"[-+]?[0-9]+", text):
        raise ValueError(f'cannot convert string to integer for index: "{text}"')
    if int(text) >= completions:
        raise ValueError(f'too large index: "{text}"')
    return int(text)

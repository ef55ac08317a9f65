"""CEL rules of custom resources: compiled per place of the schema, run on every write after the value checks.

A rule that speaks of `oldSelf` runs only when there is an earlier value at the same place (or always, as an optional,
when it says so). A rule that does not is skipped where nothing changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gangline.api.notation import MISSING
from gangline.cluster.schema.findings import Where, path_of
from gangline.cluster.schema.validate import correlated
from gangline.errors import Problem
from gangline.rules import cel
from gangline.rules.cel.runtime import StepBudget
from gangline.rules.values import problems as say
from gangline.rules.values.schema_node import SchemaNode

BUDGET = 10_000_000
"""Steps all rules of one object may take together."""
_SPENT = "validation failed due to running out of cost budget, no further validation rules will be run"
_NOUNS = {"struct": "object", "map": "object", "list": "array"}


class CelRule:
    """One rule at one place. Compiling it raises CelSyntaxError."""

    def __init__(self, node: SchemaNode, about: Mapping[str, Any]) -> None:
        self.about = about
        self.text: str = about.get("rule") or ""
        self.optional = bool(about.get("optionalOldSelf"))
        kind = cel.kind_of(node)
        env = cel.Env({"self": kind, "oldSelf": cel.optional_of(kind) if self.optional else kind})
        self.program = cel.compile(self.text, env)
        self.transition = self.program.uses("oldSelf")
        expression = about.get("messageExpression")
        self.wording = cel.compile(expression, env) if expression else None

    def wanted(self, old: Any, changed: bool) -> bool:
        if self.transition:
            return self.optional or old is not MISSING
        return changed or old is MISSING

    def variables(self, value: Any, old: Any) -> dict[str, Any]:
        if not self.optional:
            return {"self": value, "oldSelf": None if old is MISSING else old}
        return {"self": value, "oldSelf": cel.NONE if old is MISSING else cel.Optional(old, True)}

    def named(self) -> str:
        return str(self.about.get("message") or "").strip() or self.text.strip()

    def message(self, variables: Mapping[str, Any], budget: StepBudget) -> str:
        if self.wording is not None:
            try:
                text = self.wording.evaluate(variables, budget)
                if isinstance(text, str) and text.strip() and "\n" not in text:
                    return text.strip()
            except cel.CelError:
                pass
        return str(self.about.get("message") or "").strip() or f"failed rule: {self.text.strip()}"


class RuleTree:
    """The rules of a node and of everything below; None-like when there are none."""

    def __init__(self, node: SchemaNode, depth: int = 0) -> None:
        self.node = node
        self.rules = [
            rule for about in node.checks.get("x-kubernetes-validations") or [] if (rule := _compiled(node, about))
        ]
        self.fields: dict[str, RuleTree] = {}
        self.values: RuleTree | None = None
        self.items: RuleTree | None = None
        if depth < 60 and not node.type_name:
            self.fields = {name: tree for name, child in node.fields.items() if (tree := RuleTree(child, depth + 1))}
            self.values = (RuleTree(node.values, depth + 1) or None) if node.values else None
            self.items = (RuleTree(node.items, depth + 1) or None) if node.items else None

    def __bool__(self) -> bool:
        return bool(self.rules or self.fields or self.values or self.items)

    def judge(self, value: Any, old: Any) -> Iterator[Problem]:
        """Run every rule on a whole object, within one budget."""
        return self.run(value, old, None, StepBudget(BUDGET))

    def run(self, value: Any, old: Any, where: Where, budget: StepBudget) -> Iterator[Problem]:
        if value is None or budget.left < 0:
            return
        changed = old is MISSING or value != old
        for rule in self.rules:
            if budget.left >= 0 and rule.wanted(old, changed):
                yield from self._judge(rule, value, old, where, budget)
        yield from self._below(value, old, where, budget)

    def _below(self, value: Any, old: Any, where: Where, budget: StepBudget) -> Iterator[Problem]:
        if isinstance(value, dict):
            before = old if isinstance(old, dict) else {}
            for name, item in value.items():
                tree = self.fields.get(name) or (self.values if name not in self.node.fields else None)
                if tree is not None:
                    yield from tree.run(item, before.get(name, MISSING), (where, name), budget)
        elif isinstance(value, list) and self.items is not None:
            find = correlated(self.node, old)
            for index, item in enumerate(value):
                yield from self.items.run(item, find(item), (where, index), budget)

    def _judge(self, rule: CelRule, value: Any, old: Any, where: Where, budget: StepBudget) -> Iterator[Problem]:
        path, noun = path_of(where), _NOUNS.get(self.node.shape, self.node.scalar or self.node.shape)
        variables, call = rule.variables(value, old), StepBudget(min(cel.CALL_LIMIT, budget.left))
        budget.left -= call.left
        try:
            if rule.program.evaluate(variables, call) is True:
                return
        except cel.OutOfBudget as error:
            yield say.invalid(
                path,
                noun,
                f"'{error}': no further validation rules will be run due to call cost exceeds limit for rule: "
                f"{rule.named()}"
                if budget.left > 0
                else _SPENT,
            )
            budget.left = call.left = -1
            return
        except cel.CelError as error:
            yield say.invalid(path, noun, f"{error} evaluating rule: {rule.named()}")
            return
        finally:
            budget.left += call.left
        shown = say.OMIT if isinstance(value, dict | list) else value
        yield _problem(
            rule, _with_field(path, rule.about.get("fieldPath") or ""), shown, rule.message(variables, budget)
        )


def _problem(rule: CelRule, path: str, shown: Any, message: str) -> Problem:
    reason = rule.about.get("reason")
    if reason == "FieldValueForbidden":
        return say.forbidden(path, message)
    if reason == "FieldValueRequired":
        return say.required(path, message)
    if reason == "FieldValueDuplicate":
        return say.duplicate(path, shown)
    return say.invalid(path, shown, message)


def _compiled(node: SchemaNode, about: Mapping[str, Any]) -> CelRule | None:
    """A rule that does not compile cannot be in a stored definition unless it was stored before; it is then not run."""
    try:
        return CelRule(node, about)
    except cel.CelSyntaxError:
        return None


def _with_field(path: str, extra: str) -> str:
    for name in field_names(extra) or []:
        path = f"{path}.{name}" if path else name
    return path


def field_names(path: str) -> list[str] | None:
    """`.a['b.c']` → [a, b.c]; None when it is no such path."""
    parts = re.findall(r"\.([A-Za-z_][\w-]*)|\['((?:[^'\\]|\\.)+)'\]", path)
    rebuilt = "".join(match.group() for match in re.finditer(r"\.([A-Za-z_][\w-]*)|\['((?:[^'\\]|\\.)+)'\]", path))
    return [first or second.replace("\\'", "'") for first, second in parts] if rebuilt == path else None

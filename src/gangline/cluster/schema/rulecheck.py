"""CEL rules of a schema at the time it is written: do they compile, do they fit where they stand, can they be
afforded?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gangline.cluster.schema.structural import structural_node
from gangline.errors import Problem
from gangline.rules import cel
from gangline.rules.cel.cost import cardinality, estimate, shown_factor, size_of
from gangline.rules.values import problems as say
from gangline.rules.values.schema_node import MAP, SchemaNode

RULE_LIMIT = 10_000_000
SCHEMA_LIMIT = 100_000_000
_ADVICE = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and "
    "strings are declared)"
)
_UNBOUNDED = 0


def rule_problems(schema: Mapping[str, Any], path: str) -> list[Problem]:
    """All problems of all rules of a schema that is otherwise sound."""
    visit = _Visit()
    problems = [*visit.place(structural_node(schema), path, 1, "")]
    if visit.total > SCHEMA_LIMIT:
        for where, _ in sorted(visit.costs, key=lambda cost: -cost[1])[:4]:
            problems.append(
                say.forbidden(
                    where, "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
                )
            )
        problems.append(
            say.forbidden(
                path,
                "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by "
                f"factor of {shown_factor(visit.total, SCHEMA_LIMIT)} {_ADVICE}",
            )
        )
    return problems


class _Visit:
    """One walk over a schema, adding up what its rules may cost."""

    def __init__(self) -> None:
        self.total = 0
        self.costs: list[tuple[str, int]] = []

    def place(self, node: SchemaNode, path: str, count: int, loose: str) -> Iterator[Problem]:
        """`count`: how often this place occurs at most (0: unbounded); `loose`: the list above whose items cannot be
        told apart."""
        if node.type_name:
            return
        for name, child in node.fields.items():
            yield from self.place(child, f"{path}.properties[{name}]", count, loose)
        if node.values is not None:
            most = node.checks.get("maxProperties", _UNBOUNDED)
            yield from self.place(node.values, f"{path}.additionalProperties", count * most, loose)
        if node.items is not None:
            most = node.checks.get("maxItems", _UNBOUNDED)
            apart = loose or ("" if node.list_type == MAP else path)
            yield from self.place(node.items, f"{path}.items", count * most, apart)
        for index, about in enumerate(node.checks.get("x-kubernetes-validations") or []):
            yield from self.rule(node, about, f"{path}.x-kubernetes-validations[{index}]", count, loose)

    def rule(self, node: SchemaNode, about: Mapping[str, Any], path: str, count: int, loose: str) -> Iterator[Problem]:
        kind = cel.kind_of(node)
        optional = about.get("optionalOldSelf")
        env = cel.Env({"self": kind, "oldSelf": cel.optional_of(kind) if optional else kind})
        try:
            program = cel.compile(about.get("rule") or "", env)
        except cel.CelSyntaxError as error:
            yield say.invalid(f"{path}.rule", _as_struct(about), f"compilation failed: {error}")
            if optional is not None:
                yield say.invalid(f"{path}.optionalOldSelf", optional, "may not be set if oldSelf is not used in rule")
            return
        if program.kind.name not in ("bool", "dyn"):
            yield say.invalid(f"{path}.rule", _as_struct(about), "cel expression must evaluate to a bool")
            return
        yield from self.priced(program, node, f"{path}.rule", "estimated rule cost", count)
        if about.get("messageExpression"):
            yield from self.wording(about, env, node, f"{path}.messageExpression")
        if program.uses("oldSelf"):
            if loose:
                yield say.invalid(
                    f"{path}.rule",
                    about.get("rule"),
                    f"oldSelf cannot be used on the uncorrelatable portion of the schema within {loose}",
                )
        elif optional is not None:
            yield say.invalid(f"{path}.optionalOldSelf", optional, "may not be set if oldSelf is not used in rule")

    def wording(self, about: Mapping[str, Any], env: cel.Env, node: SchemaNode, path: str) -> Iterator[Problem]:
        try:
            program = cel.compile(about["messageExpression"], env)
        except cel.CelSyntaxError as error:
            yield say.invalid(path, _as_struct(about), f"messageExpression compilation failed: {error}")
            return
        if program.kind.name not in ("string", "dyn"):
            yield say.invalid(path, _as_struct(about), "messageExpression must evaluate to a string")
            return
        yield from self.priced(program, node, path, "estimated messageExpression cost", 1)

    def priced(self, program: cel.CelProgram, node: SchemaNode, path: str, noun: str, count: int) -> Iterator[Problem]:
        size = size_of(node)
        cost = estimate(program.tree, {"self": size, "oldSelf": size}) * (count or cardinality(node))
        self.total += cost
        if cost >= SCHEMA_LIMIT // 100:
            self.costs.append((path, cost))
        if cost > RULE_LIMIT:
            yield say.forbidden(path, f"{noun} exceeds budget by factor of {shown_factor(cost, RULE_LIMIT)} {_ADVICE}")


class _as_struct(dict[str, Any]):
    """A rule as the real server dumps it in a message."""

    def __init__(self, about: Mapping[str, Any]) -> None:
        super().__init__(
            {
                "Rule": about.get("rule") or "",
                "Message": about.get("message") or "",
                "MessageExpression": about.get("messageExpression") or "",
                "Reason": about.get("reason"),
                "FieldPath": about.get("fieldPath") or "",
                "OptionalOldSelf": about.get("optionalOldSelf"),
            }
        )

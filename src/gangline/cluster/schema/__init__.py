"""Schemas: what an object of a kind may look like, compiled once per kind, used on every write.

    schema = compile_schema(openapi)             a custom resource's openAPIV3Schema
    schema = builtin_schema("core", "Pod")       a type of api/tables
    clean, unknown = schema.admit(obj)           pruned, defaulted, canonical; and the paths of unknown fields
    problems = schema.validate(clean, old)       the complete list; `old` for updates (ratcheting, transition rules)

`admit` raises WrongType (or BadForm) for built-in kinds when a value cannot be read as what its field is: the real
server answers 400. `schema.root` is the Node that server-side apply, strategic merge and OpenAPI output walk. Nothing
here reads or writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gangline.api.notation import MISSING
from gangline.cluster.schema.decode import WrongType, decoder, first_bad_form, located, unknown_fields
from gangline.cluster.schema.findings import Sink
from gangline.cluster.schema.lists import duplicates, embedded_problems, has_embedded, repeats
from gangline.cluster.schema.prune import PruneFindings, pruned_fields, pruner
from gangline.cluster.schema.structural import structural_node
from gangline.cluster.schema.validate import checker
from gangline.errors import Problem
from gangline.rules.values import problems as say
from gangline.rules.values.canonical import BadForm
from gangline.rules.values.schema_node import SchemaNode, builtin_node

if TYPE_CHECKING:
    from gangline.cluster.schema.rules import RuleTree

__all__ = ["BadForm", "Schema", "SchemaNode", "WrongType", "builtin_schema", "compile_schema"]

Obj = dict[str, Any]
NOWHERE = "<nil>"
"""The path of the object as a whole."""
_BLOCKING = (
    "FieldValueNotSupported",
    "FieldValueRequired",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueTypeInvalid",
)
"""Kinds of problems after which rules are not run: they could not trust what they read."""


class Schema:
    """A compiled schema. `root` describes the object, apiVersion, kind and metadata included."""

    def __init__(self, root: SchemaNode) -> None:
        self.root = root
        self.builtin = bool(root.type_name)
        self._clean = decoder(root) if self.builtin else pruner(root)
        self._check = None if self.builtin else checker(root)
        self._repeats = None if self.builtin else repeats(root)
        self._has_embedded = not self.builtin and has_embedded(root)
        status = root.fields.get("status")
        self._check_status = checker(status) if status is not None and not self.builtin else None

    def admit(self, obj: Obj, *, prune: bool = True) -> tuple[Obj, list[str]]:
        """The object as it is stored, and the paths of fields nobody knows (dropped, unless `prune` is off)."""
        names = PruneFindings()
        try:
            clean = self._clean(obj, names) if self._clean is not None and prune else obj
        except WrongType as error:
            raise (self._told_first(obj, error) if self.builtin else error) from None
        return clean, (self.unknown(obj) if names or not prune else [])

    def _told_first(self, obj: Obj, error: WrongType) -> WrongType | BadForm:
        """A value whose text cannot be read ends the reading; one of a wrong type is told when all the rest is read."""
        return first_bad_form(self.root, obj) or located(self.root, obj, error)

    def unknown(self, obj: Obj) -> list[str]:
        return unknown_fields(self.root, obj) if self.builtin else pruned_fields(self.root, obj)

    def validate(
        self, obj: Obj, old: Obj | None = None, *, status: bool = False, known: Sequence[Problem] = ()
    ) -> list[Problem]:
        """Everything wrong with an admitted object. `status`: only the status was written, only it is judged; `known`:
        what is wrong with its metadata, after which rules are not run either."""
        if self.builtin:
            return []
        sink = Sink("status" if status else "")
        before: Any = MISSING if old is None else old
        if status and self._check_status is not None:
            self._check_status(obj.get("status"), before.get("status", MISSING) if old else MISSING, None, sink)
        elif not status and self._check is not None:
            self._check(obj, before, None, sink)
        if sink.exhausted:
            return [say.invalid(NOWHERE, None, sink.effort.spent)]
        if self._has_embedded:
            sink.problems.extend(embedded_problems(self.root, obj))
        if self._repeats is not None and self._repeats(obj):
            sink.problems.extend(duplicates(self.root, obj))
        sink.problems.extend(self._rule_problems(obj, before, [*known, *sink.problems]))
        return sink.problems

    def _rule_problems(self, obj: Obj, before: Any, problems: list[Problem]) -> list[Problem]:
        if not self.rules:
            return []
        if any(problem.kind in _BLOCKING for problem in problems):
            return [
                say.invalid(
                    NOWHERE,
                    None,
                    "some validation rules were not checked because the object was invalid; "
                    "correct the existing errors to complete validation",
                )
            ]
        return [
            problem if problem.path else replace(problem, path=NOWHERE) for problem in self.rules.judge(obj, before)
        ]

    @cached_property
    def zero(self) -> Obj:
        """What an empty object of a built-in kind always shows. Only to be read."""
        return self.admit({})[0] if self.builtin else {}

    @cached_property
    def rules(self) -> RuleTree:
        from gangline.cluster.schema.rules import RuleTree  # CEL reads nodes: the one import that goes round

        return RuleTree(self.root)


def compile_schema(openapi: Mapping[str, Any]) -> Schema:
    """A custom resource's schema, from the `openAPIV3Schema` of one version."""
    return Schema(structural_node(openapi))


_builtin: dict[tuple[str, str], Schema] = {}


def builtin_schema(table: str, name: str) -> Schema:
    """The schema of a type of `api/tables`; compiled at first use."""
    known = _builtin.get((table, name))
    if known is None:
        known = _builtin[table, name] = Schema(builtin_node(table, name))
    return known

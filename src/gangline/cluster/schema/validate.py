"""Value checks of custom resources: one closure per node, complete lists of Problems in the server's words.

`Checker(value, old, where, sink)`. `old` is the value of the same place before an update, or MISSING: an unchanged
value is not judged again (ratcheting). `where` is a chain of (parent, name or index), turned into a path only when
there is something to say. CEL rules run in rules.py after these checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gangline.api.notation import MISSING
from gangline.cluster.schema.findings import _TYPES, Checker, Sink, Where, kind_of, path_of
from gangline.cluster.schema.structural import structural_node
from gangline.rules.values import problems as say
from gangline.rules.values.formats import FORMATS
from gangline.rules.values.patterns import BadPattern, compile_pattern, worked_out
from gangline.rules.values.schema_node import MAP, SchemaNode


def checker(node: SchemaNode) -> Checker | None:
    """The checks of a node and all below; None when there are none."""
    if node.type_name:
        return None
    first, last = _value_checks(node.checks)
    checks = [check for check in (_type(node), *first, _children(node), *last) if check is not None]
    if not checks:
        return None
    nullable = node.nullable or node.shape == "any"

    def run(value: Any, old: Any, where: Where, sink: Sink) -> None:
        if sink.full or (value is None and nullable):
            return
        if old is not MISSING and value == old and type(value) is type(old):
            return
        for check in checks:
            check(value, old, where, sink)

    return run


def _type(node: SchemaNode) -> Checker | None:
    if node.shape == "any":
        return None
    allowed = _allowed(node)
    name = ",".join(allowed)
    plain = tuple(kind for kind, word in _TYPES.items() if word in allowed and kind is not int)

    def check(value: Any, old: Any, where: Where, sink: Sink) -> None:
        if type(value) in plain:
            return
        kind = kind_of(value)
        if kind in allowed or (kind == "integer" and "number" in allowed):
            return
        if kind == "number" and "integer" in allowed and type(value) is float and value.is_integer():
            return
        body = path_of(where)
        sink.problems.append(
            say.type_invalid(
                sink.field(where),
                kind,
                f'{body + " in body " if body else " in body "}must be of type {name}: "{kind}"',
            )
        )

    return check


def _allowed(node: SchemaNode) -> tuple[str, ...]:
    if node.shape == "intstr":
        return ("integer", "string")
    return {"struct": ("object",), "map": ("object",), "list": ("array",)}.get(node.shape) or (node.scalar,)


def _value_checks(checks: Mapping[str, Any]) -> tuple[list[Checker | None], list[Checker | None]]:
    """Those before the parts of a value are checked, and those after."""
    made = {name: maker(checks) for name, maker in _MAKERS.items() if name in checks}
    last = [made.pop(name) for name in _AFTER_PARTS if name in made]
    return [*made.values()], last


def _body(where: Where, text: str) -> str:
    return f"{path_of(where)} in body {text}"


def _alternatives(name: str) -> Callable[[Mapping[str, Any]], Checker]:
    def make(checks: Mapping[str, Any]) -> Checker:
        branches = [_branch(item) for item in checks[name]]
        judge = _JUDGES[name]
        plain = (int, str) if name == "anyOf" and checks[name] == _INT_OR_STRING else ()

        def check(value: Any, old: Any, where: Where, sink: Sink) -> None:
            if type(value) not in plain and not sink.full:
                judge([_try(branch, value, where, sink) for branch in branches], where, sink)

        return check

    return make


_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]


def _branch(schema: Mapping[str, Any]) -> Checker:
    """A branch of anyOf, oneOf, allOf, not: it has no type of its own but may check one (int-or-string)."""
    check = checker(structural_node(schema, root=False))
    return check or (lambda value, old, where, sink: None)


def _try(branch: Checker, value: Any, where: Where, sink: Sink) -> Sink:
    trial = Sink(sink.prefix, sink.effort)
    sink.effort.trials -= 1
    if not sink.exhausted:
        branch(value, MISSING, where, trial)
    return trial


def _any_of(trials: list[Sink], where: Where, sink: Sink) -> None:
    if all(trial.problems for trial in trials):
        sink.whole(f'"{path_of(where)}" must validate at least one schema (anyOf)')
        sink.problems.extend(trials[0].problems)


def _one_of(trials: list[Sink], where: Where, sink: Sink) -> None:
    good = sum(not trial.problems for trial in trials)
    if good == 1:
        return
    count_text = f"Found {good} valid alternatives" if good else "Found none valid"
    sink.whole(f'"{path_of(where)}" must validate one and only one schema (oneOf). {count_text}')
    if not good:
        sink.problems.extend(trials[0].problems)


def _all_of(trials: list[Sink], where: Where, sink: Sink) -> None:
    bad = [trial for trial in trials if trial.problems]
    if not bad:
        return
    for trial in bad:
        sink.problems.extend(trial.problems)
    sink.whole(
        f'"{path_of(where)}" must validate all the schemas (allOf)'
        + (". None validated" if len(bad) == len(trials) else "")
    )


_JUDGES = {"anyOf": _any_of, "oneOf": _one_of, "allOf": _all_of}


def _not(checks: Mapping[str, Any]) -> Checker:
    branch = _branch(checks["not"])

    def check(value: Any, old: Any, where: Where, sink: Sink) -> None:
        if not _try(branch, value, where, sink).problems:
            sink.whole(f'"{path_of(where)}" must not validate the schema (not)')

    return check


def _enum_mark(value: Any) -> Any:
    """The same for values that are equal."""
    if isinstance(value, list):
        return list, tuple(map(_enum_mark, value))
    if isinstance(value, dict):
        return dict, frozenset((name, _enum_mark(item)) for name, item in value.items())
    return isinstance(value, bool), value


def _enum(checks: Mapping[str, Any]) -> Checker:
    allowed = checks["enum"]
    known = {_enum_mark(choice) for choice in allowed}

    def check(value: Any, old: Any, where: Where, sink: Sink) -> None:
        if _enum_mark(value) not in known:
            sink.problems.append(say.unsupported(sink.field(where), value, allowed))

    return check


def _max_length(checks: Mapping[str, Any]) -> Checker:
    limit = checks["maxLength"]

    def check(value: Any, old: Any, where: Where, sink: Sink) -> None:
        if type(value) is str and len(value) > limit:
            sink.problems.append(say.too_long(sink.field(where), limit))

    return check


def _min_length(checks: Mapping[str, Any]) -> Checker:
    limit = checks["minLength"]

    def check(value: Any, old: Any, where: Where, sink: Sink) -> None:
        if type(value) is str and len(value) < limit:
            sink.problems.append(
                say.invalid(sink.field(where), value, _body(where, f"should be at least {limit} chars long"))
            )

    return check


def _pattern(checks: Mapping[str, Any]) -> Checker | None:
    text, shortest, longest = checks["pattern"], checks.get("minLength") or 0, checks.get("maxLength")
    try:
        compile_pattern(text)
    except BadPattern:
        return None

    def check(value: Any, old: Any, where: Where, sink: Sink) -> None:
        """For a text of a wrong length only that is reported."""
        if type(value) is not str or len(value) < shortest or (longest is not None and len(value) > longest):
            return
        try:
            pattern, steps = worked_out(text)
            sink.effort.steps -= steps + pattern.steps(value)
            message = "" if sink.exhausted or pattern.found(value) else f"should match '{text}'"
        except BadPattern as error:
            message = str(error)
        if message:
            sink.problems.append(say.invalid(sink.field(where), value, _body(where, message)))

    return check


def _format(checks: Mapping[str, Any]) -> Checker | None:
    name = checks["format"]
    test = FORMATS.get(name)
    if test is None:
        return None

    def check(value: Any, old: Any, where: Where, sink: Sink) -> None:
        if type(value) is str and not test(value):
            sink.problems.append(
                say.type_invalid(sink.field(where), value, _body(where, f"must be of type {name}: {say.quote(value)}"))
            )

    return check


def _bound(
    name: str, exclusive: str, words: tuple[str, str], beyond: Callable[[Any, Any], bool]
) -> Callable[[Mapping[str, Any]], Checker]:
    def make(checks: Mapping[str, Any]) -> Checker:
        limit, strict = checks[name], bool(checks.get(exclusive))
        text = f"should be {words[strict]} {say.number(limit)}"

        def check(value: Any, old: Any, where: Where, sink: Sink) -> None:
            if type(value) in (int, float) and (beyond(value, limit) or (strict and value == limit)):
                sink.problems.append(say.invalid(sink.field(where), value, _body(where, text)))

        return check

    return make


def _multiple_of(checks: Mapping[str, Any]) -> Checker:
    given = checks["multipleOf"]

    def check(value: Any, old: Any, where: Where, sink: Sink) -> None:
        if type(value) not in (int, float):
            return
        factor = int(given) if type(value) is int else given  # as upstream: whole numbers are divided by whole ones
        if factor <= 0:
            text = f"factor MultipleOf declared for {path_of(where)} must be positive: {say.number(factor)}"
            sink.problems.append(say.invalid(sink.field(where), factor, text))
        elif not _is_whole(value / factor if factor >= 1 else 1 / factor * value):
            text = f"should be a multiple of {say.number(factor)}"
            sink.problems.append(say.invalid(sink.field(where), value, _body(where, text)))

    return check


def _is_whole(value: float) -> bool:
    """A number that JSON can tell from its neighbours, without a fraction."""
    return abs(value) < 2**53 and float(value).is_integer()


def _max_size(name: str, kind: type[list[Any]] | type[dict[str, Any]]) -> Callable[[Mapping[str, Any]], Checker]:
    def make(checks: Mapping[str, Any]) -> Checker:
        limit = checks[name]

        def check(value: Any, old: Any, where: Where, sink: Sink) -> None:
            if isinstance(value, kind) and len(value) > limit:
                sink.problems.append(say.too_many(sink.field(where), len(value), limit))

        return check

    return make


def _min_size(
    name: str, kind: type[list[Any]] | type[dict[str, Any]], noun: str
) -> Callable[[Mapping[str, Any]], Checker]:
    def make(checks: Mapping[str, Any]) -> Checker:
        limit = checks[name]

        def check(value: Any, old: Any, where: Where, sink: Sink) -> None:
            if isinstance(value, kind) and len(value) < limit:
                sink.problems.append(
                    say.invalid(sink.field(where), len(value), _body(where, f"should have at least {limit} {noun}"))
                )

        return check

    return make


def _required(checks: Mapping[str, Any]) -> Checker:
    names = tuple(checks["required"])

    def check(value: Any, old: Any, where: Where, sink: Sink) -> None:
        if type(value) is dict:
            for name in names:
                if name not in value:
                    sink.problems.append(say.required(sink.field((where, name))))

    return check


_MAKERS: dict[str, Callable[[Mapping[str, Any]], Checker | None]] = {
    "anyOf": _alternatives("anyOf"),
    "oneOf": _alternatives("oneOf"),
    "allOf": _alternatives("allOf"),
    "not": _not,
    "maxLength": _max_length,
    "minLength": _min_length,
    "pattern": _pattern,
    "format": _format,
    "multipleOf": _multiple_of,
    "maximum": _bound(
        "maximum", "exclusiveMaximum", ("less than or equal to", "less than"), lambda value, limit: value > limit
    ),
    "minimum": _bound(
        "minimum", "exclusiveMinimum", ("greater than or equal to", "greater than"), lambda value, limit: value < limit
    ),
    "minItems": _min_size("minItems", list, "items"),
    "maxItems": _max_size("maxItems", list),
    "enum": _enum,
    "minProperties": _min_size("minProperties", dict, "properties"),
    "maxProperties": _max_size("maxProperties", dict),
    "required": _required,
}
_AFTER_PARTS = ("minItems", "maxItems", "required")


def _children(node: SchemaNode) -> Checker | None:
    if node.shape == "list":
        return _list_children(node)
    parts = {name: judge for name, child in node.fields.items() if (judge := checker(child)) is not None}
    values = checker(node.values) if node.values is not None else None
    if not parts and values is None:
        return None

    def check(value: Any, old: Any, where: Where, sink: Sink) -> None:
        if type(value) is not dict:
            return
        before = old if type(old) is dict else {}
        for name, item in value.items():
            part = parts.get(name, values) if name not in node.fields or name in parts else None
            if part is not None:
                part(item, before.get(name, MISSING), (where, name), sink)

    return check


def _list_children(node: SchemaNode) -> Checker | None:
    assert node.items is not None
    judge = checker(node.items)
    if judge is None:
        return None

    def check(value: Any, old: Any, where: Where, sink: Sink) -> None:
        if type(value) is list:
            before = correlated(node, old)
            for index, item in enumerate(value):
                judge(item, before(item), (where, index), sink)

    return check


def correlated(node: SchemaNode, old: Any) -> Callable[[Any], Any]:
    """How an item of a keyed list finds its earlier self; items of other lists have none."""
    if node.list_type != MAP or type(old) is not list:
        return lambda item: MISSING
    known = {key_of(node, item): item for item in reversed(old) if type(item) is dict}
    return lambda item: known.get(key_of(node, item), MISSING) if type(item) is dict else MISSING


def key_of(node: SchemaNode, item: Mapping[str, Any]) -> str:
    return say.compact([item.get(name) for name in node.keys])

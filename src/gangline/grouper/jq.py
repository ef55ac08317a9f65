"""Read-only jq: the path language in which a Karta says where a workload keeps its numbers.

    compile(".spec.worker.replicas")(obj)  →  a list of results

Paths, pipes, commas, literals, arithmetic, comparison, `and or //`, `if`, `try`, `reduce`, `as $x`, string
interpolation and the functions of jq_functions.py. What changes its input or may run for ever (`..`, `=`, `del`,
`range`, `recurse`, `walk`, `repeat`, `paths`) is refused when compiling; so is, under a name of its own
(`Unsupported`), the rest of jq. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

from gangline.grouper import jq_functions
from gangline.grouper.jq_functions import JqError, Unsupported, compare, same, truthy, type_of

Scope = Mapping[str, Any]
Filter = Callable[[Any, Scope], Iterator[Any]]
Suffix = Callable[..., Filter]
"""From the filter before it to that filter with the suffix; `quiet`: what does not fit gives nothing."""
MOST_RESULTS = 1000
REFUSED = ("del", "range", "paths", "recurse", "walk", "repeat")
UNKNOWN_WORDS = ("def", "foreach", "label", "import", "include")

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
  | (?P<text>")
  | (?P<format>@[A-Za-z0-9]+)
  | (?P<field>\.[A-Za-z_][A-Za-z0-9_]*)
  | (?P<variable>\$[A-Za-z_][A-Za-z0-9_]*)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<sign>\.\.|\?//|//=|\|=|\+=|-=|\*=|/=|%=|==|!=|<=|>=|//|[.\[\]{}()|,:;=<>+\-*/%?])
)""",
    re.VERBOSE,
)
_ASSIGNMENTS = ("=", "|=", "+=", "-=", "*=", "/=", "%=", "//=")
_COMPARISONS: dict[str, Callable[[int], bool]] = {
    "==": lambda order: order == 0,
    "!=": lambda order: order != 0,
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}


class JqProgram:
    def __init__(self, run: Filter) -> None:
        self._run = run

    def __call__(self, value: Any) -> list[Any]:
        results: list[Any] = []
        try:
            for item in self._run(value, {}):
                results.append(item)
                if len(results) >= MOST_RESULTS:
                    raise JqError(f"more than {MOST_RESULTS} results")
        except RecursionError:
            raise JqError("the expression or what it is asked about is nested too deeply") from None
        return results


@lru_cache(maxsize=1024)
def compile(text: str) -> JqProgram:
    try:
        return JqProgram(_whole(text))
    except RecursionError:
        raise JqError("the expression is nested too deeply") from None


def _whole(text: str) -> Filter:
    parser = _Parser(text)
    run = parser.pipe()
    if parser.kind != "end":
        raise parser.wrong()
    return run


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at, text = [], 0, text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise JqError(f"cannot read {text[at:].strip()!r} in the jq expression {text!r}")
        kind, at = match.lastgroup or "", match.end()
        if kind == "text":
            start, at = at - 1, _end_of_string(text, at)
            found.append((kind, text[start:at]))
        else:
            found.append((kind, match[kind]))
    return [*found, ("end", "")]


def _end_of_string(text: str, at: int) -> int:
    """Where the string whose content begins here is over; what is filled into it may hold strings itself."""
    while at < len(text):
        if text[at] == '"':
            return at + 1
        at = _end_of_filling(text, at + 2) if text.startswith("\\(", at) else at + (2 if text[at] == "\\" else 1)
    raise JqError(f"a string does not end in the jq expression {text!r}")


def _end_of_filling(text: str, at: int) -> int:
    depth = 1
    while at < len(text) and depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at = _end_of_string(text, at + 1) if text[at] == '"' else at + 1
    return at


def _pieces(content: str) -> Iterator[tuple[str, bool]]:
    """A string's text and what is filled into it (True), in turns."""
    start = at = 0
    while at < len(content):
        if content.startswith("\\(", at):
            end = _end_of_filling(content, at + 2)
            yield from ((content[start:at], False), (content[at + 2 : end - 1], True))
            start = at = end
        else:
            at += 2 if content[at] == "\\" else 1
    yield content[start:], False


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except json.JSONDecodeError as error:
        raise JqError(f"cannot read the string {text!r}: {error}") from error


class _Parser:
    """One method per level of binding, loosest first; each returns a filter."""

    def __init__(self, text: str) -> None:
        self._text, self._tokens, self._at = text, _tokens(text), 0

    @property
    def kind(self) -> str:
        return self._tokens[self._at][0]

    @property
    def token(self) -> str:
        return self._tokens[self._at][1]

    def take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1][1]

    def is_next(self, *signs: str) -> bool:
        return self.kind in ("sign", "name") and self.token in signs

    def expect(self, sign: str) -> None:
        if not self.is_next(sign):
            raise self.wrong(f"expected {sign!r}")
        self.take()

    def wrong(self, why: str = "") -> JqError:
        near = self.token or "the end"
        return JqError(f"the jq expression {self._text!r} is wrong near {near}" + (f": {why}" if why else ""))

    def pipe(self) -> Filter:
        left = self.comma()
        if self.is_next("|"):
            self.take()
            return _pipe(left, self.pipe())
        return left

    def _binding(self, value: Filter) -> Filter:
        self.take()
        if self.kind != "variable":
            raise self.wrong("a variable must follow `as`")
        name = self.take()
        self.expect("|")
        body = self.pipe()
        return lambda v, s: (out for item in value(v, s) for out in body(v, {**s, name: item}))

    def comma(self) -> Filter:
        left = self.alternative()
        while self.is_next(","):
            self.take()
            left = _both(left, self.alternative())
        return left

    def alternative(self) -> Filter:
        left = self._either()
        if self.is_next(*_ASSIGNMENTS):
            raise self.wrong("expressions may only read")
        if self.is_next("//"):
            self.take()
            return _alternative(left, self.alternative())
        return left

    def _either(self) -> Filter:
        left = self._every()
        while self.is_next("or"):
            self.take()
            left = _or(left, self._every())
        return left

    def _every(self) -> Filter:
        left = self.comparison()
        while self.is_next("and"):
            self.take()
            left = _and(left, self.comparison())
        return left

    def comparison(self) -> Filter:
        left = self.sum()
        if self.is_next(*_COMPARISONS):
            test = _COMPARISONS[self.take()]
            return _combine(left, self.sum(), lambda a, b: test(0 if same(a, b) else compare(a, b) or 1))
        return left

    def sum(self) -> Filter:
        left = self.product()
        while self.is_next("+", "-"):
            left = self._step(left, self.product)
        return left

    def product(self) -> Filter:
        left = self.postfix()
        while self.is_next("*", "/", "%"):
            left = self._step(left, self.postfix)
        return left

    def _step(self, left: Filter, operand: Callable[[], Filter]) -> Filter:
        operation = jq_functions.ARITHMETIC[self.take()]
        return _combine(left, operand(), operation)

    def postfix(self) -> Filter:
        if self.is_next("-"):
            self.take()
            return _combine(lambda v, s: iter((0,)), self.postfix(), jq_functions.ARITHMETIC["-"])
        term = self.suffixed()
        return self._binding(term) if self.is_next("as") else term

    def suffixed(self) -> Filter:
        """A term and what hangs on it; a `?` is about the last step alone."""
        term = self.term()
        while True:
            suffix = self._suffix()
            if suffix is not None:
                term = suffix(term, quiet=self._is_quiet())
            elif self._is_quiet():
                term = _optional(term)
            else:
                return term

    def _is_quiet(self) -> bool:
        quiet = self.is_next("?")
        if quiet:
            self.take()
        return quiet

    def _suffix(self) -> Suffix | None:
        if self.is_next(".") and self._tokens[self._at + 1][0] == "text":
            self.take()
            return partial(_index, key=self._string(self.take()))
        if self.is_next(".") and self._tokens[self._at + 1][1] == "[":
            self.take()
        if self.kind == "field":
            return partial(_index, key=_constant(self.take()[1:]))
        return self._bracket() if self.is_next("[") else None

    def _bracket(self) -> Suffix:
        self.take()
        if self.is_next("]"):
            self.take()
            return _iterate
        start = None if self.is_next(":") else self.pipe()
        if self.is_next(":"):
            self.take()
            stop = None if self.is_next("]") else self.pipe()
            self.expect("]")
            return partial(_slice, start=start or _constant(None), stop=stop or _constant(None))
        self.expect("]")
        assert start is not None
        return partial(_index, key=start)

    def term(self) -> Filter:
        kind, token = self.kind, self.token
        if kind == "number":
            return _constant(_number(self.take()))
        if kind == "text":
            return self._string(self.take())
        if kind == "variable":
            return self._variable(self.take())
        if kind == "field":
            return _index(_identity, _constant(self.take()[1:]))
        if kind == "name":
            return self._named(self.take())
        if kind == "format" or token == "?//":
            raise self._unsupported(token)
        if token == ".":
            self.take()
            return _index(_identity, self._string(self.take())) if self.kind == "text" else _identity
        if token in ("(", "[", "{"):
            return {"(": self._parenthesis, "[": self._list, "{": self._object}[token]()
        raise self.wrong("`..` may run for ever" if token == ".." else "")

    def _parenthesis(self) -> Filter:
        self.take()
        inner = self.pipe()
        self.expect(")")
        return inner

    def _list(self) -> Filter:
        self.take()
        if self.is_next("]"):
            self.take()
            return lambda v, s: iter(([],))
        inner = self.pipe()
        self.expect("]")
        return lambda v, s: iter(([*inner(v, s)],))

    def _object(self) -> Filter:
        self.take()
        pairs: list[tuple[Filter, Filter]] = []
        while not self.is_next("}"):
            pairs.append(self._pair())
            if not self.is_next("}"):
                self.expect(",")
        self.take()
        return _object(pairs)

    def _pair(self) -> tuple[Filter, Filter]:
        if self.is_next("("):
            key = self._parenthesis()
        elif self.kind == "text":
            key = self._string(self.take())
        elif self.kind == "name":
            key = _constant(self.take())
        else:
            raise self.wrong("a key must be a name")
        if not self.is_next(":"):
            return key, _index(_identity, key)
        self.take()
        return key, self.alternative()

    def _string(self, token: str) -> Filter:
        """A string, with `\\(…)` filled in."""
        joined: Filter = _constant("")
        for piece, filled in _pieces(token[1:-1]):
            each = _shown(_whole(piece)) if filled else _constant(_unescaped(piece))
            joined = _combine(joined, each, jq_functions.ARITHMETIC["+"])
        return joined

    def _variable(self, name: str) -> Filter:
        def value(v: Any, s: Scope) -> Iterator[Any]:
            if name not in s:
                raise JqError(f"variable {name} is not defined")
            yield s[name]

        return value

    def _named(self, name: str) -> Filter:
        if name in ("true", "false", "null"):
            return _constant({"true": True, "false": False, "null": None}[name])
        if name in ("if", "try", "reduce"):
            return {"if": self._condition, "try": self._try, "reduce": self._reduce}[name]()
        if name in UNKNOWN_WORDS:
            raise self._unsupported(name)
        if name == "not":
            return lambda v, s: iter((not truthy(v),))
        arguments = self._arguments()
        if name in REFUSED:
            raise self.wrong(f"{name} is not allowed")
        made = jq_functions.find(name, len(arguments))
        if made is None:
            raise self._unsupported(f"{name}/{len(arguments)}")
        return lambda v, s: made(v, [_with(argument, s) for argument in arguments])

    def _unsupported(self, what: str) -> Unsupported:
        return Unsupported(f"the jq expression {self._text!r} uses {what}, which is not known here")

    def _try(self) -> Filter:
        body = self.suffixed()
        if not self.is_next("catch"):
            return _optional(body)
        self.take()
        return _caught(body, self.suffixed())

    def _reduce(self) -> Filter:
        source = self.suffixed()
        self.expect("as")
        if self.kind != "variable":
            raise self._unsupported("a pattern after `as`")
        name = self.take()
        self.expect("(")
        start = self.pipe()
        self.expect(";")
        update = self.pipe()
        self.expect(")")
        return _reduced(source, name, start, update)

    def _arguments(self) -> list[Filter]:
        filters: list[Filter] = []
        if self.is_next("("):
            self.take()
            filters.append(self.pipe())
            while self.is_next(";"):
                self.take()
                filters.append(self.pipe())
            self.expect(")")
        return filters

    def _condition(self) -> Filter:
        test = self.pipe()
        self.expect("then")
        yes = self.pipe()
        if self.is_next("elif"):
            self.take()
            return _condition(test, yes, self._condition())
        no: Filter = _identity
        if self.is_next("else"):
            self.take()
            no = self.pipe()
        self.expect("end")
        return _condition(test, yes, no)


# --- filters
# ---------------------------------------------------------------------------------------------------------------


def _identity(value: Any, scope: Scope) -> Iterator[Any]:
    yield value


def _constant(constant: Any) -> Filter:
    return lambda v, s: iter((constant,))


def _number(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)


def _with(run: Filter, scope: Scope) -> Callable[[Any], Iterator[Any]]:
    return lambda value: run(value, scope)


def _shown(run: Filter) -> Filter:
    return lambda v, s: (jq_functions.shown(item) for item in run(v, s))


def _pipe(left: Filter, right: Filter) -> Filter:
    return lambda v, s: (out for item in left(v, s) for out in right(item, s))


def _both(left: Filter, right: Filter) -> Filter:
    def run(value: Any, scope: Scope) -> Iterator[Any]:
        yield from left(value, scope)
        yield from right(value, scope)

    return run


def _combine(left: Filter, right: Filter, operation: Callable[[Any, Any], Any]) -> Filter:
    return lambda v, s: (operation(a, b) for b in right(v, s) for a in left(v, s))


def _and(left: Filter, right: Filter) -> Filter:
    return lambda v, s: (truthy(a) and truthy(b) for a in left(v, s) for b in (right(v, s) if truthy(a) else (False,)))


def _or(left: Filter, right: Filter) -> Filter:
    return lambda v, s: (truthy(a) or truthy(b) for a in left(v, s) for b in ((True,) if truthy(a) else right(v, s)))


def _alternative(left: Filter, right: Filter) -> Filter:
    def run(value: Any, scope: Scope) -> Iterator[Any]:
        kept = [item for item in left(value, scope) if truthy(item)]
        yield from kept or right(value, scope)

    return run


def _condition(test: Filter, yes: Filter, no: Filter) -> Filter:
    return lambda v, s: (out for item in test(v, s) for out in (yes if truthy(item) else no)(v, s))


def _optional(run: Filter) -> Filter:
    def quiet(value: Any, scope: Scope) -> Iterator[Any]:
        try:
            yield from run(value, scope)
        except JqError:
            return

    return quiet


def _caught(run: Filter, otherwise: Filter) -> Filter:
    def careful(value: Any, scope: Scope) -> Iterator[Any]:
        try:
            yield from run(value, scope)
        except JqError as error:
            yield from otherwise(str(error), scope)

    return careful


def _reduced(source: Filter, name: str, start: Filter, update: Filter) -> Filter:
    def run(value: Any, scope: Scope) -> Iterator[Any]:
        for state in start(value, scope):
            for item in source(value, scope):
                state = next(reversed([*update(state, {**scope, name: item})]), None)
            yield state

    return run


def _asked(quiet: bool, operation: Callable[..., Any], *values: Any) -> Iterator[Any]:
    try:
        answer = operation(*values)
    except JqError:
        if quiet:
            return
        raise
    yield answer


def _index(term: Filter, key: Filter, quiet: bool = False) -> Filter:
    """jq asks for the keys first."""
    return lambda v, s: (
        out for k in key(v, s) for item in term(v, s) for out in _asked(quiet, jq_functions.index, item, k)
    )


def _iterate(term: Filter, quiet: bool = False) -> Filter:
    return lambda v, s: (
        out for item in term(v, s) for parts in _asked(quiet, jq_functions.elements, item) for out in parts
    )


def _slice(term: Filter, start: Filter, stop: Filter, quiet: bool = False) -> Filter:
    return lambda v, s: (
        out
        for first in start(v, s)
        for last in stop(v, s)
        for item in term(v, s)
        for out in _asked(quiet, _cut, item, first, last)
    )


def _cut(value: Any, first: Any, last: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, list | str):
        raise JqError(f"cannot cut {type_of(value)}")
    if any(type_of(end) not in ("null", "number") for end in (first, last)):
        raise JqError(f"cannot cut at {first!r} and {last!r}")
    return value[None if first is None else math.floor(first) : None if last is None else math.ceil(last)]


def _object(pairs: list[tuple[Filter, Filter]]) -> Filter:
    def run(value: Any, scope: Scope) -> Iterator[Any]:
        made: list[dict[str, Any]] = [{}]
        for key, content in pairs:
            made = [
                item | {jq_functions.as_key(k): c}
                for item in made
                for k in key(value, scope)
                for c in content(value, scope)
            ]
        yield from made

    return run

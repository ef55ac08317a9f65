"""A jq program read into filters.

Paths, pipes, commas, literals, arithmetic, comparison, `and or //`, `if`, `try`, `reduce`, `as $x`, string
interpolation and the functions of functions.py. What changes its input or may run for ever (`..`, `=`, `del`,
`range`, `recurse`, `walk`, `repeat`, `paths`) is refused when compiling; so is, under a name of its own
(`Unsupported`), the rest of jq. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from gangline.api.kept import kept
from gangline.grouper.jq import functions
from gangline.grouper.jq.budget import MOST_STEPS, StepsSpent, budget, spend_on_all
from gangline.grouper.jq.filters import (
    Filter,
    Scope,
    alternative,
    as_text,
    caught,
    combined,
    conditional,
    conjunction,
    constant,
    counted,
    disjunction,
    identity,
    indexed,
    iterated,
    joined,
    object_of,
    optional,
    piped,
    reduced,
    sliced,
    with_scope,
)
from gangline.grouper.jq.tokens import pieces, tokens, unescaped
from gangline.grouper.jq.values import ARITHMETIC, JqError, Unsupported, compare, same, truthy, whole

Suffix = Callable[..., Filter]
"""From the filter before it to that filter with the suffix; `quiet`: what does not fit gives nothing."""
MOST_RESULTS = 1000
LONGEST_TEXT = 16 * 1024
"""Letters of an expression."""
REFUSED = ("del", "range", "paths", "recurse", "walk", "repeat")
UNKNOWN_WORDS = ("def", "foreach", "label", "import", "include")
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
            with budget():
                for item in self._run(value, {}):
                    spend_on_all(item)
                    results.append(item)
                    if len(results) >= MOST_RESULTS:
                        raise JqError(f"more than {MOST_RESULTS} results")
        except StepsSpent:
            raise JqError(f"the expression takes more than {MOST_STEPS} steps") from None
        except RecursionError:
            raise JqError("the expression or what it is asked about is nested too deeply") from None
        return results


@kept(1024, LONGEST_TEXT)
def compile(text: str) -> JqProgram:
    if len(text) > LONGEST_TEXT:
        raise JqError(f"a jq expression of more than {LONGEST_TEXT} letters")
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


class _Parser:
    """One method per level of binding, loosest first; each returns a filter."""

    def __init__(self, text: str) -> None:
        self._text, self._tokens, self._at = text, tokens(text), 0

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
            return piped(left, self.pipe())
        return left

    def _binding(self, value: Filter) -> Filter:
        self.take()
        if self.kind != "variable":
            raise self.wrong("a variable must follow `as`")
        name = self.take()
        self.expect("|")
        body = self.pipe()
        return lambda v, s: (out for item in counted(value(v, s)) for out in body(v, {**s, name: item}))

    def comma(self) -> Filter:
        left = self.alternative()
        while self.is_next(","):
            self.take()
            left = joined(left, self.alternative())
        return left

    def alternative(self) -> Filter:
        left = self._either()
        if self.is_next(*_ASSIGNMENTS):
            raise self.wrong("expressions may only read")
        if self.is_next("//"):
            self.take()
            return alternative(left, self.alternative())
        return left

    def _either(self) -> Filter:
        left = self._every()
        while self.is_next("or"):
            self.take()
            left = disjunction(left, self._every())
        return left

    def _every(self) -> Filter:
        left = self.comparison()
        while self.is_next("and"):
            self.take()
            left = conjunction(left, self.comparison())
        return left

    def comparison(self) -> Filter:
        left = self.sum()
        if self.is_next(*_COMPARISONS):
            test = _COMPARISONS[self.take()]
            return combined(left, self.sum(), lambda a, b: test(0 if same(a, b) else compare(a, b) or 1))
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
        operation = ARITHMETIC[self.take()]
        return combined(left, operand(), operation)

    def postfix(self) -> Filter:
        if self.is_next("-"):
            self.take()
            return combined(lambda v, s: iter((0,)), self.postfix(), ARITHMETIC["-"])
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
                term = optional(term)
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
            return partial(indexed, key=self._string(self.take()))
        if self.is_next(".") and self._tokens[self._at + 1][1] == "[":
            self.take()
        if self.kind == "field":
            return partial(indexed, key=constant(self.take()[1:]))
        return self._bracket() if self.is_next("[") else None

    def _bracket(self) -> Suffix:
        self.take()
        if self.is_next("]"):
            self.take()
            return iterated
        start = None if self.is_next(":") else self.pipe()
        if self.is_next(":"):
            self.take()
            stop = None if self.is_next("]") else self.pipe()
            self.expect("]")
            return partial(sliced, start=start or constant(None), stop=stop or constant(None))
        self.expect("]")
        assert start is not None
        return partial(indexed, key=start)

    def term(self) -> Filter:
        kind, token = self.kind, self.token
        if kind == "number":
            return constant(_number(self.take()))
        if kind == "text":
            return self._string(self.take())
        if kind == "variable":
            return self._variable(self.take())
        if kind == "field":
            return indexed(identity, constant(self.take()[1:]))
        if kind == "name":
            return self._named(self.take())
        if kind == "format" or token == "?//":
            raise self._unsupported(token)
        if token == ".":
            self.take()
            return indexed(identity, self._string(self.take())) if self.kind == "text" else identity
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
        return lambda v, s: iter(([*counted(inner(v, s))],))

    def _object(self) -> Filter:
        self.take()
        pairs: list[tuple[Filter, Filter]] = []
        while not self.is_next("}"):
            pairs.append(self._pair())
            if not self.is_next("}"):
                self.expect(",")
        self.take()
        return object_of(pairs)

    def _pair(self) -> tuple[Filter, Filter]:
        if self.is_next("("):
            key = self._parenthesis()
        elif self.kind == "text":
            key = self._string(self.take())
        elif self.kind == "name":
            key = constant(self.take())
        else:
            raise self.wrong("a key must be a name")
        if not self.is_next(":"):
            return key, indexed(identity, key)
        self.take()
        return key, self.alternative()

    def _string(self, token: str) -> Filter:
        """A string, with `\\(…)` filled in."""
        whole: Filter = constant("")
        for piece, filled in pieces(token[1:-1]):
            part = as_text(_whole(piece)) if filled else constant(unescaped(piece))
            whole = combined(whole, part, ARITHMETIC["+"])
        return whole

    def _variable(self, name: str) -> Filter:
        def value(v: Any, s: Scope) -> Iterator[Any]:
            if name not in s:
                raise JqError(f"variable {name} is not defined")
            yield s[name]

        return value

    def _named(self, name: str) -> Filter:
        if name in ("true", "false", "null"):
            return constant({"true": True, "false": False, "null": None}[name])
        if name in ("if", "try", "reduce"):
            return {"if": self._condition, "try": self._try, "reduce": self._reduce}[name]()
        if name in UNKNOWN_WORDS:
            raise self._unsupported(name)
        if name == "not":
            return lambda v, s: iter((not truthy(v),))
        arguments = self._arguments()
        if name in REFUSED:
            raise self.wrong(f"{name} is not allowed")
        made = functions.find(name, len(arguments))
        if made is None:
            raise self._unsupported(f"{name}/{len(arguments)}")
        return lambda v, s: made(v, [with_scope(argument, s) for argument in arguments])

    def _unsupported(self, what: str) -> Unsupported:
        return Unsupported(f"the jq expression {self._text!r} uses {what}, which is not known here")

    def _try(self) -> Filter:
        body = self.suffixed()
        if not self.is_next("catch"):
            return optional(body)
        self.take()
        return caught(body, self.suffixed())

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
        return reduced(source, name, start, update)

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
            return conditional(test, yes, self._condition())
        no: Filter = identity
        if self.is_next("else"):
            self.take()
            no = self.pipe()
        self.expect("end")
        return conditional(test, yes, no)


def _number(text: str) -> int | float:
    return whole(float(text)) if len(text) > 15 or not text.isdigit() else int(text)

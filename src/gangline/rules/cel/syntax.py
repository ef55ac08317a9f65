"""CEL text → tree. First step of a rule's way: syntax → checker → emit → program.

Macros (all, exists, map, has, …) become their own node here, because their arguments are not values. Nothing is looked
up yet."""

from __future__ import annotations

from typing import Any

from gangline.rules.cel.tokens import LONGEST, tokens_of, unquoted
from gangline.rules.cel.tree import Call, CelSyntaxError, Const, Expr, Ident, ListLit, Macro, MapLit, Select

DEPTH = 40
"""Nesting beyond this is refused, so that no text can exhaust the stack."""
CHAIN = 250
"""Operators that may follow each other without brackets, at most."""


_RELATIONS = ("==", "!=", "<=", ">=", "<", ">", "in")
_RESERVED = frozenset(
    (
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "package",
        "namespace",
        "null",
        "return",
        "true",
        "var",
        "void",
        "while",
    )
)
_OPERANDS = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
)
MACROS: dict[str, dict[int, tuple[int, int]]] = {
    "all": {2: (1, 1), 3: (2, 1)},
    "exists": {2: (1, 1), 3: (2, 1)},
    "exists_one": {2: (1, 1), 3: (2, 1)},
    "existsOne": {3: (2, 1)},
    "filter": {2: (1, 1)},
    "map": {2: (1, 1), 3: (1, 2)},
    "transformList": {3: (2, 1), 4: (2, 2)},
    "transformMap": {3: (2, 1), 4: (2, 2)},
    "transformMapEntry": {3: (2, 1), 4: (2, 2)},
    "optMap": {2: (1, 1)},
    "optFlatMap": {2: (1, 1)},
    "sortBy": {2: (1, 1)},
}
"""name → number of arguments → how many are variables, how many bodies."""


def parse(text: str) -> Expr:
    if len(text) > LONGEST:
        raise CelSyntaxError(f"expression code point size exceeds limit: size: {len(text)}, limit {LONGEST}", 0)
    parser = _Parser(text)
    tree = parser.ternary()
    parser.finish()
    return tree


def too_deep(limit: int = DEPTH, at: int = 0, text: str = "") -> CelSyntaxError:
    return CelSyntaxError(f"expression recursion limit exceeded: {limit}", at, text)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens_of(text)
        self.index = 0
        self.depth = 0

    def peek(self) -> str:
        form, word, _ = self.tokens[self.index]
        return word if form in ("mark", "name") else ""

    def take(self) -> tuple[str, str, int]:
        token = self.tokens[self.index]
        self.index = min(self.index + 1, len(self.tokens) - 1)
        return token

    def accept(self, *marks: str) -> str:
        word = self.peek()
        if word in marks:
            self.index += 1
            return word
        return ""

    def expect(self, mark: str) -> None:
        if not self.accept(mark):
            _, word, at = self.tokens[self.index]
            raise self.error(f"Syntax error: missing '{mark}' at '{word or '<EOF>'}'", at)

    def error(self, message: str, at: int) -> CelSyntaxError:
        return CelSyntaxError(message, at, self.text)

    def finish(self) -> None:
        form, word, at = self.tokens[self.index]
        if form != "end":
            raise self.error(f"Syntax error: mismatched input '{word}' expecting <EOF>", at)

    def ternary(self) -> Expr:
        self.depth += 1
        if self.depth > DEPTH:
            raise too_deep(DEPTH, self.tokens[self.index][2], self.text)
        condition = self.either()
        at = self.tokens[self.index][2]
        if self.accept("?"):
            first = self.either()
            self.expect(":")
            condition = Call(at, None, "_?_:_", [condition, first, self.ternary()])
        self.depth -= 1
        return condition

    def either(self) -> Expr:
        return self.binary(("||",), self.both)

    def both(self) -> Expr:
        return self.binary(("&&",), self.relation)

    def relation(self) -> Expr:
        return self.binary(_RELATIONS, self.sum)

    def sum(self) -> Expr:
        return self.binary(("+", "-"), self.product)

    def product(self) -> Expr:
        return self.binary(("*", "/", "%"), self.unary)

    def binary(self, marks: tuple[str, ...], operand: Any) -> Expr:
        left: Expr = operand()
        for _ in range(CHAIN + 1):
            at = self.tokens[self.index][2]
            mark = self.accept(*marks)
            if not mark:
                return left
            left = Call(at, None, "@in" if mark == "in" else f"_{mark}_", [left, operand()])
        raise too_deep(CHAIN, self.tokens[self.index][2], self.text)

    def unary(self) -> Expr:
        at = self.tokens[self.index][2]
        if self.accept("!"):
            return Call(at, None, "!_", [self.nested(self.unary)])
        if self.accept("-"):
            if self.tokens[self.index][0] in ("number", "float"):
                return self.member(negative=True)
            return Call(at, None, "-_", [self.nested(self.unary)])
        return self.member()

    def nested(self, rule: Any) -> Expr:
        self.depth += 1
        if self.depth > DEPTH:
            raise too_deep(DEPTH, self.tokens[self.index][2], self.text)
        expr: Expr = rule()
        self.depth -= 1
        return expr

    def member(self, negative: bool = False) -> Expr:
        expr = self.primary(negative)
        while True:
            at = self.tokens[self.index][2]
            if mark := self.accept(".", ".?"):
                expr = self.dotted(expr, at, mark == ".?")
            elif mark := self.accept("[", "[?"):
                index = self.ternary()
                self.expect("]")
                expr = Call(at, None, "_[?_]" if mark == "[?" else "_[_]", [expr, index])
            else:
                return expr

    def dotted(self, operand: Expr, at: int, optional: bool) -> Expr:
        form, word, where = self.take()
        if form == "quoted":
            return Select(at, operand, word[1:-1], optional)
        if form != "name":
            raise self.error(f"Syntax error: no viable alternative at input '.{word}'", where)
        opening = self.tokens[self.index][2]
        if optional or not self.accept("("):
            if word in ("true", "false", "null", "in"):
                raise self.error(f"Syntax error: mismatched input '{word}' expecting IDENTIFIER", where)
            return Select(at, operand, word, optional)
        return self.method(operand, word, self.arguments(), opening)

    def method(self, operand: Expr, name: str, args: list[Expr], at: int) -> Expr:
        shape = MACROS.get(name, {}).get(len(args))
        if shape is None:
            return Call(at, operand, name, args)
        variables: list[str] = []
        for arg in args[: shape[0]]:
            if not isinstance(arg, Ident):
                if name == "map" or name == "sortBy":
                    return Call(at, operand, name, args)
                raise self.error("argument must be a simple name", arg.at)
            variables.append(arg.name)
        return Macro(at, name, operand, variables, args[shape[0] :])

    def arguments(self) -> list[Expr]:
        args: list[Expr] = []
        while not self.accept(")"):
            if args and not self.accept(","):
                self.expect(")")
            args.append(self.ternary())
        return args

    def primary(self, negative: bool) -> Expr:
        form, word, at = self.take()
        if form in ("number", "float"):
            return self.number(form, word, at, negative)
        if form == "string":
            return Const(at, unquoted(word, self.error, at), "string")
        if form == "bytes":
            return Const(at, unquoted(word.lstrip("bB").replace("rb", "r"), self.error, at).encode(), "bytes")
        if form == "name":
            return self.named(word, at)
        if word == "(":
            inner = self.ternary()
            self.expect(")")
            return inner
        if word in ("[", "[?"):
            return self.list_literal(at, word == "[?")
        if word == "{":
            return self.map_literal(at)
        if word == "." and self.tokens[self.index][0] == "name":
            return self.named(self.take()[1], at)
        raise self.error(f"Syntax error: mismatched input '{word or '<EOF>'}' expecting {_OPERANDS}", at)

    def number(self, form: str, word: str, at: int, negative: bool) -> Expr:
        sign = -1 if negative else 1
        if form == "float":
            return Const(at, sign * float(word), "double")
        unsigned = word[-1] in "uU"
        if len(word) > 30:
            raise self.error(f"Syntax error: invalid {'uint' if unsigned else 'int'} literal", at)
        value = sign * int(word.rstrip("uU"), 16 if word[:2] in ("0x", "0X") else 10)
        low, high = (0, 2**64 - 1) if unsigned else (-(2**63), 2**63 - 1)
        if not low <= value <= high:
            raise self.error(f"Syntax error: invalid {'uint' if unsigned else 'int'} literal", at)
        return Const(at, value, "uint" if unsigned else "int")

    def named(self, word: str, at: int) -> Expr:
        if word in ("true", "false"):
            return Const(at, word == "true", "bool")
        if word == "null":
            return Const(at, None, "null")
        if word in _RESERVED:
            raise self.error(f"Syntax error: reserved identifier: {word}", at)
        opening = self.tokens[self.index][2]
        if not self.accept("("):
            return Ident(at, word)
        args = self.arguments()
        if word == "has":
            if len(args) != 1 or not isinstance(args[0], Select):
                raise self.error("invalid argument to has() macro", opening)
            args[0].test = True
            return args[0]
        return Call(opening, None, word, args)

    def list_literal(self, at: int, first_optional: bool) -> Expr:
        items: list[Expr] = [self.ternary()] if first_optional else []
        optional: list[bool] = [True] if first_optional else []
        while not self.accept("]"):
            if items:
                self.expect(",")
                if self.accept("]"):
                    break
            optional.append(bool(self.accept("?")))
            items.append(self.ternary())
        return ListLit(at, items, optional)

    def map_literal(self, at: int) -> Expr:
        entries: list[tuple[Expr, Expr, bool]] = []
        while not self.accept("}"):
            if entries:
                self.expect(",")
                if self.accept("}"):
                    break
            optional = bool(self.accept("?"))
            key = self.ternary()
            self.expect(":")
            entries.append((key, self.ternary(), optional))
        return MapLit(at, entries)

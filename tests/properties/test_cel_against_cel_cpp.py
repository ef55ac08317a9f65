"""CEL expressions, beside CEL's own implementation in C++ (cel-expr-python)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cel_expr_python import cel
from cel_expr_python.ext import ext_strings
from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.rules.cel import BOOL, STRING, CelError, CelSyntaxError, Env, compile, list_of, map_of
from gangline.rules.cel.kinds import DOUBLE, INT
from properties.examples import examples
from properties.oracle import Difference, answer, meant, plain

VARIABLES = {
    "i": (INT, cel.Type.INT),
    "j": (INT, cel.Type.INT),
    "d": (DOUBLE, cel.Type.DOUBLE),
    "s": (STRING, cel.Type.STRING),
    "t": (STRING, cel.Type.STRING),
    "b": (BOOL, cel.Type.BOOL),
    "l": (list_of(INT), cel.Type.List(cel.Type.INT)),
    "w": (list_of(STRING), cel.Type.List(cel.Type.STRING)),
    "m": (map_of(STRING, INT), cel.Type.Map(cel.Type.STRING, cel.Type.INT)),
}
OURS = Env({name: kind for name, (kind, _) in VARIABLES.items()})
THEIRS = cel.NewEnv(
    variables={name: kind for name, (_, kind) in VARIABLES.items()}, extensions=[ext_strings.ExtStrings()]
)

whole = st.integers(-4, 12) | st.sampled_from([2**63 - 1, -(2**63), 2**53])
texts = st.sampled_from(["", "a", "b", "ab", "a,b", "éa", "12", "-3", "true", "A b"])
variables = st.fixed_dictionaries(
    {
        "i": whole,
        "j": whole,
        "d": st.sampled_from([0.0, 1.0, -2.5, 1e10, 0.1]),
        "s": texts,
        "t": texts,
        "b": st.booleans(),
        "l": st.lists(whole, max_size=4),
        "w": st.lists(texts, max_size=4),
        "m": st.dictionaries(texts, whole, max_size=3),
    }
)

LEAVES = {
    "int": "i j 0 1 -3 7",
    "double": "d 1.5 -0.5",
    "bool": "b true false",
    "text": "s t 'a' 'b,c' ''",
    "list": "l [] [1,2]",
    "words": "w ['a','b']",
    "map": "m {'a':1} {}",
}
FORMS = {
    "int": """{int} + {int}; {int} - {int}; {int} * {int}; {int} / {int}; {int} % {int}; -{int}; size({list});
        size({words}); {text}.size(); size({map}); {list}[{int}]; {map}[{text}]; {bool} ? {int} : {int}; int({text});
        int({double}); {text}.indexOf({text}); {text}.lastIndexOf({text}); x; m.a""",
    "double": """{double} + {double}; {double} - {double}; {double} * {double}; {double} / {double}; double({int});
        double({text}); {bool} ? {double} : {double}; -{double}""",
    "bool": """{int} == {int}; {int} < {int}; {int} >= {int}; {text} == {text}; {text} < {text}; {double} < {double};
        {list} == {list}; {map} == {map}; !{bool}; {bool} && {bool}; {bool} || {bool}; {int} in {list};
        {text} in {words}; {text} in {map}; {text}.startsWith({text}); {text}.endsWith({text});
        {text}.contains({text}); {text}.matches('a.*'); {list}.all(x, {bool}); {list}.exists(x, {bool});
        {list}.exists_one(x, {bool}); {words}.all(y, {bool}); {map}.exists(y, {bool}); has(m.a);
        dyn({int}) == dyn({double}); {bool} ? {bool} : {bool}; {bool} != {bool}; type({int}) == int; bool({text})""",
    "text": """{text} + {text}; string({int}); string({bool}); string({double}); {words}[{int}]; {text}.charAt({int});
        {text}.substring({int}); {text}.substring({int}, {int}); {text}.replace({text}, {text}); {text}.lowerAscii();
        {text}.upperAscii(); {text}.trim(); {words}.join(); {words}.join({text}); {bool} ? {text} : {text}; y""",
    "list": """[{int}, {int}]; {list} + {list}; {list}.map(x, {int}); {list}.filter(x, {bool});
        {list}.map(x, {bool}, {int}); {bool} ? {list} : {list}""",
    "words": """[{text}, {text}]; {words} + {words}; {text}.split(','); {text}.split('b'); {words}.map(y, {text});
        {words}.filter(y, {bool})""",
    "map": """{'a': {int}, 'b': {int}}; {{text}: {int}}; {bool} ? {map} : {map}""",
}
"""How an expression of a type looks. `x` and `y` are the variables of macros: elsewhere nobody knows them. Maps have no
order, so none is made a list."""


@st.composite
def expressions(draw: st.DrawFn, kind: str, depth: int) -> str:
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(LEAVES[kind].split(" ")))
    form = draw(st.sampled_from([text.strip() for text in FORMS[kind].split(";")]))
    return re.sub(r"\{([a-z]+)\}", lambda part: f"({draw(expressions(part[1], depth - 1))})", form)


questions = st.tuples(st.sampled_from([*FORMS]).flatmap(lambda kind: expressions(kind, 3)), variables)

# Kubernetes uses CEL for Go, which splits an empty text at nothing into no parts, and CEL for C++ into one: not asked.
DIFFERENCES = [
    Difference(
        "CEL for C++ writes doubles with six digits, and a sign before NaN",
        lambda text, values: "string(" in text and re.search(r"\bd\b|[.]5|double", text) is not None,
    ),
    Difference(
        "CEL for C++ refuses a substring up to the end of the text",
        lambda text, values: _complains(_theirs, "<end> is greater than <string>.size()", text, values),
    ),
    Difference(
        "Kubernetes refuses literals of several types, and dyn is one",
        lambda text, values: _complains(_ours, "but found 'dyn'", text, values),
    ),
]


def _complains(ask: Callable[[str, Any], Any], complaint: str, text: str, values: Any) -> bool:
    try:
        ask(text, values)
    except (CelError, CelSyntaxError, ValueError, RuntimeError) as error:
        return complaint in str(error)
    return False


def _ours(text: str, values: dict[str, Any]) -> Any:
    return compile(text, OURS).evaluate(values)


def _theirs(text: str, values: dict[str, Any]) -> Any:
    value = THEIRS.compile(text).eval(data=values)
    if value.type() == cel.Type.ERROR:
        raise ValueError(value.value())
    return value.plain_value()


@settings(max_examples=examples(200))
@given(questions)
def test_an_expression_gives_what_the_library_gives(question: tuple[str, dict[str, Any]]) -> None:
    text, values = question
    if not meant(DIFFERENCES, text, values):
        ours = answer(lambda: _ours(text, values), CelError, CelSyntaxError)
        assert plain(ours) == plain(answer(lambda: _theirs(text, values), ValueError, RuntimeError)), text

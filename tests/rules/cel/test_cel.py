"""CEL: what expressions mean, what does not compile, and that nothing runs away."""

from __future__ import annotations

import contextlib
import copy
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.server.hypothesis_settings import patient
from gangline.cluster.schema import compile_schema
from gangline.cluster.schema.structural import structural_node
from gangline.rules import cel

SCHEMA = compile_schema(
    {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "n": {"type": "integer"},
            "f": {"type": "number"},
            "b": {"type": "boolean"},
            "l": {"type": "array", "items": {"type": "string"}},
            "m": {"type": "object", "additionalProperties": {"type": "string"}},
            "s": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "d": {"type": "string", "format": "date-time"},
            "du": {"type": "string", "format": "duration"},
            "io": {"x-kubernetes-int-or-string": True},
            "o": {"type": "object", "properties": {"x": {"type": "string"}}},
            "in": {"type": "string"},
            "a-b": {"type": "string"},
            "namespace": {"type": "string"},
        },
    }
).root
ENV = cel.Env({"self": cel.kind_of(SCHEMA), "old": cel.kind_of(SCHEMA), "any": cel.DYN})
OBJECT: dict[str, Any] = {
    "a": "a,b",
    "n": 3,
    "f": 2,
    "b": True,
    "l": ["ab", "c"],
    "m": {"k": "v"},
    "s": ["x", "y"],
    "d": "2020-01-02T03:04:05Z",
    "du": "1h30m",
    "io": 5,
    "o": {},
    "in": "i",
    "a-b": "dash",
    "namespace": "ns",
}


def value(text: str, **more: Any) -> Any:
    variables = {"self": OBJECT, "old": {**OBJECT, "s": ["y", "x"]}, "any": {"deep": [1, {"x": None}]}, **more}
    return cel.compile(text, ENV).evaluate(variables)


@pytest.mark.parametrize(
    "text",
    [
        "1 + 2 * 3 == 7",
        "-7 / 2 == -3",
        "-7 % 3 == -1",
        "7.0 / 2.0 == 3.5",
        "'a' + 'b' == 'ab'",
        "[1] + [2] == [1, 2]",
        "1 < 2.5",
        "2u > 1",
        "'x' in ['x', 'y']",
        "'k' in self.m",
        "self.m.k == 'v'",
        "self.m['k'] == 'v'",
        "self.l[1] == 'c'",
        "size(self.l) == 2",
        "self.a.size() == 3",
        "true ? self.b : false",
        "!(self.n > 5)",
        "self.f / 4.0 == 0.5",
        "self.io == 5",
        "type(self.n) == int",
        "self.__in__ == 'i'",
        "self.a__dash__b == 'dash'",
        "self.__namespace__ == 'ns'",
        "has(self.a) && !has(self.o.x)",
        "any.deep[1].x == null",
        "self.l.all(x, x.size() > 0)",
        "self.l.exists(x, x == 'c')",
        "self.l.exists_one(x, x == 'c')",
        "self.l.filter(x, x != 'c') == ['ab']",
        "self.l.map(x, x + '!') == ['ab!', 'c!']",
        "[1, 2, 3].map(x, x > 1, x * 2) == [4, 6]",
        "self.m.all(k, k == 'k')",
        "self.l.all(i, v, v.size() <= 2 && i < 2)",
        "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
        "[5, 6].transformList(i, v, i + v) == [5, 7]",
        "self.?o.?x.orValue('none') == 'none'",
        "optional.of(1).optMap(x, x + 1).value() == 2",
        "self.o.?x.hasValue() == false",
        "self.s == old.s",
        "self.l != old.s",
        "timestamp('2020-01-02T03:04:05Z') == self.d",
        "self.d.getFullYear() == 2020",
        "self.d.getMonth() == 0 && self.d.getDayOfWeek() == 4",
        "self.du == duration('90m')",
        "self.d + duration('1h') > self.d",
        "self.a.split(',') == ['a', 'b']",
        "'abc'.substring(1, 2) == 'b'",
        "'abcabc'.lastIndexOf('b') == 4",
        "'AbC'.lowerAscii() == 'abc'",
        "' x '.trim() == 'x'",
        "'a-b'.replace('-', '+') == 'a+b'",
        "['a', 'b'].join('-') == 'a-b'",
        "'%s has %d'.format(['x', 3]) == 'x has 3'",
        "'x1y22'.findAll('[0-9]+') == ['1', '22']",
        "'abc'.matches('^a.c$')",
        "[1, 2, 2].isSorted() && [3, 1].max() == 3 && [1, 2].sum() == 3",
        "sets.contains([1, 2], [2]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])",
        "[1, 1, 2].distinct() == [1, 2]",
        "quantity('1Gi').isGreaterThan(quantity('1000M'))",
        "quantity('500m').add(quantity('1500m')).asInteger() == 2",
        "!isQuantity('x')",
        "url('https://a.b:80/c?d=e').getHost() == 'a.b:80'",
        "url('https://a.b/c?d=e').getQuery() == {'d': ['e']}",
        "!isURL('::')",
        "ip('10.0.0.1').family() == 4 && ip('127.0.0.1').isLoopback()",
        "cidr('10.0.0.0/8').containsIP('10.1.1.1')",
        "cidr('10.1.2.3/8').masked().prefixLength() == 8",
        "semver('1.2.3').isLessThan(semver('1.10.0'))",
        "semver('v1.2', true).patch() == 0",
        "!format.dns1123Label().validate('ok').hasValue()",
        "format.dns1123Label().validate('No_').hasValue()",
        "string(1) == '1' && int('7') == 7 && double('1.5') == 1.5 && bool('true')",
        "b'abc' == bytes('abc')",
        r"'\u0041\n' == 'A' + '\n'",
        "r'\\d' == '\\\\d'",
        "1 == 1 || 1 / 0 == 1",
        "!(false && 1 / 0 == 1)",
        "(1 / 0 == 1 && false) == false",
    ],
)
def test_an_expression_holds(text: str) -> None:
    assert value(text) is True


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1 / 0 == 1", "division by zero"),
        ("1 % 0 == 1", "modulus by zero"),
        ("self.l[7] == 'x'", "index out of bounds: 7"),
        ("self.o.x == 'y'", "no such key: x"),
        ("any.nope == 1", "no such key: nope"),
        ("9223372036854775807 + 1 > 0", "integer overflow"),
        ("quantity('zz').isInteger()", "quantities must match the regular expression"),
        ("any.deep > 1", "no such overload"),
        ("optional.none().value() == 1", "optional.none() dereference"),
        ("int('x') == 1", "type conversion error from 'string' to 'int'"),
    ],
)
def test_what_cannot_be_evaluated_says_why(text: str, told: str) -> None:
    with pytest.raises(cel.CelError) as caught:
        value(text)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("self.a == 1", "1:8: found no matching overload for '_==_' applied to '(string, int)'"),
        ("self.l.all(x, x > 1)", "found no matching overload for '_>_' applied to '(string, int)'"),
        ("self.d > 'x'", "applied to '(timestamp, string)'"),
        ("self.zz", "1:5: undefined field 'zz'"),
        ("zz", "1:1: undeclared reference to 'zz' (in container '')"),
        ("foo(self)", "undeclared reference to 'foo'"),
        ("self.n.foo()", "undeclared reference to 'foo'"),
        ("self.l[0].foo == 1", "type 'string' does not support field selection"),
        ("self.a +", "mismatched input '<EOF>'"),
        ("has(self.a", "missing ')' at '<EOF>'"),
        ("has(self)", "invalid argument to has() macro"),
        ("self.a.matches('[')", "invalid matches argument"),
        ("self.l.all(x.y, true)", "argument must be a simple name"),
        ("self.n.all(x, true)", "cannot be range of a comprehension"),
        ("'abc", "token recognition error"),
        ("1 2", "mismatched input '2' expecting <EOF>"),
        ("self.a == null", "applied to '(string, null)'"),
        ("99999999999999999999", "invalid int literal"),
    ],
)
def test_what_does_not_compile_is_pointed_at(text: str, told: str) -> None:
    with pytest.raises(cel.CelSyntaxError) as caught:
        cel.compile(text, ENV)
    assert told in str(caught.value)
    assert f"\n | {text}\n | " in str(caught.value)


def test_a_budget_ends_what_takes_too_long() -> None:
    program = cel.compile("any.all(x, any.all(y, x + y >= 0))", ENV)
    with pytest.raises(cel.OutOfBudget):
        program.evaluate({"self": {}, "old": {}, "any": list(range(1000))}, 10_000)


def test_a_program_knows_its_kind_and_which_variables_it_speaks_of() -> None:
    program = cel.compile("self.l.exists(x, x == old.a)", ENV)
    assert str(program.kind) == "bool" and program.uses("old") and not program.uses("any")


def test_deep_nesting_is_refused_not_suffered() -> None:
    with pytest.raises(cel.CelSyntaxError, match="recursion limit"):
        cel.compile("(" * 500 + "1" + ")" * 500, ENV)
    with pytest.raises(cel.CelSyntaxError, match="recursion limit"):
        cel.compile("!" * 500 + "true", ENV)


@pytest.mark.parametrize(
    "text",
    [
        "'%.999999999f'.format([1.0]) == ''",
        "'%.99999999999999999e'.format([1.0]) == ''",
        "any.replace('', any) == ''",
        "any.replace('a', any) == ''",
        "[any, any, any].map(x, any + any + any + any + any).join(any) == ''",
        "any.split('').size() > 0 && any.split('').size() > 0",
        "lists.range(100000000).size() > 0",
        "any.findAll('').size() > 0 && any.findAll('').size() > 0",
        "[1]" + ".map(x, [x, x])" * 39 + " == [1]" + ".map(x, [x, x])" * 39,
        "[1]" + ".map(x, [x, x])" * 39 + ".flatten(100) == []",
        "'%s'.format([[1]" + ".map(x, [x, x])" * 39 + "]) == ''",
        "lists.range(10000).all(x, any <= any)",
        "lists.range(10000).all(x, any == any)",
        "sets.contains(lists.range(2000), lists.range(2000))",
    ],
)
def test_what_would_take_more_room_than_is_left_is_never_made(text: str) -> None:
    program = cel.compile(text, cel.Env({"any": cel.DYN}))
    tracemalloc.start()
    with pytest.raises(cel.OutOfBudget, match="operation cancelled: actual cost limit exceeded"):
        program.evaluate({"any": "a" * 600_000}, 100_000)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 50_000_000


@pytest.mark.parametrize(
    "text",
    [
        "lists.range(20000).sortBy(x, x % 2 == 0 ? any[0] : any[1]).size() > 0",
        "lists.range(20000).all(x, [1].transformMapEntry(k, v, map).size() > 0)",
        "lists.range(20000).all(x, 'a' != 'b' && !'ab'.matches('((x{1,10}){1,10}){1,10}' + string(x)))",
        "lists.range(20000).all(x, !any[0].matches('[a-z]{1,500}[a-m]{1,400}Z'))",
        "lists.range(20000).all(x, any[0] in {any[1]: 1})",
        "lists.range(20000).all(x, {any[1]: 1}[any[0]] == 1)",
        "lists.range(20000).all(x, type.bytes != b'x')",
    ],
)
def test_work_that_few_words_ask_for_is_charged_all_the_same(text: str) -> None:
    """Each of these would take minutes, at the price of a few steps a round."""
    node = structural_node({"type": "object", "properties": {"bytes": {"type": "string", "format": "byte"}}})
    program = cel.compile(text, cel.Env({"any": cel.DYN, "map": cel.DYN, "type": cel.kind_of(node)}))
    alike = ["q" * 100_000 + "a", "q" * 99_999 + "qa"]
    known = {"any": alike, "map": {str(key): key for key in range(20_000)}, "type": {"bytes": "aaaa" * 50_000}}
    with pytest.raises(cel.OutOfBudget, match="operation cancelled: actual cost limit exceeded"):
        program.evaluate(known, 200_000)


def test_the_last_place_of_a_text_is_found_in_one_pass() -> None:
    program = cel.compile("any.lastIndexOf('ab' + any.substring(0, 400000))", cel.Env({"any": cel.DYN}))
    assert program.evaluate({"any": "a" * 1_000_000}, 10_000_000) == -1
    assert cel.compile("'abcabc'.lastIndexOf('bc') == 4 && 'abcabc'.lastIndexOf('bc', 3) == 1", cel.Env()).evaluate({})
    assert cel.compile("'abc'.lastIndexOf('') == 3 && 'abc'.lastIndexOf('x') == -1", cel.Env()).evaluate({})


def test_a_comprehension_makes_nothing_of_what_it_does_not_look_at() -> None:
    """A map of 60,000 keys in a map of 60,000 keys: who stops at the first key must not have listed the others."""
    program = cel.compile("any.all(x, any.exists(y, true))", cel.Env({"any": cel.DYN}))
    assert program.evaluate({"any": {str(key): key for key in range(60_000)}}) is True


@pytest.mark.parametrize(
    "text",
    [
        "+".join(["1"] * 250) + " == 250",
        " && ".join(["true"] * 250),
        " || ".join(["false"] * 249 + ["true"]),
        "1" + " * 1 / 1" * 100 + " == 1",
        "'a'" + " + 'a'" * 200 + " != ''",
        " == ".join(["true"] * 100),
    ],
)
def test_a_long_row_of_operators_is_no_nesting(text: str) -> None:
    assert cel.compile(text, cel.Env()).evaluate({}) is True


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("+".join(["1"] * 300) + " == 300", "expression recursion limit exceeded: 250"),
        ("self" + ".a" * 500 + " == 1", "expression recursion limit exceeded: 40"),
        ("[" * 50 + "]" * 50 + " == []", "expression recursion limit exceeded: 40"),
        ("'a'" + ".trim()" * 500 + " == ''", "expression recursion limit exceeded: 40"),
        ("'" + "a" * 100_000 + "' == ''", "expression code point size exceeds limit: size: 100008, limit 100000"),
        ("'\\ud800' == ''", "Syntax error: invalid unicode code point"),
        ("9" * 5000 + " == 1", "Syntax error: invalid int literal"),
    ],
)
def test_what_is_too_deep_or_too_long_is_refused_in_kubernetes_words(text: str, told: str) -> None:
    with pytest.raises(cel.CelSyntaxError) as caught:
        cel.compile(text, cel.Env({"self": cel.DYN}))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{dyn([1]): 2} == {}", "no such overload"),
        ("timestamp('9999-12-31T23:59:59Z') + duration('10000h') == timestamp('2020-01-01T00:00:00Z')", "out of range"),
        ("int('" + "9" * 5000 + "') == 1", "4300 digits"),
        ("duration('9999999h') > duration('1s')", 'time: invalid duration "9999999h"'),
        ("quantity('" + "9" * 5000 + "').isInteger()", "quantities must match"),
    ],
)
def test_whatever_goes_wrong_is_an_error_of_the_expression(text: str, told: str) -> None:
    with pytest.raises(cel.CelError, match=told):
        cel.compile(text, cel.Env()).evaluate({})


WORDS = st.sampled_from(
    [
        "self",
        ".",
        "a",
        "l",
        "n",
        "m",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "&&",
        "||",
        "!",
        "-",
        "+",
        "==",
        "<",
        "in",
        "?",
        ":",
        ",",
        "1",
        "1.5",
        "'x'",
        "all",
        "map",
        "has",
        "x",
        "size",
        "null",
        "true",
        "any",
        ".?",
        "orValue",
        "split",
        "'('",
        "matches",
    ]
)


@patient
@given(st.lists(WORDS, max_size=14))
def test_any_words_compile_or_are_refused_and_then_run_or_fail_cleanly(words: list[str]) -> None:
    before = copy.deepcopy(OBJECT)
    with contextlib.suppress(cel.CelSyntaxError, cel.CelError):
        program = cel.compile(" ".join(words), ENV)
        variables = {"self": OBJECT, "old": OBJECT, "any": OBJECT}
        assert program.evaluate(variables, 10_000) == program.evaluate(variables, 10_000)
    assert before == OBJECT


@patient
@given(st.text(max_size=30))
def test_any_text_compiles_or_is_refused(text: str) -> None:
    try:
        cel.compile(text, ENV)
    except cel.CelSyntaxError as error:
        assert str(error).startswith("ERROR: <input>:")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("1e10", "1e+10"),
        ("100000.0", "100000"),
        ("1000000.0", "1e+06"),
        ("0.00001", "1e-05"),
        ("-2.5", "-2.5"),
        ("0.0 / 0.0", "NaN"),
        ("1.0 / 0.0", "+Inf"),
    ],
)
def test_a_double_is_written_as_go_writes_it(expression: str, text: str) -> None:
    assert cel.compile(f"string({expression})", cel.Env({})).evaluate({}) == text

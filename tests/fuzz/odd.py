"""What nobody expects: values, texts and bytes that have broken parsers and rules before, and ways to put them into an
object."""

from __future__ import annotations

import json
from random import Random
from typing import Any

LONG = "9" * 5000
TEXTS = (
    "",
    " ",
    "a",
    "A_",
    "-",
    "..",
    "/",
    "%",
    "%zz",
    "null",
    "true",
    "0",
    "-1",
    "1.5",
    "1e400",
    "10" * 13,
    LONG,
    "9223372036854775808",
    "18446744073709551616",
    "a" * 300,
    "a/b/c",
    "x.io/y",
    "\x00",
    "\n",
    "\u00e9",
    "\u200b",
    "\ufffd",
    "\U0001f600",
    "٣",
    "²",
    "$(A)",
    "{",
    "}",
    "[]",
    "{}",
    "'",
    '"',
    "\\",
    "`",
    "1Gi",
    "500m",
    "1e3",
    "1e999999999",
    "1.1.1.1.1",
    "256.256.256.256",
    "::ffff:1.2.3.4",
    "1.2.3.4/33",
    "fe80::1%eth0",
    "10.0.0.1",
    "0x1F",
    "1_000",
    "2020-01-01T00:00:00Z",
    "9999-99-99T99:99:99Z",
    "0000-00-00T00:00:00Z",
    "2020-01-01T00:00:00+99:99",
    "1h",
    "-1h",
    "9" * 40 + "h",
    "1d",
    "* * * * *",
    "@every 1h",
    "*/0 * * * *",
    "99 99 99 99 99",
    "TZ=Nowhere 0 0 * * *",
    "(",
    "[",
    "(a+)+$",
    "a{1001}",
    "\\",
    "(?P<n>",
    ".spec.a",
    "$.a[?(@.b)]",
    ".a[",
    "..",
    "{.a}",
    "self.a == 1",
    "self",
    "oldSelf.a",
    "1 +",
    "'%.999999999f'.format([1.0]) == ''",
    "+".join("1" * 300) + " == 300",
    "(" * 60 + "1" + ")" * 60,
    "[1].map(x, [x, x]).map(x, [x, x]) == []",
    "'a'.replace('', 'b') == 'c'",
    "{dyn([1]): 1} == {}",
    "lists.range(10000000).size() > 0",
    "object.spec.x == oldObject.spec.x",
    "request.name.matches('(')",
    "has(self.a.b.c) ? 1 : 'a'",
    "Foreground",
    "Orphan",
    "In",
    "Exists",
    "Always",
    "None",
)
NUMBERS = (
    0,
    1,
    -1,
    2,
    80,
    65536,
    2**31 - 1,
    2**31,
    -(2**31) - 1,
    2**63 - 1,
    2**63,
    2**64,
    -(2**63) - 1,
    10**26,
    10**400,
    0.5,
    -0.0,
    1e308,
    5e-324,
)


def text(random: Random) -> str:
    return random.choice(TEXTS)


def value(random: Random, depth: int = 0) -> Any:
    """Any value of JSON, most likely not the one that belongs there."""
    what = random.randrange(10 if depth < 3 else 7)
    if what < 3:
        return text(random)
    if what < 5:
        return random.choice(NUMBERS)
    if what < 7:
        return random.choice((None, True, False, [], {}))
    if what < 8:
        return deep(random)
    inner = [value(random, depth + 1) for _ in range(random.randrange(4))]
    return inner if what < 9 else {text(random): item for item in inner}


def deep(random: Random) -> Any:
    found: Any = value(random, 3)
    for _ in range(random.choice((5, 30, 90, 99, 150))):
        found = [found] if random.random() < 0.5 else {random.choice(("a", "properties", "spec")): found}
    return found


def mutated(random: Random, obj: Any) -> Any:
    """A copy with a few places changed, taken away, doubled or moved."""
    found = json.loads(json.dumps(obj))
    for _ in range(random.choice((0, 1, 1, 2, 3))):
        places = _places(found)
        if not places:
            return value(random)
        parent, key = random.choice(places)
        _change(random, parent, key, random.choice(places))
    return found


def _places(obj: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    todo = [obj]
    while todo:
        part = todo.pop()
        keys: Any = part if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else ()
        found += [(part, key) for key in keys]
        todo += [part[key] for key in keys]
    return found


def _change(random: Random, parent: Any, key: Any, other: tuple[Any, Any]) -> None:
    way = random.randrange(6)
    if way == 0:
        del parent[key]
    elif way == 1 and isinstance(parent, list):
        parent.append(json.loads(json.dumps(parent[key])))
    elif way == 2 and isinstance(parent, dict):
        parent[text(random)] = parent.pop(key)
    elif way == 3:
        parent[key] = json.loads(json.dumps(other[0][other[1]]))
    else:
        parent[key] = value(random)


def broken(random: Random, body: bytes) -> bytes:
    """Bytes that are no longer what they were."""
    at = random.randrange(len(body) + 1)
    return random.choice(
        (
            lambda: body[:at],
            lambda: body[:at] + bytes([random.randrange(256)]) + body[at + 1 :],
            lambda: body[:at] + body[at:] * 2,
            lambda: b"[" * 5000,
            lambda: b'{"a":' * 2000 + b"1" + b"}" * 2000,
            lambda: LONG.encode(),
            lambda: b"",
            lambda: b"null",
            lambda: b"[]",
            lambda: b'"\\ud800"',
            lambda: b"\xff\xfe",
            lambda: body.replace(b":", b": &a", 1) + b"\nb: *a\n",
            lambda: b'{"apiVersion":1,"kind":2,"metadata":3}',
            lambda: _laughs(),
            lambda: b"k8s\x00" + random.randbytes(30),
            lambda: random.randbytes(20),
            lambda: b"- - - - -\n- ? {a: 1}\n  : 2",
        )
    )()


def _laughs() -> bytes:
    lines = ["a0: &a0 {k: v}"] + [f"a{at}: &a{at} {{<<: [{', '.join([f'*a{at - 1}'] * 9)}]}}" for at in range(1, 12)]
    return "\n".join(lines).encode()

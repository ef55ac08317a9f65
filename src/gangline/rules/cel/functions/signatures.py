"""The functions and operators of CEL, a line per overload: `kind .method(kinds) -> kind` or `function(kinds) -> kind`.

A table that the checker reads; standard.py has the functions.
"""

from __future__ import annotations

SIGNATURES = """
!_(bool) -> bool
_==_(A, A) -> bool
_!=_(A, A) -> bool
@in(A, list(A)) -> bool
@in(A, map(A, B)) -> bool
_[_](list(A), int) -> A
_[_](map(A, B), A) -> B
_[_](optional_type(list(A)), int) -> optional_type(A)
_[_](optional_type(map(A, B)), A) -> optional_type(B)
_[?_](list(A), int) -> optional_type(A)
_[?_](map(A, B), A) -> optional_type(B)
_[?_](optional_type(list(A)), int) -> optional_type(A)
_[?_](optional_type(map(A, B)), A) -> optional_type(B)
_?_:_(bool, A, A) -> A
_+_(int, int) -> int
_+_(uint, uint) -> uint
_+_(double, double) -> double
_+_(string, string) -> string
_+_(bytes, bytes) -> bytes
_+_(list(A), list(A)) -> list(A)
_+_(timestamp, duration) -> timestamp
_+_(duration, timestamp) -> timestamp
_+_(duration, duration) -> duration
_-_(int, int) -> int
_-_(uint, uint) -> uint
_-_(double, double) -> double
_-_(timestamp, timestamp) -> duration
_-_(timestamp, duration) -> timestamp
_-_(duration, duration) -> duration
-_(int) -> int
-_(double) -> double
size(string) -> int
size(bytes) -> int
size(list(A)) -> int
size(map(A, B)) -> int
string .size() -> int
bytes .size() -> int
list(A) .size() -> int
map(A, B) .size() -> int
type(A) -> type
dyn(A) -> dyn
int(int) -> int
int(uint) -> int
int(double) -> int
int(string) -> int
int(timestamp) -> int
uint(uint) -> uint
uint(int) -> uint
uint(double) -> uint
uint(string) -> uint
double(double) -> double
double(int) -> double
double(uint) -> double
double(string) -> double
bool(bool) -> bool
bool(string) -> bool
string(string) -> string
string(bool) -> string
string(int) -> string
string(uint) -> string
string(double) -> string
string(bytes) -> string
string(timestamp) -> string
string(duration) -> string
bytes(bytes) -> bytes
bytes(string) -> bytes
timestamp(timestamp) -> timestamp
timestamp(string) -> timestamp
timestamp(int) -> timestamp
duration(duration) -> duration
duration(string) -> duration
string .contains(string) -> bool
string .startsWith(string) -> bool
string .endsWith(string) -> bool
string .matches(string) -> bool
matches(string, string) -> bool
string .charAt(int) -> string
string .indexOf(string) -> int
string .indexOf(string, int) -> int
string .lastIndexOf(string) -> int
string .lastIndexOf(string, int) -> int
string .lowerAscii() -> string
string .upperAscii() -> string
string .replace(string, string) -> string
string .replace(string, string, int) -> string
string .split(string) -> list(string)
string .split(string, int) -> list(string)
string .substring(int) -> string
string .substring(int, int) -> string
string .trim() -> string
string .format(list(dyn)) -> string
strings.quote(string) -> string
list(string) .join() -> string
list(string) .join(string) -> string
string .find(string) -> string
string .findAll(string) -> list(string)
string .findAll(string, int) -> list(string)
list(A) .isSorted() -> bool
list(int) .sum() -> int
list(uint) .sum() -> uint
list(double) .sum() -> double
list(duration) .sum() -> duration
list(A) .min() -> A
list(A) .max() -> A
list(A) .indexOf(A) -> int
list(A) .lastIndexOf(A) -> int
list(A) .distinct() -> list(A)
list(A) .reverse() -> list(A)
list(A) .sort() -> list(A)
list(A) .slice(int, int) -> list(A)
list(A) .flatten() -> list(dyn)
list(A) .flatten(int) -> list(dyn)
list(A) .first() -> optional_type(A)
list(A) .last() -> optional_type(A)
lists.range(int) -> list(int)
sets.contains(list(A), list(A)) -> bool
sets.equivalent(list(A), list(A)) -> bool
sets.intersects(list(A), list(A)) -> bool
optional.of(A) -> optional_type(A)
optional.none() -> optional_type(A)
optional.ofNonZeroValue(A) -> optional_type(A)
optional_type(A) .hasValue() -> bool
optional_type(A) .value() -> A
optional_type(A) .or(optional_type(A)) -> optional_type(A)
optional_type(A) .orValue(A) -> A
"""
_NUMBERS = ("int", "uint", "double")
_ORDERED = [
    *((a, b) for a in _NUMBERS for b in _NUMBERS),
    *((k, k) for k in ("bool", "string", "bytes", "timestamp", "duration")),
]
SIGNATURES += "".join(
    f"_{mark}_({kind}, {kind}) -> {kind}\n" for mark in ("*", "/") for kind in ("int", "uint", "double")
)
SIGNATURES += "".join(f"_%_({kind}, {kind}) -> {kind}\n" for kind in ("int", "uint"))
SIGNATURES += "".join(
    f"_{mark}_({left}, {right}) -> bool\n" for mark in ("<", "<=", ">", ">=") for left, right in _ORDERED
)
CLOCK = (
    "getFullYear",
    "getMonth",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getHours",
    "getMinutes",
    "getSeconds",
    "getMilliseconds",
)
SIGNATURES += "".join(f"timestamp .{name}() -> int\ntimestamp .{name}(string) -> int\n" for name in CLOCK)
SIGNATURES += "".join(
    f"duration .{name}() -> int\n" for name in ("getHours", "getMinutes", "getSeconds", "getMilliseconds")
)

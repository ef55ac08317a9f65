"""YAML and JSON texts → plain data, within bounds: how deep they nest, how many values they hold, what aliases repeat.

    read_json(body) -> data                   raises Unreadable
    read_yaml(text, doubled) -> data          one document; `doubled` receives the warnings about duplicate keys
    read_documents(text) -> [data, …]         all documents of a text
    json_text(data) -> text                   the way back, as commands print it

Request bodies, manifests, kubeconfigs, configuration and nodes files are read here and nowhere else. Libraries take the
bytes apart (msgspec, PyYAML on libyaml); this counts what they find and builds as it counts, so that no text can ask
for more than it says. Values are what JSON knows, as Kubernetes converts YAML: dates are texts, keys are texts, an
alias is a copy. Pure."""

from __future__ import annotations

import base64
import binascii
import codecs
import copy
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
import yaml

from gangline.errors import GanglineError

DEPTH = 100
"""How deep objects and lists may stand in each other: far beyond any object, and well within the stack of whoever walks
them."""
VALUES = 200_000
"""How many values a text may hold: no object comes near, and one of 3 MiB could say eight times as many."""
ALL_VALUES = 1_000_000
"""How many values all documents of a text may hold together; each document counts as one."""
REPEATED = 100_000
"""How many values aliases may add to a document; a long text counts as several."""
TAG_DIRECTIVES = 100
"""How many tags a text may declare: libyaml compares each with all before it."""
LONGEST_NUMBER = 1024
"""Letters of a number at most; what is longer is text."""
_LETTERS = 16
"""Letters of a text that count as one more value when it is repeated."""
_Loader: Any = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_decode = msgspec.json.Decoder().decode
_STRING = re.compile(rb'"(?:[^"\\]+|\\.)*+"', re.DOTALL)
_TAG = "tag:yaml.org,2002:"
_DIRECTIVE = re.compile("^%TAG|[\r\n\x85\u2028\u2029]%TAG")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
}
_INTEGER = re.compile(r"([-+]?)(?:0b([01_]+)|0x([0-9a-fA-F_]+)|0o?([0-7_]+)|(0|[1-9][0-9_]*))", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_ENDLESS = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_BASES = (2, 16, 8, 10)


class DocumentUnreadable(GanglineError):
    """The text is no JSON or YAML, or asks for more than the bounds allow. The text of the error says where."""


def read_json(body: bytes) -> Any:
    if _marks(body) > VALUES and _marks(_STRING.sub(b"", body)) > VALUES:
        raise DocumentUnreadable(f"document holds more than {VALUES} values")
    try:
        data = _decode(body)
    except RecursionError:
        raise _too_deep() from None
    except UnicodeDecodeError:
        raise DocumentUnreadable("invalid UTF-8 in the text") from None
    except (msgspec.DecodeError, ValueError) as error:
        empty = "truncated" in str(error) and not body.endswith((b'"', b"}", b"]"))
        text = _odd_beginning(body) or str(error)
        raise DocumentUnreadable("unexpected end of JSON input" if empty or not body.strip() else text) from None
    if body.count(b"{") + body.count(b"[") > DEPTH and is_deep(data):
        raise _too_deep()
    return data


def _odd_beginning(body: bytes) -> str:
    """Why a text cannot be JSON from its first letter on; empty if it can."""
    first = body.lstrip()[:1]
    if not first or first in b'{["-0123456789tfn':
        return ""
    shown = first.decode() if b" " < first < b"\x7f" else f"\\x{first[0]:02x}"
    return f"invalid character '{shown}' looking for beginning of value"


def _marks(body: bytes) -> int:
    """At least as many as there are values."""
    return body.count(b",") + body.count(b"[") + body.count(b"{")


def _too_deep(where: str = "") -> DocumentUnreadable:
    return DocumentUnreadable(f"{where}exceeded max depth of {DEPTH}")


def is_deep(data: Any) -> bool:
    """Whether objects and lists stand deeper in each other than any text that is read may have them."""
    level = [data] if type(data) in (dict, list) else []
    for _ in range(DEPTH + 1):
        level = [
            part
            for item in level
            for part in (item.values() if type(item) is dict else item)
            if type(part) is dict or type(part) is list
        ]
        if not level:
            return False
    return True


def read_yaml(text: str | bytes, doubled: list[str] | None = None) -> Any:
    documents = _documents(text, [] if doubled is None else doubled)
    first = next(documents, None)
    if next(documents, _END) is not _END:
        raise DocumentUnreadable("expected a single document in the stream, but found another document")
    return first


def read_documents(text: str | bytes) -> list[Any]:
    return list(_documents(text, []))


_END = object()


def _documents(text: str | bytes, doubled: list[str]) -> Iterator[Any]:
    try:
        letters, before = _decoded(text), 0
        builder = _Builder(doubled)
        for event in yaml.parse(letters, Loader=_Loader):
            if type(event) is yaml.DocumentEndEvent:
                before += 1 + builder.values
                if before > ALL_VALUES:
                    raise DocumentUnreadable(f"{_place(event)}documents hold more than {ALL_VALUES} values together")
                yield builder.finish()
                builder = _Builder(doubled)
            else:
                builder.take(event)
    except yaml.YAMLError as error:
        raise DocumentUnreadable(_where_and_what(error)) from None
    except UnicodeError:
        raise DocumentUnreadable("invalid UTF-8 in the text") from None


def _where_and_what(error: yaml.YAMLError) -> str:
    """What libyaml says in several lines of its own, in one: the place, the problem, and what it was about to read."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return " ".join(str(error).split())
    mark, began = error.problem_mark, error.context_mark
    since = f" that begins in line {began.line + 1}" if began is not None and began.line != mark.line else ""
    about = f" ({error.context}{since})" if error.context else ""
    return f"line {mark.line + 1}, column {mark.column + 1}: {error.problem}{about}"


def _decoded(text: str | bytes) -> str:
    if isinstance(text, bytes):
        text = text.decode("utf-16" if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8")
    if text.count("%TAG") > TAG_DIRECTIVES and len(_DIRECTIVE.findall(text)) > TAG_DIRECTIVES:
        raise DocumentUnreadable(f"document declares more than {TAG_DIRECTIVES} tags")
    return text


@dataclass(slots=True)
class _Built:
    """A value, how many values it stands for, and how deep it is."""

    value: Any
    weight: int = 1
    height: int = 0


@dataclass(slots=True)
class _Filling:
    """A list or map whose end was not met yet."""

    anchor: str | None
    into: list[Any] | dict[str, Any]
    weight: int = 1
    height: int = 1
    key: str | None = None
    """Of the value that comes next; None when a key comes next."""
    merging: bool = False
    """The value that comes next is merged into the map: its key is <<."""
    merged: list[dict[str, Any]] = field(default_factory=list)


class _Builder:
    """One document, built from its events and weighed as it grows."""

    def __init__(self, doubled: list[str]) -> None:
        self._doubled = doubled
        self._filling: list[_Filling] = []
        self._anchors: dict[str, _Built | None] = {}
        """What each anchor stands for; None while it is being filled."""
        self._whole: Any = None
        self.values = 0
        self._repeated = 0

    def finish(self) -> Any:
        return self._whole

    def take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._count(event)
            self._put(self._anchored(event.anchor, _Built(_scalar(event), 1 + len(event.value) // _LETTERS)), event)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            self._open(event)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._close(event)
        elif kind is yaml.AliasEvent:
            self._put(self._repeat(event), event)

    def _count(self, event: Any) -> None:
        self.values += 1
        if self.values > VALUES:
            raise DocumentUnreadable(f"{_place(event)}document holds more than {VALUES} values")

    def _open(self, event: Any) -> None:
        self._count(event)
        if len(self._filling) >= DEPTH:
            raise _too_deep(_place(event))
        is_map = isinstance(event, yaml.MappingStartEvent)
        if event.tag not in (None, "!", _TAG + ("map" if is_map else "seq")):
            raise DocumentUnreadable(f"{_place(event)}unknown tag {event.tag}")
        if event.anchor:
            self._anchors[event.anchor] = None
        self._filling.append(_Filling(event.anchor, {} if is_map else []))

    def _close(self, event: Any) -> None:
        done = self._filling.pop()
        value = done.into
        if done.merged and isinstance(value, dict):
            value = {**_merged(done.merged), **value}
        self._put(self._anchored(done.anchor, _Built(value, done.weight, done.height)), event)

    def _anchored(self, anchor: str | None, built: _Built) -> _Built:
        if anchor:
            self._anchors[anchor] = built
        return built

    def _repeat(self, event: Any) -> _Built:
        if event.anchor not in self._anchors:
            raise DocumentUnreadable(f"{_place(event)}unknown anchor '{event.anchor}' referenced")
        meant = self._anchors[event.anchor]
        if meant is None:
            raise DocumentUnreadable(f"{_place(event)}anchor '{event.anchor}' value contains itself")
        self._repeated += meant.weight
        if self._repeated > REPEATED:
            raise DocumentUnreadable(f"{_place(event)}document contains excessive aliasing")
        if len(self._filling) + meant.height > DEPTH:
            raise _too_deep(_place(event))
        return _Built(copy.deepcopy(meant.value), meant.weight, meant.height)

    def _put(self, built: _Built, event: Any) -> None:
        if not self._filling:
            self._whole = built.value
            return
        where = self._filling[-1]
        where.weight += built.weight
        where.height = max(where.height, built.height + 1)
        if isinstance(where.into, list):
            where.into.append(built.value)
        elif where.merging:
            where.merging = False
            where.merged += _to_merge(built.value, event)
        elif where.key is None:
            self._put_key(where, where.into, built, event)
        else:
            where.into[where.key] = built.value
            where.key = None

    def _put_key(self, where: _Filling, into: dict[str, Any], built: _Built, event: Any) -> None:
        if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0] and not event.style:
            where.merging = True
            return
        where.key = _key(built.value, event)
        if where.key in into:
            self._doubled.append(f'line {event.start_mark.line + 1}: key "{where.key}" already set in map')


def _place(event: Any) -> str:
    return f"line {event.start_mark.line + 1}: "


def _to_merge(value: Any, event: Any) -> list[dict[str, Any]]:
    maps = value if isinstance(value, list) else [value]
    if not all(isinstance(item, dict) for item in maps):
        raise DocumentUnreadable(f"{_place(event)}map merge requires map or sequence of maps as the value")
    return maps


def _merged(maps: list[dict[str, Any]]) -> dict[str, Any]:
    """What stands first counts."""
    merged: dict[str, Any] = {}
    for item in maps:
        merged |= {key: value for key, value in item.items() if key not in merged}
    return merged


def _key(value: Any, event: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    shown = "map" if isinstance(value, dict) else "list"
    raise DocumentUnreadable(f"{_place(event)}a key must be a text, not {'null' if value is None else shown}")


def _scalar(event: Any) -> Any:
    text: str = event.value
    tag = event.tag
    if tag is None or tag == "!":
        return _plain(text, event) if tag is None and event.implicit[0] else text
    if tag == _TAG + "str":
        return text
    if tag == _TAG + "binary":
        return _binary(text, event)
    value = _plain(text, event)
    if tag == _TAG + "float" and type(value) is int:
        return float(value)
    kinds: dict[str, Any] = {"int": int, "float": float, "bool": bool, "null": type(None)}
    if not tag.startswith(_TAG) or tag.removeprefix(_TAG) not in kinds:
        raise DocumentUnreadable(f"{_place(event)}unknown tag {tag}")
    if type(value) is not kinds[tag.removeprefix(_TAG)]:
        raise DocumentUnreadable(f"{_place(event)}cannot decode {_shown(text)} as a {tag.removeprefix(_TAG)}")
    return value


def reads_as_text(text: str) -> bool:
    """Whether a text needs no quotes to be read as one."""
    return text not in _WORDS and not (_INTEGER.fullmatch(text) or _FLOAT.fullmatch(text) or _ENDLESS.fullmatch(text))


def _plain(text: str, event: Any) -> Any:
    """What a text without quotes means."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "-+.0123456789":
        return text
    if len(text) > LONGEST_NUMBER:
        return text
    whole = _INTEGER.fullmatch(text)
    if whole and len(text) <= 64:
        digits, base = next(
            (digits.replace("_", ""), base) for digits, base in zip(whole.groups()[1:], _BASES, strict=True) if digits
        )
        number = int(whole[1] + (digits or "0"), base)
        return number if -(2**63) <= number < 2**64 else float(number)
    if not _ENDLESS.fullmatch(text):
        if not _FLOAT.fullmatch(text):
            return text
        float_number = float(text.replace("_", ""))
        if math.isfinite(float_number):
            return float_number
    raise DocumentUnreadable(f"{_place(event)}{_shown(text)} is no number that JSON can write")


def _binary(text: str, event: Any) -> str:
    try:
        return base64.b64decode(text).decode()
    except (binascii.Error, ValueError):
        raise DocumentUnreadable(f"{_place(event)}!!binary value contains invalid base64 data") from None


def _shown(text: str) -> str:
    return text if len(text) <= 30 else f"{text[:30]} ..."


_CONTROLS = re.compile(r"[\x7f-\x9f]")


def json_text(data: Any) -> str:
    return without_controls(json.dumps(data, indent=2, ensure_ascii=False))


def without_controls(text: str) -> str:
    """The same JSON without control characters: those that its strings may have as they are, a terminal would obey."""
    return _CONTROLS.sub(lambda control: f"\\u{ord(control.group()):04x}", text)

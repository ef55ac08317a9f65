"""String formats of OpenAPI schemas that the server checks; any other format is only a hint."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from datetime import date, datetime
from urllib.parse import urlsplit

from gangline.rules.values.names import label_problems, subdomain_problems
from gangline.rules.values.times import is_go_duration

_HOST = re.compile(r"(?:[^\W_](?:(?:-?[^\W_]{0,62})?)|(?:[^\W_](?:(?:[^\W_]|-){0,61}[^\W_])?\.)+[^\W\d_]{2,63})\Z")
_LONG_DURATION = re.compile(
    r"\d+\s*(?:ns|nano|us|µs|micro|ms|milli|s|sec|seconds?|m|min|minutes?|h|hr|hours?|d|days?|w|weeks?)\Z", re.I
)
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)\Z", re.ASCII)
_HEX = r"[0-9a-fA-F]"


def _address(version: int) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            return ipaddress.ip_address(text).version == version and "%" not in text
        except ValueError:
            return False

    return check


def _cidr(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def _byte(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return bool(text)


def _date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == 10


def date_time(text: str) -> bool:
    if not _DATE_TIME.match(text):
        return False
    try:
        datetime.fromisoformat(text[:19].upper().replace(" ", "T"))
    except ValueError:
        return False
    return True


def duration(text: str) -> bool:
    return is_go_duration(text) or bool(_LONG_DURATION.match(text))


def _uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return text.startswith("/") or bool(re.match(r"[a-zA-Z][-+.a-zA-Z0-9]*:", text) and (parts.netloc or parts.path))


def _isbn(text: str) -> bool:
    digits = re.sub(r"[\s-]", "", text)
    if re.fullmatch(r"\d{9}[\dX]", digits):
        return sum((10 - at) * (10 if char == "X" else int(char)) for at, char in enumerate(digits)) % 11 == 0
    return (
        bool(re.fullmatch(r"\d{13}", digits))
        and sum(int(c) * (3 if at % 2 else 1) for at, c in enumerate(digits)) % 10 == 0
    )


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: bool(compiled.fullmatch(text))


_UUID = rf"{_HEX}{{8}}-?{_HEX}{{4}}-?%s{_HEX}{{3}}-?%s{_HEX}{{3}}-?{_HEX}{{12}}"
FORMATS: dict[str, Callable[[str], bool]] = {
    "byte": _byte,
    "date": _date,
    "date-time": date_time,
    "datetime": date_time,
    "duration": duration,
    "uri": _uri,
    "cidr": _cidr,
    "ipv4": _address(4),
    "ipv6": _address(6),
    "hostname": lambda text: (
        bool(_HOST.match(text)) and len(text) <= 255 and all(len(part) <= 63 for part in text.split("."))
    ),
    "email": _matches(r"(?:[^<>]*<)?[^@\s<>(),:;]+@[^@\s<>(),:;]+>?"),
    "mac": _matches(
        rf"(?:{_HEX}{{2}}([-:]){_HEX}{{2}}(?:\1{_HEX}{{2}}){{4}}(?:(?:\1{_HEX}{{2}}){{2}}|(?:\1{_HEX}{{2}}){{14}})?"
        rf"|{_HEX}{{4}}\.{_HEX}{{4}}\.{_HEX}{{4}}(?:\.{_HEX}{{4}})?)"
    ),
    "uuid": _matches(_UUID % (_HEX, _HEX)),
    "uuid3": _matches(_UUID % ("3", _HEX)),
    "uuid4": _matches(_UUID % ("4", "[89abAB]")),
    "uuid5": _matches(_UUID % ("5", "[89abAB]")),
    "isbn": _isbn,
    "isbn10": lambda text: _isbn(text) and len(re.sub(r"[\s-]", "", text)) == 10,
    "isbn13": lambda text: _isbn(text) and len(re.sub(r"[\s-]", "", text)) == 13,
    "ssn": _matches(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "hexcolor": _matches(r"#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _matches(r"rgb\(\s*(?:\d{1,3})\s*,\s*(?:\d{1,3})\s*,\s*(?:\d{1,3})\s*\)"),
    "creditcard": _matches(r"[\d -]{13,23}"),
    "bsonobjectid": _matches(rf"{_HEX}{{24}}"),
    "k8s-short-name": lambda text: not label_problems(text),
    "k8s-long-name": lambda text: not subdomain_problems(text),
}

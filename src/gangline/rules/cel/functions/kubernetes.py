"""Kubernetes' own functions for CEL: quantities, URLs, addresses, formats, versions. Same form as standard.py."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from gangline.api import resources
from gangline.rules.cel.values import NONE, CelError, Format, Optional, Quantity, Semver, Url
from gangline.rules.values import names
from gangline.rules.values.canonical import QUANTITY_RULE
from gangline.rules.values.formats import FORMATS as STRING_FORMATS

SIGNATURES = """
quantity(string) -> quantity
isQuantity(string) -> bool
quantity .isInteger() -> bool
quantity .asInteger() -> int
quantity .asApproximateFloat() -> double
quantity .add(quantity) -> quantity
quantity .add(int) -> quantity
quantity .sub(quantity) -> quantity
quantity .sub(int) -> quantity
quantity .isGreaterThan(quantity) -> bool
quantity .isLessThan(quantity) -> bool
quantity .compareTo(quantity) -> int
url(string) -> url
isURL(string) -> bool
url .getScheme() -> string
url .getHost() -> string
url .getHostname() -> string
url .getPort() -> string
url .getEscapedPath() -> string
url .getQuery() -> map(string, list(string))
ip(string) -> ip
isIP(string) -> bool
ip.isCanonical(string) -> bool
ip .family() -> int
ip .isUnspecified() -> bool
ip .isLoopback() -> bool
ip .isLinkLocalMulticast() -> bool
ip .isLinkLocalUnicast() -> bool
ip .isGlobalUnicast() -> bool
string(ip) -> string
cidr(string) -> cidr
isCIDR(string) -> bool
cidr .containsIP(ip) -> bool
cidr .containsIP(string) -> bool
cidr .containsCIDR(cidr) -> bool
cidr .containsCIDR(string) -> bool
cidr .ip() -> ip
cidr .masked() -> cidr
cidr .prefixLength() -> int
string(cidr) -> string
format.named(string) -> optional_type(format)
format .validate(string) -> optional_type(list(string))
semver(string) -> semver
semver(string, bool) -> semver
isSemver(string) -> bool
isSemver(string, bool) -> bool
semver .major() -> int
semver .minor() -> int
semver .patch() -> int
semver .isGreaterThan(semver) -> bool
semver .isLessThan(semver) -> bool
semver .compareTo(semver) -> int
"""


def quantity(text: Any) -> Quantity:
    try:
        return Quantity(resources.nanos(text))
    except (resources.QuantityError, ValueError, TypeError):
        raise CelError(QUANTITY_RULE) from None


def _nanos(value: Any) -> int:
    return value.nanos if isinstance(value, Quantity) else int(value) * resources.NANO


def as_integer(value: Quantity) -> int:
    if value.nanos % resources.NANO:
        raise CelError("cannot convert value to integer")
    return value.nanos // resources.NANO


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def url(text: Any) -> Url:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except (ValueError, AttributeError):
        raise CelError(
            f'URL parse error during conversion from string: parse "{text}": invalid URI for request'
        ) from None
    absolute = bool(parts.scheme and (parts.netloc or parts.path)) or text.startswith("/")
    if not absolute or re.search(r"[\x00-\x20\x7f]", text):
        raise CelError(f'URL parse error during conversion from string: parse "{text}": invalid URI for request')
    return Url(parts, text)


def _host(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def ip(text: Any) -> Any:
    try:
        if not isinstance(text, str) or "%" in text:
            raise ValueError
        return ipaddress.ip_address(text)
    except ValueError:
        raise CelError(f'IP Address "{text}" parse error during conversion from string: unable to parse IP') from None


def cidr(text: Any) -> Any:
    try:
        if not isinstance(text, str) or "/" not in text:
            raise ValueError
        return ipaddress.ip_interface(text)
    except ValueError:
        raise CelError(
            f"network address parse error during conversion from string: netip.ParsePrefix(\"{text}\"): no '/'"
        ) from None


def contains_ip(network: Any, address: Any) -> bool:
    parsed = ip(address) if isinstance(address, str) else address
    return parsed.version == network.version and parsed in network.network


def contains_cidr(network: Any, other: Any) -> bool:
    inner = cidr(other) if isinstance(other, str) else other
    return inner.version == network.version and bool(inner.network.subnet_of(network.network))


_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?\Z",
    re.ASCII,
)


def semver(text: Any, normalize: bool = False) -> Semver:
    given = text
    if normalize and isinstance(text, str):
        core = re.match(r"v?([0-9.]*)(.*)", text)
        if core:
            numbers = [str(int(part)) if part else "0" for part in [*core.group(1).split("."), "0", "0"][:3]]
            text = ".".join(numbers) + core.group(2)
    match = _SEMVER.match(text) if isinstance(text, str) else None
    if match is None:
        raise CelError(f'Semver parse error during conversion from string "{given}"')
    major, minor, patch, pre = match.groups()
    return Semver(int(major), int(minor), int(patch), tuple(pre.split(".")) if pre else ())


def _can(read: Callable[..., Any]) -> Callable[..., bool]:
    def check(*args: Any) -> bool:
        try:
            read(*args)
        except CelError:
            return False
        return True

    return check


def _by_format(name: str, words: str) -> Callable[[str], list[str]]:
    return lambda text: [] if STRING_FORMATS[name](text) else [words]


def _prefix(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    return lambda text: check(text[:-1] + "a" if text.endswith("-") else text)


FORMATS: dict[str, Callable[[str], list[str]]] = {
    "dns1123Label": names.label_problems,
    "dns1123Subdomain": names.subdomain_problems,
    "dns1035Label": names.dns1035_problems,
    "qualifiedName": names.qualified_name_problems,
    "labelValue": names.label_value_problems,
    "dns1123LabelPrefix": _prefix(names.label_problems),
    "dns1123SubdomainPrefix": _prefix(names.subdomain_problems),
    "dns1035LabelPrefix": _prefix(names.dns1035_problems),
    "uri": _by_format("uri", "must be a valid URI"),
    "uuid": _by_format("uuid", "does not match the UUID format"),
    "byte": _by_format("byte", "invalid base64"),
    "date": _by_format("date", "invalid date"),
    "datetime": _by_format("date-time", "invalid datetime"),
}
SIGNATURES += "".join(f"format.{name}() -> format\n" for name in FORMATS)


def validate(form: Format, text: str) -> Optional:
    problems = FORMATS[form.name](text)
    return Optional(problems, True) if problems else NONE


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "quantity": quantity,
    "isQuantity": _can(quantity),
    ".isInteger": lambda value: value.nanos % resources.NANO == 0,
    ".asInteger": as_integer,
    ".asApproximateFloat": lambda value: value.nanos / resources.NANO,
    ".add": lambda a, b: Quantity(a.nanos + _nanos(b)),
    ".sub": lambda a, b: Quantity(a.nanos - _nanos(b)),
    ".isGreaterThan": lambda a, b: _rank(a) > _rank(b),
    ".isLessThan": lambda a, b: _rank(a) < _rank(b),
    ".compareTo": lambda a, b: (_rank(a) > _rank(b)) - (_rank(a) < _rank(b)),
    "url": url,
    "isURL": _can(url),
    ".getScheme": lambda value: value.parts.scheme,
    ".getHost": lambda value: _host(value.parts),
    ".getHostname": lambda value: value.parts.hostname or "",
    ".getPort": lambda value: str(value.parts.port or ""),
    ".getEscapedPath": lambda value: value.parts.path,
    ".getQuery": lambda value: parse_qs(value.parts.query, keep_blank_values=True),
    "ip": ip,
    "isIP": _can(ip),
    "ip.isCanonical": lambda text: str(ip(text)) == text,
    ".family": lambda value: value.version,
    ".isUnspecified": lambda value: value.is_unspecified,
    ".isLoopback": lambda value: value.is_loopback,
    ".isLinkLocalMulticast": lambda value: (
        value.is_multicast and (str(value).startswith("224.0.0.") or str(value).lower().startswith("ff02"))
    ),
    ".isLinkLocalUnicast": lambda value: value.is_link_local,
    ".isGlobalUnicast": lambda value: (
        not (value.is_unspecified or value.is_loopback or value.is_multicast or value.is_link_local)
    ),
    "cidr": cidr,
    "isCIDR": _can(cidr),
    ".containsIP": contains_ip,
    ".containsCIDR": contains_cidr,
    ".ip": lambda value: value.ip,
    ".masked": lambda value: ipaddress.ip_interface(str(value.network)),
    ".prefixLength": lambda value: value.network.prefixlen,
    "format.named": lambda name: Optional(Format(name), True) if name in FORMATS else NONE,
    ".validate": validate,
    "semver": semver,
    "isSemver": _can(semver),
    ".major": lambda value: value.major,
    ".minor": lambda value: value.minor,
    ".patch": lambda value: value.patch,
    **{f"format.{name}": (lambda name=name: Format(name)) for name in FORMATS},
}


def _rank(value: Any) -> Any:
    return value.rank() if isinstance(value, Semver) else value.nanos

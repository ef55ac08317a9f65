"""IP addresses and blocks of them, as the older API fields read them: forgiving about leading zeros, with a warning."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from gangline.errors import Problem
from gangline.rules.values import problems as say

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Block = ipaddress.IPv4Network | ipaddress.IPv6Network
NOT_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
NOT_BLOCK = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
_ZEROS = re.compile(r"(?<![0-9a-fA-F:])0+(?=[0-9])")


def read_ip(text: str) -> Address | None:
    plain = _ZEROS.sub("", text) if re.fullmatch(r"[0-9.]+", text) else text
    try:
        return ipaddress.ip_address(plain) if "%" not in plain else None
    except ValueError:
        return None


def read_cidr(text: str) -> Block | None:
    address, slash, length = text.partition("/")
    base = read_ip(address)
    if base is None or not slash or not (length.isascii() and length.isdigit()):
        return None
    try:
        return ipaddress.ip_network(f"{base}/{length}", strict=False)
    except ValueError:
        return None


def legacy_ip(text: str, path: str) -> tuple[Problem, ...]:
    return () if read_ip(text or "") is not None else (say.invalid(path, text, NOT_ADDRESS),)


def legacy_cidr(text: str, path: str) -> tuple[Problem, ...]:
    return () if read_cidr(text or "") is not None else (say.invalid(path, text, NOT_BLOCK),)


def external(text: str, path: str) -> tuple[Problem, ...]:
    """An address that others are to reach: not this machine, not this link."""
    address = read_ip(text)
    if address is None:
        return ()
    if address.is_unspecified:
        return (say.invalid(path, text, f"may not be unspecified ({text})"),)
    if address.is_loopback:
        return (say.invalid(path, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)"),)
    if address.is_link_local:
        return (say.invalid(path, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"),)
    if any(address in ipaddress.ip_network(block) for block in ("224.0.0.0/24", "ff02::/16")):
        return (say.invalid(path, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"),)
    return ()


def legacy_warnings(text: str, path: str) -> Iterator[str]:
    address = read_ip(text)
    if address is None:
        return
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    if mapped is not None or (re.fullmatch(r"[0-9.]+", text) and str(address) != text):
        yield (
            f'{path}: non-standard IP address "{text}" will be considered invalid in a future Kubernetes release: '
            f'use "{mapped or address}"'
        )
    elif str(address) != text:
        yield f'{path}: IPv6 address "{text}" should be in RFC 5952 canonical format ("{address}")'


def cidr_warnings(text: str, path: str) -> Iterator[str]:
    block = read_cidr(text)
    if block is None:
        return
    address = read_ip(text.partition("/")[0])
    if address != block.network_address:
        yield (
            f'{path}: CIDR value "{text}" is ambiguous in this context (should be "{block}" or '
            f'"{address}/{block.max_prefixlen}"?)'
        )

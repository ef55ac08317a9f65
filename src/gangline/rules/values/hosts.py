"""Names and addresses of listeners: whether one is this machine's, and how an address is written in a flag.

Asked by runtime/health.py before it serves a page. Pure."""

from __future__ import annotations

import ipaddress
import re


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_HOST = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9.-]+))(?::[0-9]*)?", re.ASCII)


def names_this_machine(host: str) -> bool:
    """Whether a request was meant for this machine. A foreign name that leads here is a web page reaching through
    somebody's browser."""
    parts = _HOST.fullmatch(host)
    return parts is not None and is_loopback((parts["six"] or parts["name"]).lower())


def split_address(address: str, default_port: int) -> tuple[str, int]:
    """`:8080`, `127.0.0.1:8080` or `0` (off) as host and port."""
    host, _, port = address.rpartition(":")
    return host.strip("[]") or "0.0.0.0", int(port or default_port)

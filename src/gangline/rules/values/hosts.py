"""Names and addresses: whether a listener's is this machine's, how an address is written in a flag, and what that of a
server or a proxy looks like.

Asked by runtime/health.py before it serves a page, and by client/ before it connects. Pure."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from gangline.errors import ConfigError


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


def is_server(text: str) -> bool:
    """The address of a server or a proxy: http(s)://host[:port]."""
    try:
        where = urlsplit(text)
        return where.scheme in ("http", "https") and bool(where.hostname) and where.port != 0 and text.isprintable()
    except ValueError:
        return False


def checked_proxy(proxy: str) -> str:
    """A proxy's address, or none at all."""
    if proxy and not is_server(proxy):
        raise ConfigError(f"the proxy {proxy!r} is none that is understood; one is written http://host:port")
    return proxy

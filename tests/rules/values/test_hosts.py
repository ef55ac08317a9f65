"""Addresses to listen on and names of hosts: what means this machine, and what is filled in."""

from __future__ import annotations

import pytest

from gangline.errors import ConfigError
from gangline.rules.values.hosts import checked_proxy, is_loopback, is_server, names_this_machine, split_address


@pytest.mark.parametrize(
    ("address", "host", "port"),
    [
        (":8080", "0.0.0.0", 8080),
        ("127.0.0.1:9", "127.0.0.1", 9),
        ("[::1]:9", "::1", 9),
        ("metrics.example.com:", "metrics.example.com", 7),
        ("0", "0.0.0.0", 0),
        ("", "0.0.0.0", 7),
    ],
)
def test_an_address_names_host_and_port_or_leaves_them_to_the_default(address: str, host: str, port: int) -> None:
    assert split_address(address, default_port=7) == (host, port)


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("127.0.0.1:8443", True),
        ("[::1]:8443", True),
        ("LOCALHOST:1", True),
        ("127.0.0.1.example.com", False),
        ("example.com", False),
        ("localhost@example.com", False),
        ("", False),
    ],
)
def test_only_a_name_of_this_machine_reaches_it_through_a_browser(host: str, here: bool) -> None:
    assert names_this_machine(host) is here


def test_a_loopback_address_is_one_of_127_or_of_ipv6() -> None:
    assert [host for host in ("127.9.9.9", "::1", "10.0.0.1", "0.0.0.0") if is_loopback(host)] == ["127.9.9.9", "::1"]


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("https://10.0.0.1:6443", True),
        ("http://proxy.example.com", True),
        ("https://[::1]:6443/prefix", True),
        ("ftp://proxy.example.com", False),
        ("proxy.example.com:8080", False),
        ("http://", False),
        ("http://a:0", False),
        ("http://a:99999", False),
        ("http://[::1", False),
        ("http://a\x07b", False),
    ],
)
def test_an_address_of_a_server_has_a_scheme_a_host_and_a_port_that_can_be(text: str, server: bool) -> None:
    assert is_server(text) is server


def test_no_proxy_is_fine_and_one_that_is_none_is_refused_with_how_it_is_written() -> None:
    assert checked_proxy("") == "" and checked_proxy("http://proxy:3128") == "http://proxy:3128"
    with pytest.raises(ConfigError, match="the proxy 'proxy:3128' is none that is understood; one is written http://"):
        checked_proxy("proxy:3128")

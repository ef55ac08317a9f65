"""A kubeconfig that cannot be used is refused with the file, the place and the reason; never with a traceback."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from gangline.client import kubeconfig
from gangline.client.exec_credentials import ExecToken
from gangline.client.kubeconfig import in_cluster, load, transport
from gangline.client.wire import Request
from gangline.cluster.server.access.identity import CertificateAuthority
from gangline.errors import ConfigError


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def written(folder: Path, cluster: Any, user: Any = None) -> Path:
    file = folder / "config"
    file.write_text(
        yaml.safe_dump(
            {
                "current-context": "c",
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
                "clusters": [{"name": "c", "cluster": cluster}],
                "users": [{"name": "c", "user": user}],
            }
        )
    )
    return file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"\x00\x01\xff", "is not a readable kubeconfig"),
        (b"a: [", "is not a readable kubeconfig"),
        (b"[" * 100_000, "is not a readable kubeconfig"),
        (b"just words", "is not a kubeconfig: it holds no mapping"),
        (b"contexts: 5", "is not a kubeconfig: its contexts are no list of mappings"),
        (b"contexts: [1, 2]", "is not a kubeconfig: its contexts are no list of mappings"),
        (b"current-context: c\ncontexts: [{name: c, context: many}]", "is not a kubeconfig: context 'c' is no mapping"),
        (b"{}", "has no context ''; it has: none"),
    ],
)
def test_garbage_is_told_from_a_kubeconfig(tmp_path: Path, text: bytes, said: str) -> None:
    (tmp_path / "config").write_bytes(text)
    with pytest.raises(ConfigError) as refusal:
        load(tmp_path / "config")
    assert str(refusal.value).startswith(f"{tmp_path / 'config'} {said}")


@pytest.mark.parametrize(
    "server",
    ["localhost", "ftp://a", "https://", "https://a:many", "https://a:99999", "https://a\r\nb", "https://[::1"],
)
def test_a_server_is_an_address(tmp_path: Path, server: str) -> None:
    with pytest.raises(ConfigError, match=r"the server of cluster 'c' is .*; it is written https://host:port"):
        load(written(tmp_path, {"server": server}))


PAIR = CertificateAuthority.make().client("a")


@pytest.mark.parametrize(
    ("cluster", "user", "said"),
    [
        (
            {"certificate-authority": "none.crt"},
            {},
            "its certificate-authority 'none.crt' cannot be read: No such file or directory",
        ),
        ({"certificate-authority-data": "%%%"}, {}, "its certificate-authority-data is no base64"),
        (
            {"certificate-authority-data": encoded(b"no certificate")},
            {},
            "its certificate-authority holds no certificate in PEM: ",
        ),
        (
            {"certificate-authority-data": encoded(b"\xff\xfe")},
            {},
            "its certificate-authority holds no certificate in PEM: ",
        ),
        (
            {},
            {
                "client-certificate-data": encoded(PAIR.certificate),
                "client-key-data": encoded(CertificateAuthority.make().client("b").key),
            },
            "its client-certificate and client-key are no pair in PEM: ",
        ),
        (
            {},
            {"client-certificate-data": encoded(b"x"), "client-key-data": encoded(b"y")},
            "its client-certificate and client-key are no pair in PEM: ",
        ),
        ({}, {"exec": {"args": []}}, "its exec names no command"),
        ({}, {"exec": ["a"]}, "its exec names no command"),
        ({}, {"exec": {"command": "a", "args": 5}}, "its exec has args that are no list of texts"),
        ({}, {"exec": {"command": "a", "args": [["b"]]}}, "its exec has args that are no list of texts"),
        ({}, {"exec": {"command": "a", "env": {"b": "c"}}}, "its exec has an env that is no list of names with values"),
        ({}, {"exec": {"command": "a", "env": [{}]}}, "its exec has an env that is no list of names with values"),
        ({"proxy-url": ["http://a:1"]}, {}, "its proxy-url is no text"),
        ({"proxy-url": 5}, {}, "its proxy-url is no text"),
        ({}, {"token": "t", "as": "viewer"}, "its user acts as somebody else (`as`), which is not known here"),
    ],
)
def test_certificates_that_cannot_be_used_are_named(tmp_path: Path, cluster: Any, user: Any, said: str) -> None:
    target = load(written(tmp_path, {"server": "https://a:1", **cluster}, user))
    with pytest.raises(ConfigError) as refusal:
        transport(target)
    assert str(refusal.value).startswith(f"{tmp_path / 'config'}: {said}")


def test_a_token_that_would_be_more_than_one_header_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds a token with characters that no token has"):
        transport(load(written(tmp_path, {"server": "http://a:1"}, {"token": "a\r\nx-other: b"})))


async def test_a_token_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    carrier = transport(load(written(tmp_path, {"server": "http://127.0.0.1:1"}, {"tokenFile": "none"})))
    with pytest.raises(ConfigError, match=r"the token in .*/none cannot be read: No such file or directory"):
        await carrier.send(Request("GET", "/version"))
    await carrier.close()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["no-such-plug-in"], "the credential plug-in 'no-such-plug-in' cannot be started: No such file or directory"),
        (["false"], "the credential plug-in 'false' failed: "),
        (["echo", "no json"], "the credential plug-in 'echo' did not answer with an ExecCredential: "),
        (["a\0b"], "the credential plug-in 'a\\x00b' cannot be started: embedded null byte"),
        (["echo", "[]"], "the credential plug-in 'echo' did not answer with an ExecCredential: "),
    ],
)
async def test_a_credential_plug_in_that_gives_none_is_named(command: list[str], said: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        await ExecToken({"command": command[0], "args": command[1:]})()
    assert str(refusal.value).startswith(said)


def test_a_pod_without_its_accounts_files_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setattr(kubeconfig, "SERVICE_ACCOUNT", tmp_path)
    with pytest.raises(
        ConfigError, match=r"ca.crt cannot be used: No such file or directory; the pod needs the token of its service"
    ):
        in_cluster()


def test_a_pair_that_fits_is_taken(tmp_path: Path) -> None:
    authority = CertificateAuthority.make()
    pair = authority.client("a")
    user = {"client-certificate-data": encoded(pair.certificate), "client-key-data": encoded(pair.key)}
    target = load(
        written(
            tmp_path, {"server": "https://a:1", "certificate-authority-data": encoded(authority.pair.certificate)}, user
        )
    )
    assert transport(target).server == "https://a:1"

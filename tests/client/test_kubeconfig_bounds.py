"""A kubeconfig is read like any other YAML, and all that it names: within bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from gangline.client import exec_credentials, kubeconfig
from gangline.client.exec_credentials import ExecToken
from gangline.client.tokens import read_token
from gangline.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[" * 100_000, "is not a readable kubeconfig: line 1: exceeded max depth of 100"),
        (
            "a: &a [x]\nb: &b [" + "*a, " * 999 + "*a]\nc: [" + "*b, " * 99 + "*b]",
            "is not a readable kubeconfig: line 3: document contains excessive aliasing",
        ),
    ],
)
def test_a_kubeconfig_beyond_the_bounds_is_refused(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "config").write_text(text)
    with pytest.raises(ConfigError, match=told):
        kubeconfig.load(tmp_path / "config")


ENDLESS = Path("/dev/zero")


def test_a_file_without_end_is_no_kubeconfig_no_token_and_no_certificate(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"is not a readable kubeconfig: .*File too large"):
        kubeconfig.load(ENDLESS)
    with pytest.raises(ConfigError, match="cannot be read: File too large"):
        read_token(ENDLESS)
    (tmp_path / "config").write_text(
        "{current-context: c, contexts: [{name: c, context: {cluster: c}}], "
        "clusters: [{name: c, cluster: {server: 'https://x', certificate-authority: /dev/zero}}], users: []}"
    )
    with pytest.raises(ConfigError, match="its certificate-authority '/dev/zero' cannot be read: File too large"):
        kubeconfig.transport(kubeconfig.load(tmp_path / "config"))


@pytest.mark.parametrize("where", ["", " >&2"])
async def test_a_plug_in_that_never_stops_talking_is_ended(where: str) -> None:
    with pytest.raises(ConfigError, match="'sh' printed more than 1048576 bytes"):
        await ExecToken({"command": "sh", "args": ["-c", f"exec cat /dev/zero{where}"]})()


async def test_a_plug_in_that_says_nothing_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exec_credentials, "PATIENCE", 0.2)
    with pytest.raises(ConfigError, match=r"'sleep' did not answer within 0.2 s"):
        await ExecToken({"command": "sleep", "args": ["1000"]})()

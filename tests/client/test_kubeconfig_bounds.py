"""A kubeconfig is read like any other YAML: within bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from gangline.client import kubeconfig
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

"""Before a command works: Ctrl-C while it is read from disk, and what a component must be told."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from gangline.component_names import COMPONENT_NAMES
from gangline.components import COMPONENTS

INTERRUPTED = """
import os, runpy, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == MODULE:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
sys.argv = ["gangline", "up", "--memory", "--port", "0", "--no-dashboard"]
runpy.run_module("gangline", run_name="__main__")
"""


@pytest.mark.parametrize("module", ["gangline.cli", "click", "gangline.cli.local.up"])
def test_ctrl_c_while_it_is_imported_ends_it_without_a_word(module: str) -> None:
    script = INTERRUPTED.replace("MODULE", repr(module))
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_the_console_script_begins_there_too() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert set(project["project"]["scripts"].values()) == {"gangline.start:main"}


KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
"""


def run_component(tmp_path: Path, component: str, kubeconfig: str, *flags: str) -> tuple[int, str]:
    file = tmp_path / "kubeconfig"
    file.write_text(kubeconfig)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("POD_", "KUBERNETES_"))}
    done = subprocess.run(
        [sys.executable, "-m", "gangline", "run", component, "--kubeconfig", str(file), *flags],
        check=False,
        capture_output=True,
        text=True,
        env=kept,
    )
    return done.returncode, done.stderr.replace(str(tmp_path), "…")


def test_a_reservation_that_does_not_know_its_pod_says_so_and_ends(tmp_path: Path) -> None:
    assert run_component(tmp_path, "resource-reservation", KUBECONFIG) == (
        1,
        "error: POD_NAME and POD_NAMESPACE must say which pod this is\n",
    )


@pytest.mark.parametrize("kubeconfig", ["a: [", "- no mapping", "{}", "\x00"])
def test_a_kubeconfig_that_cannot_be_used_is_told_without_a_traceback(tmp_path: Path, kubeconfig: str) -> None:
    code, told = run_component(tmp_path, "binder", kubeconfig)
    assert code == 1
    assert told.startswith("error: …/kubeconfig ")
    assert "Traceback" not in told


HELPED = """
import sys
from click.testing import CliRunner
from gangline.cli import COMMANDS, group

for name in COMMANDS:
    assert CliRunner().invoke(group, [name, "--help"]).exit_code == 0, name
    print(name, *(module for module in LOADED if module in sys.modules))
"""
LOADED = (
    "msgspec",
    "yaml",
    "aiohttp",
    "prometheus_client",
    "gangline.client",
    "gangline.api.kinds",
    "gangline.runtime",
)


def test_help_of_no_command_loads_what_only_its_work_needs() -> None:
    script = HELPED.replace("LOADED", repr(LOADED))
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert [line for line in done.stdout.splitlines() if " " in line] == []


LOOKING = """
import sys
import gangline.cli.look.summaries, gangline.cli.look.sight, gangline.client.kubeconfig

print(*(name for name in sys.modules if name.startswith(("gangline.scheduler.", "aiohttp", "urllib.request"))))
"""


def test_who_only_looks_at_a_cluster_loads_no_scheduler() -> None:
    done = subprocess.run([sys.executable, "-c", LOOKING], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


def test_every_component_that_can_be_built_is_named_and_no_other() -> None:
    assert tuple(COMPONENTS) == COMPONENT_NAMES

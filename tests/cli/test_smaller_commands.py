"""Commands that need no cluster: examples, completion, wrong settings of a queue; and how we are called."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.test_commands import call
from gangline.cli import group
from gangline.cli.local.examples import applying
from gangline.cli.objects.queue_settings import SETTINGS, patch_of
from gangline.errors import BadInput

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_examples_are_written_as_files_once(tmp_path: Path) -> None:
    target = tmp_path / "mine"
    done = CliRunner().invoke(group, ["examples", str(target)])
    assert (
        done.exit_code == 0 and f"next: gangline up, and in another terminal: gangline apply -f {target}" in done.output
    )
    assert (target / "01-gang" / "llm.yaml").read_text() == (EXAMPLES / "01-gang" / "llm.yaml").read_text()
    again = CliRunner().invoke(group, ["examples", str(target)])
    assert isinstance(again.exception, BadInput) and "exists already; name another folder" in str(again.exception)


def test_what_to_try_next_uses_only_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert applying("01-gang") == "gangline examples; gangline apply -f gangline-examples/01-gang; gangline top"
    kubectl = tmp_path / "kubectl"
    kubectl.write_text("#!/bin/sh\n")
    kubectl.chmod(0o755)
    (tmp_path / "examples" / "01-gang").mkdir(parents=True)
    assert applying("01-gang") == "kubectl apply -f examples/01-gang; kubectl get pods -w"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_completion_prints_is_accepted_by_the_shell(shell: str) -> None:
    printed = CliRunner().invoke(group, ["completion", shell])
    assert printed.exit_code == 0 and "_GANGLINE_COMPLETE" in printed.output
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=printed.output, text=True, check=True)


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_in_bash_the_value_of_a_setting_follows_at_once(tmp_path: Path) -> None:
    (tmp_path / "rc").write_text(f"PATH={Path(sys.executable).parent}:$PATH\nsource <(gangline completion bash)\n")
    played = "import pty, sys; pty.spawn(['bash', '--rcfile', sys.argv[1], '-i'])"
    typed = "gangline queue set team gpu.li\t8 --help\nexit\n"
    done = subprocess.run(
        [sys.executable, "-c", played, str(tmp_path / "rc")], input=typed, text=True, capture_output=True, timeout=60
    )
    assert "gangline queue set team gpu.limit=8 --help" in done.stdout


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("gpu.qota=8", "; did you mean 'gpu.quota'?"),
        ("zzz=8", f": write SETTING=VALUE with {', '.join(SETTINGS)}"),
        ("gpu.quota", f": write SETTING=VALUE with {', '.join(SETTINGS)}"),
    ],
)
def test_a_wrong_setting_of_a_queue_names_the_one_that_was_meant_or_those_there_are(written: str, told: str) -> None:
    with pytest.raises(BadInput) as refused:
        patch_of([written])
    assert str(refused.value) == f"{written!r} is no setting of a queue{told}"


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("gpu.quota=-3", "it must not be negative; `unlimited` stands for no bound"),
        ("gpu.quota=many", "'many' is no amount: write a number of GPUs, as in 8 or 0.5, or unlimited"),
        ("memory.quota=4Gx", "4Gx"),
        ("priority=high", "'high' is no number"),
        ("preempt-min-runtime=soon", "soon"),
    ],
)
def test_a_value_that_cannot_be_used_is_told_with_its_setting(setting: str, problem: str) -> None:
    with pytest.raises(BadInput) as refused:
        patch_of([setting])
    assert str(refused.value).startswith(f"{setting}: ") and problem in str(refused.value)


def test_a_shell_completes_settings_of_a_queue_that_are_not_on_the_line_yet() -> None:
    from click.shell_completion import ShellComplete

    from gangline.cli import group

    complete = ShellComplete(group, {}, "gangline", "_GANGLINE_COMPLETE").get_completions
    found = [item.value for item in complete(["queue", "set", "team", "gpu.quota=8"], "gpu.")]
    assert found == ["gpu.limit=", "gpu.weight="]


def test_none_stands_for_no_bound_and_no_parent() -> None:
    assert patch_of(["cpu.limit=none", "parent=none"]) == {"resources": {"cpu": {"limit": -1}}, "parentQueue": None}


def test_upstreams_word_for_a_weight_is_understood() -> None:
    assert patch_of(["gpu.overQuotaWeight=2", "parent="]) == {
        "resources": {"gpu": {"overQuotaWeight": 2}},
        "parentQueue": None,
    }


def test_kubectl_finds_us_as_a_plugin_and_help_says_so() -> None:
    program = Path(sys.executable).parent / "kubectl-gangline"
    shown = subprocess.run([str(program), "--help"], capture_output=True, text=True, check=True).stdout
    assert shown.startswith("Usage: kubectl gangline [OPTIONS] COMMAND")


@pytest.mark.parametrize(
    ("words", "answered"),
    [
        (["compl"], ["completion\tprint a completion script for bash, zsh or fish", ":4"]),
        (["run", "sched"], ["scheduler", ":4"]),
        (["queue", "set", "a", "gpu.l"], ["gpu.limit=", ":6"]),
        (["up", "--nodes", ""], [":0"]),
        (["completion", "csh"], [":4"]),
    ],
)
def test_kubectl_is_told_what_may_follow(words: list[str], answered: list[str]) -> None:
    program = Path(sys.executable).parent / "kubectl_complete-gangline"
    shown = subprocess.run([str(program), *words], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines() == answered


def test_nobody_who_asks_for_no_colour_gets_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "--version") == 0
    assert "\x1b" not in capsys.readouterr().out
    script = "import os, pty, sys; os.environ['NO_COLOR'] = sys.argv[1]; pty.spawn([sys.executable, '-c', sys.argv[2]])"
    inner = (
        "import click, gangline.cli as c; from gangline.cli.terminal import painted; "
        "c.group.callback = None; c.COMMANDS.clear(); "
        "red = click.Command('x', callback=lambda: click.echo(painted('hi', 'red'))); "
        "c.Commands.resolve_command = lambda *_: ('x', red, []); import sys; sys.argv = ['gangline', 'x']; c.main()"
    )
    for value, coloured in (("", True), ("1", False)):
        told = [sys.executable, "-c", script, value, inner]
        shown = subprocess.run(
            told, capture_output=True, text=True, check=True, env=os.environ | {"TERM": "xterm"}
        ).stdout
        assert ("\x1b[31m" in shown) is coloured

"""`gangline run` refuses flags that a component does not know, before anything else, and says which there are."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from gangline.cli.deploy import run
from gangline.cli.deploy.flags import MEANINGS
from gangline.component_flags import idle_flags, known_flags
from gangline.components import COMPONENTS

EVERY = [[name] for name in COMPONENTS] + [["backend", "kai"]]


def refused(*words: str) -> str:
    answer = CliRunner().invoke(run.command, list(words))
    return str(answer.exception)


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_a_flag_that_nobody_knows_is_refused_by_every_component(words: list[str]) -> None:
    assert "has no flag --bogus-flag; it knows --" in refused(*words, "--bogus-flag=1")


def test_what_was_meant_is_suggested() -> None:
    assert refused("scheduler", "--schduler-name=a").endswith("; did you mean --scheduler-name?")
    assert refused("operator", "--kubeconfg=a").endswith("; did you mean --kubeconfig?")
    assert "did you mean" not in refused("operator", "--bogus-flag=1")


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_the_help_of_a_component_lists_its_own_flags(words: list[str]) -> None:
    shown = CliRunner().invoke(run.command, [*words, "--help"])
    assert shown.exit_code == 0 and f"Flags of {words[0]}:" in shown.output
    for flag in ("--max-concurrent-reconciles", "--health-probe-bind-address") if words[0] == "grouper" else ():
        assert flag in shown.output
    assert "Accepted as upstream's, without effect here:" in shown.output and "--qps" in shown.output


def test_without_a_component_the_help_says_where_flags_are_listed() -> None:
    assert "`gangline run COMPONENT --help` lists the flags" in CliRunner().invoke(run.command, ["--help"]).output


def test_every_flag_with_an_effect_is_explained_and_no_other() -> None:
    used = {flag for name in (*COMPONENTS, "backend") for flag in known_flags(name) if flag not in idle_flags(name)}
    assert used - MEANINGS.keys() == set() and MEANINGS.keys() - used - {"schedule-period"} == set()


def test_upstreams_own_flags_stay_accepted() -> None:
    assert {"qps", "burst", "leader-elect", "zap-devel", "v"} <= set(known_flags("operator"))
    assert {"podresources-socket", "node-name"} <= set(known_flags("numa-placement-exporter"))

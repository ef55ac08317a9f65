"""Flags as upstream's components take them: every way to write one, and what is said of one that is not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gangline.errors import ConfigError
from gangline.rules.flags import pairs, parse, positive, refuse_unknown, truth, values


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        (["--a=1"], {"a": "1"}),
        (["--a", "1"], {"a": "1"}),
        (["-a=1"], {"a": "1"}),
        (["--a"], {"a": "true"}),
        (["--a", "--b", "2"], {"a": "true", "b": "2"}),
        (["--a="], {"a": ""}),
        (["--a=b=c"], {"a": "b=c"}),
        (["--a=1", "--a=2"], {"a": "2"}),
        ([], {}),
    ],
)
def test_a_flag_may_be_written_in_three_ways(arguments: list[str], flags: dict[str, str]) -> None:
    assert parse(arguments) == flags


@pytest.mark.parametrize("arguments", [["value"], ["--a=1", "value"], ["--a", "1", "2"]])
def test_a_word_that_belongs_to_no_flag_is_refused(arguments: list[str]) -> None:
    with pytest.raises(ConfigError, match=f"'{arguments[-1]}' is no flag: write --name=value"):
        parse(arguments)


def test_flags_become_settings_and_others_are_left_alone() -> None:
    table: dict[str, tuple[str, Callable[[str], Any]]] = {"max": ("most", int), "on": ("active", truth)}
    assert values({"max": "3", "other": "x"}, table) == {"most": 3}
    with pytest.raises(ConfigError, match="--max=many: invalid literal"):
        values({"max": "many"}, table)


def test_an_unknown_flag_is_named_with_those_that_are_known_and_the_nearest() -> None:
    refuse_unknown("binder", ["plugins"], ["plugins"])
    with pytest.raises(ConfigError) as refusal:
        refuse_unknown("binder", ["pluginz", "zzz"], ["plugins", "workers"])
    assert str(refusal.value) == (
        "the binder has no flag --pluginz, --zzz; it knows --plugins, --workers; did you mean --plugins?"
    )


def test_what_the_program_itself_reads_may_have_been_meant() -> None:
    with pytest.raises(ConfigError, match="did you mean --kubeconfig\\?"):
        refuse_unknown("binder", ["kubeconfg"], ["plugins"], ["kubeconfig"])


@pytest.mark.parametrize(
    ("text", "true"),
    [("true", True), ("T", True), ("1", True), ("", True), ("false", False), ("0", False), ("F", False)],
)
def test_a_switch_is_read_as_go_reads_it(text: str, true: bool) -> None:
    assert truth(text) is true


def test_a_switch_is_on_or_off() -> None:
    with pytest.raises(ValueError, match="'yes' is neither true nor false"):
        truth("yes")


@pytest.mark.parametrize("text", ["0", "-1", "inf", "nan"])
def test_a_rate_is_above_zero_and_has_an_end(text: str) -> None:
    with pytest.raises(ValueError, match="it must be above 0"):
        positive(text)
    assert positive("0.5") == 0.5


def test_pairs_are_keys_with_values() -> None:
    assert pairs("a=b, c = d,,e=") == {"a": "b", "c": "d", "e": ""}
    assert pairs("") == {}
    with pytest.raises(ValueError, match="'c' is not of the form key=value"):
        pairs("a=b,c")

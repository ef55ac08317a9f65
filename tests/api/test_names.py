"""Names that the operator makes: they follow from what they are for, and are those that Grove's tools look for."""

from __future__ import annotations

import re

from gangline.api import names


def test_names_of_a_set_say_replica_group_and_clique() -> None:
    assert names.set_replica("llm", 0) == "llm-0"
    assert names.standalone_clique("llm", 1, "router") == "llm-1-router"
    assert names.scaling_group("llm", 0, "workers") == "llm-0-workers"
    assert names.grouped_clique("llm-0-workers", 2, "decode") == "llm-0-workers-2-decode"
    assert names.scaled_gang("llm-0-workers", 0) == "llm-0-workers-0"
    assert names.compute_domain("llm", 1, "nvl") == "llm-1-nvl"
    assert names.pod_hostname("llm-0-router", 3) == "llm-0-router-3"


def test_a_claim_is_shared_by_all_replicas_or_by_one() -> None:
    assert names.shared_claim("llm", "fabric", None) == "llm-all-fabric"
    assert names.shared_claim("llm", "fabric", 0) == "llm-0-fabric"


def test_names_of_access_are_groves() -> None:
    assert (names.role("llm"), names.token_secret("llm")) == ("grove.io:pcs:llm", "llm-ic-sat")
    assert names.legacy_token_secret("llm") == "llm-initc-sa-token-secret"


def test_a_pod_group_is_named_by_its_gang_and_uid() -> None:
    assert names.kai_pod_group("llm-0", "4f2a") == "pg-llm-0-4f2a"


def test_a_suffix_always_follows_from_the_same_parts() -> None:
    assert names.suffix("llm", "0") == names.suffix("llm", "0")
    many = {names.suffix("llm", str(number)) for number in range(1000)}
    assert len(many) > 990
    assert all(re.fullmatch("[bcdfghjklmnpqrstvwxz2456789]{5}", suffix) for suffix in many), "no vowel, no word"


def test_parts_of_a_suffix_are_not_run_together() -> None:
    assert names.suffix("a", "bc") != names.suffix("ab", "c")


def test_a_digest_has_as_many_letters_as_are_asked_for() -> None:
    assert [len(names.letters(count, "llm")) for count in (1, 5, 10)] == [1, 5, 10]
    assert names.letters(10, "llm").startswith(names.letters(5, "llm"))


def test_a_gate_of_every_backend_may_be_lifted_and_is_named_once() -> None:
    gates = {value for name, value in vars(names).items() if name.startswith("GATE_")}
    assert gates == names.OUR_GATES

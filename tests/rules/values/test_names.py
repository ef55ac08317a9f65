"""Names as Kubernetes wants them: what the server answers in Kubernetes' words, and what admission and backends say."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gangline.rules.values import names, text

Problems = Callable[[str], list[str]]


@pytest.mark.parametrize("name", ["a", "a-b", "a0", "0", "a" * 63])
def test_a_label_of_dns_is_fine(name: str) -> None:
    assert (names.label_problems(name), text.label_problem(name)) == ([], "")


@pytest.mark.parametrize("name", ["", "A", "-a", "a-", "a_b", "a b", "ä", "a\n"])
def test_what_is_no_label_is_told_with_an_example(name: str) -> None:
    [problem] = names.label_problems(name)
    assert problem.startswith("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'")
    assert "'my-name',  or '123-abc'" in problem
    assert text.label_problem(name) == (
        "must consist of lower case letters, digits and '-', and start and end with a letter or digit"
    )


def test_a_name_with_dots_is_no_label_but_a_subdomain() -> None:
    assert names.label_problems("a.b") == ["must not contain dots"]
    assert (names.subdomain_problems("a.b"), text.subdomain_problem("a.b")) == ([], "")
    assert names.subdomain_problems("a..b") != [] and text.subdomain_problem("a..b") != ""


@pytest.mark.parametrize(
    ("problems", "problem", "longest"),
    [
        (names.label_problems, text.label_problem, 63),
        (names.subdomain_problems, text.subdomain_problem, 253),
        (names.dns1035_problems, text.label_problem, 63),
    ],
)
def test_a_name_has_a_longest_length(problems: Problems, problem: Callable[[str], str], longest: int) -> None:
    assert (problems("a" * longest), problem("a" * longest)) == ([], "")
    told = f"must be no more than {longest} characters"
    assert (problems("a" * (longest + 1)), problem("a" * (longest + 1))) == ([told], told)


def test_a_service_begins_with_a_letter() -> None:
    assert names.dns1035_problems("a1") == []
    [problem] = names.dns1035_problems("1a")
    assert problem.startswith("a DNS-1035 label must consist of")


@pytest.mark.parametrize("key", ["a", "A.b_c-d", "example.com/a", "a" * 63])
def test_a_key_is_a_name_with_a_domain_or_without(key: str) -> None:
    assert (names.qualified_name_problems(key), text.key_problem(key)) == ([], "")


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("/a", "prefix part must be non-empty"),
        ("example.com/", "name part must be non-empty"),
        ("a" * 64, "name part must be no more than 63 bytes"),
        ("-a", "name part must consist of alphanumeric characters"),
        ("Example.com/a", "prefix part a lowercase RFC 1123 subdomain"),
        ("a/b/c", "a valid label key must consist of"),
    ],
)
def test_what_is_no_key_says_which_part_is_wrong(key: str, problem: str) -> None:
    assert names.qualified_name_problems(key)[0].startswith(problem)
    assert text.key_problem(key) != ""


@pytest.mark.parametrize(
    ("value", "good"), [("", True), ("a.B_c-1", True), ("-a", False), ("a b", False), ("a-", False)]
)
def test_a_value_of_a_label_may_be_empty(value: str, good: bool) -> None:
    assert (names.label_value_problems(value) == []) is good
    assert (text.label_value_problem(value) == "") is good


def test_a_value_is_measured_in_bytes() -> None:
    assert names.label_value_problems("a" * 63) == []
    assert names.label_value_problems("a" * 64) == ["must be no more than 63 bytes"]
    assert names.label_value_problems("ä" * 32)[0] == "must be no more than 63 bytes"
    assert text.label_value_problem("a" * 64) == "must be no more than 63 characters"


@pytest.mark.parametrize(
    ("name", "problems"),
    [(".", ["may not be '.'"]), ("..", ["may not be '..'"]), ("a/b%", ["may not contain '/'", "may not contain '%'"])],
)
def test_a_name_of_a_role_need_only_fit_into_a_path(name: str, problems: list[str]) -> None:
    assert names.path_segment_problems(name) == problems
    assert names.path_segment_problems("system:node A…") == []


@pytest.mark.parametrize(
    ("reason", "good"), [("Ready", True), ("a:b,c_", True), ("1a", False), ("a-b", False), ("a:", False)]
)
def test_a_reason_of_a_condition_is_one_word(reason: str, good: bool) -> None:
    assert (names.reason_problems(reason) == []) is good


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "must be given"),
        (".", "must not be '.' or start with '..'"),
        ("..a", "must not be '.' or start with '..'"),
        ("1A", "must be letters, digits, '-', '_' and '.', not starting with a digit"),
        ("A=B", "must be letters, digits, '-', '_' and '.', not starting with a digit"),
        ("A_1.b-c", ""),
        ("_", ""),
    ],
)
def test_a_variable_does_not_start_with_a_digit(name: str, problem: str) -> None:
    assert text.variable_problem(name) == problem

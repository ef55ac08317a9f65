"""Kinds without a grouper, described by a Karta object; and the jq in which it speaks."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from gangline.api.meta import Raw
from gangline.grouper import jq
from gangline.grouper.grouping import GroupTopology, Ungroupable
from gangline.grouper.jq.values import JqError
from gangline.grouper.settings import from_flags
from grouper.surroundings import grouped, obj, pod, shape

KIND = "jobs.example.com/v1 CustomJob"


def component(name: str, **more: Any) -> Raw:
    selector = {"componentTypeSelector": {"keyPath": ".metadata.labels.role", "value": name}}
    return {
        "name": name,
        "ownerRef": "customjob",
        "specDefinition": {"podTemplateSpecPath": f".spec.{name}.template"},
        "scaleDefinition": {"replicasPath": f".spec.{name}.replicas"},
        "podSelector": selector,
        **more,
    }


def karta(instruction: Raw, *components: Raw, name: str = "k") -> Raw:
    root = {
        "name": "customjob",
        "kind": {"group": "jobs.example.com", "version": "v1", "kind": "CustomJob"},
        "statusDefinition": {"statusMappings": {}},
    }
    children = list(components or (component("coordinator"), component("worker")))
    spec = {
        "structureDefinition": {"rootComponent": root, "childComponents": children},
        "optimizationInstructions": {"gangScheduling": instruction},
    }
    labels = {"run.ai/karta-group": "jobs.example.com", "run.ai/karta-version": "v1", "run.ai/karta-kind": "CustomJob"}
    return obj("run.ai/v1alpha1 Karta", name, labels=labels, spec=spec)


OWNER = obj(KIND, "cj", spec={"coordinator": {"replicas": 1}, "worker": {"replicas": 3}})
WORKER = pod("w", owner=OWNER, labels={"role": "worker", "shard": "s1"})
TREE = {"podGroup": {"name": "train", "subGroups": [{"componentName": "coordinator"}, {"componentName": "worker"}]}}


def test_each_listed_component_becomes_a_leaf_of_its_size() -> None:
    found = grouped(WORKER, OWNER, karta(TREE))
    assert (found.name, found.children, found.leaf) == ("pg-cj-uid-train", 2, "worker")
    assert shape(found.parts) == {"coordinator": (1, None), "worker": (3, None)}


def test_pods_may_be_grouped_by_the_values_of_their_keys() -> None:
    instruction = {
        "podGroups": [
            {"name": "x", "members": [{"componentName": "worker", "groupByKeyPaths": [".metadata.labels.shard"]}]}
        ]
    }
    found = grouped(WORKER, OWNER, karta(instruction))
    assert (found.name, found.minimum) == ("pg-cj-uid-s1", 3)


def test_topology_of_a_karta_counts_before_the_owners() -> None:
    said = {"podGroup": {"name": "t", "topology": {"topologyName": "dc", "requiredTopologyLevel": "rack"}}}
    found = grouped(WORKER, OWNER, karta(said))
    assert (found.placement, found.minimum) == (GroupTopology("dc", "rack", ""), 4)


@pytest.mark.parametrize(
    "kartas",
    [
        [],
        [karta(TREE), karta(TREE, name="k2")],
        [karta({})],
        [karta(TREE, component("a"), component("a"))],
        [karta(TREE, component("worker", podSelector={"componentTypeSelector": {"keyPath": ".. | .x"}}))],
        [karta(TREE, component("worker", specDefinition={"podSpecPath": ".a", "podTemplateSpecPath": ".b"}))],
        [karta(TREE, component("worker", instanceIdPath=".spec.names[]"))],
        [karta(TREE, component("worker", podSelector={"componentInstanceSelector": {"idPath": ".metadata.name"}}))],
    ],
    ids=[
        "none",
        "two",
        "without instruction",
        "names twice",
        "endless expression",
        "pods in two places",
        "instances without a selector",
        "a selector without instances",
    ],
)
def test_without_one_usable_karta_the_common_rules_apply(kartas: list[Raw]) -> None:
    assert grouped(WORKER, OWNER, *kartas).name == "pg-cj-cj-uid"


def test_kartas_can_be_switched_off() -> None:
    assert (
        grouped(WORKER, OWNER, karta(TREE), settings=from_flags(["--generic-karta-fallback=false"])).name
        == "pg-cj-cj-uid"
    )


def test_a_component_without_a_size_is_refused_by_name() -> None:
    with pytest.raises(Ungroupable, match="component worker of Karta k does not say how many replicas it has"):
        grouped(WORKER, obj(KIND, "cj", spec={"coordinator": {"replicas": 1}}), karta(TREE))


def test_components_below_a_component_multiply_its_size() -> None:
    group = {"name": "worker", "ownerRef": "customjob", "scaleDefinition": {"replicasPath": ".spec.groups"}}
    inner = component("pods", ownerRef="worker", scaleDefinition={"replicasPath": ".spec.size"})
    owner = obj(KIND, "cj", spec={"groups": 2, "size": 4})
    found = grouped(
        pod("w", owner=owner, labels={"role": "pods"}),
        owner,
        karta({"podGroup": {"name": "t", "subGroups": [{"componentName": "worker"}]}}, group, inner),
    )
    assert (shape(found.parts), found.leaf) == ({"worker": (8, None)}, "worker")


def test_jq_that_is_not_known_here_is_told_instead_of_guessing_another_group() -> None:
    unknown = component("worker", scaleDefinition={"replicasPath": ".spec.worker.replicas | @text"})
    with pytest.raises(Ungroupable, match="uses @text, which is not known here"):
        grouped(WORKER, OWNER, karta(TREE, component("coordinator"), unknown))


def instances(names: Any) -> tuple[Raw, Raw]:
    """An owner whose worker groups have names, and a Karta that groups each of them."""
    groups = component(
        "worker",
        instanceIdPath=".spec.groups[].name",
        scaleDefinition={"replicasPath": ".spec.groups[].size"},
        podSelector={"componentInstanceSelector": {"idPath": ".metadata.labels.shard"}},
    )
    owner = obj(KIND, "cj", spec={"groups": [{"name": name, "size": 2.0} for name in names]})
    return owner, karta({"podGroups": [{"name": "x", "members": [{"componentName": "worker"}]}]}, groups)


def test_a_pod_belongs_to_one_instance_of_its_component() -> None:
    owner, described = instances(["s1", "s2"])
    assert grouped(pod("w", owner=owner, labels={"shard": "s1"}), owner, described).minimum == 2


def test_an_instance_must_be_there_and_have_a_name() -> None:
    for names, problem in (
        (["s2"], "instance 's1' of worker, but there are only s2"),
        ([1], "must give the names of instances"),
    ):
        owner, described = instances(names)
        with pytest.raises(Ungroupable, match=problem):
            grouped(pod("w", owner=owner, labels={"shard": "s1"}), owner, described)


def test_where_no_instance_is_there_yet_the_whole_component_counts() -> None:
    owner, described = instances([])
    assert grouped(pod("w", owner=owner, labels={"shard": "s1"}), owner, described).minimum == 0


POD = {"metadata": {"labels": {"role": "worker", "app.io/x": "1"}}, "spec": {"n": [1, 2, {"a": 3}]}}


@pytest.mark.parametrize(
    ("expression", "results"),
    [
        (".metadata.labels.role", ["worker"]),
        ('.metadata.labels["app.io/x"]', ["1"]),
        ('.metadata.labels."app.io/x" | tonumber + 1', [2]),
        (".missing.deeper", [None]),
        (".spec.n[]", [1, 2, {"a": 3}]),
        (".spec.n[-1].a, .spec.n[0]", [3, 1]),
        (".spec.n[0:2] | add", [3]),
        ('.metadata.labels.role == "worker" and (.spec.n | length) > 2', [True]),
        ('.nothing // "else"', ["else"]),
        ('if .spec.n[0] == 1 then "one" elif .x then 2 else 3 end', ["one"]),
        ('.spec.n[0] as $x | "n-\\($x)"', ["n-1"]),
        ('.spec.n | map(select(type == "number") * 10)', [[10, 20]]),
        ("{role: .metadata.labels.role, n: .spec.n[0]}", [{"role": "worker", "n": 1}]),
        ('.metadata.labels | has("role"), (to_entries | length)', [True, 2]),
        (".spec.n[0].a?", []),
        ('.metadata.labels.role | test("^w.*r$"), test("WORK"; "i")', [True, True]),
        (
            '.metadata.labels.role | test("w o r # letters\\n k"; "x"), test("^w[ ]"; "x"), test("W.r"; "is")',
            [True, False, True],
        ),
        ('.metadata.labels.role | sub("(?<x>o)"; "[\\(.x)]"), gsub("[rk]"; "")', ["w[o]rker", "woe"]),
        ('"<\\(.spec.n[0:1] | join(")"))|\\("in \\(.spec.n[1])")>"', ["<1|in 2>"]),
        ("1, .spec.n[0:2][] as $x | [$x]", [1, [1], [2]]),
        ('try (.spec.n | tonumber) catch "none"', ["none"]),
        ("reduce .spec.n[0:2][] as $x (0; . + $x)", [3]),
        ("[limit(2; .spec.n[])], first(.spec.n[]), last(.spec.n[]).a", [[1, 2], 1, 3]),
        ('.spec | getpath(["n", 0])', [1]),
        (".metadata.labels | [.[]], (to_entries | map(.key))", [["1", "worker"], ["app.io/x", "role"]]),
        ('[.spec.n[] | numbers] | group_by(. > 1), join("-")', [[[1], [2]], "1-2"]),
        ("[.spec.n[0:2][] | . / 2 | tostring]", [["0.5", "1"]]),
    ],
)
def test_jq_reads(expression: str, results: list[Any]) -> None:
    assert jq.compile(expression)(POD) == results


@pytest.mark.parametrize(
    "expression",
    [
        "..",
        ".a = 1",
        ".a |= 2",
        "del(.a)",
        "range(5)",
        ".a[",
        "nosuch(1)",
        "recurse",
        ".a +",
        "'x'",
        "def f: 1; f",
        "foreach .a as $x (0; 1)",
        "@base64",
        "reduce . as [$a] (0; 1)",
    ],
)
def test_jq_that_writes_never_ends_or_is_no_jq_is_refused(expression: str) -> None:
    with pytest.raises(JqError):
        jq.compile(expression)


@pytest.mark.parametrize("pattern", ["^(a|b|ab){1,60}c$", r"^(a+)+\\b$", "(a+)+$", r"\\b(a+)+$", "(a|b)*a(a|b){1000}$"])
def test_no_pattern_of_jq_runs_for_ever(pattern: str) -> None:
    assert jq.compile(f'test("{pattern}"), test("{pattern}"; "is")')("ab" * 50_000 + "!") == [False, False]
    with pytest.raises(JqError, match="is not a regular expression: error parsing regexp: invalid repeat count"):
        jq.compile('test("^((a{1,80}){1,80})+$")')("a")


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("(" * 500 + "1" + ")" * 500, "nested too deeply"),
        ('reduce .[] as $x ("aaaaaaaaaaaaaaaaaaaa"; . + .)', "more than 1000000 parts"),
        (f'"{"a" * 120}" | gsub("a*?"; "{"b" * 10_000}")', "more than 1000000 letters"),
        ("1" + "+1" * 10_000, "more than 16384 letters"),
        ("|".join(["(1,1)"] * 40) + "|empty", "more than 200000 steps"),
        ("[" + " | ".join(f".[] as $x{number}" for number in range(8)) + " | empty]?", "more than 200000 steps"),
        ("isempty(" + "|".join(["(1,1)"] * 40) + "|empty)", "more than 200000 steps"),
        ("reduce .[] as $x (0; [., .])", "more than 200000 steps"),
        ("reduce .[] as $x (0; [., .]) | tojson", "more than 200000 steps"),
        ("reduce .[] as $x (0; [., .]) | tonumber", "an array is not a number"),
        ("reduce .[0:16][] as $x ([1]; . + .) | . - map(. + 1)", "more than 200000 steps"),
        ("{" + ", ".join(f'("a{at}", "b{at}"): (1, 2)' for at in range(30)) + "} | empty", "more than 200000 steps"),
    ],
)
def test_no_jq_takes_all_there_is(expression: str, told: str) -> None:
    with pytest.raises(JqError, match=told):
        jq.compile(expression)([1] * 60)


THOUSAND = f'("{"x" * 1000}" | split("")) as $l | '


@pytest.mark.parametrize(
    "expression",
    [
        THOUSAND + "[$l[] | $l] as $x | [$l[] | $x | add]",
        THOUSAND + f'("{"x" * 1000}") as $t | [$l[] | $t] as $x | [$l[] | $x | add]',
        THOUSAND + f'[$l[] | $l | join("{"y" * 900}")]',
        THOUSAND + "[$l[] | [$l[] | $l] | add]",
        THOUSAND + "[$l[] | $l | to_entries] | empty",
        THOUSAND + f'[$l[] | "{"ü" * 3000}" | split("")]',
    ],
)
def test_what_a_step_of_jq_makes_is_small(expression: str) -> None:
    program = jq.compile(expression)
    tracemalloc.start()
    try:
        with pytest.raises(JqError, match="the expression takes more than 200000 steps"):
            program(None)
        assert tracemalloc.get_traced_memory()[1] < 100 * 2**20
    finally:
        tracemalloc.stop()


def test_what_a_slow_pattern_takes_is_charged_to_the_expression() -> None:
    with pytest.raises(JqError, match="the expression takes more than 200000 steps"):
        jq.compile('[.[] | test("[a-z]{1,500}[a-m]{1,400}Z")]')([f"{'q' * 1000}{number}" for number in range(300)])


@pytest.mark.parametrize(
    ("expression", "results"),
    [
        ("reduce .[] as $x (9; . * .) | . > 1e300", [True]),
        ("9" * 5000 + " > 1e300", [True]),
        (".[1e400], .[-1e400], (.[58:1e400] | length)", [None, None, 2]),
        ("limit(1e400; 1, 2)", [1, 2]),
        ('[limit(3; .[])] | map("a") | join("-"), add', ["a-a-a", "aaa"]),
        ("[[1], [2, 3]] | add", [[1, 2, 3]]),
        ('["a", null, 1, true] | join("-")', ["a--1-true"]),
        ("[] | add", [None]),
        ("true | contains(true)", [True]),
    ],
)
def test_numbers_of_any_size_and_long_joins_are_as_jq_has_them(expression: str, results: list[Any]) -> None:
    assert jq.compile(expression)([1] * 60) == results


def test_jq_that_does_not_fit_says_so() -> None:
    with pytest.raises(JqError, match="string has no 'x'"):
        jq.compile(".metadata.labels.role.x")(POD)


@pytest.mark.parametrize(
    "expression",
    [
        '.spec.missing | ltrimstr("x")',
        "(.spec | tonumber) // 1",
        ".spec.n.a.b?",
        '"\\q"',
        '"open',
        '" 3" | tonumber',
        "true | floor",
        '"x" | has(1)',
        '.spec.n[0:"x"]',
        '.spec.n | contains("x")',
        "true | contains(false)",
        "[1] | from_entries",
        '"a" | test("("; null)',
        '"a" | test("a"; "q")',
        "[] | limit(-1; 1)",
    ],
)
def test_jq_on_a_value_of_the_wrong_kind_is_an_error_and_no_crash(expression: str) -> None:
    with pytest.raises(JqError):
        jq.compile(expression)(POD)

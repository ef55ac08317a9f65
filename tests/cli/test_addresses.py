"""How objects may be named on a command line, what is said where nothing has the name, and fields nobody knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.terminal import Terminal, terminal
from gangline.cli.look.top import fitted
from gangline.cli.objects.addresses import address, addresses
from gangline.cli.objects.unknown_fields import known_fields
from gangline.errors import BadInput

pytestmark = pytest.mark.timeout(300)


def test_kind_and_name_are_two_words_or_one() -> None:
    assert addresses("pods", ["a", "b"]) == addresses("pods/a", ["pods/b"]) == [("pods", "a"), ("pods", "b")]
    assert addresses("pods", []) == [("pods", "")]
    assert address("llm") == ("", "llm") and address("pcs/llm") == ("pcs", "llm")


@pytest.mark.parametrize(
    ("kind", "names"), [("pods", ["../secrets/x"]), ("pods/", []), ("/a", []), ("a/b/c", []), ("pods", ["pods/a"])]
)
def test_a_name_never_leads_to_another_path(kind: str, names: list[str]) -> None:
    with pytest.raises(BadInput, match="names no object: write KIND NAME, or KIND/NAME"):
        addresses(kind, names)


SCHEMAS = {
    "Job": {
        "x-kubernetes-group-version-kind": [{"group": "batch", "kind": "Job", "version": "v1"}],
        "properties": {"spec": {"allOf": [{"$ref": "#/components/schemas/JobSpec"}]}},
    },
    "JobSpec": {"properties": {"parallelism": {}, "rules": {"type": "array", "items": {"properties": {"action": {}}}}}},
}


def test_fields_are_found_through_references_and_lists() -> None:
    document = {"components": {"schemas": SCHEMAS}}
    assert known_fields(document, "batch", "Job", ["spec"]) == ["parallelism", "rules"]
    assert known_fields(document, "batch", "Job", ["spec", "rules"]) == ["action"]
    assert known_fields(document, "apps", "Job", ["spec"]) == known_fields({}, "batch", "Job", []) == []


async def _gang(here: Terminal) -> None:
    await here.story.apply("examples/01-gang")
    await here.story.running(5)


async def test_a_tree_is_found_by_its_set_its_gang_or_one_of_its_pods(tmp_path: Path) -> None:
    async with terminal(tmp_path) as here:
        await _gang(here)
        pod = (await here.story.pods())[0].name
        trees = [(await here.type("tree", word)).out for word in ("llm", "pcs/llm", "llm-0", "llm-0-decode", pod)]
        assert trees[0].startswith("llm  1/1 available") and set(trees) == {trees[0]}
        meant = "did you mean 'llm'? (`gangline explain llmm` takes any kind of workload)\n"
        assert (await here.type("tree", "llmm")).err == f"error: there is no set llmm in namespace default; {meant}"
        assert "there is no set zzz in namespace default; there are: llm (" in (await here.type("tree", "zzz")).err
        other = await here.type("tree", "job/train")
        assert (other.code, other.err.partition(";")[0]) == (1, "error: gangline tree draws PodCliqueSets")


async def test_objects_are_shown_and_deleted_by_kind_and_name_in_one_word(tmp_path: Path) -> None:
    async with terminal(tmp_path) as here:
        await _gang(here)
        assert "llm" in (await here.type("get", "pcs/llm")).out
        assert "llm-0" in (await here.type("get", "gang/llm-0")).out
        near = await here.type("delete", "pcs/lllm")
        assert near.code == 1 and "did you mean 'llm'?" in near.err
        without = await here.type("delete", "pods")
        assert without.code == 2 and "say which of the pods to delete: pods NAME" in without.err
        assert (await here.type("delete", "pcs/llm")).out == "podcliquesets.grove.io/llm deleted\n"


async def test_a_field_that_nobody_knows_is_answered_with_the_nearest(tmp_path: Path) -> None:
    wrong = (Path(__file__).parents[2] / "examples" / "01-gang" / "llm.yaml").read_text()
    (tmp_path / "set.yaml").write_text(wrong.replace("minAvailable:", "minAvailabel:"))
    async with terminal(tmp_path) as here:
        refused = await here.type("apply", "-f", str(tmp_path / "set.yaml"))
    assert refused.code == 1
    assert "minAvailabel: field not declared in schema; did you mean 'minAvailable'?" in refused.err


def test_a_line_that_is_longer_than_the_terminal_says_that_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    monkeypatch.setenv("LINES", "5")
    assert fitted("0123456789\n0123456789a") == "0123456789\n012345678…\n"

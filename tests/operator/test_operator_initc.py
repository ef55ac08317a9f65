"""The init container that keeps a start order."""

from __future__ import annotations

import subprocess
import sys
import urllib.error
from pathlib import Path

import pytest

from gangline.operator import initc


def pod(clique: str, ready: bool = True) -> dict[str, object]:
    return {
        "metadata": {"name": f"{clique}-x", "labels": {"grove.io/podclique": clique}},
        "status": {"conditions": [{"type": "Ready", "status": str(ready)}]},
    }


def test_arguments_are_names_with_counts() -> None:
    assert initc.wanted(["a:1", " b:2 ", "c:3,d:4"]) == {"a": 1, "b": 2, "c": 3, "d": 4}


@pytest.mark.parametrize("entry", ["a", "a:0", "a:-1", "a:b:1", ":2", "a:x"])
def test_anything_else_is_refused_with_an_example(entry: str) -> None:
    with pytest.raises(
        initc.UnusableArguments, match="is not name:count with a count above 0, for example llm-0-prefill:2"
    ):
        initc.wanted([entry])


def test_a_clique_whose_name_begins_like_another_is_not_taken_for_it() -> None:
    assert initc.missing({"p-0-a": 1}, [pod("p-0-a-b")]) == {"p-0-a": 1}
    assert initc.missing({"p-0-a": 2}, [pod("p-0-a"), pod("p-0-a", ready=False)]) == {"p-0-a": 1}
    assert initc.missing({"p-0-a": 1}, [pod("p-0-a")]) == {}


def test_it_waits_through_silence_of_the_server_and_says_each_thing_once() -> None:
    answers: list[list[dict[str, object]] | Exception] = [urllib.error.URLError("down"), [], [], [pod("a")]]
    said: list[str] = []

    def look() -> list[dict[str, object]]:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    initc.wait({"a": 1}, look, said.append, lambda: None)
    assert said == ["the API server does not answer: <urlopen error down>", "waiting for 1 more of a"] and answers == []


def test_outside_a_cluster_it_says_so_and_ends_with_one() -> None:
    script = Path(initc.__file__)
    ended = subprocess.run(
        [sys.executable, "-I", str(script), "--podcliques=a:1"], capture_output=True, text=True, env={}, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr == "initc: KUBERNETES_SERVICE_HOST is not set: this runs as an init container in a cluster\n"

"""Answers as they are printed: what is said of many alike is said once."""

from __future__ import annotations

from gangline.rules.verdicts import GangAnswer
from gangline.why.words.printed import printed


def answer(name: str, kind: str = "pod", needs: str = "1 GPU", place: str = "1st") -> GangAnswer:
    text = f"{name} waits: no quota\n  needs     {needs}\n  would start if   {place}\n  next try  {place} of 3"
    return GangAnswer(text, {"gang": name, "kind": kind, "namespace": "default"}, True)


def test_pods_of_which_the_same_is_said_are_told_once() -> None:
    told = printed([answer("web-a"), answer("web-b", place="2nd"), answer("web-c", place="3rd")], "text")
    assert told.splitlines() == [*answer("web-a").text.splitlines(), "and 2 more like it: web-b, web-c"]
    assert "web-c" in printed([answer("web-a"), answer("web-c")], "json")


def test_other_needs_and_other_workloads_are_told_in_full() -> None:
    assert "more like it" not in printed([answer("web-a"), answer("web-b", needs="2 GPUs")], "text")
    assert "more like it" not in printed([answer("a", "job"), answer("b", "job")], "text")

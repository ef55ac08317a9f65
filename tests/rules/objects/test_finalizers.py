"""Finalizers: added once, beside those of others, and only on the version that was seen."""

from __future__ import annotations

import msgspec

from gangline.api.core import Pod
from gangline.rules.objects.finalizers import patch_that_adds, patch_that_removes, with_finalizer, without_finalizer


def held_by(*finalizers: str) -> Pod:
    return msgspec.convert({"metadata": {"name": "c", "resourceVersion": "7", "finalizers": finalizers}}, Pod)


def test_a_finalizer_stands_behind_those_of_others_and_never_twice() -> None:
    assert with_finalizer(["other"], "mine") == ["other", "mine"]
    assert with_finalizer(["mine", "other"], "mine") == ["mine", "other"]
    assert with_finalizer(None, "mine") == ["mine"]


def test_only_the_named_finalizer_goes() -> None:
    assert without_finalizer(["mine", "other"], "mine") == ["other"]
    assert without_finalizer(None, "mine") == []


def test_a_patch_that_adds_says_which_version_was_seen() -> None:
    assert patch_that_adds(held_by("other"), "mine") == {
        "metadata": {"finalizers": ["other", "mine"], "resourceVersion": "7"}
    }
    assert patch_that_adds(held_by("mine"), "mine") is None


def test_a_patch_that_removes_leaves_the_finalizers_of_others() -> None:
    assert patch_that_removes(held_by("mine", "other"), "mine") == {
        "metadata": {"finalizers": ["other"], "resourceVersion": "7"}
    }
    assert patch_that_removes(held_by("other"), "mine") is None

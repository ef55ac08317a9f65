"""Groupers of other packages: found by their entry points, with rights of their own, and left out where they are no
groupers."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint

import pytest

from gangline import extend
from gangline.api.core import Pod
from gangline.api.meta import Raw
from gangline.grouper import groupers
from gangline.grouper.groupers.base import base
from gangline.grouper.groupers.contract import Grouper
from gangline.grouper.grouping import Grouping
from gangline.grouper.look import GrouperView
from gangline.grouper.rights import rights
from grouper.surroundings import grouped, obj, pod


class Training(Grouper):
    kinds = ("example.com/v1 Training", "batch/v1 Job")
    reads = ("example.com/v1 Plan",)

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        return replace(base(pod, owner, read, chain), minimum=7)


class Nameless(Grouper):
    """Forgets to say its kinds."""

    def group(self, pod: Pod, owner: Raw, read: GrouperView, chain: Sequence[Raw] = ()) -> Grouping:
        return base(pod, owner, read, chain)


class Stranger:
    kinds = ("example.com/v1 Other",)


def not_a_class() -> None:
    """A function where a class is asked for."""


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    points = [
        EntryPoint(name, f"{__name__}:{brought}", "gangline.groupers")
        for name, brought in (
            ("training", "Training"),
            ("nameless", "Nameless"),
            ("stranger", "Stranger"),
            ("function", "not_a_class"),
            ("lost", "Nowhere"),
        )
    ]
    monkeypatch.setattr(extend, "entry_points", lambda group: points if group == "gangline.groupers" else [])
    for table in (groupers.all_groupers, groupers.by_kind):
        table.cache_clear()
    yield
    for table in (groupers.all_groupers, groupers.by_kind):
        table.cache_clear()


def test_a_grouper_of_another_package_groups_the_kinds_that_it_names() -> None:
    training = obj("example.com/v1 Training", "t")
    assert grouped(pod(owner=training), training).minimum == 7


def test_a_kind_that_is_built_in_stays_as_it_is() -> None:
    job = obj("batch/v1 Job", "j")
    assert grouped(pod(owner=job), job).minimum == 1


def test_the_rights_cover_what_groupers_of_other_packages_read() -> None:
    granted = {(group, plural) for rule in rights() for group in rule["apiGroups"] for plural in rule["resources"]}
    assert {("example.com", "trainings"), ("example.com", "plans")} <= granted


def test_what_is_no_grouper_is_left_out_with_the_reason_and_the_others_work(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    assert [type(item).__name__ for item in groupers.all_groupers() if item not in groupers.GROUPERS] == ["Training"]
    here = __name__
    assert [record.getMessage() for record in caplog.records] == [
        f"entry point function of gangline.groupers is left out: {not_a_class!r} is no class",
        "entry point lost of gangline.groupers cannot be loaded",
        f"entry point nameless of gangline.groupers is left out: Nameless of {here} does not say kinds",
        f"entry point stranger of gangline.groupers is left out: Stranger of {here} is not a subclass of "
        "gangline.grouper.groupers.contract.Grouper, and lacks reads, group",
    ]

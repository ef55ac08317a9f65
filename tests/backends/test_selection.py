"""Which backend serves a set, and what is said when none does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from gangline.api.grove import PodCliqueSet
from gangline.operator.backends import BUILT_IN, NoBackend, Registry, Selection, capability_rows
from gangline.operator.backends.contract import Backend, Facts, GangObject, PodGangInfo
from gangline.operator.measures import SELECTIONS, selected
from gangline.operator.settings import read
from gangline.rules.sets import OperatorSettings, Profile
from operator_world import clique, pod_clique_set

STANDARD = OperatorSettings()
BACKEND = "grove.io/scheduler-backend"


def a_set(*schedulers: str, uid: str = "", generation: int = 1, **more: Any) -> PodCliqueSet:
    raw = pod_clique_set(
        "p", *(clique(f"c{number}", scheduler=name) for number, name in enumerate(schedulers or ("",))), **more
    )
    raw["metadata"] |= {"uid": uid, "generation": generation}
    return msgspec.convert(raw, PodCliqueSet)


def chosen(pcs: PodCliqueSet, settings: OperatorSettings = STANDARD) -> tuple[str, str, str]:
    found = Registry(settings).for_set(pcs)
    return found.backend.name, found.scheduler_name, found.source


@pytest.mark.parametrize(
    ("scheduler", "backend"),
    [
        ("default-scheduler", "default"),
        ("kai-scheduler", "kai"),
        ("grove-scheduler", "kai"),
        ("koord-scheduler", "koordinator"),
        ("my-koordinator", "koordinator"),
        ("volcano", "volcano"),
        ("volcano-batch", "volcano"),
        ("yunikorn", "yunikorn"),
        ("team-yunikorn-2", "yunikorn"),
        ("scheduler-plugins-scheduler", "coscheduling"),
    ],
)
def test_a_scheduler_name_leads_to_the_backend_that_knows_it(scheduler: str, backend: str) -> None:
    assert chosen(a_set(scheduler))[:2] == (backend, scheduler)


@pytest.mark.parametrize(
    ("name", "backend", "scheduler"),
    [
        ("default", "default", "default-scheduler"),
        ("workload", "default", "default-scheduler"),
        ("kai", "kai", "kai-scheduler"),
        ("podgang", "kai", "kai-scheduler"),
        ("koordinator", "koordinator", "koord-scheduler"),
        ("volcano", "volcano", "volcano"),
        ("yunikorn", "yunikorn", "yunikorn"),
        ("coscheduling", "coscheduling", "scheduler-plugins-scheduler"),
        ("kueue", "kueue", "default-scheduler"),
    ],
)
def test_the_annotation_decides_and_pods_get_the_name_of_that_scheduler(
    name: str, backend: str, scheduler: str
) -> None:
    assert chosen(a_set(annotations={BACKEND: name})) == (backend, scheduler, "annotation")


def test_a_layer_of_quota_leaves_the_schedulers_name_as_it_is() -> None:
    assert chosen(a_set("volcano", annotations={BACKEND: "kueue"})) == ("kueue", "volcano", "annotation")


def test_a_profile_comes_before_a_guess_by_name() -> None:
    settings = OperatorSettings(profiles=(Profile("koord-kai", "kai"), Profile("default-scheduler", "default")))
    assert chosen(a_set("koord-kai"), settings) == ("kai", "koord-kai", "profile")
    with pytest.raises(
        NoBackend, match="asks for koordinator, but a clique names scheduler 'koord-kai'; remove one of the two"
    ):
        chosen(a_set("koord-kai", annotations={BACKEND: "koordinator"}), settings)


def test_a_name_that_nobody_knows_is_answered_with_what_there_is_and_the_way_out() -> None:
    with pytest.raises(NoBackend) as refused:
        chosen(a_set("slurm"))
    assert str(refused.value) == (
        "no backend serves schedulerName 'slurm'; profiles: default-scheduler, kai-scheduler, volcano; backends: "
        "default, kai, "
        "koordinator, volcano, yunikorn, kueue, coscheduling, passthrough; a profile with backend passthrough serves "
        "any scheduler by name"
    )


def test_a_backend_that_is_switched_off_says_how_to_switch_it_on() -> None:
    settings = OperatorSettings(backends=("default", "podgang"))
    assert Registry(settings).names == ["default", "kai"]
    with pytest.raises(NoBackend) as refused:
        chosen(a_set(annotations={BACKEND: "volcano"}), settings)
    assert str(refused.value) == (
        "backend 'volcano' is switched off; add it to scheduler.backends in the operator's configuration, "
        "or use one of: default, kai"
    )
    with pytest.raises(NoBackend, match="no backend is called 'slurm'; there are: default, kai, koordinator"):
        Registry(OperatorSettings(backends=("slurm",)))


def test_backends_are_switched_on_and_out_in_the_operators_configuration() -> None:
    settings = read({"scheduler": {"backends": ["default", "kai"], "outside": ["kai"]}})
    assert (settings.backends, settings.outside) == (("default", "kai"), ("kai",))


def test_cliques_that_disagree_are_named_even_under_an_annotation() -> None:
    with pytest.raises(
        NoBackend, match=r"the cliques of p name different schedulers: \(none\), volcano; a gang has one"
    ):
        chosen(a_set("", "volcano"))
    with pytest.raises(
        NoBackend, match="the cliques name different schedulers: kai-scheduler, volcano; a gang has one"
    ):
        chosen(a_set("kai-scheduler", "volcano", annotations={BACKEND: "kueue"}))


class Greedy(Backend):
    """Knows every name."""

    name = "greedy"
    gate = "example.com/gate"

    def matches(self, scheduler_name: str) -> bool:
        return True

    def gang_objects(self, gang: PodGangInfo, facts: Facts) -> Iterable[GangObject]:
        return ()


def test_where_several_know_a_name_the_first_is_taken_and_the_others_are_told() -> None:
    table: dict[str, type[Backend]] = {**BUILT_IN, "greedy": Greedy}
    found = Registry(STANDARD, table).for_set(a_set("koord-scheduler"))
    assert (found.backend.name, found.also) == ("koordinator", ("greedy",))


def test_a_selection_is_remembered_until_spec_or_annotation_changes() -> None:
    heard: list[Selection] = []
    registry = Registry(STANDARD, on_selection=heard.append)
    first = registry.for_set(a_set("kai-scheduler", uid="u"))
    assert registry.for_set(a_set("kai-scheduler", uid="u")) is first
    assert registry.for_set(a_set("volcano", uid="u", generation=2)).backend.name == "volcano"
    assert registry.for_set(a_set(uid="u", generation=2, annotations={BACKEND: "kueue"})).backend.name == "kueue"
    assert [item.backend.name for item in heard] == ["kai", "volcano", "kueue"]


def test_each_selection_is_counted_by_backend_and_by_how_it_was_chosen() -> None:
    counter = SELECTIONS.labels("koordinator", "name")
    before = counter._value.get()
    registry = Registry(STANDARD, on_selection=selected)
    for _ in range(3):
        registry.for_set(a_set("koord-scheduler", uid="counted"))
    assert counter._value.get() == before + 1


def test_every_backend_has_a_row_of_capabilities_and_a_gate_of_its_own() -> None:
    backends = list(Registry(STANDARD))
    assert len({backend.gate for backend in backends}) == len(backends)
    assert [backend.name for backend in backends] == list(BUILT_IN)
    assert {row.split()[0] for row in capability_rows()} == set(BUILT_IN)
    assert all(backend.capabilities in capability_rows().values() for backend in backends)


class Stranger:
    name = "stranger"

    def matches(self, scheduler_name: str) -> bool:
        return True


class Unfinished(Backend):
    name = "unfinished"


@pytest.mark.parametrize(
    ("name", "made", "why"),
    [
        (
            "stranger",
            Stranger,
            (
                "Stranger of backends.test_selection is not a subclass of "
                "gangline.operator.backends.contract.Backend, and "
                "lacks gate, scheduler_name, reads, writes, capabilities, generations, held, gave_up, finalizers, "
                "check, "
                "gang_objects, prepare_pod, gang_status, capabilities_for, probes, links, notes, may_be_held, "
                "domains_of"
            ),
        ),
        ("unfinished", Unfinished, "Unfinished of backends.test_selection does not say gate, gang_objects"),
        ("other", Greedy, "Greedy of backends.test_selection says that its name is 'greedy', not 'other'"),
    ],
)
def test_a_class_that_cannot_be_a_backend_is_left_out_and_whoever_asks_for_it_hears_what_is_missing(
    name: str, made: Any, why: str
) -> None:
    registry = Registry(STANDARD, {**BUILT_IN, name: made})
    assert registry.names == list(BUILT_IN), "the others work"
    with pytest.raises(NoBackend) as refused:
        registry.by_name(name)
    assert str(refused.value) == f"backend {name!r} cannot be used: {why}"

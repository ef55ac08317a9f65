"""The scheduler half serves a list of schedulerNames: one list, asked by everybody who must know whether a pod is
ours."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.binder.flags import read_flags as binder_flags
from gangline.binder.settings import BinderSettings
from gangline.components import build, lease
from gangline.components.admission_hooks import EmptyReader, hooks
from gangline.components.options import ComponentOptions
from gangline.controllers.flags import node_scale_flags, pod_group_flags
from gangline.errors import ConfigError
from gangline.grouper.settings import from_flags as grouper_flags
from gangline.operator.backends.kai import KaiBackend
from gangline.rules.schedulers import SERVED, pod_fields, read_names
from gangline.scheduler.loop.flags import read_flags as scheduler_flags

BOTH = ("kai-scheduler", "grove-scheduler")
READERS: dict[str, Any] = {
    "scheduler": lambda flags: scheduler_flags(flags).options.scheduler_names,
    "binder": lambda flags: binder_flags(flags).scheduler_names,
    "grouper": lambda flags: grouper_flags([f"--{name}={value}" for name, value in flags.items()]).scheduler_names,
    "podgroup-controller": lambda flags: pod_group_flags(flags).get("schedulers", SERVED),
    "node-scale-adjuster": lambda flags: node_scale_flags(flags).scheduler_names,
}


@pytest.mark.parametrize("name", READERS)
def test_every_component_serves_both_names_unless_its_flag_gives_others(name: str) -> None:
    assert READERS[name]({}) == BOTH
    assert READERS[name]({"scheduler-name": "mine"}) == ("mine",)
    assert READERS[name]({"scheduler-name": "mine, other,mine"}) == ("mine", "other")
    with pytest.raises(ConfigError, match="names no scheduler: write one name, or several with commas between them"):
        READERS[name]({"scheduler-name": "a,,b"})


def test_the_operators_backend_serves_the_same_names() -> None:
    assert (
        all(KaiBackend().matches(name) for name in SERVED)
        and SERVED == BOTH
        and BinderSettings().scheduler_names == BOTH
    )


def test_a_watch_asks_for_one_name_or_leaves_kube_schedulers_pods_out() -> None:
    assert pod_fields(("mine",)) == "spec.schedulerName=mine"
    assert pod_fields(BOTH) == "spec.schedulerName!=default-scheduler"
    assert pod_fields(("mine", "default-scheduler")) == ""


@pytest.mark.parametrize(
    ("compat", "flags", "fields"),
    [
        ((), {}, "spec.schedulerName!=default-scheduler"),
        (("kai",), {}, "spec.schedulerName=kai-scheduler"),
        (("kai",), {"scheduler-name": "a,b"}, "spec.schedulerName!=default-scheduler"),
    ],
)
@pytest.mark.parametrize("name", ["grouper", "podgroup-controller"])
def test_upstream_is_imitated_with_one_name(
    name: str, compat: tuple[str, ...], flags: dict[str, str], fields: str
) -> None:
    (controller,) = build(name, ComponentOptions(compat=compat, flags=flags)).controllers
    assert [pods[1] for kind, pods in controller.selectors.items() if kind.plural == "pods"] == [fields]


def test_in_upstreams_manner_admission_leaves_the_other_name_alone() -> None:
    def condition(compat: tuple[str, ...]) -> str:
        return next(
            hook.condition
            for hook in hooks(ComponentOptions(compat=compat), EmptyReader())
            if hook.name == "complete.pods.gangline.io"
        )

    assert condition(()) == "object.spec.schedulerName in ['kai-scheduler', 'grove-scheduler']"
    assert condition(("kai",)) == "object.spec.schedulerName in ['kai-scheduler']"


def test_the_lease_is_named_after_the_first_one() -> None:
    assert lease("scheduler", ComponentOptions(flags={"scheduler-name": "mine,other"})) == "mine"
    assert read_names("mine,other") == ("mine", "other")

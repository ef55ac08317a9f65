"""Flags of every component of the scheduler half, as its upstream binary takes them, and what `gangline run` makes of
them."""

from __future__ import annotations

import pytest

from gangline.binder.flags import read_flags as binder_flags
from gangline.binder.settings import BinderPluginSetting
from gangline.cli.deploy.component_process import _election
from gangline.components import COMPONENTS, build, home, lease
from gangline.components.options import ComponentOptions
from gangline.controllers.flags import node_scale_flags, queue_flags
from gangline.errors import ConfigError
from gangline.rules.flags import parse


def test_flags_are_written_with_equals_with_a_space_or_alone() -> None:
    assert parse(["--a=1", "--b", "2", "-c", "--d="]) == {"a": "1", "b": "2", "c": "true", "d": ""}
    with pytest.raises(ConfigError, match="'stray' is no flag: write --name=value"):
        parse(["stray"])


def test_the_binders_plugins_come_as_json() -> None:
    settings = binder_flags(
        {
            "plugins": '{"gpusharing": {"arguments": {"cdiEnabled": "true"}}, "volumebinding": {"enabled": false}}',
            "resource-reservation-allocation-timeout": "7",
        }
    )
    assert settings.plugins == {
        "gpusharing": BinderPluginSetting(arguments={"cdiEnabled": "true"}),
        "volumebinding": BinderPluginSetting(enabled=False),
    }
    assert settings.reservation_timeout == 7
    with pytest.raises(ConfigError, match=r"--plugins=\[\]: must be a JSON object"):
        binder_flags({"plugins": "[]"})


def test_queue_labels_may_become_metric_labels() -> None:
    assert queue_flags({"queue-label-to-metric-label": "team=team_name,kind=kind"})["labels"] == {
        "team": "team_name",
        "kind": "kind",
    }
    with pytest.raises(ConfigError, match="'team' is not of the form key=value"):
        queue_flags({"queue-label-to-metric-label": "team"})


def test_the_node_scale_adjuster_reads_its_ratio() -> None:
    assert node_scale_flags({"gpu-memory-to-fraction-ratio": "0.25"}).memory_as_fraction == 0.25


def test_the_grouper_is_told_its_flags() -> None:
    with pytest.raises(ConfigError, match="the pod grouper has no flag --nonsense"):
        build("grouper", ComponentOptions(flags={"nonsense": "1"}))
    assert (
        build("grouper", ComponentOptions(flags={"queue-label-key": "team", "leader-elect": "true"})).name == "grouper"
    )


@pytest.mark.parametrize(
    "name", ["scheduler", "binder", "podgroup-controller", "queue-controller", "node-scale-adjuster"]
)
def test_every_component_is_built_from_flags_and_refuses_what_it_does_not_know(name: str) -> None:
    assert build(name, ComponentOptions()).name == name
    with pytest.raises(ConfigError, match=f"the {name} has no flag --nonsense"):
        build(name, ComponentOptions(flags={"nonsense": "1"}))


def test_each_shard_has_its_own_lease_and_the_others_upstreams() -> None:
    assert lease("scheduler", ComponentOptions()) == "kai-scheduler"
    assert (
        lease("scheduler", ComponentOptions(flags={"partition-label-value": "blue", "scheduler-name": "s"})) == "s-blue"
    )
    assert (
        lease("binder", ComponentOptions()) == "2ad35f9c.kai.scheduler"
        and lease("grouper", ComponentOptions()) == "54dff599.kai.scheduler"
    )
    assert (home("binder"), home("operator")) == ("kai-scheduler", "gangline-system")


def elected(name: str, **flags: str) -> bool:
    return _election(name, ComponentOptions(flags=flags)) is not None


def test_of_every_component_one_copy_works_unless_each_has_its_own_place_or_it_is_switched_off() -> None:
    assert [name for name in COMPONENTS if not elected(name)] == [
        "numa-placement-exporter",
        "resource-reservation",
        "admission",
    ]
    assert not [name for name in COMPONENTS if elected(name, **{"leader-elect": "false"})]

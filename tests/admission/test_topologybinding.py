"""ClusterTopologyBindings on their way in."""

from __future__ import annotations

from gangline.admission.sets.topologybinding import Schedulers, problems_of
from gangline.api.meta import Raw

SCHEDULERS = Schedulers(("default-scheduler", "kai-scheduler"), ("kai-scheduler",))


def told(**spec: object) -> list[str]:
    obj: Raw = {"spec": spec}
    return [str(problem) for problem in problems_of(obj, SCHEDULERS)]


def test_levels_are_named_once() -> None:
    levels = [{"domain": "rack", "key": "a/b"}, {"domain": "rack", "key": "a/b"}]
    assert told(levels=levels) == [
        "spec.levels[1].domain: 'rack' is given twice",
        "spec.levels[1].key: 'a/b' is given twice",
    ]


def test_a_binding_names_schedulers_that_are_enabled_and_know_topology() -> None:
    bindings = [
        {"schedulerName": name, "topologyReference": "t"} for name in ("yunikorn", "default-scheduler", "kai-scheduler")
    ]
    assert told(schedulerTopologyBindings=bindings) == [
        "spec.schedulerTopologyReferences[0].schedulerName: scheduler 'yunikorn' is not enabled "
        "(enabled: default-scheduler, kai-scheduler)",
        "spec.schedulerTopologyReferences[1].schedulerName: the backend of default-scheduler does not know topology "
        "(these do: kai-scheduler)",
    ]

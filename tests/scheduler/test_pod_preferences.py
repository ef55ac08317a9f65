"""Where a pod would rather stand: by what it prefers of other pods, and by what those prefer of it. A preference keeps
no pod from any node."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.scheduler.records import PodTerm, Requirement
from gangline.scheduler.settings import native_settings
from scheduler.scene import Scene

HOST = "kubernetes.io/hostname"
DB, WEB = {"app": "db"}, {"app": "web"}


def near(app: str, weight: int = 100) -> tuple[PodTerm, ...]:
    return (PodTerm(HOST, (Requirement("app", "In", (app,)),), weight=weight),)


def with_db_on(node: str, **more: Any) -> Scene:
    """Three nodes with room, a database on one of them, and on another so much that packing would choose that one."""
    fuller = "n1" if node == "n0" else "n0"
    scene = Scene(settings=native_settings()).nodes(3).queue("a", quota=24).gang("a/busy", 1, gpus=7, on=fuller)
    return scene.gang("a/db", 1, on=node, task={"labels": DB} | more)


def place_of_web(scene: Scene, **task: Any) -> str:
    return scene.gang("a/web", 1, task={"labels": WEB} | task).decide().bound["web-0"]


@pytest.mark.parametrize("node", ["n0", "n1", "n2"])
def test_without_preferences_a_pod_is_packed_elsewhere(node: str) -> None:
    assert place_of_web(with_db_on(node)) != node


@pytest.mark.parametrize("node", ["n0", "n1", "n2"])
def test_a_pod_goes_to_the_node_of_those_it_prefers(node: str) -> None:
    assert place_of_web(with_db_on(node), preferred_affinity=near("db")) == node


@pytest.mark.parametrize("node", ["n0", "n1", "n2"])
def test_a_pod_goes_to_the_node_of_those_that_prefer_it(node: str) -> None:
    assert place_of_web(with_db_on(node, preferred_affinity=near("web"))) == node


@pytest.mark.parametrize("node", ["n0", "n1", "n2"])
def test_a_pod_that_requires_another_draws_it_to_its_node(node: str) -> None:
    assert place_of_web(with_db_on(node, pod_affinity=near("web"))) == node


def test_a_pod_avoids_those_it_would_rather_not_meet_and_those_that_would_rather_not_meet_it() -> None:
    def beside_db(**more: Any) -> Scene:
        scene = Scene(settings=native_settings()).nodes(2).queue("a", quota=24)
        return scene.gang("a/db", 1, on="n1", task={"labels": DB} | more)

    assert place_of_web(beside_db()) == "n1"
    assert place_of_web(beside_db(), preferred_anti_affinity=near("db")) == "n0"
    assert place_of_web(beside_db(preferred_anti_affinity=near("web"))) == "n0"


@pytest.mark.parametrize(("of_db", "of_cache", "node"), [(1, 50, "n2"), (50, 1, "n0")])
def test_the_greater_weight_wins(of_db: int, of_cache: int, node: str) -> None:
    scene = with_db_on("n0").gang("a/cache", 1, on="n2", task={"labels": {"app": "cache"}})
    assert place_of_web(scene, preferred_affinity=(*near("db", of_db), *near("cache", of_cache))) == node


def test_a_preference_that_cannot_be_kept_keeps_no_pod_waiting() -> None:
    full = with_db_on("n0").gang("a/large", 1, gpus=7, on="n0")
    assert place_of_web(full, preferred_affinity=near("db")) != "n0"


def test_pods_of_another_namespace_are_not_meant() -> None:
    elsewhere = (PodTerm(HOST, (Requirement("app", "In", ("db",)),), namespaces=("elsewhere",), weight=100),)
    assert place_of_web(with_db_on("n2"), preferred_affinity=elsewhere) == "n0"

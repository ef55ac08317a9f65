"""The queue tree as it stands, and flat."""

from __future__ import annotations

from gangline.scheduler.session import Session
from scheduler.scene import Scene


def departments(full: bool) -> Scene:
    """Two departments: one promises all to its only team, the other has two teams and promises nothing."""
    scene = Scene().nodes(1, gpus=6).queue("rich", quota=6).queue("poor", weight=0)
    scene.queue("rich-team", quota=2, parent="rich").queue("poor-a", quota=2, parent="poor").queue(
        "poor-b", quota=2, parent="poor"
    )
    for team in ("rich-team", "poor-a", "poor-b"):
        scene.gang(f"{team}/work-{team}", 1, gpus=6)
    return scene.with_settings(full_hierarchy=full)


def fair_shares(scene: Scene) -> dict[str, float]:
    session = Session(scene.cluster(), scene.settings, scene.now)
    accounts = next(plugin.accounts for plugin in session.hooks.plugins if plugin.name == "proportion")  # type: ignore[attr-defined]
    return {name: account.fair_share[2] for name, account in accounts.items()}


def test_with_the_full_tree_departments_divide_first() -> None:
    shares = fair_shares(departments(full=True))
    assert shares["rich"] == shares["rich-team"] == 6 and shares["poor"] == 0


def test_flat_every_team_divides_the_cluster_and_departments_are_gone() -> None:
    assert fair_shares(departments(full=False)) == {"default": 6, "rich-team": 2, "poor-a": 2, "poor-b": 2}


def test_flat_work_is_still_placed() -> None:
    assert list(departments(full=False).decide().bound) == ["work-rich-team-0"]

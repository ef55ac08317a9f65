"""The Grafana dashboard and the alert rules name only metrics and labels that components export."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from documents.pages import REPOSITORY
from documents.reference import metric_families
from gangline.runtime.metrics import ReconcileMeter

FOLDER = REPOSITORY / "charts" / "monitoring"
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "grafana-overview.json").read_text())
RULES: list[dict[str, Any]] = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
EVERYWHERE = {"le", "instance", "job"}
"""Labels that Prometheus adds."""


def exported() -> dict[str, set[str]]:
    """Every series, with its labels."""
    return {
        f"{family.name}{suffix}": set(re.findall(r"\w+", labels)) | EVERYWHERE
        for family, labels in metric_families().values()
        for suffix in SUFFIXES[family.type]
    }


def expressions() -> list[str]:
    drawn = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    return [*drawn, *(rule["expr"] for rule in RULES)]


def used(expression: str) -> set[str]:
    return set(re.findall(r"\b(?:kai|gangline)_\w+", expression))


def test_every_metric_that_is_drawn_or_alerted_on_is_exported() -> None:
    assert len(expressions()) > 15
    assert sorted({name for text in expressions() for name in used(text)} - exported().keys()) == []


def test_every_label_that_is_grouped_or_chosen_by_is_one_of_its_metrics() -> None:
    known = exported()
    for text in expressions():
        grouped = [word for inside in re.findall(r"by \(([^)]*)\)", text) for word in re.findall(r"\w+", inside)]
        chosen = [word for inside in re.findall(r"\{([^}]*)\}", text) for word in re.findall(r"(\w+)\s*[=!]", inside)]
        for label in (*grouped, *chosen):
            assert all(label in known[name] for name in used(text)), (text, label)


def test_outcomes_that_are_chosen_are_outcomes_of_reconciles() -> None:
    chosen = {value for text in expressions() for value in re.findall(r'outcome="(\w+)"', text)}
    assert chosen
    for outcome in chosen:
        ReconcileMeter("tried by a test").note(outcome, 0.0)


def test_every_legend_names_a_label_of_its_metric() -> None:
    known = exported()
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                assert all(label in known[name] for name in used(target["expr"])), target


def test_panels_do_not_overlap_and_have_names_of_their_own() -> None:
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells)) and max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_every_alert_says_what_it_means_and_the_guide_what_to_do() -> None:
    guide = (REPOSITORY / "docs" / "guide" / "monitoring.md").read_text()
    for rule in RULES:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("info", "warning", "critical")
        assert rule["annotations"]["summary"] and rule["annotations"]["description"]
        assert f"`{rule['alert']}`" in guide

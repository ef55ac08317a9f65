"""The Grafana dashboard is one by Grafana's own schema, and it and the alert rules name only metrics and labels that
components export."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from enum import Enum
from typing import Any, get_type_hints

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from typeguard import TypeCheckError, check_type

from documents.pages import REPOSITORY
from documents.reference import metric_families
from gangline.runtime.metrics import ReconcileMeter
from yaml_loading import load_yaml

FOLDER = REPOSITORY / "charts" / "monitoring"
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "grafana-overview.json").read_text())
RULES: list[dict[str, Any]] = load_yaml((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]
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


def test_the_dashboard_is_one_by_grafanas_schema() -> None:
    assert against_the_schema(DASHBOARD) == []


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        (lambda it: it["panels"][0].update(titel="Waiting"), ["panels[0].titel is no field of Grafana's"]),
        (lambda it: it["panels"][0]["gridPos"].update(h="8"), ["panels[0].grid_pos.h: str is not"]),
        (lambda it: it["panels"][0]["targets"][0].update(expresion="up"), ["panels[0].targets[0].expresion is no"]),
        (lambda it: it["templating"]["list"][0].update(type="source"), ["templating.list_val[0].type_val: str is not"]),
        (lambda it: it.update(tags="gangline"), ["tags: str did not match"]),
    ],
)
def test_and_a_mistake_in_it_would_be_told(mistake: Callable[[Any], None], told: list[str]) -> None:
    broken = deepcopy(DASHBOARD)
    mistake(broken)
    found = against_the_schema(broken)
    assert len(found) == len(told) and all(line.startswith(text) for line, text in zip(found, told, strict=True)), found


def against_the_schema(dashboard: dict[str, Any]) -> list[str]:
    """Fields that Grafana does not know, found because its own classes drop them, and values of the wrong type."""
    register_default_plugins()
    read = Dashboard.from_json(dashboard)
    kept = json.loads(JSONEncoder().encode(read))
    return [f"{path} is no field of Grafana's" for path in dropped(dashboard, kept)] + [*mistyped(read)]


def dropped(written: Any, kept: Any, path: str = "") -> Iterator[str]:
    if isinstance(written, dict):
        for key, value in written.items():
            where = f"{path}.{key}" if path else key
            if key not in kept:
                yield where
            else:
                yield from dropped(value, kept[key], where)
    elif isinstance(written, list) and isinstance(kept, list):
        for index, (value, other) in enumerate(zip(written, kept, strict=True)):
            yield from dropped(value, other, f"{path}[{index}]")


def mistyped(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from mistyped(entry, f"{path}[{index}]")
    elif hasattr(value, "to_json"):
        for name, hint in get_type_hints(type(value)).items():
            entry, where = getattr(value, name), f"{path}.{name}" if path else name
            known = isinstance(hint, type) and issubclass(hint, Enum) and entry in [*hint]
            try:
                check_type(entry, str if known else hint)
            except TypeCheckError as error:
                yield f"{where}: {error}"
            else:
                yield from mistyped(entry, where)

"""What a selector asks of a device is read from its expression: the device made so meets the selector."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.api.meta import Raw
from gangline.rules.cel.devices import device_value, selects
from gangline.why.fixes.device_wishes import as_selected

DRIVER = "gpu.example.com"
DEVICE: Raw = {
    "name": "gpu-0",
    "attributes": {"model": {"string": "A100"}, "cores": {"int": 8}},
    "capacity": {"memory": {"value": "80Gi"}},
}
ATTRIBUTES = f'device.attributes["{DRIVER}"]'
CAPACITY = f'device.capacity["{DRIVER}"]'
EXPRESSIONS = (
    f'{ATTRIBUTES}.model == "H100"',
    f'"H100" == {ATTRIBUTES}.model',
    f'{ATTRIBUTES}.model != "A100"',
    f'!({ATTRIBUTES}.model == "A100")',
    f'{ATTRIBUTES}.model in ["H100", "H200"]',
    f'!({ATTRIBUTES}.model in ["A100", "A30"])',
    f'{ATTRIBUTES}.model.startsWith("H1")',
    f'{ATTRIBUTES}.model.endsWith("00X")',
    f'{ATTRIBUTES}.model.contains("NVL")',
    f'{ATTRIBUTES}.model.matches("^H100$")',
    f"{ATTRIBUTES}.cores > 16",
    f"{ATTRIBUTES}.cores >= 16",
    f"{ATTRIBUTES}.cores < 4",
    f"!({ATTRIBUTES}.cores <= 8)",
    f"16 < {ATTRIBUTES}.cores",
    f"{ATTRIBUTES}.ecc",
    f"!{ATTRIBUTES}.ecc",
    f"{ATTRIBUTES}.ecc == true",
    f"has({ATTRIBUTES}.link)",
    f'"link" in {ATTRIBUTES}',
    f'has({ATTRIBUTES}.link) && {ATTRIBUTES}.link == "nvlink"',
    f'{ATTRIBUTES}.version.isGreaterThan(semver("550.0.0"))',
    f'{ATTRIBUTES}.version.compareTo(semver("1.2.3")) >= 0',
    f'{CAPACITY}.memory.isGreaterThan(quantity("80Gi"))',
    f'{CAPACITY}.memory.isLessThan(quantity("40Gi"))',
    f'{CAPACITY}.memory.compareTo(quantity("141Gi")) >= 0',
    f'{CAPACITY}.memory.compareTo(quantity("80G")) > 0 && {ATTRIBUTES}.model == "H100"',
    f'{ATTRIBUTES}.model == "H100" || {ATTRIBUTES}.model == "H200"',
    f'!({ATTRIBUTES}.model == "A100" || {ATTRIBUTES}.cores == 8)',
    'device.attributes["other.example.com"].zone == "a"',
    f'{ATTRIBUTES}["model"] == "H100"',
)


def held_for(expression: str, device: Raw) -> bool:
    attributes: dict[str, Any] = {_qualified(key): value for key, value in device["attributes"].items()}
    capacity = {_qualified(key): value["value"] for key, value in device["capacity"].items()}
    return selects(expression, device_value(DRIVER, attributes, capacity))


def _qualified(name: str) -> str:
    return name if "/" in name else f"{DRIVER}/{name}"


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_device_made_as_a_selector_asks_meets_it(expression: str) -> None:
    assert held_for(expression, as_selected(DEVICE, DRIVER, expression))


@pytest.mark.parametrize("expression", ["(((", "", "1", "device.driver == 'other'", "false"])
def test_what_asks_for_nothing_of_a_device_leaves_it_as_it_is(expression: str) -> None:
    assert as_selected(DEVICE, DRIVER, expression) == DEVICE

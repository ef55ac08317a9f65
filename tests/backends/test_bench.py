"""The benchmark of the backend layer runs and tells its figures; how large they are is for `make bench` to say."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from gangline.operator.backends import Registry
from gangline.rules.sets import OperatorSettings


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Each measured call is made once."""
    spec = importlib.util.spec_from_file_location("bench_backends", Path(__file__).parents[2] / "bench" / "backends.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)

    def once(call: Callable[[], object], seconds: float = 0.5) -> float:
        call()
        return 1.0

    monkeypatch.setattr(found, "rate", once)
    return found


async def test_choosing_translating_and_keeping_in_step_are_measured_for_every_backend(
    bench: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.choose()
    bench.translate()
    await bench.sync("kai", 2)
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {item["scenario"] for item in told} == {"selection", "translation", "sync"}
    assert {item["backend"] for item in told if item["scenario"] == "translation"} == {
        item.name for item in Registry(OperatorSettings())
    }

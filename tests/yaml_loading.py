"""YAML as tests read it: with PyYAML on libyaml where that is built in, which is ten times as fast, and never with the
product's own reader, whose answers they check."""

from __future__ import annotations

from typing import Any

import yaml

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_yaml(text: str | bytes) -> Any:
    return yaml.load(text, Loader=LOADER)


def load_all_yaml(text: str | bytes) -> list[Any]:
    """Every document of a text; an empty document is None."""
    return list(yaml.load_all(text, Loader=LOADER))

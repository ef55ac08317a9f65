"""The settings that `gangline simulate --settings` knows by name, and how a file of the scheduler's configuration
becomes one.

`greedy` is KAI's order and packing, `native` is what the scheduler does by default. No explanations are made in the
lab, so reasons are not worked out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gangline.errors import BadInput
from gangline.scheduler.actions import ACTIONS
from gangline.scheduler.settings import DEFAULT_ACTIONS, SchedulerSettings, native_settings, read_config, shard_settings

BUILT_IN: dict[str, Callable[[], SchedulerSettings]] = {"greedy": shard_settings, "native": native_settings}


def quiet(settings: SchedulerSettings, actions: tuple[str, ...] | None = None) -> SchedulerSettings:
    """For the lab: no explanations; with these actions, if any are given."""
    return replace(settings, skips_alike=True, explains=False, actions=settings.actions if actions is None else actions)


def from_config(config: Mapping[str, Any]) -> SchedulerSettings:
    return read_config(config, native_settings())


def read_actions(text: str) -> tuple[str, ...]:
    """`allocate`, several with commas, or `all`."""
    if text == "all":
        return DEFAULT_ACTIONS
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in ACTIONS]
    if unknown or not names:
        raise BadInput(
            f"--actions {text}: there is no action {', '.join(unknown) or 'here'}; known are all, {', '.join(ACTIONS)}"
        )
    return names

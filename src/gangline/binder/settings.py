"""The settings of the binder, with upstream's flag names in upstream's units.

Read by controller.py, reservations.py and the plugins. Every setting has a default, so a binder needs none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gangline.api import names
from gangline.api.meta import Raw
from gangline.config import NATIVE, Manner
from gangline.rules.schedulers import SERVED


@dataclass(frozen=True, slots=True)
class BinderPluginSetting:
    enabled: bool = True
    priority: int | None = None
    """None: the plugin's own."""
    arguments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BinderSettings:
    scheduler_names: tuple[str, ...] = SERVED
    """Whose pods are bound."""
    manner: Manner = NATIVE
    workers: int = 64
    """Requests worked on at the same time, and pods bound at the same time: about as many as others have in flight who
    make the pods, or a busy server gives the binds less than their share. Waiting for a device or a volume holds no
    worker."""
    first_delay: float = 1.0
    longest_delay: float = 300.0
    """Between the failures of one pod's binds: doubled each time, from the first to the longest; kept on the pod."""
    reservation_namespace: str = names.RESERVATION_NAMESPACE
    reservation_service_account: str = names.RESERVATION_NAMESPACE
    reservation_app: str = names.RESERVATION_NAMESPACE
    reservation_image: str = "gangline/resource-reservation"
    reservation_command: tuple[str, ...] = ()
    """What that image runs; empty: its own entry point."""
    reservation_timeout: float = 40.0
    """Seconds a reservation pod may take to report its GPU."""
    reservation_resources: Raw = field(default_factory=dict)
    reservation_pod_security: Raw | None = None
    reservation_container_security: Raw | None = None
    reservation_runtime_class: str = ""
    fake_gpu_nodes: bool = False
    scale_namespace: str = names.SCALE_NAMESPACE
    plugins: Mapping[str, BinderPluginSetting] = field(default_factory=dict)


DEFAULTS = BinderSettings()

"""What must be there before a component starts: asks the cluster, changes nothing."""

from __future__ import annotations

import os

from gangline.client import Client
from gangline.components.options import ComponentOptions, operator_settings


async def preflight(name: str, options: ComponentOptions, client: Client) -> None:
    """What must be there before a component starts; raises ConfigError."""
    if name == "operator":
        from gangline.operator.preflight import check

        await check(client, operator_settings(options))
    elif name == "resource-reservation":
        from gangline.controllers.reservation import own_pod

        own_pod(os.environ)

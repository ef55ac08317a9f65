"""What the operator needs of a cluster before it starts; asked once, by `gangline run operator`."""

from __future__ import annotations

from gangline.api.kinds import COMPUTE_DOMAIN
from gangline.client import Client
from gangline.errors import ConfigError, NotFound
from gangline.rules.sets import OperatorSettings


class PrerequisiteMissing(ConfigError):
    """A setting needs something that the cluster lacks. The exit code is Grove's."""

    exit_code = 7


async def check(client: Client, settings: OperatorSettings) -> None:
    """MNNVL groups become ComputeDomains: without that kind no such set could ever start."""
    if settings.auto_mnnvl and not await _served(client):
        raise PrerequisiteMissing(
            f"network.autoMNNVLEnabled needs {COMPUTE_DOMAIN.resource} {COMPUTE_DOMAIN.version}, which this cluster "
            "does not serve: install the driver that brings ComputeDomains, or switch the setting off"
        )


async def _served(client: Client) -> bool:
    try:
        answer = await client.get_path(f"/apis/{COMPUTE_DOMAIN.api_version}")
    except NotFound:
        return False
    return any(resource.get("name") == COMPUTE_DOMAIN.plural for resource in answer.get("resources") or [])

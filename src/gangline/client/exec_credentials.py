"""Credential plug-ins: a command that a kubeconfig names, run for a token, and again when that has expired.

kubeconfig.py makes them; http.py asks before each request.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from typing import Any

from gangline.client.tokens import checked_token, why_not
from gangline.errors import ConfigError
from gangline.rules.values.times import seconds_of


class ExecToken:
    """Asks an exec plug-in for a token, and again when it has expired."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self._token = ""
        self._expires = 0.0

    async def __call__(self) -> str:
        if not self._token or time.time() > self._expires - 30:
            await self._ask()
        return self._token

    async def _ask(self) -> None:
        spec = self._spec
        environment = dict(os.environ) | {item["name"]: item["value"] for item in spec.get("env") or []}
        environment["KUBERNETES_EXEC_INFO"] = json.dumps(
            {"apiVersion": spec.get("apiVersion"), "kind": "ExecCredential", "spec": {"interactive": False}}
        )
        try:
            process = await asyncio.create_subprocess_exec(
                str(spec["command"]),
                *[str(argument) for argument in spec.get("args") or []],
                env=environment,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            raise ConfigError(
                f"the credential plug-in {spec['command']!r} cannot be started: {why_not(error)}"
            ) from None
        out, err = await process.communicate()
        if process.returncode:
            raise ConfigError(
                f"the credential plug-in {spec['command']!r} failed: {err.decode(errors='replace').strip()[:300]}"
            )
        try:
            status = json.loads(out).get("status") or {}
            until = status.get("expirationTimestamp")
            self._expires = seconds_of(str(until)) if until else float("inf")
            self._token = checked_token(str(status.get("token") or ""), f"the answer of {spec['command']!r}")
        except (ValueError, AttributeError) as error:
            raise ConfigError(
                f"the credential plug-in {spec['command']!r} did not answer with an ExecCredential: {error}"
            ) from None

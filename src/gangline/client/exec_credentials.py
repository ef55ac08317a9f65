"""Credential plug-ins: a command that a kubeconfig names, run for a token, and again when that has expired.

kubeconfig.py makes them; http.py asks before each request.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from typing import Any

from gangline.bounded_input import SMALL
from gangline.client.tokens import checked_token, why_not
from gangline.errors import ConfigError
from gangline.rules.values.times import seconds_of

PATIENCE = 120.0
"""Seconds that a plug-in has: somebody may have to log in."""

LAST_WORDS = 1.0
"""Seconds for one that was ended to be gone."""


def why_no_plug_in(spec: Any) -> str:
    """What is missing or odd in what a kubeconfig says of one; nothing, if it can be run."""
    if not isinstance(spec, dict) or not spec.get("command"):
        return "names no command"
    given, named = spec.get("args") or [], spec.get("env") or []
    if not isinstance(given, list) or any(isinstance(item, list | dict) for item in given):
        return "has args that are no list of texts"
    if not isinstance(named, list) or not all(isinstance(item, dict) and item.get("name") for item in named):
        return "has an env that is no list of names with values"
    return ""


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
        environment = dict(os.environ) | {
            str(item["name"]): str(item.get("value") or "") for item in spec.get("env") or []
        }
        environment["KUBERNETES_EXEC_INFO"] = json.dumps(
            {"apiVersion": str(spec.get("apiVersion")), "kind": "ExecCredential", "spec": {"interactive": False}}
        )
        try:
            process = await asyncio.create_subprocess_exec(
                str(spec["command"]),
                *[str(argument) for argument in spec.get("args") or []],
                env=environment,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"the credential plug-in {spec['command']!r} cannot be started: {why_not(error)}"
            ) from None
        out, err = await self._answer(process)
        if process.returncode:
            raise ConfigError(
                f"the credential plug-in {spec['command']!r} failed: {err.decode(errors='replace').strip()[:300]}"
            )
        try:
            status = json.loads(out).get("status") or {}
            until = status.get("expirationTimestamp")
            self._expires = seconds_of(str(until)) if until else float("inf")
            self._token = checked_token(str(status.get("token") or ""), f"the answer of {spec['command']!r}")
        except (ValueError, AttributeError, RecursionError) as error:
            raise ConfigError(
                f"the credential plug-in {spec['command']!r} did not answer with an ExecCredential: {error}"
            ) from None

    async def _answer(self, process: asyncio.subprocess.Process) -> tuple[bytes, bytes]:
        """What it says, up to a bound and in time; whatever happens, it does not outlive this."""
        assert process.stdout is not None and process.stderr is not None
        reading = [asyncio.ensure_future(self._said(stream)) for stream in (process.stdout, process.stderr)]
        try:
            async with asyncio.timeout(PATIENCE):
                out, err = await asyncio.gather(*reading)
                await process.wait()
            return out, err
        except TimeoutError:
            raise ConfigError(
                f"the credential plug-in {self._spec['command']!r} did not answer within {PATIENCE:g} s"
            ) from None
        finally:
            for task in reading:
                task.cancel()
            await asyncio.gather(*reading, return_exceptions=True)
            if process.returncode is None:
                process.kill()
                with contextlib.suppress(TimeoutError):  # its last output is read, or it would not be seen to end
                    async with asyncio.timeout(LAST_WORDS):
                        await process.communicate()

    async def _said(self, stream: asyncio.StreamReader) -> bytes:
        content = bytearray()
        while piece := await stream.read(64 * 1024):
            content += piece
            if len(content) > SMALL:
                raise ConfigError(f"the credential plug-in {self._spec['command']!r} printed more than {SMALL} bytes")
        return bytes(content)

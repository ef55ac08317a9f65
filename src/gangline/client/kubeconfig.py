"""Which server, and who we are: kubeconfig files, and the account of a pod inside a cluster.

Reads files and runs exec plug-ins; ends in a ready transport. Nothing here sends a request to an API server.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import ssl
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gangline.client.http import Http, Token
from gangline.errors import ConfigError
from gangline.schema.documents import Unreadable, read_yaml

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class Target:
    """One context of a kubeconfig, resolved."""

    server: str
    cluster: dict[str, Any]
    user: dict[str, Any]
    namespace: str
    folder: Path


def load(path: str | Path | None = None, context: str = "") -> Target:
    """The context asked for, or the current one, of a kubeconfig (`$KUBECONFIG`, else `~/.kube/config`)."""
    file = _which(path)
    try:
        config = read_yaml(file.read_text()) or {}
    except FileNotFoundError:
        raise ConfigError(f"no kubeconfig at {file}: start a platform with `gangline up`, or pass --kubeconfig FILE") from None
    except (Unreadable, OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not a readable kubeconfig: {error}") from None
    if not isinstance(config, dict):
        raise ConfigError(f"{file} is not a kubeconfig: it holds no mapping")
    name = context or str(config.get("current-context") or "")
    chosen = _entry(config, "contexts", "context", name, file)
    cluster = _entry(config, "clusters", "cluster", str(chosen.get("cluster", "")), file)
    user = _entry(config, "users", "user", str(chosen.get("user", "")), file) if chosen.get("user") else {}
    server = str(cluster.get("server") or "")
    if not server:
        raise ConfigError(f"{file}: cluster {chosen.get('cluster')!r} names no server")
    return Target(server, cluster, user, str(chosen.get("namespace") or "default"), file.parent)


def _which(path: str | Path | None) -> Path:
    if path:
        return Path(path)
    named = os.environ.get("KUBECONFIG", "").split(os.pathsep)[0]
    return Path(named) if named else Path.home() / ".kube" / "config"


def _entry(config: dict[str, Any], listing: str, key: str, name: str, file: Path) -> dict[str, Any]:
    entries = {str(each.get("name")): each.get(key) or {} for each in config.get(listing) or []}
    if name not in entries:
        raise ConfigError(f"{file} has no {key} {name!r}; it has: {', '.join(sorted(entries)) or 'none'}")
    found: dict[str, Any] = entries[name]
    return found


def transport(target: Target, agent: str = "gangline") -> Http:
    """A transport for a kubeconfig's context."""
    tls = _tls(target) if target.server.startswith("https") else None
    return Http(target.server, tls, _token(target), agent, target.cluster.get("proxy-url"))


def in_cluster(agent: str = "gangline") -> Http:
    """A transport for the pod we run in, by its service account."""
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise ConfigError("not inside a cluster: KUBERNETES_SERVICE_HOST is not set; pass --kubeconfig FILE")

    async def token() -> str:
        return (SERVICE_ACCOUNT / "token").read_text().strip()

    return Http(f"https://{host}:{port}", ssl.create_default_context(cafile=str(SERVICE_ACCOUNT / "ca.crt")), token, agent)


def own_namespace() -> str:
    """Of the pod we run in."""
    try:
        return (SERVICE_ACCOUNT / "namespace").read_text().strip()
    except OSError:
        return "default"


def _tls(target: Target) -> ssl.SSLContext:
    cluster, user = target.cluster, target.user
    authority = _material(cluster, "certificate-authority", target.folder)
    context = ssl.create_default_context(cadata=authority.decode() if authority else None)
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate, key = (_material(user, name, target.folder) for name in ("client-certificate", "client-key"))
    if certificate and key:
        _load_pair(context, certificate, key)
    return context


def _load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(certificate + b"\n" + key)
        file.flush()
        context.load_cert_chain(file.name)


def _material(section: dict[str, Any], name: str, folder: Path) -> bytes | None:
    if section.get(f"{name}-data"):
        return base64.b64decode(section[f"{name}-data"])
    if section.get(name):
        return (folder / str(section[name])).read_bytes()
    return None


def _token(target: Target) -> Token | None:
    user = target.user
    if user.get("exec"):
        return ExecToken(user["exec"])
    if user.get("token"):
        fixed = str(user["token"])

        async def given() -> str:
            return fixed

        return given
    if user.get("tokenFile"):
        path = target.folder / str(user["tokenFile"])

        async def read() -> str:
            return path.read_text().strip()

        return read
    return None


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
        environment = dict(os.environ) | {each["name"]: each["value"] for each in spec.get("env") or []}
        environment["KUBERNETES_EXEC_INFO"] = json.dumps({
            "apiVersion": spec.get("apiVersion"), "kind": "ExecCredential", "spec": {"interactive": False}})
        process = await asyncio.create_subprocess_exec(
            str(spec["command"]), *[str(each) for each in spec.get("args") or []],
            env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        out, err = await process.communicate()
        if process.returncode:
            raise ConfigError(f"the credential plug-in {spec['command']!r} failed: {err.decode(errors='replace').strip()[:300]}")
        status = json.loads(out).get("status") or {}
        self._token = str(status.get("token") or "")
        until = status.get("expirationTimestamp")
        self._expires = datetime.fromisoformat(str(until).replace("Z", "+00:00")).timestamp() if until else float("inf")

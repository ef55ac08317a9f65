"""Which server, and who we are: kubeconfig files, and the account of a pod inside a cluster.

Reads files and runs exec plug-ins; ends in a ready transport. What few kubeconfigs need is imported when one needs it:
every command begins here. Nothing here sends a request to an API server.
"""

from __future__ import annotations

import base64
import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gangline.bounded_input import SMALL, read_bytes, read_text
from gangline.client.http import Http, Token
from gangline.client.tokens import checked_token, read_token, why_not
from gangline.errors import ConfigError
from gangline.rules.values.documents import DocumentUnreadable, read_yaml
from gangline.rules.values.hosts import is_server

LARGEST = 16 * 1024 * 1024
"""Bytes of a kubeconfig."""
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class ClusterTarget:
    """One context of a kubeconfig, resolved."""

    server: str
    cluster: dict[str, Any]
    user: dict[str, Any]
    namespace: str
    file: Path
    """The kubeconfig; what it names by a path lies beside it."""


def load(path: str | Path | None = None, context: str = "") -> ClusterTarget:
    """The context asked for, or the current one, of a kubeconfig (`$KUBECONFIG`, else `~/.kube/config`)."""
    file = _which(path)
    try:
        config = read_yaml(read_bytes(file, LARGEST).decode()) or {}
    except FileNotFoundError:
        raise ConfigError(
            f"no kubeconfig at {file}: start a platform with `gangline up`, or pass --kubeconfig FILE"
        ) from None
    except (DocumentUnreadable, OSError, ValueError) as error:
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
    if not is_server(server):
        raise ConfigError(
            f"{file}: the server of cluster {chosen.get('cluster')!r} is {server!r}; it is written https://host:port"
        )
    return ClusterTarget(server, cluster, user, str(chosen.get("namespace") or "default"), file)


def _which(path: str | Path | None) -> Path:
    if path:
        return Path(path)
    named = os.environ.get("KUBECONFIG", "").split(os.pathsep)[0]
    return Path(named) if named else Path.home() / ".kube" / "config"


def _entry(config: dict[str, Any], listing: str, key: str, name: str, file: Path) -> dict[str, Any]:
    given = config.get(listing) or []
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        raise ConfigError(f"{file} is not a kubeconfig: its {listing} are no list of mappings")
    entries = {str(item.get("name")): item.get(key) or {} for item in given}
    if name not in entries:
        raise ConfigError(f"{file} has no {key} {name!r}; it has: {', '.join(sorted(entries)) or 'none'}")
    entry = entries[name]
    if not isinstance(entry, dict):
        raise ConfigError(f"{file} is not a kubeconfig: {key} {name!r} is no mapping")
    return entry


def transport(target: ClusterTarget, agent: str = "gangline") -> Http:
    """A transport for a kubeconfig's context."""
    tls = _tls(target) if target.server.startswith("https") else None
    proxy = target.cluster.get("proxy-url") or ""
    if not isinstance(proxy, str):
        raise ConfigError(f"{target.file}: its proxy-url is no text")
    if target.user.get("as"):
        raise ConfigError(
            f"{target.file}: its user acts as somebody else (`as`), which is not known here, and nobody is asked with "
            "other rights instead"
        )
    return Http(target.server, tls, _token(target), agent, proxy)


def in_cluster(agent: str = "gangline") -> Http:
    """A transport for the pod we run in, by its service account."""
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise ConfigError("not inside a cluster: KUBERNETES_SERVICE_HOST is not set; pass --kubeconfig FILE")

    async def token() -> str:
        return read_token(SERVICE_ACCOUNT / "token")

    try:
        context = ssl.create_default_context(cafile=str(SERVICE_ACCOUNT / "ca.crt"))
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{SERVICE_ACCOUNT}/ca.crt cannot be used: {why_not(error)}; the pod needs the token of its service "
            "account (automountServiceAccountToken)"
        ) from None
    return Http(f"https://{host}:{port}", context, token, agent)


def own_namespace() -> str:
    """Of the pod we run in."""
    try:
        return read_text(SERVICE_ACCOUNT / "namespace", SMALL).strip()
    except (OSError, UnicodeDecodeError):
        return "default"


def _tls(target: ClusterTarget) -> ssl.SSLContext:
    cluster, user = target.cluster, target.user
    authority = _material(cluster, "certificate-authority", target.file)
    try:
        context = ssl.create_default_context(cadata=authority.decode("ascii") if authority else None)
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(
            f"{target.file}: its certificate-authority holds no certificate in PEM: {why_not(error)}"
        ) from None
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate, key = (_material(user, name, target.file) for name in ("client-certificate", "client-key"))
    if certificate and key:
        _load_pair(context, certificate, key, target.file)
    return context


def _load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes, file: Path) -> None:
    from tempfile import NamedTemporaryFile

    with NamedTemporaryFile() as pair:
        pair.write(certificate + b"\n" + key)
        pair.flush()
        try:
            context.load_cert_chain(pair.name, password=b"")
        except (ssl.SSLError, ValueError) as error:
            raise ConfigError(
                f"{file}: its client-certificate and client-key are no pair in PEM: {why_not(error)}"
            ) from None


def _material(section: dict[str, Any], name: str, file: Path) -> bytes | None:
    try:
        if section.get(f"{name}-data"):
            return base64.b64decode(str(section[f"{name}-data"]), validate=True)
        return read_bytes(file.parent / str(section[name]), SMALL) if section.get(name) else None
    except ValueError:
        raise ConfigError(f"{file}: its {name}-data is no base64") from None
    except OSError as error:
        raise ConfigError(f"{file}: its {name} {section[name]!r} cannot be read: {why_not(error)}") from None


def _token(target: ClusterTarget) -> Token | None:
    user = target.user
    if user.get("exec"):
        from gangline.client.exec_credentials import ExecToken, why_no_plug_in

        if why := why_no_plug_in(user["exec"]):
            raise ConfigError(f"{target.file}: its exec {why}")
        return ExecToken(user["exec"])
    if user.get("token"):
        fixed = checked_token(str(user["token"]), target.file)

        async def given() -> str:
            return fixed

        return given
    if user.get("tokenFile"):
        path = target.file.parent / str(user["tokenFile"])

        async def read() -> str:
            return read_token(path)

        return read
    return None

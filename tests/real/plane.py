"""A real control plane on loopback: etcd, kube-apiserver, kube-controller-manager and kube-scheduler, as `make real`
built them.

Programs come from `KUBEBUILDER_ASSETS`, and what is not there from `.cache/bin`; those of other releases than the usual
one from `.cache/kubernetes/RELEASE`. `python -m real.plane [RELEASE …]` says which are missing. A plane is started in a
folder of its own and stopped with everything in it, at the latest when this process ends, however it ends; nothing here
knows gangline."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import socket
import ssl
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from real.leash import leashed
from real.releases import RELEASES, USUAL, Release, switched_on

REPOSITORY = Path(__file__).parents[2]
TOKEN = "real-admin"
DEVICES = "DRAExtendedResource"
"""Extended resources served by devices, which are not on by default."""
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")


def assets() -> Path:
    """Where `make` puts what it builds."""
    return REPOSITORY / ".cache" / "bin"


def program(name: str, release: Release = USUAL) -> Path:
    """Where a program is, or would be once it is built. One etcd serves every release."""
    if release is not USUAL and name != "etcd":
        return REPOSITORY / ".cache" / "kubernetes" / release.name / name
    given = os.environ.get("KUBEBUILDER_ASSETS")
    return Path(given, name) if given and Path(given, name).exists() else assets() / name


def missing(release: Release = USUAL) -> str:
    """Why there is no real control plane of a release here; empty if there is one."""
    absent = [name for name in PROGRAMS if not program(name, release).exists()]
    if not absent:
        return ""
    if release is not USUAL:
        return f"no control plane of Kubernetes {release.name}: run `make test-real RELEASES={release.name}` (needs Go)"
    return (
        f"no real control plane: {', '.join(absent)} not found; run `make real` (needs Go), or set KUBEBUILDER_ASSETS"
    )


@dataclass(slots=True)
class Plane:
    folder: Path
    controllers: str = "*"
    """What kube-controller-manager runs; empty: it is not started."""
    scheduler: bool = True
    gates: tuple[str, ...] = ()
    """Further feature gates of every program."""
    release: Release = USUAL
    url: str = ""
    _processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    async def start(self) -> None:
        await self.start_server()
        self.start_rest()

    async def start_server(self) -> None:
        """etcd and kube-apiserver alone: kinds that are made now are known to the controllers from their first
        moment."""
        atexit.register(self.end)
        peer, store, port = (free_port() for _ in range(3))
        self.url = f"https://127.0.0.1:{port}"
        _write_keys(self.folder)
        (self.folder / "tokens.csv").write_text(f"{TOKEN},admin,admin,system:masters\n")
        self._run(
            "etcd",
            f"--data-dir={self.folder}/etcd",
            f"--listen-client-urls=http://127.0.0.1:{store}",
            f"--advertise-client-urls=http://127.0.0.1:{store}",
            f"--listen-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-cluster=default=http://127.0.0.1:{peer}",
            "--unsafe-no-fsync",
        )
        self._run(
            "kube-apiserver",
            f"--etcd-servers=http://127.0.0.1:{store}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--cert-dir={self.folder}/certs",
            "--authorization-mode=RBAC",
            f"--token-auth-file={self.folder}/tokens.csv",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--allow-privileged",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-signing-key-file={self.folder}/sa.key",
            f"--service-account-key-file={self.folder}/sa.pub",
            f"--feature-gates={self._gates()}",
            f"--runtime-config={self.release.runtime_config}",
            "--disable-admission-plugins=ServiceAccount",
        )
        await self._ready()
        self.kubeconfig.write_text(self._kubeconfig())

    def start_rest(self) -> None:
        shared = (
            f"--kubeconfig={self.kubeconfig}",
            f"--authentication-kubeconfig={self.kubeconfig}",
            f"--authorization-kubeconfig={self.kubeconfig}",
            "--leader-elect=false",
            "--bind-address=127.0.0.1",
        )
        if self.controllers:
            self._run(
                "kube-controller-manager",
                *shared,
                f"--secure-port={free_port()}",
                f"--controllers={self.controllers}",
                f"--service-account-private-key-file={self.folder}/sa.key",
                f"--root-ca-file={self.authority}",
                f"--feature-gates={self._gates()}",
                f"--cert-dir={self.folder}/kcm",
            )
        if self.scheduler:
            self._run(
                "kube-scheduler",
                *shared,
                f"--secure-port={free_port()}",
                f"--feature-gates={self._gates()}",
                f"--cert-dir={self.folder}/scheduler",
            )

    async def stop(self) -> None:
        self.end()

    def end(self) -> None:
        atexit.unregister(self.end)
        for process in reversed(self._processes.values()):
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()

    def _gates(self) -> str:
        return switched_on(*self.release.gates, *self.gates)

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "kubeconfig"

    @property
    def authority(self) -> Path:
        return self.folder / "certs" / "apiserver.crt"

    def _run(self, name: str, *arguments: str) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self._processes[name] = subprocess.Popen(
                leashed([str(program(name, self.release)), *arguments]),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )

    def processes(self) -> dict[str, int]:
        """Which program runs as which process."""
        return {name: process.pid for name, process in self._processes.items()}

    async def _ready(self, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}) as session:
            while time.monotonic() < deadline:
                with contextlib.suppress(aiohttp.ClientError, OSError):
                    async with session.get(f"{self.url}/readyz", ssl=trust_all()) as answer:
                        if answer.status == 200:
                            return
                await asyncio.sleep(0.1)
        raise RuntimeError(
            f"kube-apiserver did not become ready in {seconds} s; its log ends with:\n{self.log('kube-apiserver')}"
        )

    def log(self, name: str, lines: int = 30) -> str:
        return "\n".join((self.folder / f"{name}.log").read_text(errors="replace").splitlines()[-lines:])

    def _kubeconfig(self) -> str:
        return str(
            yaml.safe_dump(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "real",
                    "clusters": [{"name": "real", "cluster": {"server": self.url, "insecure-skip-tls-verify": True}}],
                    "users": [{"name": "admin", "user": {"token": TOKEN}}],
                    "contexts": [{"name": "real", "context": {"cluster": "real", "user": "admin"}}],
                }
            )
        )


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def trust_all() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _write_keys(folder: Path) -> None:
    """The pair that signs service-account tokens."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    (folder / "sa.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
    (folder / "sa.pub").write_bytes(
        key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


if __name__ == "__main__":
    print("\n".join(filter(None, (missing(RELEASES[name]) for name in sys.argv[1:] or [USUAL.name]))), end="")

"""Real kube-scheduler and kube-controller-manager as clients of the embedded server: started by its kubeconfig."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from real.leash import leashed
from real.plane import free_port, program
from real.releases import USUAL, switched_on


@dataclass(slots=True)
class Programs:
    folder: Path
    kubeconfig: Path
    content_type: str
    _running: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)

    async def scheduler(self, *, leads: bool = False) -> None:
        """`leads`: it holds a Lease before it works."""
        await self._run(
            "kube-scheduler", f"--feature-gates={switched_on(*USUAL.gates)}", f"--leader-elect={str(leads).lower()}"
        )

    async def controllers(self, which: str = "*,-serviceaccount-token-controller") -> None:
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        (self.folder / "sa.key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
            )
        )
        await self._run(
            "kube-controller-manager",
            "--leader-elect=false",
            f"--controllers={which}",
            f"--feature-gates={switched_on(*USUAL.gates)}",
            f"--service-account-private-key-file={self.folder}/sa.key",
        )

    async def _run(self, name: str, *arguments: str) -> None:
        shared = (
            f"--kubeconfig={self.kubeconfig}",
            f"--authentication-kubeconfig={self.kubeconfig}",
            f"--authorization-kubeconfig={self.kubeconfig}",
            "--authentication-skip-lookup=true",
            "--bind-address=127.0.0.1",
            f"--secure-port={free_port()}",
            f"--cert-dir={self.folder}/{name}",
            f"--kube-api-content-type={self.content_type}",
        )
        with (self.folder / f"{name}.log").open("wb") as log:
            self._running[name] = await asyncio.create_subprocess_exec(
                *leashed([str(program(name)), *shared, *arguments]), stdout=log, stderr=log, cwd=self.folder
            )

    def log(self, lines: int = 40) -> str:
        return "\n".join(
            line
            for name in self._running
            for line in (self.folder / f"{name}.log").read_text(errors="replace").splitlines()[-lines:]
        )

    async def stop(self) -> None:
        for process in self._running.values():
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

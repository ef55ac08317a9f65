"""Starts and ends the programs of one peer on a control plane, each a process of its own over HTTPS, and looks at their
processor time and memory. A gangline component is `gangline run NAME`, as it is installed."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from bench.league.peers import Gangline, Kai, Peer
from bench.parts.processes import Beside

from real.ground import filled
from real.leash import leashed
from real.plane import free_port
from real.schedulers.scheduler import Program


class Running:
    """The processes of a peer."""

    def __init__(self, peer: Peer, folder: Path, kubeconfig: Path) -> None:
        self._peer, self._folder, self._kubeconfig = peer, folder, kubeconfig
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.beside: list[Beside] = []

    async def start(self) -> None:
        for program in self._peer.programs:
            await self._launch(program)

    async def _launch(self, program: Program) -> None:
        ours = isinstance(self._peer, Gangline) and not isinstance(self._peer, Kai)
        command = self._own(program) if ours else self._theirs(program)
        log = self._folder / f"{self._peer.name}-{program.name}.log"
        process = self._processes[program.name] = self._process(program, command, log)
        self.beside.append(Beside(program.name, process.pid))
        while ours and b"ready" not in log.read_bytes():
            if process.poll() is not None:
                raise SystemExit(f"{program.name} ended: {log.read_text(errors='replace')[-2000:]}")
            await asyncio.sleep(0.05)

    def _process(self, program: Program, command: list[str], log: Path) -> subprocess.Popen[bytes]:
        told = {key: self._fill(value, program) for key, value in program.environment.items()}
        with log.open("wb") as out:
            return subprocess.Popen(
                leashed(command),
                env=os.environ | told,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=self._folder,
            )

    def _own(self, program: Program) -> list[str]:
        gangline = str(Path(sys.executable).with_name("gangline"))
        return [gangline, "run", program.name, "--kubeconfig", str(self._kubeconfig), *program.arguments]

    def _theirs(self, program: Program) -> list[str]:
        if self._peer.proof is not None:
            self._config(program).write_text(self._fill(self._peer.config(self._peer.proof.config()), program))
        return [str(self._peer.path(program.name)), *(self._fill(item, program) for item in program.arguments)]

    def _config(self, program: Program) -> Path:
        return self._folder / f"{program.name}.yaml"

    def _fill(self, text: str, program: Program) -> str:
        words = {
            "kubeconfig": str(self._kubeconfig),
            "config": str(self._config(program)),
            "folder": str(self._folder),
            "port": str(free_port()) if "{port}" in text else "",
        }
        return filled(text, words)

    def seconds(self) -> dict[str, float]:
        return {item.name: item.seconds() for item in self.beside}

    def memory(self) -> dict[str, int]:
        """MiB, at their largest."""
        return {item.name: item.memory() for item in self.beside}

    def ended(self) -> list[str]:
        return [name for name, process in self._processes.items() if process.poll() is not None]

    def stop(self) -> None:
        for process in self._processes.values():
            with suppress(ProcessLookupError):
                process.terminate()
        for process in self._processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

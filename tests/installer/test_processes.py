"""The containers that the installer describes, as real processes: each starts with its command line and answers its own
probes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from embedded import PATIENCE
from gangline.api.kinds import CONFIG_MAP, DEPLOYMENT
from gangline.api.meta import Raw
from gangline.api.names import RECORDINGS
from gangline.cli.deploy import install
from gangline.components.installer_parts import installer_parts
from gangline.installer.config_reader import ConfigReading
from gangline.installer.contract import CertificatePair, InstallFacts
from gangline.installer.objects.desired import wishes_of_config
from gangline.installer.objects.services import CERTIFICATES
from gangline.installer.objects.shards import wishes_of_shard
from gangline.installer.objects.workload import FOLDER
from gangline.local import write_kubeconfig
from installer.installer_story import SPACE, installer_story

PARTS = installer_parts()
PAIR: CertificatePair = PARTS.certificate(("admission.kai-scheduler.svc",), time.time(), None)


def described() -> dict[str, tuple[Raw, str]]:
    """Component → its container, and the config.yaml it finds mounted. The operator and those around it are
    configured."""
    said, facts = ConfigReading({"workload": {"scheduler": {"outside": ["kai"]}}}), InstallFacts(certificate=PAIR)
    objects = [
        *wishes_of_config(said, facts, PARTS).objects,
        *wishes_of_shard(said, "default", {}, facts, PARTS).objects,
    ]
    maps = {item.name: item.obj["data"]["config.yaml"] for item in objects if item.kind == CONFIG_MAP}
    pods = [item.obj["spec"]["template"]["spec"] for item in objects if item.kind == DEPLOYMENT]
    pods += [
        manifest.obj["spec"]["template"]["spec"]
        for manifest in install.manifests(None, None, "both")
        if manifest.kind == DEPLOYMENT
    ]
    return {pod["containers"][0]["command"][2]: (pod["containers"][0], _mounted(pod, maps)) for pod in pods}


def _mounted(pod: Raw, maps: dict[str, str]) -> str:
    return next((maps[volume["configMap"]["name"]] for volume in pod.get("volumes", ()) if "configMap" in volume), "")


PORTS = itertools.count(20_000 + 1_000 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")))


def free_port() -> int:
    """Below those that the kernel gives to whoever asks for any, and other than those of the other workers of this
    run."""
    for port in PORTS:
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port
    raise AssertionError("unreachable")


def localized(container: Raw, config: str, folder: Path) -> tuple[list[str], Raw]:
    """Command line and readiness probe with folders and ports of this machine."""
    (folder / "config.yaml").write_text(config)
    for name, part in (("tls.crt", PAIR.certificate), ("tls.key", PAIR.key), ("ca.crt", PAIR.authority)):
        (folder / name).write_bytes(part)
    ports = {str(port): str(free_port()) for port in (8080, 8081, 9443)}
    words = list(container["command"][1:])
    for theirs in ("/etc/config", CERTIFICATES, FOLDER, RECORDINGS):
        words = [word.replace(theirs, str(folder)) for word in words]
    for old, new in ports.items():
        words = [word.replace(f"=:{old}", f"=:{new}").replace(f"={old}", f"={new}") for word in words]
    probe = container["readinessProbe"]["httpGet"]
    return words, {"path": probe["path"], "port": ports[str(probe["port"])]}


async def answers(process: asyncio.subprocess.Process, probe: Raw, seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    async with aiohttp.ClientSession() as session:
        while True:
            assert process.returncode is None, await _output(process)
            try:
                async with session.get(f"http://127.0.0.1:{probe['port']}{probe['path']}") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            assert time.monotonic() < deadline, "no answer to the readiness probe"
            await asyncio.sleep(0.05)


async def _output(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    return (await process.stdout.read()).decode()


@pytest.mark.parametrize("component", list(described()))
async def test_a_container_starts_and_answers_its_probe(component: str, tmp_path: Path) -> None:
    words, probe = localized(*described()[component], tmp_path)
    async with installer_story(installer=False) as cluster:
        config = write_kubeconfig(cluster.platform, await cluster.platform.listen(), tmp_path / "kubeconfig")
        environment: dict[str, Any] = {**os.environ, "POD_NAME": "me", "POD_NAMESPACE": SPACE}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "from gangline.cli import main; main()",
            *words,
            f"--kubeconfig={config}",
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            await answers(process, probe)
        finally:
            if process.returncode is None:
                process.terminate()
            code = await process.wait()
    assert code == 0, "told to end, it ends in peace"

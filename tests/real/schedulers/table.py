"""THE table of schedulers that backends are proven on: what is built, which definitions it brings, and how it is started outside a cluster.

Each folder beside this file is a Go module of our own whose `tool` lines name upstream's programs; `make schedulers SCHEDULERS=volcano`
builds them. Definitions of kinds are read from the module in the Go cache, so they are of the very version that runs.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from gangline.api.kinds import VOLCANO_QUEUE, Kind
from gangline.api.meta import Raw
from real.plane import assets

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Program:
    """One process; `{kubeconfig}`, `{config}` (our file of that name beside its module, filled in) and `{port}` (a free one) are put in."""

    name: str
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scheduler:
    backend: str
    module: str = ""
    """The Go module it comes from; empty: it is part of the control plane."""
    definitions: Sequence[str] = ()
    """Its kinds: patterns of files inside its module."""
    programs: Sequence[Program] = ()
    namespaces: Sequence[str] = ()
    """Namespaces that it takes for granted."""
    makes: Sequence[tuple[Kind[Any], str, Raw]] = ()
    """What it makes itself when it starts: kind, name and part of its status."""
    why: str = ""
    """Part of what a gang says, in this scheduler's own words, when there is no room for its minimum."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What a set must say to use it."""

    def missing(self) -> str:
        """Why it cannot be started here; empty if it can."""
        absent = [each.name for each in self.programs if not (assets() / each.name).exists()]
        return f"no {', '.join(absent)} in {assets().name}: run `make test-real SCHEDULERS={self.backend}` (needs Go)" if absent else ""

    def kinds(self) -> Iterator[Raw]:
        """Its CustomResourceDefinitions."""
        if not self.definitions:
            return
        told = subprocess.run(["go", "list", "-m", "-f", "{{.Dir}}", self.module], cwd=HERE / self.backend, check=True,
                              capture_output=True, text=True)
        for pattern in self.definitions:
            for file in sorted(Path(told.stdout.strip()).glob(pattern)):
                found: list[Any] = list(yaml.safe_load_all(file.read_text()))
                yield from (each for each in found if each and each["kind"] == "CustomResourceDefinition")

    def config(self, kubeconfig: Path) -> str:
        """The text of its configuration file, if it has one."""
        file = HERE / self.backend / "config.yaml"
        return file.read_text().replace("{kubeconfig}", str(kubeconfig)) if file.exists() else ""


SCHEDULERS: Mapping[str, Scheduler] = {each.backend: each for each in (
    Scheduler("default", why="Insufficient nvidia.com/gpu"),
    Scheduler(
        "volcano", "volcano.sh/volcano", ("config/crd/*/bases/*.yaml",), (
            Program("volcano-scheduler", ("--kubeconfig={kubeconfig}", "--leader-elect=false", "--scheduler-conf={config}",
                                          "--enable-healthz=false", "--enable-metrics=false", "--cache-dumper=false")),
            Program("volcano-controllers", ("--kubeconfig={kubeconfig}", "--leader-elect=false", "--enable-healthz=false",
                                            "--enable-metrics=false"))),
        namespaces=("volcano-system",), makes=((VOLCANO_QUEUE, "default", {"state": "Open"}),),
        why="pod group is not ready, 5 minAvailable, 7 Pending"),
    Scheduler(
        "coscheduling", "sigs.k8s.io/scheduler-plugins", ("manifests/coscheduling/crd.yaml", "manifests/capacityscheduling/crd.yaml"), (
            Program("coscheduling-scheduler", ("--config={config}", "--authentication-kubeconfig={kubeconfig}",
                                               "--authorization-kubeconfig={kubeconfig}", "--authentication-skip-lookup",
                                               "--secure-port={port}", "--bind-address=127.0.0.1")),
            Program("coscheduling-controller", ("--metricsAddr=127.0.0.1:{port}", "--probeAddr=127.0.0.1:0"),
                    {"KUBECONFIG": "{kubeconfig}"})),
        why="Insufficient nvidia.com/gpu"),
)}

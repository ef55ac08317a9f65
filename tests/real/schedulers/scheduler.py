"""What a third-party scheduler is to a proof: what is built, which definitions it brings, and how it is started outside
a cluster.

Definitions of kinds are read from its module in the Go cache, so they are of the very version that runs.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from gangline.api.kinds import CRD, Kind
from gangline.api.meta import Raw
from real.plane import assets, missing
from real.releases import USUAL, Release
from yaml_loading import load_all_yaml

HERE = Path(__file__).parent
Objects = Iterable[tuple[Kind[Any], Raw]]


@dataclass(frozen=True, slots=True)
class Program:
    """One process; `{kubeconfig}`, `{config}` (our config.yaml beside its module), `{folder}` and `{port}` (a free one)
    are put in."""

    name: str
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Scheduler:
    backend: str
    product: str
    module: str
    """The Go module it comes from."""
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
    not_run: str = ""
    """Why the proof has not been run, or how far it holds, as measured; empty: it holds."""
    mounts: tuple[str, str] | None = None
    """Namespace and name of a Secret that a kubelet would show it in `{folder}/certs`."""
    release: Release = USUAL
    """Of Kubernetes, that it runs on."""
    domains: bool = False
    """It keeps a gang in one domain without more than labels of nodes, so that this can be shown."""

    @property
    def name(self) -> str:
        """What it is asked for by; that of Kubernetes has a name for each release."""
        return self.backend if self.release is USUAL else f"{self.backend}-{self.release.name}"

    @property
    def version(self) -> str:
        """As it stands in the Go module that builds it."""
        own = (
            HERE / self.backend / "go.mod",
            HERE.parent / "kubernetes" / self.release.name / "go.mod",
            HERE.parent / "go.mod",
        )
        lines = next(file for file in own if file.exists()).read_text().replace("require ", "").splitlines()
        return next(line.split()[1] for line in lines if line.split()[:1] == [self.module]).removeprefix("v")

    def missing(self) -> str:
        """Why it cannot be started here; empty if it can."""
        if why := missing(self.release):
            return why
        absent = [program.name for program in self.programs if not (assets() / program.name).exists()]
        return (
            f"no {', '.join(absent)} in {assets().name}: run `make test-real SCHEDULERS={self.backend}` (needs Go)"
            if absent
            else ""
        )

    def installs(self, port: int) -> Objects:
        """What must be there before it starts; `port` is that of its first program."""
        return [(CRD, manifest) for pattern in self.definitions for manifest in self.manifests(pattern)]

    def quota(self, pods: int) -> Objects:
        """What it needs to be told of so much room, beyond nodes."""
        return ()

    def manifests(self, pattern: str) -> list[Raw]:
        """Objects in files of its module."""
        found = [
            item
            for file in sorted(folder(self.backend, self.module).glob(pattern))
            for item in load_all_yaml(file.read_text())
        ]
        return [item for item in found if item]

    def config(self) -> str:
        """The text of its configuration file, if it has one."""
        file = HERE / self.backend / "config.yaml"
        return file.read_text() if file.exists() else ""


@cache
def folder(backend: str, module: str) -> Path:
    """Where the Go client keeps a scheduler's module."""
    told = subprocess.run(
        ["go", "list", "-m", "-f", "{{.Dir}}", module], cwd=HERE / backend, check=True, capture_output=True, text=True
    )
    return Path(told.stdout.strip())

"""The installer's own settings at start, and the image that its Deployments use unless a Config says
otherwise.

Read by config_reader.py and the composition root. Nothing here knows a Config.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gangline import __version__
from gangline.api.meta import Raw
from gangline.rules.flags import COMMON, Table, refuse_unknown, values

BOTH, SCHEDULER = "both", "scheduler"


@dataclass(frozen=True, slots=True)
class Image:
    """`registry.example/team/gangline:1.0`, taken apart so that a Config can change a part of it."""

    repository: str = ""
    name: str = "gangline"
    tag: str = __version__
    pull_policy: str = "IfNotPresent"

    def with_parts(self, given: Raw) -> Image:
        """This image with what a Config says of it."""
        return Image(
            given.get("repository") or self.repository,
            given.get("name") or self.name,
            given.get("tag") or self.tag,
            given.get("pullPolicy") or self.pull_policy,
        )

    def __str__(self) -> str:
        mark = "@" if ":" in self.tag else ":"
        return "/".join(filter(None, (self.repository, self.name))) + f"{mark}{self.tag}"


def read_image(text: str) -> Image:
    """An image reference; a port in the registry's name is no tag, and a digest counts as one."""
    path, at, digest = text.partition("@")
    repository, _, last = path.rpartition("/")
    name, _, tag = last.partition(":")
    if not name:
        raise ValueError("is not an image: write registry/name:tag")
    return Image(repository, name, digest if at else tag or "latest")


@dataclass(frozen=True, slots=True)
class InstallerSettings:
    image: Image = Image()
    """Has `gangline` on its PATH; every component runs from it unless the Config says otherwise."""
    half: str = BOTH
    """`both` deploys the operator of PodCliqueSets and its admission hooks too; `scheduler` leaves them to somebody
    else."""
    compat: tuple[str, ...] = ()
    """The manner of all components, unless the Config says it."""


def half(text: str) -> str:
    if text not in (BOTH, SCHEDULER):
        raise ValueError(f"write {BOTH} or {SCHEDULER}")
    return text


FLAGS: Table = {"image": ("image", read_image), "half": ("half", half)}


def read_flags(flags: Mapping[str, str]) -> InstallerSettings:
    refuse_unknown("installer", flags, (*FLAGS, *COMMON))
    return replace(InstallerSettings(), **values(flags, FLAGS))

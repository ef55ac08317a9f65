"""`python -m gangline.cli.deploy.olm FOLDER IMAGE` prints a bundle for the Operator Lifecycle Manager, as `make olm
IMAGE=…` does; no command of `gangline`.

What is printed is installer/release/olm.py's."""

from __future__ import annotations

import sys
from pathlib import Path

from gangline import __version__
from gangline.cli.deploy.install import manifests
from gangline.installer.release.olm import bundle
from gangline.installer.settings import BOTH


def printed(image: str) -> dict[str, str]:
    """File → text."""
    return bundle(manifests(image, None, BOTH), __version__, image)


def main(folder: Path, image: str) -> None:
    for name, text in printed(image).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        sys.exit("usage: python -m gangline.cli.deploy.olm FOLDER IMAGE")
    main(Path(sys.argv[1]), sys.argv[2])

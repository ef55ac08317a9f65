"""`python -m gangline.cli.deploy.chart FOLDER` prints the Helm chart into a folder, as `make chart` does; no command of
`gangline`.

What is printed is installer/release/chart.py's; definitions are printed by api/crds.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gangline.api.crds import crds
from gangline.cli.care.facts import examined
from gangline.cli.deploy.install import manifests, page_manifests
from gangline.installer.release.chart import chart
from gangline.installer.release.dashboard import LOGINS
from gangline.installer.settings import BOTH


def printed() -> dict[str, str]:
    """File → text."""
    return chart(manifests(None, None, BOTH), crds(), page_manifests(None, LOGINS[0]), examined())


def main(folder: Path) -> None:
    for name, text in printed().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: python -m gangline.cli.deploy.chart FOLDER")
    main(Path(sys.argv[1]))

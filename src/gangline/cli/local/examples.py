"""`gangline examples [DIR]`: the examples as files, wherever gangline is installed. Never overwrites what is there."""

from __future__ import annotations

from pathlib import Path
from shutil import which

import click

from gangline.errors import BadInput

FOLDER = "gangline-examples"


EXAMPLES = """\b
Examples:
  gangline examples
  gangline examples my-examples
"""


@click.command(
    help=f"Write the examples into a folder (default: {FOLDER}), to look at and to apply: `gangline apply -f "
    f"{FOLDER}/01-gang`. A folder that has files of the same names is left alone.",
    epilog=EXAMPLES,
)
@click.argument("folder", default=FOLDER, type=click.Path(file_okay=False))
def command(folder: str) -> None:
    target = Path(folder)
    files = {path.relative_to(shipped()): path for path in sorted(shipped().rglob("*")) if _wanted(path)}
    taken = [name for name in files if (target / name).exists()]
    if taken:
        raise BadInput(f"{target / taken[0]} exists already; name another folder: gangline examples DIR")
    for name, path in files.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(path.read_bytes())
    click.echo(f"{len(files)} files in {target}; {target / 'README.md'} says what each shows")
    click.echo(f"next: gangline up, and in another terminal: gangline apply -f {target / '01-gang'}")


def applying(name: str) -> str:
    """The commands that apply an example from this folder and show what becomes of it. Where there are no examples they
    are written first; where there is no kubectl, ours does it."""
    there = next((folder for folder in ("examples", FOLDER) if Path(folder, name).exists()), "")
    first = "" if there else "gangline examples; "
    kubectl = which("kubectl") is not None
    apply, watch = ("kubectl apply", "kubectl get pods -w") if kubectl else ("gangline apply", "gangline top")
    return f"{first}{apply} -f {there or FOLDER}/{name}; {watch}"


def shipped() -> Path:
    """The examples, from the installed package or from the repository."""
    here = Path(__file__)
    inside = here.parents[2] / "examples"
    return inside if inside.is_dir() else here.parents[4] / "examples"


def _wanted(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"

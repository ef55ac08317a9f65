"""`gangline bundle [FILE]`: one archive with all that somebody needs to look into a cluster, without secrets.

Objects of our kinds, nodes, pods, events, leases and webhooks go through redaction.py; `doctor` and `top` say what they
say; where components run in the cluster, the last lines of their logs are added. Reads only.
"""

from __future__ import annotations

import io
import tarfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gangline import __version__
from gangline.cli.connection import ClusterConnection, cluster_options, connect
from gangline.cli.ending import run
from gangline.errors import ApiError, BadInput

if TYPE_CHECKING:
    from gangline.api.kinds import Kind

LINES = 2000
"""Of each log."""
HOMES = ("kai-scheduler", "gangline-system", "grove-system")
"""Namespaces of components."""
ABOUT = """What this is: objects of a cluster as `gangline bundle` packed them, for those who look into a problem of it.
What is not in it: Secrets, ConfigMaps, values of environment variables, commands and arguments of containers.
Look through it before you hand it on: names, labels, images and logs are as they are.
"""


EXAMPLES = """\b
Examples:
  gangline bundle
  gangline bundle for-the-issue.tar.gz
"""


@click.command(
    help="Pack what somebody needs to look into a cluster (objects, doctor, top, logs of components) into an "
    "archive. Secrets, ConfigMaps, values of environment variables and arguments of containers are left out.",
    epilog=EXAMPLES,
)
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@cluster_options
def command(file: str | None, kubeconfig: str | None, namespace: str | None) -> None:
    target = Path(file or f"gangline-bundle-{time.strftime('%Y%m%d-%H%M%S')}.tar.gz")
    if target.exists():
        raise BadInput(f"{target} exists already; name another file")
    run(_bundle(target, kubeconfig, namespace))


async def _bundle(target: Path, kubeconfig: str | None, namespace: str | None) -> None:
    async with connect(kubeconfig, namespace) as connection:
        parts = {"ABOUT.txt": ABOUT, "version.txt": f"gangline {__version__}\n"}
        parts |= await _objects(connection)
        parts |= await _answers(connection)
        parts |= await _logs(connection)
    size = _pack(target, parts)
    click.echo(f"{target}: {len(parts)} files, {max(size // 1024, 1)} KiB; look through it before you hand it on")


def _pack(target: Path, parts: dict[str, str]) -> int:
    """Writes the archive, for its owner's eyes; gives its size."""
    target.touch(mode=0o600)
    with tarfile.open(target, "w:gz") as archive:
        for name, text in sorted(parts.items()):
            body = text.encode()
            entry = tarfile.TarInfo(f"{target.name.removesuffix('.tar.gz')}/{name}")
            entry.size, entry.mtime = len(body), int(time.time())
            archive.addfile(entry, io.BytesIO(body))
    return target.stat().st_size


def packed_kinds() -> tuple[Kind[Any], ...]:
    """What is packed: our kinds, and what decides about their pods."""
    from gangline.api import kinds

    return (
        kinds.POD_CLIQUE_SET,
        kinds.POD_CLIQUE,
        kinds.SCALING_GROUP,
        kinds.POD_GANG,
        kinds.POD_GROUP,
        kinds.QUEUE,
        kinds.BIND_REQUEST,
        kinds.TOPOLOGY,
        kinds.CONFIG,
        kinds.NODE,
        kinds.POD,
        kinds.EVENT,
        kinds.LEASE,
        kinds.DEPLOYMENT,
        kinds.VALIDATING_WEBHOOK,
        kinds.MUTATING_WEBHOOK,
    )


async def _objects(connection: ClusterConnection) -> dict[str, str]:
    from gangline.cli.care.redaction import redacted
    from gangline.cli.objects.get import written

    parts = {}
    for kind in packed_kinds():
        try:
            items = [redacted(item) for item in await connection.client.list_raw(kind)]
            parts[f"objects/{kind.resource}.yaml"] = written({"items": items}, "yaml")
        except ApiError as error:
            parts[f"objects/{kind.resource}.txt"] = f"not read: {error}\n"
    return parts


async def _answers(connection: ClusterConnection) -> dict[str, str]:
    from gangline.cli.care.checks import examine
    from gangline.cli.care.facts import gather_facts
    from gangline.cli.look.sight import look_at
    from gangline.cli.look.top import SECTIONS, picture
    from gangline.cli.objects.get import written

    findings = examine(await gather_facts(connection))
    return {
        "doctor.json": written({"findings": findings}, "json"),
        "top.txt": picture(await look_at(connection), SECTIONS, "") + "\n",
    }


async def _logs(connection: ClusterConnection) -> dict[str, str]:
    """Of components that run as pods."""
    from gangline.api.kinds import POD

    parts = {}
    for home in HOMES:
        try:
            pods = (await connection.client.list(POD, home)).items
        except ApiError:
            continue
        for pod in pods:
            try:
                query = (("tailLines", str(LINES)),)
                answer = await connection.client.send("GET", f"{POD.path(home, pod.name)}/log", query=query)
                parts[f"logs/{home}/{pod.name}.log"] = answer.body.decode(errors="replace")
            except ApiError as error:
                parts[f"logs/{home}/{pod.name}.txt"] = f"not read: {error}\n"
    return parts

"""`gangline queue set NAME gpu.quota=8 …`: the settings of a queue, in units that people use.

A Queue object counts CPU in thousandths of a core and memory in millions of bytes; here both are quantities as in pods.
The given settings go to the server as one merge patch; the rest of the queue stays. What a setting may be called is one
line in `SETTINGS`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from gangline.cli.command_group import CommandGroup
from gangline.cli.completion.cluster_names import queues_of_cluster
from gangline.cli.connection import ClusterConnection, cluster_options, connect
from gangline.cli.ending import run
from gangline.cli.objects.queue_settings import SETTINGS, complete, patch_of
from gangline.errors import BadInput, NotFound

EXAMPLES = """\b
Examples:
  gangline queue set team-a gpu.quota=16 gpu.limit=none memory.quota=512Gi
  gangline queue set team-b --create parent=research gpu.quota=4
  gangline queue set team-a gpu.weight=2 --dry-run
"""


def settings_like(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Settings that are not on the line yet."""
    given = {text.partition("=")[0] for text in ctx.params.get("settings") or ()}
    return [f"{name}=" for name in SETTINGS if name.startswith(incomplete) and name not in given]


@click.group(cls=CommandGroup, help="Change the settings of queues; `gangline get queues` shows them.", epilog=EXAMPLES)
def command() -> None:
    pass


@command.command(
    name="set",
    short_help="change quota, limit, weight, parent and other settings of a queue",
    help="Change settings of a queue, and leave the others as they are. Settings: "
    + ", ".join(SETTINGS)
    + ". CPU is in cores and memory in bytes, as in pods (0.5, 64Gi); `unlimited` or `none` stands for no bound, "
    "`parent=none` for no parent.",
    epilog=EXAMPLES,
)
@click.argument("name", shell_complete=queues_of_cluster)
@click.argument("settings", nargs=-1, required=True, metavar="SETTING=VALUE…", shell_complete=settings_like)
@click.option("--create", "made", is_flag=True, help="create the queue if it does not exist")
@click.option("--dry-run", "tried", is_flag=True, help="let the server check it, and change nothing")
@cluster_options
def set_command(
    name: str, settings: tuple[str, ...], made: bool, tried: bool, kubeconfig: str | None, namespace: str | None
) -> None:
    run(_set(name, patch_of(settings), made, tried, kubeconfig, namespace))


async def _set(
    name: str, spec: dict[str, Any], made: bool, tried: bool, kubeconfig: str | None, namespace: str | None
) -> None:
    from gangline.api.kinds import QUEUE

    async with connect(kubeconfig, namespace) as connection:
        await _check_parent(connection, name, spec.get("parentQueue"))
        try:
            before = await connection.client.get_raw(QUEUE, name)
        except NotFound:
            if not made:
                raise await _no_queue(connection, name) from None
            obj = {
                "apiVersion": QUEUE.api_version,
                "kind": QUEUE.kind,
                "metadata": {"name": name},
                "spec": complete(spec),
            }
            await connection.client.create(QUEUE, obj, dry_run=tried)
            click.echo(f"queue/{name} {'would be created' if tried else 'created'}")
            return
        await _send(connection, name, spec, tried)
    changes = list(differences(before.get("spec") or {}, spec))
    click.echo(f"queue/{name} {_outcome(changes, tried)}" + "".join(f"\n  {change}" for change in changes))


def _outcome(changes: list[str], tried: bool) -> str:
    if not changes:
        return "unchanged"
    return "would change" if tried else "changed"


async def _send(connection: ClusterConnection, name: str, spec: dict[str, Any], tried: bool) -> None:
    import msgspec

    from gangline.api.kinds import QUEUE

    await connection.client.send(
        "PATCH",
        QUEUE.path("", name),
        query=(("dryRun", "All"),) if tried else (),
        body=msgspec.json.encode({"spec": spec}),
        content_type="application/merge-patch+json",
    )


async def _check_parent(connection: ClusterConnection, name: str, parent: str | None) -> None:
    """A queue below one that is not there gets nothing, so it is not made."""
    from gangline.api.kinds import QUEUE

    if parent is None:
        return
    if parent == name:
        raise BadInput(f"queue {name} cannot be its own parent")
    try:
        await connection.client.get_raw(QUEUE, parent)
    except NotFound:
        raise BadInput(f"parent={parent}: {await _unknown(connection, parent)}") from None


async def _no_queue(connection: ClusterConnection, name: str) -> BadInput:
    return BadInput(await _unknown(connection, name, " (--create makes one)"))


async def _unknown(connection: ClusterConnection, name: str, aside: str = "") -> str:
    from gangline.api.kinds import QUEUE
    from gangline.cli.completion.suggestions import did_you_mean

    there = sorted(queue.name for queue in (await connection.client.list(QUEUE)).items)
    return f"there is no queue {name}{aside}; there are: {', '.join(there) or 'none'}{did_you_mean(name, there)}"


def differences(before: dict[str, Any], after: dict[str, Any], path: str = "spec") -> Iterable[str]:
    """What a merge patch changes, one line per field, in the object's own units."""
    for field, value in after.items():
        old = before.get(field)
        if isinstance(value, dict):
            yield from differences(old if isinstance(old, dict) else {}, value, f"{path}.{field}")
        elif old != value:
            yield f"{path}.{field}: {'(none)' if old is None else old} → {'(none)' if value is None else value}"

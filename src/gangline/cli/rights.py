"""`gangline rights [COMPONENT…]`: what components need to be allowed in a cluster, as manifests."""

from __future__ import annotations

import click
import yaml

from gangline.components import COMPONENTS

NAMES = (*COMPONENTS, "dashboard")
"""Whatever has an account of its own in a cluster."""

@click.command(help="Print the account, roles and bindings of components (default: of all that a real cluster runs) as YAML for "
               "`kubectl apply -f -`.")
@click.argument("components", nargs=-1, type=click.Choice(NAMES))
def command(components: tuple[str, ...]) -> None:
    from gangline.api import names
    from gangline.rights import SIMULATED, objects

    wanted = components or tuple(name for name in NAMES if name not in SIMULATED)
    places = [{"name": name, "namespace": names.SYSTEM_NAMESPACE} for name in wanted]
    accounts = [{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": place} for place in places]
    roles = [{"apiVersion": kind.api_version, "kind": kind.kind, **obj} for kind, obj in objects(wanted)]
    click.echo(yaml.safe_dump_all([*accounts, *roles], sort_keys=False), nl=False)

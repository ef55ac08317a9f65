"""`gangline rights [COMPONENT…]`: what components need to be allowed in a cluster, as manifests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gangline.component_names import COMPONENT_NAMES, TENANT
from gangline.errors import BadInput

if TYPE_CHECKING:
    from gangline.api.meta import Raw

NAMES = (*COMPONENT_NAMES, "dashboard", TENANT)
"""Whatever has an account of its own in a cluster, besides backends that run on their own; and tenants, who have one
already."""


EXAMPLES = """\b
Examples:
  gangline rights                            # of all components
  gangline rights scheduler binder
  gangline rights backend volcano --deployment --image IMAGE
"""


@click.command(
    help="Print the account, roles and bindings of components (default: of all that a real cluster runs) as YAML for "
    "`kubectl apply -f -`. `rights backend NAME` prints those of a scheduler's backend that runs as a process of its "
    "own, `rights tenant` what the cluster's roles view, edit and admin give people of our kinds in their namespaces.",
    epilog=EXAMPLES,
)
@click.argument("components", nargs=-1, metavar="[COMPONENT|backend NAME]...")
@click.option(
    "--deployment", is_flag=True, help="print also the Deployment of each backend, so that it runs on its own"
)
@click.option("--image", metavar="IMAGE", help="for --deployment: an image with `gangline` on its PATH")
def command(components: tuple[str, ...], deployment: bool, image: str | None) -> None:

    from gangline.api import names
    from gangline.api.yaml_text import yaml_documents
    from gangline.rights import BACKEND, SIMULATED
    from gangline.role_objects import objects

    wanted = _named(components) or [name for name in NAMES if name not in SIMULATED]
    others = [name for name in wanted if not name.startswith(BACKEND)]
    if deployment and others:
        raise BadInput(
            f"--deployment is for backends, as in `gangline rights backend kai --deployment`, not for {others[0]}; "
            "`gangline install` deploys the rest"
        )
    places = [{"name": name, "namespace": names.SYSTEM_NAMESPACE} for name in wanted if name != TENANT]
    accounts = [{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": place} for place in places]
    roles = [{"apiVersion": kind.api_version, "kind": kind.kind, **obj} for kind, obj in objects(wanted)]
    running = [_deployment(name, image) for name in wanted] if deployment else []
    click.echo(yaml_documents([*accounts, *roles, *running]), nl=False)


def _named(words: tuple[str, ...]) -> list[str]:
    """Components as rights.py calls them: `backend kai` is `backend-kai`."""
    from gangline.rights import BACKEND
    from gangline.role_objects import backends

    components, rest = list[str](), list(words)
    while rest:
        word = rest.pop(0)
        if word == BACKEND.rstrip("-"):
            if not rest:
                raise BadInput("which backend? say for example: gangline rights backend kai")
            components.append(_backend(rest.pop(0)))
        elif word in (*NAMES, *backends()):
            components.append(word)
        else:
            raise BadInput(f"no component is called {word!r}; there are: {', '.join(NAMES)}, backend NAME")
    return list(dict.fromkeys(components))


def _backend(name: str) -> str:
    from gangline.component_flags import real_backends
    from gangline.rights import BACKEND
    from gangline.role_objects import backends

    [real] = real_backends([name])
    if f"{BACKEND}{real}" not in backends():
        there = ", ".join(backend.removeprefix(BACKEND) for backend in backends())
        raise BadInput(f"no backend is called {name!r}; there are: {there}")
    return f"{BACKEND}{real}"


def _deployment(component: str, image: str | None) -> Raw:
    """The backend alone, in the namespace of its account."""
    from gangline.api import names
    from gangline.api.kinds import DEPLOYMENT
    from gangline.installer.config_reader import ConfigReading
    from gangline.installer.objects.workload import alone
    from gangline.installer.settings import read_flags

    reading = ConfigReading({"namespace": names.SYSTEM_NAMESPACE}, read_flags({"image": image} if image else {}))
    return {"apiVersion": DEPLOYMENT.api_version, "kind": DEPLOYMENT.kind, **alone(reading, component)}

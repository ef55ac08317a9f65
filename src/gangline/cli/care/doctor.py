"""`gangline doctor`: examine a cluster, say what is wrong and what to do about it. Reads only.

facts.py reads, checks.py judges. Exit code 1 where there is a problem, 0 with warnings alone.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gangline.cli.connection import cluster_options, connect
from gangline.cli.ending import run
from gangline.cli.terminal import painted

if TYPE_CHECKING:
    from gangline.cli.care.findings import DoctorFinding


EXAMPLES = """\b
Examples:
  gangline doctor
  gangline doctor -q -o json                 # only what is wrong, for scripts
"""


@click.command(
    help="Examine a cluster: version, clocks, your rights, definitions and whose they are, webhooks and certificates, "
    "leases, installation, queues and nodes. Each finding has a remedy; it ends with 1 if there is a problem.",
    epilog=EXAMPLES,
)
@click.option("-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True)
@click.option("-q", "--quiet", is_flag=True, help="only what is wrong")
@cluster_options
def command(output: str, quiet: bool, kubeconfig: str | None, namespace: str | None) -> None:
    run(_doctor(output, quiet, kubeconfig, namespace))


async def _doctor(output: str, quiet: bool, kubeconfig: str | None, namespace: str | None) -> None:
    from gangline.cli.care.checks import examine
    from gangline.cli.care.facts import gather_facts
    from gangline.cli.care.findings import FAIL, OK, conclusion
    from gangline.cli.objects.get import written

    async with connect(kubeconfig, namespace) as connection:
        findings = examine(await gather_facts(connection))
    shown = [finding for finding in findings if not quiet or finding.level != OK]
    if output == "text":
        _print(shown)
        click.echo(conclusion(findings))
    else:
        click.echo(written({"findings": shown, "conclusion": conclusion(findings)}, output), nl=False)
    if any(finding.level == FAIL for finding in findings):
        sys.exit(1)


def _print(findings: Sequence[DoctorFinding]) -> None:
    from gangline.cli.care.findings import COLOURS, MARKS, OK

    for finding in findings:
        mark = painted(MARKS[finding.level], COLOURS[finding.level])
        click.echo(f"{mark} {finding.subject:12} {finding.text}")
        if finding.remedy and finding.level != OK:
            click.echo(f"{'':15}→ {finding.remedy}")

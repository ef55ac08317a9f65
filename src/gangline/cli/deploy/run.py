"""`gangline run COMPONENT`: one component against a cluster, by kubeconfig or inside it."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gangline.bounded_input import read_text
from gangline.cli.completion.suggestions import did_you_mean
from gangline.cli.connection import in_pod, own_recordings
from gangline.cli.deploy.component_process import run_component
from gangline.cli.ending import run
from gangline.component_names import COMPONENT_NAMES
from gangline.errors import ConfigError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from gangline.components.options import ComponentOptions

NAMES = [*COMPONENT_NAMES, "backend"]
CONFIGURED = ("operator", "admission", "backend")
"""What Grove's OperatorConfiguration is about."""


def known_component(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """One of NAMES; an unknown name is refused with the list and the nearest one."""
    if value not in NAMES:
        raise click.BadParameter(f"no component {value!r}; there are: {', '.join(NAMES)}{did_you_mean(value, NAMES)}")
    return value


def components_like(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in NAMES if name.startswith(incomplete)]


class RunCommand(click.Command):
    """Its help says the flags of the component that is named with it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["component"] = next((argument for argument in args if argument in NAMES), "")
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        name = ctx.meta.get("component", "")
        if not name:
            super().format_epilog(ctx, formatter)
            formatter.write_paragraph()
            formatter.write_text("`gangline run COMPONENT --help` lists the flags of that component.")
            return
        from gangline.cli.deploy.flags import MEANINGS
        from gangline.component_flags import idle_flags, known_flags

        known = sorted(set(known_flags(name)) - set(_options(self)))
        idle = [f"--{item}" for item in known if item in idle_flags(name)]
        with formatter.section(f"Flags of {name}"):
            formatter.write_dl([(f"--{item}", MEANINGS[item]) for item in known if f"--{item}" not in idle])
        with formatter.section("Accepted as upstream's, without effect here"):
            formatter.write_text(", ".join(idle))


def _options(command: click.Command) -> list[str]:
    """Those of `gangline run` itself, without dashes."""
    return [text.lstrip("-") for param in command.params if isinstance(param, click.Option) for text in param.opts]


EXAMPLES = """\b
Examples:
  gangline run scheduler --kubeconfig FILE
  gangline run operator --config operator.yaml
  gangline run backend volcano
  gangline run scheduler --help              # the flags of the scheduler
"""


@click.command(
    cls=RunCommand,
    help="Run one component until Ctrl-C: " + ", ".join(COMPONENT_NAMES) + "; or a scheduler's backend alone, as in "
    "`run backend kai`. Of several copies of a component one works, the one that holds its lease; "
    "--leader-elect=false lets "
    "each work. FLAGS are upstream's own.",
    context_settings={"ignore_unknown_options": True},
    epilog=EXAMPLES,
)
@click.argument("component", metavar="COMPONENT", callback=known_component, shell_complete=components_like)
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--kubeconfig", metavar="FILE", help="which cluster (default: the one we run in, else the platform started here)"
)
@click.option(
    "--config",
    "configuration",
    metavar="FILE",
    help="for operator, admission and backends: Grove's OperatorConfiguration",
)
@click.option("--compat", multiple=True, type=click.Choice(["grove", "kai"]), help="behave like Grove or KAI")
@click.option(
    "--outside", multiple=True, metavar="BACKEND", help="for the operator: a backend that runs as a process of its own"
)
@click.option(
    "--webhook",
    default="",
    metavar="URL",
    help="for admission: where the cluster reaches it, if not through its service",
)
@click.option(
    "--schedule-period",
    "period",
    default="1s",
    show_default=True,
    help="time between cycles, at least: 500ms, or 0.5 seconds; up to 1s, after cycles that took long",
)
@click.option(
    "--log", "level", default="info", show_default=True, type=click.Choice(["debug", "info", "warning", "error"])
)
@click.option(
    "--log-format",
    default="auto",
    show_default=True,
    type=click.Choice(["auto", "json", "text"]),
    help="json is for machines, text for people; auto: text on a terminal, else json",
)
def command(
    component: str,
    flags: tuple[str, ...],
    kubeconfig: str | None,
    configuration: str | None,
    compat: tuple[str, ...],
    outside: tuple[str, ...],
    webhook: str,
    period: str,
    level: str,
    log_format: str,
) -> None:
    from gangline.component_flags import real_backends, refuse_flags
    from gangline.components import BACKEND
    from gangline.components.options import ComponentOptions
    from gangline.rules.flags import parse
    from gangline.runtime.logs import set_up

    set_up(level, log_format)
    if configuration and component not in CONFIGURED:
        raise ConfigError(f"--config is for {', '.join(CONFIGURED)}, not for {component}")
    if component == "backend":
        if not flags or flags[0].startswith("-"):
            raise ConfigError("which backend? say for example: gangline run backend kai")
        component, flags = f"{BACKEND}{real_backends(flags[:1])[0]}", flags[1:]
    given = parse(flags)
    refuse_flags(component, given, _options(click.get_current_context().command))
    options = ComponentOptions(
        compat=compat,
        period=pace(period),
        webhook=webhook,
        outside=outside,
        flags=given,
        namespace=given.get("namespace") or os.environ.get("POD_NAMESPACE", ""),
        config=mapping(given.get("scheduler-conf"), "--scheduler-conf"),
        recording="" if in_pod() else str(own_recordings()),
    )
    options = configured(options, configuration)
    options = replace(options, operator=replace(options.operator, narrow=True))
    run(run_component(component, kubeconfig, options), serves=True, loop=_loop(component))


def _loop(component: str) -> Callable[[], asyncio.AbstractEventLoop] | None:
    """In a crowd a component looks for news less often; not one that an API server waits for with every request."""
    from gangline.runtime.process.paced_loop import paced_loop

    return None if component == "admission" else partial(paced_loop, component)


def pace(text: str) -> float:
    """Seconds, given as a number of them or as upstream writes durations."""
    from gangline.rules.values.times import duration

    try:
        return float(text)
    except ValueError:
        pass
    try:
        return duration(text)
    except ValueError as error:
        raise ConfigError(f"--schedule-period={text}: {error}") from None


def mapping(path: str | None, flag: str) -> dict[str, Any]:
    """What a YAML file holds that a flag names; nothing without a file."""
    if path is None:
        return {}
    from gangline.rules.values.documents import DocumentUnreadable, read_yaml

    try:
        content = read_yaml(read_text(Path(path))) or {}
    except (OSError, UnicodeDecodeError, DocumentUnreadable) as error:
        raise ConfigError(f"{flag}={path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{flag}={path} holds no mapping")
    return content


def configured(options: ComponentOptions, path: str | None) -> ComponentOptions:
    """Options with what Grove's OperatorConfiguration says; settings without effect are logged."""
    from gangline.operator.config_reload import ConfigFile
    from gangline.operator.settings import notes, process, read
    from gangline.runtime.logs import set_up

    if path is None:
        return options
    content = mapping(path, "--config")
    runs = process(content)
    if {"logLevel", "logFormat"} & content.keys():
        set_up(runs.log_level, runs.log_format)
    for note in notes(content):
        click.echo(f"--config={path}: {note}", err=True)
    return replace(options, operator=read(content), reread=ConfigFile(Path(path), read).current, process=runs)

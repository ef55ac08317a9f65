"""The pages of docs/reference, printed from the code: `make docs` writes them, `test_reference.py` compares them.

A page is one function and one line in `PAGES`. Descriptions come from where they are kept: help texts of commands,
schemas of definitions, metrics, the words below names and errors."""

from __future__ import annotations

import ast
import importlib
import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import click

from documents.pages import REPOSITORY

FOLDER = REPOSITORY / "docs" / "reference"
PRINTED = "<!-- printed by `make docs`; change the code instead -->"
METRIC_MODULES = (
    "gangline.runtime.metrics",
    "gangline.operator.measures",
    "gangline.scheduler.loop.metrics",
    "gangline.controllers.queue_metrics",
)
FOREIGN = {
    *("affinity", "tolerations", "conditions", "metrics", "selector", "labelSelector", "podSpec", "resourceClaims"),
    *("resources", "podResources", "daemonsetsTolerations", "securityContext"),
    *("reservationPodSecurityContext", "reservationContainerSecurityContext"),
}
"""Fields of Kubernetes itself, whose inside is described elsewhere."""
NAME = re.compile(
    r"(gpu-[a-z-]+|pod-group-name|priorityClassName|[a-z.]+\.(io|scheduler|ai)/[a-z][a-zA-Z-]+|kai\.scheduler/[a-z-]+)$"
)
OTHERS = ("kubectl.kubernetes.io/", "scheduling.k8s.io/")
"""Names of Kubernetes itself, which gangline only reads."""


def cell(text: object) -> str:
    return " ".join(str(text).replace("|", "\\|").split())


def table(heading: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> list[str]:
    return [
        f"| {' | '.join(heading)} |",
        f"|{'---|' * len(heading)}",
        *(f"| {' | '.join(cell(item) for item in row)} |" for row in rows),
        "",
    ]


# ── commands ──


def commands() -> list[str]:
    from gangline.cli import COMMANDS, group

    lines = ["Every command has `--help`; those that speak to a cluster find it by `--kubeconfig`, `$KUBECONFIG`, the"]
    lines += ["platform that `gangline up` started in this folder, or `~/.kube/config`, in this order.", ""]
    lines += table(("command", "what it does"), [(f"[`{name}`](#{name})", at.purpose) for name, at in COMMANDS.items()])
    with click.Context(group, info_name="gangline") as context:
        for name in COMMANDS:
            command = group.get_command(context, name)
            assert command is not None
            lines += _command(command, name, 2)
    return lines


def _command(command: click.Command, name: str, level: int) -> list[str]:
    words = " ".join(_argument(item) for item in command.params if isinstance(item, click.Argument))
    lines = [f"{'#' * level} {name.rpartition(' ')[2]}", "", f"`gangline {name}{f' {words}' if words else ''}`", ""]
    lines += [" ".join((command.help or "").replace("\b", "").split()), ""]
    options = [item for item in command.params if isinstance(item, click.Option)]
    if options:
        lines += table(("option", "what it says", "default"), [_option(item) for item in options])
    if command.epilog and not isinstance(command, click.Group):
        lines += ["```text", *textwrap.dedent(command.epilog.partition("Examples:\n")[2]).splitlines(), "```", ""]
    if isinstance(command, click.Group):
        for below, inner in command.commands.items():
            lines += _command(inner, f"{name} {below}", level + 1)
    return lines


def _argument(argument: click.Argument) -> str:
    word = argument.metavar or (argument.name or "").upper()
    word = word if argument.nargs == 1 or argument.metavar else f"{word}…"
    return word if argument.required else f"[{word}]"


def _option(option: click.Option) -> tuple[object, ...]:
    names = ", ".join(f"`{name}`" for name in option.opts)
    kind = option.type
    choices = f" ({', '.join(str(choice) for choice in kind.choices)})" if isinstance(kind, click.Choice) else ""
    shown = option.default if isinstance(option.default, str | int | float) and not option.is_flag else ""
    return names, f"{option.help or ''}{choices}", "" if shown == "" else f"`{shown}`"


# ── kinds ──


def kinds() -> list[str]:
    from gangline.api.crds import crds

    lines = [
        "Every kind that gangline defines, with the fields of its spec and status; `kubectl explain` says the same."
    ]
    lines += ["Fields below a pod's spec are those of Kubernetes.", ""]
    for definition in crds():
        spec = definition["spec"]
        version = spec["versions"][0]
        schema = version["schema"]["openAPIV3Schema"]
        lines += [f"## {spec['names']['kind']}", "", f"`{spec['group']}/{version['name']}`, {spec['scope'].lower()}. "]
        lines[-1] += " ".join(str(schema.get("description", "")).split())
        lines.append("")
        rows = [row for part in ("spec", "status") for row in _fields(schema["properties"].get(part) or {}, part)]
        lines += table(("field", "type", "default", "what it says"), rows)
    return lines


def _fields(schema: dict[str, Any], path: str) -> Iterator[tuple[object, ...]]:
    if "properties" not in schema and path in ("spec", "status"):
        return
    for name, field in (schema.get("properties") or {}).items():
        inner = field.get("items") or field
        where = f"{path}.{name}{'[]' if 'items' in field else ''}"
        default = "" if "default" not in field else f"`{_default(field['default'])}`"
        yield f"`{where}`", _type(field), default, field.get("description", "")
        if name not in FOREIGN and not _is_pod_spec(inner):
            yield from _fields(inner, where)


def _is_pod_spec(schema: dict[str, Any]) -> bool:
    inside = schema.get("properties") or {}
    return "containers" in inside or "containers" in ((inside.get("spec") or {}).get("properties") or {})


def _type(field: dict[str, Any]) -> str:
    if "items" in field:
        return f"list of {field['items'].get('type', 'any')}"
    return "number or text" if field.get("x-kubernetes-int-or-string") else str(field.get("type", "any"))


# ── metrics ──


def metrics() -> list[str]:
    rows = [
        (f"`{family.name}{'_total' if family.type == 'counter' else ''}`", family.type, labels, family.documentation)
        for family, labels in sorted(metric_families().values(), key=lambda item: item[0].name)
    ]
    lines = [
        "Served by each component at `/metrics` of its health address (`--metrics-bind-address` and the like). Names"
    ]
    lines += ["that begin with `kai_` are upstream's, so that its dashboards go on working; the others are ours.", ""]
    return [*lines, *table(("metric", "type", "labels", "what it counts"), rows)]


def _default(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def metric_families() -> dict[str, tuple[Any, str]]:
    """Every family that components export, by name, with its labels."""
    from prometheus_client import REGISTRY

    from gangline.controllers.queue_metrics import QueueMetrics

    for module in METRIC_MODULES:
        importlib.import_module(module)
    collectors: list[Any] = [*REGISTRY._collector_to_names, *QueueMetrics("kai").registry._collector_to_names]
    families = {}
    for collector in collectors:
        if not hasattr(collector, "_labelnames"):
            continue
        for family in collector.describe():
            if family.name.startswith(("kai_", "gangline_")):
                families[family.name] = (family, ", ".join(f"`{label}`" for label in collector._labelnames))
    return families


# ── labels and annotations ──


def names() -> list[str]:
    said = [item for item in described("api/names.py") if NAME.match(item[0]) and not item[0].startswith(OTHERS)]
    rows = sorted((f"`{value}`", text) for value, text in said)
    lines = [
        "Labels and annotations that people write or read. Others are for components alone; `src/gangline/api/names.py`"
    ]
    lines += ["has them all.", ""]
    return [*lines, *table(("name", "what it says"), rows)]


def described(file: str) -> Iterator[tuple[str, str]]:
    """Texts that are kept under a name of a module and explained below it."""
    body = ast.parse((REPOSITORY / "src" / "gangline" / file).read_text()).body
    for kept, said in pairwise(body):
        if not (isinstance(kept, ast.Assign) and isinstance(kept.value, ast.Constant) and isinstance(said, ast.Expr)):
            continue
        if isinstance(said.value, ast.Constant) and isinstance(kept.value.value, str):
            yield kept.value.value, str(said.value.value)


# ── configuration ──


def configuration() -> list[str]:
    from gangline.cli.deploy.flags import MEANINGS
    from gangline.component_flags import idle_flags, known_flags
    from gangline.components import COMPONENTS
    from gangline.operator.settings import _KNOWN

    lines = [
        "[Configure](../guide/configure.md) shows complete files with every default. Components are configured by a",
        "[Config](kinds.md#config) and its [SchedulingShards](kinds.md#schedulingshard) for the installer, by Grove's",
        "OperatorConfiguration for the operator (`--config FILE`), and by flags if you start components yourself.",
        "",
    ]
    lines += ["## OperatorConfiguration", "", "`operator.config.grove.io/v1alpha1`. All fields that gangline reads"]
    lines[-1] += " ([what they mean](../guide/configure.md#operatorconfiguration)):"
    lines += [""]
    lines += table(
        ("section", "fields"), [(f"`{key}`" if key else "", _quoted(fields)) for key, fields in _KNOWN.items()]
    )
    lines += ["## Flags of components", ""]
    for name in COMPONENTS:
        used = [flag for flag in sorted(set(known_flags(name))) if flag in MEANINGS and flag not in idle_flags(name)]
        if used:
            lines += [
                f"### {name}",
                "",
                *table(("flag", "what it says"), [(f"`--{flag}`", MEANINGS[flag]) for flag in used]),
            ]
    return lines


def _quoted(words: Any) -> str:
    return ", ".join(f"`{word}`" for word in words)


# ── errors ──


def errors() -> list[str]:
    from gangline import errors as family
    from gangline.cli.hints import HINTS

    drawing = (family.__doc__ or "").partition("\n\n")[2].partition("\n\n")[0]
    lines = [
        "A command ends with 0 when all went well, 1 with an error (also a value that cannot be used), 2 when an",
        "option or argument is unknown or missing, 3 where it was asked to fail and what it looked for is so (`whatif",
        "--fail-if-waiting`), 130 after Ctrl-C. An error is one sentence on standard error, never a traceback.",
    ]
    lines += ["", "```", drawing, "```", ""]
    lines += ["Answers of a server that need a word more get one:", ""]
    return [*lines, *table(("error", "hint"), [(f"`{kind.__name__}`", text) for kind, text in HINTS.items()])]


PAGES = {
    "cli": ("Commands", commands),
    "kinds": ("Kinds and their fields", kinds),
    "metrics": ("Metrics", metrics),
    "names": ("Labels and annotations", names),
    "configuration": ("Configuration", configuration),
    "errors": ("Errors and exit codes", errors),
}


def page(name: str) -> str:
    title, lines = PAGES[name]
    return "\n".join([f"# {title}", "", PRINTED, "", *lines()]).rstrip() + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in PAGES:
        (FOLDER / f"{name}.md").write_text(page(name))


if __name__ == "__main__":
    main()

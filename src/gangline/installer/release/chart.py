"""The Helm chart: what `gangline install` brings, printed as templates with a few values.

The objects are those of manifests.py; here they only get template words where a value decides, and the hooks that `helm
uninstall` and `helm test` need. `make chart` (cli/chart.py) writes the files, and a test keeps them as they are
printed. Control words stand on lines of their own: without these lines a template is the object for the usual values.
Definitions are api/crds.py's, the values' schema is values.py's. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from gangline import __version__
from gangline.api import names
from gangline.api.kinds import (
    CLUSTER_ROLE,
    CLUSTER_ROLE_BINDING,
    CONFIG,
    DEPLOYMENT,
    JOB,
    NAMESPACE,
    POD_CLIQUE_SET,
    ROLE,
    ROLE_BINDING,
    SCHEDULING_SHARD,
    SERVICE_ACCOUNT,
    Kind,
)
from gangline.api.meta import Raw
from gangline.api.yaml_text import yaml_text
from gangline.installer.contract import APP, OURS
from gangline.installer.plan import ALWAYS, BY_NAME, SOMETIMES
from gangline.installer.release.dashboard import GROUP, LOGINS, PAST, claimed
from gangline.installer.release.manifests import Manifest
from gangline.installer.release.values import VALUES, schema
from gangline.installer.settings import BOTH, Image

WORDS = {
    names.SYSTEM_NAMESPACE: "{{ .Release.Namespace }}",
    str(Image()): "{{ .Values.image }}",
    f"--image={Image()}": "--image={{ .Values.image }}",
    f"--half={BOTH}": "--half={{ .Values.half }}",
    f"--login={LOGINS[0]}": "--login={{ .Values.dashboard.login }}",
    "--log-format=text": '--log-format={{ ternary "json" "text" ($global.jsonLog | default false) }}',
}
"""What `gangline install` says by default → what the chart says instead."""
SERVICE = "{{ .Release.Service }}"
"""Helm marks what it brings as its own."""
SPEC_MARK = "gangline.io/values"
"""Annotation on the Config: what the values set in its spec, as a digest, so that NOTES.txt can tell a change by
hand."""
ONCE = {"helm.sh/hook": "pre-install,pre-upgrade", "helm.sh/hook-delete-policy": "hook-failed"}
"""On what is made only where it is missing. What a hook makes Helm neither changes nor deletes later."""
GLOBAL = "{{- $global := .Values.config.global | default dict }}"
AFFINITY = "{{- $affinity := $global.affinity | default dict }}"
HEAD = "{{- /* Printed by `make chart` from src/gangline/installer; change it there. */}}"
UNINSTALLER, UNINSTALL = "gangline-uninstaller", "gangline-uninstall"
TESTER, TEST = "gangline-tester", "gangline-test"
RIGHTS = (SERVICE_ACCOUNT, CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING)


class ControlLine(str):
    """A line of control words among the keys of an object. No two are the same key."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


def chart(
    manifests: Sequence[Manifest],
    definitions: Iterable[Raw],
    page: Sequence[Manifest],
    examined: Sequence[tuple[str, str]],
) -> dict[str, str]:
    """File → text, of everything but the definitions and the two files that are words only (_helpers.tpl,
    NOTES.txt). `page` is the dashboard's; `examined` is group and resource of what `gangline doctor` lists."""
    usual = [
        manifest
        for manifest in manifests
        if manifest.once and manifest.kind not in (CONFIG, SCHEDULING_SHARD, NAMESPACE)
    ]
    [deployment] = [manifest for manifest in manifests if manifest.kind == DEPLOYMENT]
    [config] = [manifest for manifest in manifests if manifest.kind == CONFIG]
    [shard] = [manifest for manifest in manifests if manifest.kind == SCHEDULING_SHARD]
    return {
        "Chart.yaml": about(),
        "values.yaml": values(),
        "values.schema.json": schema(definitions),
        "templates/rights.yaml": _file(
            *(_document(_worded(manifest.whole)) for manifest in manifests if manifest.kind in RIGHTS)
        ),
        "templates/installer.yaml": _file(GLOBAL, _document(_installer(_worded(deployment.whole)))),
        "templates/defaults.yaml": _file(*(_guarded(item) for item in usual)),
        "templates/dashboard.yaml": _file(
            GLOBAL, "{{- if .Values.dashboard.enabled }}", *(_document(_page(item)) for item in page), "{{- end }}"
        ),
        "templates/config.yaml": _file(_document(_config(config.whole)), _shards(shard.whole)),
        "templates/uninstall.yaml": _hooks(uninstall_hook(), deployment),
        "templates/tests/doctor.yaml": _hooks(test_hook(examined), deployment),
    }


def _hooks(job: HookJob, installer: Manifest) -> str:
    return _file(GLOBAL, *(_document(item) for item in job.objects(_worded(installer.whole))))


def about() -> str:
    chart = {
        "apiVersion": "v2",
        "name": "gangline",
        "type": "application",
        "version": __version__,
        "appVersion": __version__,
        "description": "Gang scheduling for Kubernetes: the installer, a Config and its shards, and all that they "
        "deploy",
        "keywords": ["gang scheduling", "scheduler", "gpu"],
    }
    return "# Printed by `make chart`.\n" + yaml_text(chart, width=200)


def values() -> str:
    """Each with its meaning above it."""
    parts = [f"# {value.meaning}\n{yaml_text({value.name: value.usual})}" for value in VALUES]
    return "# Printed by `make chart`: what can be said, with what holds if nothing is said.\n\n" + "\n".join(parts)


# --- objects ----------------------------------------------------------------------------------------------------------


def _worded(data: Any) -> Any:
    """An object with the chart's words; what is marked as the installer's at its top is Helm's here."""
    if isinstance(data, dict):
        worded = {key: _worded(value) for key, value in data.items()}
        return (
            worded | {"metadata": _marked(worded["metadata"])}
            if "apiVersion" in data and "metadata" in data
            else worded
        )
    if isinstance(data, list):
        return [_worded(item) for item in data]
    return WORDS.get(data, data) if isinstance(data, str) else data


def _marked(metadata: Raw) -> Raw:
    labels = metadata.get("labels", {})
    return metadata | ({"labels": labels | dict.fromkeys(OURS, SERVICE)} if OURS.items() <= labels.items() else {})


def _installer(obj: Raw) -> Raw:
    """The installer's Deployment, which goes where `global` of the Config lets all pods go."""
    pod = obj["spec"]["template"]["spec"]
    pod["containers"] = [_confined(pod["containers"][0])]
    pod["affinity"] = {
        ControlLine(AFFINITY): None,
        ControlLine(_line_if_set("nodeAffinity", "$affinity.nodeAffinity", 8)): None,
        ControlLine(_line_if_set("podAffinity", "$affinity.podAffinity", 8)): None,
        ControlLine(_line_if_set("podAntiAffinity", "$affinity.podAntiAffinity", 8, "{{ else }}")): None,
        **pod["affinity"],
        ControlLine("{{- end }}"): None,
    }
    obj["spec"]["template"]["spec"] = pod | _wherever()
    return obj


def _page(manifest: Manifest) -> Raw:
    """An object of the dashboard; its pods go where `global` of the Config lets all pods go."""
    obj: Raw = _worded(manifest.whole)
    return _installer(_keeping(obj)) if manifest.kind == DEPLOYMENT else obj


def _keeping(obj: Raw) -> Raw:
    """It keeps what it remembers in a claim where the values name one."""
    pod = obj["spec"]["template"]["spec"]
    claim = "{{ .Values.dashboard.claim }}"
    for volume in pod["volumes"]:
        if volume["name"] == PAST:
            empty = {
                ControlLine("{{- else }}"): None,
                "emptyDir": volume.pop("emptyDir"),
                ControlLine("{{- end }}"): None,
            }
            volume |= {ControlLine("{{- if .Values.dashboard.claim }}"): None, **claimed(claim), **empty}
    pod |= {
        ControlLine("{{- if and .Values.dashboard.claim (not $global.openshift) }}"): None,
        "securityContext": {"fsGroup": GROUP},
        ControlLine("{{- end }}"): None,
    }
    return obj


def _confined(container: Raw) -> Raw:
    """Confined as `global` says; OpenShift confines by itself."""
    security = container.pop("securityContext")
    return container | {
        ControlLine("{{- if not $global.openshift }}"): None,
        "securityContext": {
            ControlLine(
                '{{- if kindIs "map" $global.securityContext }}{{ toYaml $global.securityContext | nindent 10 }}{{ '
                "else }}"
            ): None,
            **security,
            ControlLine("{{- end }}"): None,
        },
        ControlLine("{{- end }}"): None,
    }


def _wherever() -> Raw:
    """What `global` says of every pod: words of _helpers.tpl."""
    return {ControlLine('{{- with include "gangline.wherever" . }}{{ . | trim | nindent 6 }}{{ end }}'): None}


def _line_if_set(name: str, value: str, indent: int, end: str = "{{ end }}") -> str:
    """One line: a field, where it is set."""
    return f'{{{{- with {value} }}}}{{{{ dict "{name}" . | toYaml | nindent {indent} }}}}{end}'


def _config(obj: Raw) -> Raw:
    mark = {SPEC_MARK: "{{ toJson .Values.config | sha256sum }}"}
    return obj | {
        "metadata": obj["metadata"] | {"annotations": mark},
        "spec": {ControlLine("{{- toYaml .Values.config | nindent 2 }}"): None},
    }


def _shards(obj: Raw) -> str:
    shard = obj | {
        "metadata": {"name": "{{ $name }}"},
        "spec": {ControlLine("{{- toYaml ($spec | default dict) | nindent 2 }}"): None},
    }
    return f"{{{{- range $name, $spec := .Values.shards }}}}\n{_document(shard)}\n{{{{- end }}}}"


def _guarded(manifest: Manifest) -> str:
    """Made where it is missing, and left when the rest goes, because users' objects hang on it."""
    obj = manifest.whole
    asked = f'{{{{- if include "gangline.missing" (list . "{obj["apiVersion"]}" "{obj["kind"]}" "{manifest.name}") }}}}'
    return f"{asked}\n{_document(obj | {'metadata': obj['metadata'] | {'annotations': dict(ONCE)}})}\n{{{{- end }}}}"


# --- hooks: before `helm uninstall`, and `helm test` ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HookJob:
    """A command of ours that Helm runs as a Job, under an account that has these rights and no others."""

    hook: str
    name: str
    account: str
    command: tuple[str, ...]
    rules: Sequence[Raw]

    def objects(self, installer: Raw) -> list[Raw]:
        place = {"name": self.account, "namespace": WORDS[names.SYSTEM_NAMESPACE]}
        role = {"apiGroup": CLUSTER_ROLE.group, "kind": CLUSTER_ROLE.kind, "name": self.account}
        bound = {"roleRef": role, "subjects": [{"kind": SERVICE_ACCOUNT.kind, **place}]}
        shown = {"helm.sh/hook-output-log-policy": "hook-failed"}
        return [
            self._hooked(SERVICE_ACCOUNT, place, {}),
            self._hooked(CLUSTER_ROLE, {"name": self.account}, {"rules": list(self.rules)}),
            self._hooked(CLUSTER_ROLE_BINDING, {"name": self.account}, bound),
            self._hooked(JOB, place | {"name": self.name}, {"spec": self._job(installer)}, shown),
        ]

    def _hooked(self, kind: Kind[Any], metadata: Raw, rest: Raw, more: Raw | None = None) -> Raw:
        """What others of the hook need comes first; a Job that failed stays to be looked at."""
        marks = {
            "helm.sh/hook": self.hook,
            "helm.sh/hook-weight": "0" if kind == JOB else "-1",
            "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
            **(more or {}),
        }
        about = metadata | {"annotations": marks}
        return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": about, **rest}

    def _job(self, installer: Raw) -> Raw:
        """Runs where the installer runs, once."""
        pod = installer["spec"]["template"]["spec"]
        kept = ("image", "imagePullPolicy", "resources", "securityContext")
        wanted = {key: pod["containers"][0][key] for key in kept}
        container = _confined({"name": self.name, "command": list(self.command), **wanted})
        nodes = (
            '{{- with $affinity.nodeAffinity }}{{ dict "affinity" (dict "nodeAffinity" .) | toYaml | nindent 6 }}'
            "{{ end }}"
        )
        spec = {
            "serviceAccountName": self.account,
            "restartPolicy": "Never",
            "containers": [container],
            ControlLine(AFFINITY): None,
            ControlLine(nodes): None,
            **_wherever(),
        }
        return {"backoffLimit": 0, "template": {"metadata": {"labels": {APP: self.name}}, "spec": spec}}


def uninstall_hook() -> HookJob:
    """Helm deletes the installer before Config and shards, and never what users made themselves; what shards of theirs
    deployed would stay."""
    command = ("gangline", "uninstall", "--keep-installer")
    return HookJob("pre-delete", UNINSTALL, UNINSTALLER, command, uninstaller_rules())


def test_hook(examined: Sequence[tuple[str, str]]) -> HookJob:
    """`helm test` is `gangline doctor`. `examined`: group and resource of what that lists."""
    return HookJob("test", TEST, TESTER, ("gangline", "doctor"), _list_rules(examined))


def _list_rules(resources: Iterable[tuple[str, str]]) -> list[Raw]:
    """To list these, by group."""
    groups: dict[str, set[str]] = {}
    for group, resource in resources:
        groups.setdefault(group, set()).add(resource)
    return [
        {"apiGroups": [group], "resources": sorted(names_in_group), "verbs": ["list"]}
        for group, names_in_group in sorted(groups.items())
    ]


def uninstaller_rules() -> list[Raw]:
    """To see what is left of a Config or shard, and to delete these two."""
    kinds = [kind for kind in (POD_CLIQUE_SET, *ALWAYS, *SOMETIMES) if kind not in BY_NAME]
    seen = _list_rules((kind.group, kind.plural) for kind in kinds)
    named = [
        {"apiGroups": [kind.group], "resources": [kind.plural], "resourceNames": [name], "verbs": ["list"]}
        for kind, name in BY_NAME.items()
    ]
    return [
        *seen,
        *named,
        {
            "apiGroups": [CONFIG.group],
            "resources": [CONFIG.plural, SCHEDULING_SHARD.plural],
            "verbs": ["list", "delete"],
        },
    ]


# --- text -------------------------------------------------------------------------------------------------------------


class _Dumper(yaml.SafeDumper):
    """Short lists on one line."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _list(dumper: yaml.SafeDumper, data: list[Any]) -> yaml.Node:
    short = (
        all(isinstance(item, str) for item in data)
        and len(", ".join(data)) < 110
        and not any("{" in item for item in data)
    )
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=short)


_Dumper.add_representer(list, _list)
_Dumper.add_representer(ControlLine, lambda dumper, data: dumper.represent_scalar("tag:yaml.org,2002:str", str(data)))


def _file(*parts: str) -> str:
    return "\n".join((HEAD, *parts)) + "\n"


def _document(obj: Raw) -> str:
    text = yaml.dump(obj, Dumper=_Dumper, sort_keys=False, width=10_000, allow_unicode=True)
    return "---\n" + "\n".join(_control(line) for line in text.splitlines())


def _control(line: str) -> str:
    """A key that is a line of control words, as that line."""
    indent, mark, rest = line.partition("'{{-")
    return (
        f"{indent}{{{{-{rest.removesuffix(chr(39) + ': null')}".replace("''", "'")
        if mark and rest.endswith("': null")
        else line
    )

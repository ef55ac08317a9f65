"""Our definitions: the chart holds what is printed, the server accepts them, and they say what upstream's say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gangline.api import notation
from gangline.api.crds import crds, printed
from gangline.api.descriptions import TABLES, words_of
from gangline.cluster.kinds import rules
from gangline.cluster.schema import compile_schema
from yaml_loading import load_yaml

Obj = dict[str, Any]
REPOSITORY = Path(__file__).resolve().parents[2]
UPSTREAM = REPOSITORY.parent / "shared" / "crds"
IGNORED = {"description"}
COLUMNS = "/versions/0/additionalPrinterColumns"
CONFIG = "configs.kai.scheduler/versions/0/schema/openAPIV3Schema/properties/spec/properties"
REQUEST = "bindrequests.scheduling.run.ai/versions/0/schema/openAPIV3Schema/properties/spec/properties"
DIFFERENCES: dict[str, str] = {
    **{
        f"{REQUEST}/{field}": "a request may speak for the pods of a gang"
        for field in ("gang", "nodeCount", "podCount", "pods")
    },
    f"podgangs.scheduler.grove.io{COLUMNS}": "backend and reason are shown too",
    f"queues.scheduling.run.ai{COLUMNS}": "behind upstream's columns: quota, limit, asked and used GPUs",
    f"podgroups.scheduling.run.ai{COLUMNS}": "upstream shows no more than a name",
    f"bindrequests.scheduling.run.ai{COLUMNS}": "upstream shows no more than a name",
    f"topologies.kai.scheduler{COLUMNS}": "upstream shows no more than a name",
    f"configs.kai.scheduler{COLUMNS}": "upstream shows no more than a name",
    f"schedulingshards.kai.scheduler{COLUMNS}": "upstream shows no more than a name",
    f"{CONFIG}/workload": "the operator of sets is configured there, and backends that run on their own",
    f"{CONFIG}/explainer": "who answers explain is deployed too",
    **{
        f"{kind}/versions/0/schema/openAPIV3Schema/properties/status/properties/start": "when a gang that waits starts"
        for kind in ("podgangs.scheduler.grove.io", "podgroups.scheduling.run.ai")
    },
    f"{CONFIG}/global/properties/compat": "the manner of all components",
    f"{CONFIG}/admission/properties/scheduleQueuedPods": "pods that name a queue and no scheduler may be given ours",
}
"""Path of a difference → why we differ. Everything else is exactly what upstream says."""


def by_kind() -> dict[str, Obj]:
    return {crd["spec"]["names"]["kind"]: crd for crd in crds()}


def openapi(kind: str) -> Obj:
    found: Obj = by_kind()[kind]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return found


def test_the_chart_holds_what_is_printed() -> None:
    folder = REPOSITORY / "charts" / "gangline" / "crds"
    assert {path.name: path.read_text() for path in folder.glob("*.yaml")} == printed()


@pytest.mark.parametrize("kind", list(by_kind()))
def test_the_server_accepts_our_definition(kind: str) -> None:
    about = rules("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    obj, unknown = about.schema.admit(by_kind()[kind])
    about.defaults(obj)
    about.prepare_create(obj)
    assert unknown == [] and [str(problem) for problem in about.validate(obj)] == []


def test_each_caller_gets_its_own_copy() -> None:
    crds()[0]["spec"]["group"] = "changed"
    assert crds()[0]["spec"]["group"] == "grove.io"


def test_a_pod_clique_set_keeps_its_pod_template_whole_and_gets_its_defaults() -> None:
    schema = compile_schema(openapi("PodCliqueSet"))
    clique = {
        "name": "a",
        "spec": {
            "roleName": "r",
            "replicas": 1,
            "podSpec": {"containers": [{"name": "c", "image": "i", "stdin": True}]},
        },
    }
    kept, unknown = schema.admit({"metadata": {"name": "x"}, "spec": {"template": {"cliques": [clique]}}})
    assert unknown == [] and kept["spec"]["template"]["cliques"] == [clique]
    assert (
        kept["spec"]["template"]["cliqueStartupType"] == "CliqueStartupTypeAnyOrder" and kept["spec"]["replicas"] == 0
    )
    assert schema.validate(kept) == []


def test_a_deprecated_pack_domain_is_refused_on_a_new_set_and_kept_on_an_old_one() -> None:
    schema = compile_schema(openapi("PodCliqueSet"))
    obj = {
        "metadata": {"name": "x"},
        "spec": {"template": {"cliques": [], "topologyConstraint": {"packDomain": "rack"}}},
    }
    assert [problem.path for problem in schema.validate(obj)] == ["spec.template.topologyConstraint.packDomain"]
    assert schema.validate(obj, obj) == []


def test_the_levels_of_a_topology_cannot_be_reordered() -> None:
    schema = compile_schema(openapi("Topology"))
    old = {"metadata": {"name": "t"}, "spec": {"levels": [{"nodeLabel": "block"}, {"nodeLabel": "rack"}]}}
    new = {"metadata": {"name": "t"}, "spec": {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "block"}]}}
    assert schema.validate(old) == []
    assert "nodeLabel structure is immutable" in str(schema.validate(new, old)[0])


def fields(schema: Obj, path: str) -> Iterator[tuple[str, Obj]]:
    for name, inner in (schema.get("properties") or {}).items():
        yield f"{path}.{name}", inner
        yield from fields(inner, f"{path}.{name}")
    for part in ("items", "additionalProperties"):
        if isinstance(schema.get(part), dict):
            yield from fields(schema[part], path)


@pytest.mark.parametrize("kind", list(by_kind()))
def test_every_field_is_described_but_metadata_which_a_server_describes_itself(kind: str) -> None:
    assert [
        path for path, schema in fields(openapi(kind), kind) if not schema.get("description", "").endswith(".")
    ] == [f"{kind}.metadata"]
    assert openapi(kind)["properties"]["metadata"] == {"type": "object"}


@pytest.mark.parametrize("table", list(TABLES))
def test_no_field_is_described_that_is_not_there(table: str) -> None:
    there = {(name, field.name) for name in notation.names(table) for field in notation.struct(table, name).fields}
    assert words_of(table) == there


def test_a_description_names_the_unit() -> None:
    said = dict(fields(openapi("Queue"), "Queue"))
    assert said["Queue.spec.resources.cpu"]["description"] == "Its part of CPUs, in thousandths of a core."
    assert said["Queue.spec.resources.memory"]["description"].endswith("in megabytes (1,000,000 bytes).")


def upstream() -> list[Path]:
    return sorted([*UPSTREAM.glob("grove/*.yaml"), *UPSTREAM.glob("kai/*.yaml")])


def differences(ours: Any, theirs: Any, path: str) -> Iterator[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in sorted({*ours, *theirs} - IGNORED):
            if name not in ours or name not in theirs:
                yield f"{path}/{name}"
            else:
                yield from differences(ours[name], theirs[name], f"{path}/{name}")
    elif (
        isinstance(ours, list)
        and isinstance(theirs, list)
        and not path.endswith("/required")
        and len(ours) == len(theirs)
    ):
        for index, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(mine, other, f"{path}/{index}")
    elif (sorted(ours) != sorted(theirs)) if path.endswith("/required") else ours != theirs:
        yield path


@pytest.mark.skipif(not UPSTREAM.exists(), reason="upstream's definitions are not beside this repository")
def test_our_definitions_say_what_upstreams_say() -> None:
    mine = {crd["metadata"]["name"]: crd for crd in crds()}
    theirs = {crd["metadata"]["name"]: crd for crd in (load_yaml(path.read_text()) for path in upstream())}
    assert mine.keys() == theirs.keys()
    found = [f"{name}{path}" for name in mine for path in differences(mine[name]["spec"], theirs[name]["spec"], "")]
    assert [path for path in found if path not in DIFFERENCES] == []

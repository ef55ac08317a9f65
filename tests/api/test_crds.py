"""Our definitions: the chart holds what is printed, the server accepts them, and they say what upstream's say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gangline.api.crds import crds, printed
from gangline.cluster.kinds import rules
from gangline.cluster.schema import compile_schema

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
    f"podgroups.scheduling.run.ai{COLUMNS}": "upstream shows no more than a name",
    f"bindrequests.scheduling.run.ai{COLUMNS}": "upstream shows no more than a name",
    f"topologies.kai.scheduler{COLUMNS}": "upstream shows no more than a name",
    f"configs.kai.scheduler{COLUMNS}": "upstream shows no more than a name",
    f"schedulingshards.kai.scheduler{COLUMNS}": "upstream shows no more than a name",
    f"{CONFIG}/workload": "the operator of sets is configured there, and backends that run on their own",
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
    theirs = {
        crd["metadata"]["name"]: crd
        for crd in (
            yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) for path in upstream()
        )
    }
    assert mine.keys() == theirs.keys()
    found = [f"{name}{path}" for name in mine for path in differences(mine[name]["spec"], theirs[name]["spec"], "")]
    assert [path for path in found if path not in DIFFERENCES] == []

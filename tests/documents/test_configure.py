"""docs/guide/configure.md names every field of Config, SchedulingShard and OperatorConfiguration, and what it shows is
what holds where nothing is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from documents.pages import REPOSITORY, blocks
from gangline.api.crds import crds
from gangline.api.kinds import CONFIG_MAP, DEPLOYMENT
from gangline.api.meta import Raw
from gangline.cli.deploy.flags import MEANINGS
from gangline.components.installer_parts import installer_parts
from gangline.installer.config_reader import ConfigReading
from gangline.installer.contract import CertificatePair, InstallFacts, WantedObjects
from gangline.installer.objects.desired import wishes_of_config
from gangline.installer.objects.shards import config_yaml, wishes_of_shard
from gangline.operator.settings import _KNOWN, process, read
from gangline.rules.sets import OperatorSettings
from gangline.scheduler.plugins import BUILT_IN
from gangline.scheduler.settings import read_config
from yaml_loading import load_yaml

PAGE = REPOSITORY / "docs" / "guide" / "configure.md"
PARTS = installer_parts()
IN_EVERY_SECTION = ("replicas", "service", "vpa")
IMAGES = ("image", "scalingPodImage")
KUBERNETES = ("affinity", "tolerations", "securityContext", "resources", "podResources", "containerPolicies")


def shown(kind: str) -> list[Raw]:
    """The objects of a kind on the page, in its order."""
    found = [load_yaml(block.text) for block in blocks(PAGE) if block.language in ("yaml", "text")]
    return [obj for obj in found if isinstance(obj, dict) and obj.get("kind") == kind]


def fields(kind: str) -> Iterator[tuple[str, ...]]:
    """Every field of a kind's spec, with those of Kubernetes as one."""
    [definition] = [item for item in crds() if item["spec"]["names"]["kind"] == kind]
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    yield from _below(schema["properties"]["spec"], ())


def _below(schema: Raw, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name, field in (schema.get("properties") or {}).items():
        here = (*path, name)
        yield here
        if not name.endswith(KUBERNETES) and not name.endswith("SecurityContext"):
            yield from _below(field.get("items") or field, here)


def is_named(path: tuple[str, ...], spec: Any) -> bool:
    """Whether a field stands in a spec; what is empty there, or shown elsewhere, has its fields elsewhere."""
    for name in path:
        if isinstance(spec, list):
            spec = spec[0] if spec else {}
        if not isinstance(spec, dict) or name not in spec:
            return spec in ({}, None)
        spec = spec[name]
        if name in IMAGES and isinstance(spec, dict):
            return True
    return True


def shown_once(path: tuple[str, ...]) -> bool:
    """Fields that are alike in every section; they are shown in the section of the scheduler."""
    return path[0] != "scheduler" and any(name in path[1:2] for name in IN_EVERY_SECTION)


def test_every_field_of_a_config_is_named() -> None:
    [config] = shown("Config")
    missing = [path for path in fields("Config") if not shown_once(path) and not is_named(path, config["spec"])]
    assert not missing, missing


def test_every_field_of_a_shard_is_named() -> None:
    first, usage = shown("SchedulingShard")
    assert [path for path in fields("SchedulingShard") if not is_named(path, first["spec"] | usage["spec"])] == []


def test_every_field_of_an_operator_configuration_is_named_and_no_other() -> None:
    [config] = shown("OperatorConfiguration")
    for section, names in _KNOWN.items():
        part: Any = config
        for name in filter(None, section.split(".")):
            part = part[name]
        assert sorted(part) == sorted(names), section


def test_the_operator_configuration_that_is_shown_is_what_holds_without_one() -> None:
    [config] = shown("OperatorConfiguration")
    assert read(config) == read({}) and process(config) == process({})


def wishes(spec: Raw) -> WantedObjects:
    return wishes_of_config(
        ConfigReading(spec), InstallFacts(certificate=CertificatePair(b"certificate", b"key", b"authority")), PARTS
    )


def without_operators_file(made: WantedObjects) -> dict[tuple[str, str], Raw]:
    return {
        (str(item.kind.kind), item.name): item.obj
        for item in made.objects
        if not (item.kind == CONFIG_MAP and item.name == "gangline-operator")
    }


def flags_of(deployment: Raw) -> Mapping[str, str]:
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    words = [word.removeprefix("--").partition("=") for word in container["command"] if word.startswith("--")]
    return {name: value for name, _, value in words if name != "config"}


def as_deployed(deployment: Raw) -> Raw:
    """All but the command line, and the operator's file."""
    pod = deployment["spec"]["template"]["spec"]
    [container] = pod["containers"]
    rest = {key: value for key, value in container.items() if key not in ("command", "volumeMounts")}
    return {"spec": {key: value for key, value in pod.items() if key not in ("containers", "volumes")}, "runs": rest}


def test_the_config_that_is_shown_deploys_what_an_empty_one_does() -> None:
    [config] = shown("Config")
    given, plain = wishes(config["spec"]), wishes({"nodeScaleAdjuster": {"service": {"enabled": True}}})
    assert given.problems == plain.problems == [] and given.notes == [] and given.missing == []
    said, unsaid = without_operators_file(given), without_operators_file(plain)
    assert said.keys() == unsaid.keys()
    for (kind, name), obj in unsaid.items():
        if kind == DEPLOYMENT.kind:
            assert as_deployed(said[kind, name]) == as_deployed(obj), name
            assert_usual(flags_of(said[kind, name]), flags_of(obj))
        elif kind not in ("ClusterRole", "Role"):
            assert said[kind, name] == obj, name


def assert_usual(given: Mapping[str, str], plain: Mapping[str, str]) -> None:
    """Flags that are said have the value that they have where they are not said."""
    assert {flag: given[flag] for flag in plain} == dict(plain)
    for flag in set(given) - set(plain):
        assert given[flag] == "false" or f"({given[flag]})" in MEANINGS.get(flag, ""), flag


def test_the_operator_that_is_shown_in_the_config_is_the_one_that_an_empty_config_starts() -> None:
    [config] = shown("Config")
    made = wishes(config["spec"]).objects
    [written] = [item.obj for item in made if item.kind == CONFIG_MAP and item.name == "gangline-operator"]
    settings = read(load_yaml(written["data"]["config.yaml"]))
    assert replace(settings, init_image=OperatorSettings().init_image) == OperatorSettings()


def test_the_shard_that_is_shown_decides_as_an_empty_one_does() -> None:
    first, usage = shown("SchedulingShard")
    reading = ConfigReading({})
    for spec in (first["spec"], first["spec"] | usage["spec"]):
        made = wishes_of_shard(reading, "default", spec, InstallFacts(), PARTS)
        assert made.problems == [] and made.notes == []
    said = read_config(config_yaml(reading, first["spec"], WantedObjects()))
    plain = {name: first["spec"][name] for name in ("kValue", "minRuntime")}
    assert said == read_config(config_yaml(reading, plain, WantedObjects()))


def test_every_plugin_is_named() -> None:
    table = PAGE.read_text().partition("### Plugins and their arguments")[2].partition("\n## ")[0]
    assert [name for name in BUILT_IN if f"`{name}`" not in table] == ["reflectjoborder"]

"""Every refusal of a PodCliqueSet, one by one: where, and in which words. The rules are Grove's; the words are ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from gangline.admission.sets import defaults, podcliqueset
from gangline.api.grove import ClusterTopologyBinding
from gangline.api.meta import Raw
from gangline.config import manner
from gangline.operator.checks import backend_check
from gangline.rules.hooks import Denied, HookReview
from gangline.rules.sets import OperatorSettings
from operator_world import clique, group, pod_clique_set

NATIVE = OperatorSettings(auto_mnnvl=True)
LIKE_GROVE = OperatorSettings(manner=manner(["grove"]))
TEMPLATE, CLIQUE, GROUP = "spec.template", "spec.template.cliques[0]", "spec.template.podCliqueScalingGroups[0]"
DEVICES = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}
OWN = {"name": "t", "templateSpec": {"spec": DEVICES}}


class Bindings:
    """A reader that knows two bindings, each of zone, rack, host."""

    def get(self, kind: object, name: str, namespace: str = "") -> ClusterTopologyBinding | None:
        levels = [{"domain": domain, "key": f"example.com/{domain}"} for domain in ("zone", "rack", "host")]
        known = name in ("dc", "other")
        return (
            msgspec.convert({"metadata": {"name": name}, "spec": {"levels": levels}}, ClusterTopologyBinding)
            if known
            else None
        )


def a_set(*cliques: Raw, **more: Any) -> Raw:
    plain = {"cliqueStartupType": "CliqueStartupTypeAnyOrder"}
    return pod_clique_set("p", *(cliques or (clique("a", 2, 1), clique("b"))), **(plain | more))


def told(raw: Raw, old: Raw | None = None, settings: OperatorSettings = NATIVE) -> dict[str, str]:
    operation = "UPDATE" if old else "CREATE"
    filled = defaults.defaulted(HookReview(operation, raw, old), settings.manner)
    assert not isinstance(filled, Denied), filled
    reader: Any = Bindings()
    refused = podcliqueset.validated(HookReview(operation, filled, old), settings, reader, backend_check(settings))
    return {problem.path: problem.message for problem in refused.problems} if refused is not None else {}


def with_template(**more: Any) -> Raw:
    return a_set(**more)


def with_clique(**spec: Any) -> Raw:
    raw = a_set()
    raw["spec"]["template"]["cliques"][0]["spec"] |= spec
    return raw


def with_pod(**spec: Any) -> Raw:
    raw = a_set()
    raw["spec"]["template"]["cliques"][0]["spec"]["podSpec"] |= spec
    return raw


def with_group(*cliques: str, **more: Any) -> Raw:
    return a_set(groups=[group("g", cliques or ("b",)) | more])


def marked(**more: Any) -> Raw:
    return a_set(clique("a", 2, 1) | more, clique("b"))


def env(*names: str) -> list[Raw]:
    return [{"name": "main", "image": "i", "env": [{"name": name, "value": "x"} for name in names]}]


def pack(domain: str = "rack", name: str = "dc", half: str = "required") -> Raw:
    return {"pack": {half: domain}} | ({"topologyName": name} if name else {})


SYNTAX = "must consist of lower case letters, digits, '-' and '.', and start and end with a letter or digit"

REFUSALS: list[tuple[str, Raw, str, str]] = [
    (
        "start type",
        with_template(cliqueStartupType="Sometimes"),
        f"{TEMPLATE}.cliqueStartupType",
        "must be CliqueStartupTypeAnyOrder, CliqueStartupTypeInOrder or CliqueStartupTypeExplicit",
    ),
    ("no delay", with_template(terminationDelay="0s"), f"{TEMPLATE}.terminationDelay", "must be greater than 0"),
    (
        "claim template without a name",
        with_template(resourceClaimTemplates=[OWN | {"name": ""}]),
        f"{TEMPLATE}.resourceClaimTemplates[0].name",
        "must be given",
    ),
    (
        "claim templates alike",
        with_template(resourceClaimTemplates=[OWN, OWN]),
        f"{TEMPLATE}.resourceClaimTemplates.name",
        "given more than once: 't'",
    ),
    (
        "claim templates without names",
        with_template(resourceClaimTemplates=[OWN | {"name": ""}] * 2),
        f"{TEMPLATE}.resourceClaimTemplates.name",
        "given more than once: ''",
    ),
    (
        "claim template without requests",
        with_template(resourceClaimTemplates=[OWN | {"templateSpec": {"spec": {"devices": {"requests": []}}}}]),
        f"{TEMPLATE}.resourceClaimTemplates[0].templateSpec.spec.devices.requests",
        "at least one device request must be given",
    ),
    (
        "sharing without a name",
        with_template(resourceSharing=[{"scope": "AllReplicas"}]),
        f"{TEMPLATE}.resourceSharing[0].name",
        "must be given",
    ),
    (
        "sharing twice",
        with_template(resourceSharing=[{"name": "x", "scope": "AllReplicas"}, {"name": "x", "scope": "PerReplica"}]),
        f"{TEMPLATE}.resourceSharing[1].name",
        "x is shared twice",
    ),
    (
        "sharing from elsewhere",
        with_template(
            resourceClaimTemplates=[OWN], resourceSharing=[{"name": "t", "namespace": "other", "scope": "AllReplicas"}]
        ),
        f"{TEMPLATE}.resourceSharing[0].namespace",
        "must be empty: t is one of the set's own templates",
    ),
    (
        "sharing with an empty filter",
        with_template(resourceSharing=[{"name": "x", "scope": "AllReplicas", "filter": {}}]),
        f"{TEMPLATE}.resourceSharing[0].filter",
        "at least one of childCliqueNames, childScalingGroupNames must have an entry",
    ),
    (
        "sharing with a strange clique",
        with_template(resourceSharing=[{"name": "x", "scope": "AllReplicas", "filter": {"childCliqueNames": ["zz"]}}]),
        f"{TEMPLATE}.resourceSharing[0].filter.childCliqueNames[0]",
        "zz is not known here",
    ),
    (
        "sharing with a strange group",
        with_template(
            resourceSharing=[{"name": "x", "scope": "AllReplicas", "filter": {"childScalingGroupNames": ["zz"]}}]
        ),
        f"{TEMPLATE}.resourceSharing[0].filter.childScalingGroupNames[0]",
        "zz is not known here",
    ),
    (
        "a group's sharing with a clique of another",
        with_group(resourceSharing=[{"name": "x", "scope": "PerReplica", "filter": {"childCliqueNames": ["a"]}}]),
        f"{GROUP}.resourceSharing[0].filter.childCliqueNames[0]",
        "a is not known here",
    ),
    (
        "label key",
        marked(labels={"bad key": "x"}),
        f"{CLIQUE}.labels",
        "'bad key': must be letters, digits, '-', '_' and '.', at most 63 of them, starting and ending with a letter "
        "or digit",
    ),
    (
        "annotation key",
        marked(annotations={"bad key": "x"}),
        f"{CLIQUE}.annotations",
        "'bad key': must be letters, digits, '-', '_' and '.', at most 63 of them, starting and ending with a letter "
        "or digit",
    ),
    (
        "two cliques of one name",
        a_set(clique("a"), clique("a") | {"spec": clique("b")["spec"]}),
        f"{TEMPLATE}.cliques.name",
        "given more than once: 'a'",
    ),
    (
        "two cliques of one role",
        a_set(clique("a"), clique("a") | {"name": "b"}),
        f"{TEMPLATE}.cliques.roleName",
        "given more than once: 'a'",
    ),
    (
        "a minimum above the size",
        with_clique(replicas=1, minAvailable=2),
        f"{CLIQUE}.spec.minAvailable",
        "must not be greater than replicas (1)",
    ),
    (
        "autoscaling below the minimum",
        with_clique(minAvailable=2, autoScalingConfig={"minReplicas": 1, "maxReplicas": 3}),
        f"{CLIQUE}.spec.autoScalingConfig.minReplicas",
        "must not be less than minAvailable (2)",
    ),
    (
        "autoscaling upside down",
        with_clique(autoScalingConfig={"minReplicas": 4, "maxReplicas": 3}),
        f"{CLIQUE}.spec.autoScalingConfig.maxReplicas",
        "must not be less than minReplicas (4)",
    ),
    (
        "autoscaling below the size",
        with_clique(autoScalingConfig={"minReplicas": 1, "maxReplicas": 1}),
        f"{CLIQUE}.spec.autoScalingConfig.maxReplicas",
        "must not be less than replicas (2)",
    ),
    (
        "spread",
        with_pod(
            topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
        ),
        f"{CLIQUE}.spec.podSpec.spec.topologySpreadConstraints",
        "must not be set: a gang is placed as a whole",
    ),
    (
        "spread with nothing in it",
        with_pod(topologySpreadConstraints=[]),
        f"{CLIQUE}.spec.podSpec.spec.topologySpreadConstraints",
        "must not be set: a gang is placed as a whole",
    ),
    (
        "node",
        with_pod(nodeName="n"),
        f"{CLIQUE}.spec.podSpec.spec.nodeName",
        "must not be set: a gang is placed as a whole",
    ),
    (
        "variable name",
        with_pod(containers=env("A=B")),
        f"{CLIQUE}.spec.podSpec.spec.containers[0].env[0].name",
        "'A=B': must be letters, digits, '-', '_' and '.', not starting with a digit",
    ),
    (
        "variable that is a folder",
        with_pod(containers=env("..A")),
        f"{CLIQUE}.spec.podSpec.spec.containers[0].env[0].name",
        "'..A': must not be '.' or start with '..'",
    ),
    (
        "variable twice",
        with_pod(containers=env("A", "A")),
        f"{CLIQUE}.spec.podSpec.spec.containers[0].env[1].name",
        "A is given twice",
    ),
    (
        "variable of an init container twice",
        with_pod(initContainers=env("A", "A")),
        f"{CLIQUE}.spec.podSpec.spec.initContainers[0].env[1].name",
        "A is given twice",
    ),
    ("group name", with_group(name="Bad"), f"{GROUP}.name", SYNTAX),
    (
        "two groups of one name",
        a_set(groups=[group("g", ["a"]), group("g", ["b"])]),
        f"{TEMPLATE}.podCliqueScalingGroups.name",
        "given more than once: 'g'",
    ),
    (
        "a clique in two groups",
        a_set(groups=[group("g", ["b"]), group("h", ["b"])]),
        f"{TEMPLATE}.podCliqueScalingGroups.cliqueNames",
        "given more than once: 'b'",
    ),
    (
        "a clique twice in a group",
        with_group("b", "b"),
        f"{TEMPLATE}.podCliqueScalingGroups.cliqueNames",
        "given more than once: 'b'",
    ),
    ("a strange clique in a group", with_group("zz"), f"{GROUP}.cliqueNames", "no clique is called 'zz'"),
    (
        "names too long together",
        with_group(name="g" * 44),
        f"{GROUP}.name",
        f"p, {'g' * 44} and b have 46 characters together, 45 are allowed",
    ),
    (
        "a member whose name is too long",
        with_group("b", "z" * 44),
        f"{GROUP}.cliqueNames[1].name",
        f"p, g and {'z' * 44} have 46 characters together, 45 are allowed",
    ),
    ("group size", with_group(replicas=-1), f"{GROUP}.replicas", "must be greater than 0"),
    ("group minimum", with_group(minAvailable=-1), f"{GROUP}.minAvailable", "must not be less than 0"),
    (
        "group minimum above its size",
        with_group(replicas=1, minAvailable=2),
        f"{GROUP}.minAvailable",
        "must not be greater than replicas (1)",
    ),
    (
        "group scaled below its minimum",
        with_group(replicas=3, minAvailable=2, scaleConfig={"minReplicas": 1, "maxReplicas": 3}),
        f"{GROUP}.scaleConfig.minReplicas",
        "must not be less than minAvailable (2)",
    ),
    (
        "a member that scales by itself",
        a_set(
            clique("a"), clique("b", autoScalingConfig={"minReplicas": 1, "maxReplicas": 2}), groups=[group("g", ["b"])]
        ),
        f"{TEMPLATE}.podCliqueScalingGroups",
        "clique b is scaled with its group and may not have an autoScalingConfig of its own",
    ),
    (
        "topology without a name",
        with_template(topologyConstraint=pack(name="")),
        f"{TEMPLATE}.topologyConstraint.topologyName",
        "must be given here or further up",
    ),
    (
        "two topologies",
        a_set(clique("a") | {"topologyConstraint": pack(name="other")}, topologyConstraint=pack()),
        f"{CLIQUE}.topologyConstraint.topologyName",
        "a set follows one ClusterTopologyBinding, not dc, other",
    ),
    (
        "two topologies side by side",
        a_set(
            *(clique(item) | {"topologyConstraint": pack(name=name)} for item, name in (("a", "dc"), ("b", "other")))
        ),
        f"{CLIQUE}.topologyConstraint.topologyName",
        "a set follows one ClusterTopologyBinding, not dc, other",
    ),
    (
        "a preferred domain that is not there",
        with_template(topologyConstraint=pack("row", half="preferred")),
        f"{TEMPLATE}.topologyConstraint.pack.preferred",
        "dc has no domain 'row'",
    ),
    (
        "a wide unit packed narrowly by preference",
        a_set(
            clique("a") | {"topologyConstraint": pack("zone", half="preferred")},
            topologyConstraint=pack("host", half="preferred"),
        ),
        f"{TEMPLATE}.topologyConstraint.pack.preferred",
        "PodCliqueSet p is packed into one host, which is narrower than the zone of PodClique a",
    ),
    (
        "an empty NVLink group",
        a_set(annotations={"grove.io/mnnvl-group": ""}),
        "metadata.annotations.grove.io/mnnvl-group",
        "'': must not be empty",
    ),
    (
        "an NVLink group on a clique",
        marked(annotations={"grove.io/mnnvl-group": "x" * 64}),
        f"{CLIQUE}.annotations.grove.io/mnnvl-group",
        f"{'x' * 64!r}: must be no more than 63 characters",
    ),
]


@pytest.mark.parametrize(
    ("raw", "path", "message"), [refusal[1:] for refusal in REFUSALS], ids=[refusal[0] for refusal in REFUSALS]
)
def test_a_refusal_names_place_and_reason(raw: Raw, path: str, message: str) -> None:
    assert told(raw).get(path) == message, told(raw)


def test_a_scheduler_that_is_not_enabled_is_refused_in_groves_manner_only() -> None:
    raw = with_pod(schedulerName="slurm")
    raw["spec"]["template"]["cliques"][1]["spec"]["podSpec"]["schedulerName"] = "slurm"
    path = f"{TEMPLATE}.cliques.spec.podSpec.schedulerName"
    assert told(raw, settings=LIKE_GROVE)[path] == "scheduler 'slurm' is not enabled"
    assert path not in told(raw)


Change = Callable[[Raw], Any]


def template(raw: Raw) -> Raw:
    found: Raw = raw["spec"]["template"]
    return found


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        (lambda raw: template(raw)["cliques"].pop(), f"{TEMPLATE}.cliques", "cliques cannot be added or removed"),
        (
            lambda raw: template(raw)["cliques"][1].update(name="z"),
            f"{TEMPLATE}.cliques.name",
            "clique 'z' is new; cliques cannot be added or renamed",
        ),
        (
            lambda raw: template(raw)["cliques"].reverse(),
            f"{TEMPLATE}.cliques",
            "the order of cliques decides their start and cannot be changed: b, a",
        ),
        (
            lambda raw: template(raw)["cliques"][1]["spec"].update(startsAfter=["a"]),
            f"{TEMPLATE}.cliques.spec.startsAfter",
            "cannot be changed",
        ),
        (
            lambda raw: template(raw)["cliques"][0]["spec"]["podSpec"].update(schedulerName="default-scheduler"),
            f"{TEMPLATE}.cliques.spec.podSpec.schedulerName",
            "cannot be changed",
        ),
        (
            lambda raw: template(raw)["cliques"][0].update(resourceSharing=[{"name": "x", "scope": "AllReplicas"}]),
            f"{CLIQUE}.resourceSharing",
            "cannot be changed",
        ),
        (
            lambda raw: template(raw).update(resourceSharing=[{"name": "x", "scope": "AllReplicas"}]),
            f"{TEMPLATE}.resourceSharing",
            "cannot be changed",
        ),
        (
            lambda raw: template(raw).update(resourceClaimTemplates=[OWN]),
            f"{TEMPLATE}.resourceClaimTemplates",
            "cannot be changed",
        ),
        (
            lambda raw: template(raw).update(podCliqueScalingGroups=[]),
            f"{TEMPLATE}.podCliqueScalingGroups",
            "scaling groups cannot be added or removed",
        ),
        (
            lambda raw: template(raw)["podCliqueScalingGroups"][0].update(name="h"),
            f"{TEMPLATE}.podCliqueScalingGroups.name",
            "scaling group 'h' is new; groups cannot be added or renamed",
        ),
        (
            lambda raw: template(raw)["podCliqueScalingGroups"][0].update(cliqueNames=["a"]),
            f"{TEMPLATE}.podCliqueScalingGroups.cliqueNames",
            "cannot be changed",
        ),
        (
            lambda raw: template(raw)["podCliqueScalingGroups"][0].update(
                resourceSharing=[{"name": "x", "scope": "AllReplicas"}]
            ),
            "spec.template.podCliqueScalingGroups.resourceSharing",
            "cannot be changed",
        ),
        (
            lambda raw: raw["metadata"]["annotations"].update({"grove.io/mnnvl-group": "x"}),
            "metadata.annotations.grove.io/mnnvl-group",
            "cannot be changed from None to 'x'",
        ),
        (
            lambda raw: template(raw)["topologyConstraint"].update(topologyName="other"),
            f"{TEMPLATE}.topologyConstraint.topologyName",
            "cannot be changed from 'dc' to 'other'",
        ),
        (
            lambda raw: template(raw).pop("topologyConstraint"),
            f"{TEMPLATE}.topologyConstraint",
            "the constraint of PodCliqueSet p cannot be changed, added or removed",
        ),
        (
            lambda raw: template(raw)["topologyConstraint"].update(pack={"required": "zone"}),
            f"{TEMPLATE}.topologyConstraint",
            "the constraint of PodCliqueSet p cannot be changed, added or removed",
        ),
        (
            lambda raw: template(raw)["topologyConstraint"].update(pack={}, packDomain="rack"),
            f"{TEMPLATE}.topologyConstraint",
            "the constraint of PodCliqueSet p cannot be changed, added or removed",
        ),
    ],
)
def test_a_change_that_cannot_be_is_named_with_its_place(change: Change, path: str, message: str) -> None:
    def fresh() -> Raw:
        given = a_set(
            groups=[group("g", ["b"])], cliqueStartupType="CliqueStartupTypeExplicit", topologyConstraint=pack()
        )
        made = defaults.defaulted(HookReview("CREATE", given))
        assert not isinstance(made, Denied)
        return made

    new = fresh()
    change(new)
    assert told(new, fresh()).get(path) == message, told(new, fresh())


def test_what_a_clique_may_not_change_is_looked_up_by_its_name_and_not_by_its_place() -> None:
    def cliques() -> list[Raw]:
        return [clique("a") | {"topologyConstraint": pack(), "annotations": {"grove.io/mnnvl-group": "g"}}, clique("b")]

    old = a_set(*cliques())
    assert told(a_set(*reversed(cliques())), old) == {}
    moved = a_set(clique("a"), clique("b") | {"topologyConstraint": pack()})
    assert set(told(moved, old)) == {
        f"{TEMPLATE}.cliques[0].topologyConstraint",
        f"{TEMPLATE}.cliques[1].topologyConstraint",
        f"{CLIQUE}.annotations.grove.io/mnnvl-group",
    }


def test_a_clique_that_changes_only_its_topology_is_named_as_a_whole() -> None:
    old, new = (a_set(clique("a") | {"topologyConstraint": pack(name=name)}) for name in ("dc", "other"))
    assert told(new, old) == {
        f"{CLIQUE}.topologyConstraint": "the constraint of PodClique a cannot be changed, added or removed"
    }


def test_a_set_with_an_nvlink_group_may_still_change_after_nvlink_was_switched_off() -> None:
    raw, off = a_set(annotations={"grove.io/mnnvl-group": "g"}), OperatorSettings()
    assert "metadata.annotations.grove.io/mnnvl-group" in told(raw, settings=off)
    assert told(raw, raw, off) == {}


def test_the_deprecated_domain_may_become_the_new_form_and_not_the_other_way_round() -> None:
    forms: list[Raw] = [{"packDomain": "rack"}, {"pack": {"required": "rack"}}]
    old, new = (a_set(topologyConstraint={"topologyName": "dc"} | form) for form in forms)
    assert told(new, old) == {} and told(old, new) != {}
    wider = a_set(topologyConstraint=pack("zone"))
    assert told(wider, old) == {
        f"{TEMPLATE}.topologyConstraint": "the constraint of PodCliqueSet p cannot be changed, added or removed"
    }


def test_claim_templates_without_requests_are_refused_in_either_way() -> None:
    path = f"{TEMPLATE}.resourceClaimTemplates[0].templateSpec.spec"
    raw = a_set(groups=[group("g", ["b"])], resourceClaimTemplates=[{"name": "t"}])
    open_ended = defaults.defaulted(HookReview("CREATE", raw))
    assert isinstance(open_ended, Denied) and (open_ended.code, open_ended.problems[0].path) == (
        422,
        f"{path}.devices.requests",
    )
    whole = defaults.defaulted(HookReview("CREATE", a_set(groups=[group("g", ["b"])])))
    assert not isinstance(whole, Denied)
    template(whole)["resourceClaimTemplates"] = [{"name": "t"}]
    assert told(whole) == {f"{path}.devices.requests": "at least one device request must be given"}


def test_a_binding_that_does_not_exist_is_told_where_it_is_named_and_for_the_set() -> None:
    raw = a_set(clique("a") | {"topologyConstraint": pack(name="gone")})
    assert told(raw) == dict.fromkeys(
        (f"{TEMPLATE}.topologyConstraint.topologyName", f"{CLIQUE}.topologyConstraint.topologyName"),
        "ClusterTopologyBinding 'gone' does not exist",
    )


def test_a_preference_wider_than_what_is_required_is_warned_of() -> None:
    reader: Any = Bindings()
    [_, checks] = podcliqueset.hooks(NATIVE, lambda: reader)
    raw = a_set(topologyConstraint={"topologyName": "dc", "pack": {"required": "rack", "preferred": "zone"}})
    assert checks.warn(HookReview("CREATE", raw)) == [
        "spec.template.topologyConstraint.pack.preferred: zone is wider than the required rack and has no effect"
    ]

"""PodCliqueSets on their way in: what is filled in, what is refused, and why.

Defaults and checks are plain functions over plain data; every check adds to one list, so that a user sees all
problems at once. Fields are named as Grove names them. What a backend cannot express is asked of a function that the
composition root hands in; nothing here imports the operator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import msgspec

from gangline.admission.sets import immutable, minima, topology
from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.api.meta import Raw
from gangline.api.notation import Type
from gangline.config import NATIVE, Manner
from gangline.errors import Problem
from gangline.rules import wishes
from gangline.rules.hooks import Denied, Hook, HookReview, denied
from gangline.rules.sets import OperatorSettings
from gangline.rules.typed import TypedReading, go_duration, plain
from gangline.rules.values import text
from gangline.rules.values.times import duration

if TYPE_CHECKING:
    from gangline.runtime import Reader

Check = Callable[[PodCliqueSet, "Reader | None"], Iterable[Problem]]
"""What the set's backend says."""
Move = Callable[[PodCliqueSet, PodCliqueSet, "Reader | None"], Iterable[Problem]]
"""Why a set may not go to another backend now; called with new and old."""

ANY_ORDER, IN_ORDER, EXPLICIT = "CliqueStartupTypeAnyOrder", "CliqueStartupTypeInOrder", "CliqueStartupTypeExplicit"
SCOPES = ("AllReplicas", "PerReplica")
LONGEST = 45
LONE_CLIQUE = "main"
SPREAD = "topologySpreadConstraints"


def hooks(
    settings: OperatorSettings | None = None,
    read: Callable[[], Reader | None] = lambda: None,
    check: Check = lambda pcs, reader: (),
    move: Move = lambda new, old, reader: (),
) -> list[Hook]:
    """Defaulting, then validation. `read` gives what is in the cluster, where it is known."""
    wanted = settings or OperatorSettings()
    return [
        Hook(
            "pcs.defaulting.webhooks.grove.io",
            "grove.io",
            "podcliquesets",
            mutate=lambda review: defaulted(review, wanted.manner),
        ),
        Hook(
            "pcs.validating.webhooks.grove.io",
            "grove.io",
            "podcliquesets",
            warn=lambda review: topology.warnings(review.obj, read()),
            validate=lambda review: validated(review, wanted, read(), check, move),
        ),
    ]


# --- defaults
# --------------------------------------------------------------------------------------------------------------


def defaulted(review: HookReview, manner: Manner = NATIVE) -> Raw | Denied:
    """The set with everything filled in that it leaves open. Where no minimum may be zero, a clique of 0 pods becomes
    one of 1.

    Where anything is filled in, the whole set is written as its types say. A set that leaves nothing open stays as the
    user wrote it; one without scaling groups always leaves these open."""
    if review.same_spec:
        return dict(review.obj)
    reading = TypedReading(keep_empty=True)
    obj = dict(review.obj)
    spec = reading.read(Type("struct", "PodCliqueSetSpec", "grove"), obj.get("spec") or {}, "spec")
    delay = spec["template"].get("terminationDelay") if isinstance(spec.get("template"), dict) else None
    if isinstance(delay, str) and go_duration(delay) is None:
        reading.problems.append(
            Problem(
                "spec.template.terminationDelay",
                f"{delay!r} is not a duration",
                value=delay,
                hint="write for example 90s, 30m or 4h",
            )
        )
    if reading.problems:
        return Denied("; ".join(map(str, reading.problems)), tuple(reading.problems), 400, "BadRequest")
    if delay is not None:
        spec["template"]["terminationDelay"] = go_duration(delay)
    as_given, one_at_least = deepcopy(spec), manner.zero_minimum_refused
    for made, given in zip(spec["template"].get("cliques") or (), _cliques(review.obj), strict=True):
        said = (given or {}).get("spec") or {}
        if "replicas" not in said and not one_at_least:
            made["spec"]["replicas"] = 1
        _fill_clique(made["spec"], may_be_empty="replicas" in said and not one_at_least)
    if not manner.lone_clique_unnamed_refused:
        _name_lone_clique(spec["template"].get("cliques") or ())
    _fill(spec)
    if spec == as_given and _template(review.obj).get("podCliqueScalingGroups") is not None:
        return obj
    return denied(list(_no_list(spec)), 422, "Invalid") or obj | {"spec": spec}


def _name_lone_clique(cliques: Sequence[Raw]) -> None:
    """The only clique of a set needs no name to be told from others."""
    if len(cliques) == 1 and not cliques[0].get("name"):
        cliques[0]["name"] = LONE_CLIQUE


def _no_list(spec: Raw) -> Iterator[Problem]:
    """A list that must be written and was not given comes out as none, which no schema takes."""
    for index, resource_claim_template in enumerate(spec["template"].get("resourceClaimTemplates") or ()):
        if resource_claim_template["templateSpec"]["spec"]["devices"].get("requests") is None:
            yield Problem(
                f"spec.template.resourceClaimTemplates[{index}].templateSpec.spec.devices.requests",
                "must be a list",
                "FieldValueTypeInvalid",
            )


def _fill(spec: Raw) -> None:
    template = spec["template"]
    for group in template.get("podCliqueScalingGroups") or ():
        scale = group.get("scaleConfig")
        if scale is not None and scale.get("minReplicas") is None:
            scale["minReplicas"] = group.get("replicas", 1)
    template.setdefault("terminationDelay", "4h0m0s")
    template.setdefault("headlessServiceConfig", {"publishNotReadyAddresses": True})


def _fill_clique(spec: Raw, *, may_be_empty: bool) -> None:
    """Only who says 0 gets a clique without pods, and only where no minimum asks for one."""
    pod, replicas = spec["podSpec"], spec.get("replicas", 0)
    empty = may_be_empty and not spec.get("minAvailable")
    if not pod.get("restartPolicy"):
        pod["restartPolicy"] = "Always"
    pod.setdefault("terminationGracePeriodSeconds", 30)
    if spec.get("minAvailable") is None:
        spec["minAvailable"] = replicas
    scaling = spec.get("autoScalingConfig")
    if scaling is not None and scaling.get("minReplicas") is None:
        scaling["minReplicas"] = replicas
    spec["replicas"] = replicas or (0 if empty else 1)


# --- checks
# ----------------------------------------------------------------------------------------------------------------


def validated(
    review: HookReview,
    settings: OperatorSettings,
    read: Reader | None = None,
    check: Check = lambda pcs, reader: (),
    move: Move = lambda new, old, reader: (),
) -> Denied | None:
    """A refusal, or None. Of a set whose spec stays as it is, only what its new labels and annotations are to blame for
    counts: what was stored may have become wrong since (a backend was switched off, a queue deleted), and must not
    stand in the way of other writes."""
    if review.same_spec and _marks_of(review.obj) == _marks_of(review.old):
        return None
    problems = list(problems_of(review.obj, review.old, settings, read, check, move))
    if problems and review.same_spec:
        before = list(problems_of(review.old or {}, review.old, settings, read, check, move))
        problems = [problem for problem in problems if problem not in before]
    return denied(problems, 403, "Forbidden")


def _marks_of(obj: Raw | None) -> tuple[Raw, Raw]:
    meta = (obj or {}).get("metadata") or {}
    return meta.get("labels") or {}, meta.get("annotations") or {}


def problems_of(
    obj: Raw,
    old: Raw | None,
    settings: OperatorSettings,
    read: Reader | None,
    check: Check,
    move: Move = lambda new, old, reader: (),
) -> Iterator[Problem]:
    """Everything that is wrong with a set; on update also what may not change."""
    if not _cliques(obj):
        yield Problem("spec.template.cliques", "at least one clique must be given", "FieldValueRequired")
        return
    yield from _set(obj)
    yield from _claim_templates(obj)
    yield from _sharing(obj)
    zero = not settings.manner.zero_minimum_refused
    yield from _cliques_problems(obj, old is None, settings)
    yield from _schedulers(obj, settings)
    yield from _groups(obj, zero)
    yield from minima.problems(_template(obj)) if zero else ()
    yield from wishes.problems((obj.get("metadata") or {}).get("annotations") or {})
    yield from check(_view(obj), read)
    if old is None:
        yield from _mnnvl(obj, settings)
        yield from topology.created(obj, settings, read)
    else:
        yield from topology.updated(obj, old, settings, read)
        yield from immutable.problems(_plain(obj), _plain(old))
        yield from move(_view(obj), _view(old), read)


def faults(pcs: PodCliqueSet, settings: OperatorSettings) -> list[Problem]:
    """What would be refused today of a set that is stored already; what other objects decide is left out."""
    zero = not settings.manner.zero_minimum_refused
    filled = defaulted(HookReview("UPDATE", msgspec.json.decode(msgspec.json.encode(pcs))), settings.manner)
    if isinstance(filled, Denied):
        return list(filled.problems)
    return [
        *_set(filled),
        *_claim_templates(filled),
        *_sharing(filled),
        *_cliques_problems(filled, False, settings),
        *_groups(filled, zero),
        *(minima.problems(_template(filled)) if zero else ()),
        *wishes.problems(pcs.annotations),
    ]


def _view(obj: Raw) -> PodCliqueSet:
    return msgspec.convert(obj, PodCliqueSet, strict=False)


def _plain(obj: Raw) -> Raw:
    """A set whose empty values are as if they had not been given."""
    return obj | {"spec": plain("grove", "PodCliqueSetSpec", obj.get("spec") or {})}


def _template(obj: Raw) -> Raw:
    found: Raw = (obj.get("spec") or {}).get("template") or {}
    return found


def _cliques(obj: Raw) -> list[Raw]:
    return _template(obj).get("cliques") or []


def _set(obj: Raw) -> Iterator[Problem]:
    kind = _template(obj).get("cliqueStartupType")
    if kind not in (ANY_ORDER, IN_ORDER, EXPLICIT):
        yield Problem(
            "spec.template.cliqueStartupType",
            f"must be {ANY_ORDER}, {IN_ORDER} or {EXPLICIT}",
            "FieldValueRequired" if kind is None else "FieldValueNotSupported",
            kind,
        )
    delay = _template(obj).get("terminationDelay")
    if delay is None:
        yield Problem("spec.template.terminationDelay", "must be given", "FieldValueRequired")
    elif duration(delay) <= 0:
        yield Problem("spec.template.terminationDelay", "must be greater than 0", value=delay)


def _claim_templates(obj: Raw) -> Iterator[Problem]:
    path, found = "spec.template.resourceClaimTemplates", _template(obj).get("resourceClaimTemplates") or []
    for index, item in enumerate(found):
        if not item.get("name"):
            yield Problem(f"{path}[{index}].name", "must be given", "FieldValueRequired")
        if not (((item.get("templateSpec") or {}).get("spec") or {}).get("devices") or {}).get("requests"):
            yield Problem(
                f"{path}[{index}].templateSpec.spec.devices.requests",
                "at least one device request must be given",
                "FieldValueRequired",
            )
    yield from _duplicates(f"{path}.name", (item.get("name") or "" for item in found))


def _duplicates(path: str, values: Iterable[Any]) -> Iterator[Problem]:
    twice = [value for value, times in Counter(values).items() if times > 1]
    if twice:
        yield Problem(
            path, f"given more than once: {', '.join(repr(value) for value in twice)}", "FieldValueDuplicate", twice
        )


# --- shared claims
# -----------------------------------------------------------------------------------------------------------


def _sharing(obj: Raw) -> Iterator[Problem]:
    template = _template(obj)
    internal = {
        resource_claim_template.get("name") for resource_claim_template in template.get("resourceClaimTemplates") or ()
    }
    cliques = {item.get("name") for item in _cliques(obj)}
    groups = {
        pod_clique_scaling_group.get("name")
        for pod_clique_scaling_group in template.get("podCliqueScalingGroups") or ()
    }
    yield from _entries(
        "spec.template.resourceSharing",
        template.get("resourceSharing"),
        internal,
        {"childCliqueNames": cliques, "childScalingGroupNames": groups},
    )
    for index, clique in enumerate(_cliques(obj)):
        yield from _entries(
            f"spec.template.cliques[{index}].resourceSharing", clique.get("resourceSharing"), internal, {}
        )
    for index, group in enumerate(template.get("podCliqueScalingGroups") or ()):
        yield from _entries(
            f"spec.template.podCliqueScalingGroups[{index}].resourceSharing",
            group.get("resourceSharing"),
            internal,
            {"childCliqueNames": set(group.get("cliqueNames") or ())},
        )


def _entries(
    path: str, entries: list[Raw] | None, internal: set[Any], known: Mapping[str, set[Any]]
) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, entry in enumerate(entries or ()):
        where, name = f"{path}[{index}]", entry.get("name") or ""
        if not name:
            yield Problem(f"{where}.name", "must be given", "FieldValueRequired")
        elif name in seen:
            yield Problem(f"{where}.name", f"{name} is shared twice", "FieldValueDuplicate", name)
        seen.add(name)
        if entry.get("namespace") and name in internal:
            yield Problem(
                f"{where}.namespace",
                f"must be empty: {name} is one of the set's own templates",
                value=entry["namespace"],
            )
        if entry.get("scope") not in SCOPES:
            yield Problem(
                f"{where}.scope", f"must be {' or '.join(SCOPES)}", "FieldValueNotSupported", entry.get("scope")
            )
        if entry.get("filter") is not None:
            yield from _filter(f"{where}.filter", entry["filter"], known)


def _filter(path: str, given: Raw, known: Mapping[str, set[Any]]) -> Iterator[Problem]:
    if not any(given.get(key) for key in known):
        yield Problem(path, f"at least one of {', '.join(known)} must have an entry", "FieldValueRequired")
    for key, allowed in known.items():
        for index, name in enumerate(given.get(key) or ()):
            if name not in allowed:
                yield Problem(
                    f"{path}.{key}[{index}]",
                    f"{name} is not known here",
                    value=name,
                    hint=f"known: {', '.join(sorted(map(str, allowed)))}",
                )


# --- cliques
# -----------------------------------------------------------------------------------------------------------------


def _cliques_problems(obj: Raw, creating: bool, settings: OperatorSettings) -> Iterator[Problem]:
    cliques, zero = _cliques(obj), not settings.manner.zero_minimum_refused
    name = str((obj.get("metadata") or {}).get("name") or "")
    grouped = {
        clique_name
        for group in _template(obj).get("podCliqueScalingGroups") or ()
        for clique_name in group.get("cliqueNames") or ()
    }
    for index, clique in enumerate(cliques):
        path = f"spec.template.cliques[{index}]"
        yield from _clique_name(path, clique.get("name") or "", name, grouped)
        yield from _marks(f"{path}.labels", clique.get("labels") or {}, values=True)
        yield from _marks(f"{path}.annotations", clique.get("annotations") or {}, values=False)
        yield from _clique_spec(f"{path}.spec", clique.get("spec") or {}, zero)
        yield from _pod_spec(f"{path}.spec.podSpec.spec", (clique.get("spec") or {}).get("podSpec") or {}, creating)
    yield from _duplicates("spec.template.cliques.name", (item.get("name") for item in cliques if item.get("name")))
    roles = [(item.get("spec") or {}).get("roleName") or "" for item in cliques]
    yield from _duplicates(
        "spec.template.cliques.roleName", (role for role in roles if role or settings.manner.unnamed_roles_collide)
    )
    if _template(obj).get("cliqueStartupType") == EXPLICIT:
        yield from _order(cliques)


def _clique_name(path: str, clique: str, set_name: str, grouped: set[str]) -> Iterator[Problem]:
    wrong = text.subdomain_problem(clique)
    if not clique:
        yield Problem(f"{path}.name", "must be given", "FieldValueRequired")
    elif wrong:
        yield Problem(f"{path}.name", wrong, value=clique)
    length = len(set_name) + len(clique)
    if clique not in grouped and length > LONGEST:
        for where in (f"{path}.name", "metadata.name"):
            yield Problem(
                where,
                f"{set_name} and {clique} have {length} characters together, {LONGEST} are allowed",
                value=clique,
                hint="pod names are made of both; shorten one",
            )


def _marks(path: str, given: Raw, values: bool) -> Iterator[Problem]:
    for key, value in given.items():
        wrong = text.key_problem(key if values else key.lower())
        if wrong:
            yield Problem(path, f"{key!r}: {wrong}", value=key)
        if values and (wrong := text.label_value_problem(value)):
            yield Problem(path, f"{value!r}: {wrong}", value=value)


def _clique_spec(path: str, spec: Raw, zero: bool) -> Iterator[Problem]:
    replicas, least = spec.get("replicas", 0), spec.get("minAvailable")
    yield from minima.size(f"{path}.replicas", replicas, zero and not least)
    if least is None:
        yield Problem(f"{path}.minAvailable", "must be given", "FieldValueRequired")
        least = 0
    elif wrong := list(minima.size(f"{path}.minAvailable", least, zero)):
        yield from wrong
    elif least > replicas:
        yield Problem(f"{path}.minAvailable", f"must not be greater than replicas ({replicas})", value=least)
    scaling = spec.get("autoScalingConfig")
    if scaling is not None:
        yield from _scaling(f"{path}.autoScalingConfig", scaling, replicas, least)


def _scaling(path: str, scaling: Raw, replicas: int, least: int) -> Iterator[Problem]:
    low, high = scaling.get("minReplicas"), scaling.get("maxReplicas", 0)
    if low is None:
        yield Problem(f"{path}.minReplicas", "must be given", "FieldValueRequired")
        low = 0
    elif low < least:
        yield Problem(f"{path}.minReplicas", f"must not be less than minAvailable ({least})", value=low)
    if high < low:
        yield Problem(f"{path}.maxReplicas", f"must not be less than minReplicas ({low})", value=high)
    if high < replicas:
        yield Problem(f"{path}.maxReplicas", f"must not be less than replicas ({replicas})", value=high)


def _pod_spec(path: str, spec: Raw, creating: bool) -> Iterator[Problem]:
    if creating and spec.get(SPREAD) is not None:
        yield Problem(
            f"{path}.{SPREAD}",
            "must not be set: a gang is placed as a whole",
            value=spec[SPREAD],
            hint="use topologyConstraint",
        )
    if creating and spec.get("nodeName"):
        yield Problem(
            f"{path}.nodeName",
            "must not be set: a gang is placed as a whole",
            value=spec["nodeName"],
            hint="use nodeSelector",
        )
    for key in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(key) or ()):
            yield from _variables(f"{path}.{key}[{index}].env", container.get("env") or ())


def _variables(path: str, given: Iterable[Raw]) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, variable in enumerate(given):
        name = variable.get("name") or ""
        wrong = text.variable_problem(name)
        if wrong:
            yield Problem(f"{path}[{index}].name", f"{name!r}: {wrong}", value=name)
        elif name in seen:
            yield Problem(f"{path}[{index}].name", f"{name} is given twice", "FieldValueDuplicate", name)
        seen.add(name)


# --- start order
# -------------------------------------------------------------------------------------------------------------


def _order(cliques: list[Raw]) -> Iterator[Problem]:
    after = {clique.get("name") or "": list((clique.get("spec") or {}).get("startsAfter") or ()) for clique in cliques}
    for index, clique in enumerate(cliques):
        path, parents = f"spec.template.cliques[{index}].spec.startsAfter", after[clique.get("name") or ""]
        if any(not parent.strip() for parent in parents):
            yield Problem(path, "an entry is empty", "FieldValueRequired")
        if clique.get("name") in parents:
            yield Problem(path, f"{clique['name']} cannot wait for itself", value=clique["name"])
        yield from _duplicates(path, parents)
    unknown = [parent for parents in after.values() for parent in parents if parent not in after]
    if unknown:
        yield Problem(
            "spec.template.cliques.startsAfter",
            f"no clique is called {', '.join(map(repr, unknown))}",
            value=",".join(unknown),
        )
    cycles = _cycles(after)
    if cycles:
        yield Problem(
            "spec.template.cliques",
            f"cliques wait for each other in a circle: {'; '.join(' → '.join(cycle) for cycle in cycles)}",
            value=cycles,
        )


def _cycles(after: Mapping[str, list[str]]) -> list[list[str]]:
    """Groups of cliques that wait for each other (strongly connected, more than one)."""
    reach = {name: _reachable(name, after) for name in after}
    cycles: list[list[str]] = []
    placed: set[str] = set()
    for name in after:
        circle = [other for other in after if other in reach[name] and name in reach[other]]
        if len(circle) > 1 and name not in placed:
            cycles.append(circle)
            placed |= set(circle)
    return cycles


def _reachable(start: str, after: Mapping[str, list[str]]) -> set[str]:
    seen: set[str] = set()
    todo = list(after.get(start, ()))
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += after.get(name, ())
    return seen


# --- schedulers and groups
# -----------------------------------------------------------------------------------------------------


def _schedulers(obj: Raw, settings: OperatorSettings) -> Iterator[Problem]:
    path = "spec.template.cliques.spec.podSpec.schedulerName"
    specs = [(clique.get("spec") or {}).get("podSpec") or {} for clique in _cliques(obj)]
    named = [spec.get("schedulerName") or settings.default_profile for spec in specs]
    distinct = list(dict.fromkeys(named))
    if len(distinct) > 1:
        yield Problem(
            path, f"cliques of a set share one scheduler, not {', '.join(distinct)}", value=", ".join(distinct)
        )
    for name in distinct if len(distinct) == 1 else ():
        if settings.manner.profiles_only and settings.profile(name) is None:
            yield Problem(
                path,
                f"scheduler {name!r} is not enabled",
                value=name,
                hint=f"enabled: {', '.join(profile.name for profile in settings.profiles)}",
            )


def _groups(obj: Raw, zero: bool) -> Iterator[Problem]:
    path, groups = "spec.template.podCliqueScalingGroups", _template(obj).get("podCliqueScalingGroups") or []
    cliques = {clique.get("name"): clique for clique in _cliques(obj)}
    set_name = str((obj.get("metadata") or {}).get("name") or "")
    for index, group in enumerate(groups):
        yield from _group(f"{path}[{index}]", group, cliques, set_name, zero)
    yield from _duplicates(f"{path}.name", (group.get("name") for group in groups))
    yield from _duplicates(f"{path}.cliqueNames", (name for group in groups for name in group.get("cliqueNames") or ()))
    members = [name for group in groups for name in group.get("cliqueNames") or ()]
    for name in dict.fromkeys(members):
        if ((cliques.get(name) or {}).get("spec") or {}).get("autoScalingConfig") is not None:
            yield Problem(
                path,
                f"clique {name} is scaled with its group and may not have an autoScalingConfig of its own",
                value=name,
                hint="move it to the group's scaleConfig",
            )


def _group(path: str, group: Raw, cliques: Mapping[Any, Raw], set_name: str, zero: bool) -> Iterator[Problem]:
    name, members = group.get("name") or "", group.get("cliqueNames") or ()
    wrong = text.subdomain_problem(name)
    if wrong:
        yield Problem(f"{path}.name", wrong, value=name)
    unknown = [member for member in members if member not in cliques]
    if unknown:
        yield Problem(
            f"{path}.cliqueNames", f"no clique is called {', '.join(map(repr, unknown))}", value=",".join(unknown)
        )
    for index, member in enumerate(members):
        length = len(set_name) + len(name) + len(member)
        if length > LONGEST:
            for where in (f"{path}.cliqueNames[{index}].name", f"{path}.name", "metadata.name"):
                yield Problem(
                    where,
                    f"{set_name}, {name} and {member} have {length} characters together, {LONGEST} are allowed",
                    value=member,
                    hint="pod names are made of all three; shorten one",
                )
    replicas, least = group.get("replicas", 1), group.get("minAvailable", 1)
    yield from minima.size(f"{path}.replicas", replicas, zero and not least)
    yield from minima.size(f"{path}.minAvailable", least, zero)
    if least > replicas:
        yield Problem(f"{path}.minAvailable", f"must not be greater than replicas ({replicas})", value=least)
    low = (group.get("scaleConfig") or {}).get("minReplicas")
    if low is not None and low < least:
        yield Problem(f"{path}.scaleConfig.minReplicas", f"must not be less than minAvailable ({least})", value=low)


# --- multi-node NVLink
# -----------------------------------------------------------------------------------------------------------


def _mnnvl(obj: Raw, settings: OperatorSettings) -> Iterator[Problem]:
    for _, path, notes in immutable.annotated(obj):
        if names.MNNVL_GROUP not in notes:
            continue
        where, value = f"{path}.{names.MNNVL_GROUP}", notes[names.MNNVL_GROUP]
        if value == names.MNNVL_OPT_OUT:
            continue
        wrong = "must not be empty" if not value else text.label_problem(value)
        if wrong:
            yield Problem(where, f"{value!r}: {wrong}", value=value)
        elif not settings.auto_mnnvl:
            yield Problem(
                where,
                "MNNVL is not enabled in the operator's configuration",
                value=value,
                hint="set network.autoMNNVLEnabled, or remove the annotation",
            )

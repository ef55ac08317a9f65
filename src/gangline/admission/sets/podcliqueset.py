"""PodCliqueSets on their way in: their hooks, and everything that is wrong with one.

Checks are plain functions over plain data; every check adds to one list, so that a user sees all problems at once.
Fields are named as Grove names them. What is filled in is in defaults.py; each part of a set has a file of checks
beside this one. What a backend cannot express is asked of a function that the composition root hands in; nothing here
imports the operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from gangline.admission.sets import cliques, immutable, minima, scaling_groups, sharing, topology
from gangline.admission.sets.defaults import defaulted
from gangline.admission.sets.parts import ANY_ORDER, EXPLICIT, IN_ORDER, cliques_of, template_of
from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.api.meta import Raw
from gangline.errors import Problem
from gangline.rules import wishes
from gangline.rules.hooks import Denied, Hook, HookReview, denied
from gangline.rules.objects.typed import plain
from gangline.rules.sets import OperatorSettings
from gangline.rules.values import text
from gangline.rules.values.times import duration

if TYPE_CHECKING:
    from gangline.runtime import Reader

Check = Callable[[PodCliqueSet, "Reader | None"], Iterable[Problem]]
"""What the set's backend says."""
Move = Callable[[PodCliqueSet, PodCliqueSet, "Reader | None"], Iterable[Problem]]
"""Why a set may not go to another backend now; called with new and old."""


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
    if not cliques_of(obj):
        yield Problem("spec.template.cliques", "at least one clique must be given", "FieldValueRequired")
        return
    yield from _template_problems(obj)
    yield from sharing.template_problems(obj)
    yield from sharing.problems(obj)
    zero = not settings.manner.zero_minimum_refused
    yield from cliques.problems(obj, old is None, settings)
    yield from _schedulers(obj, settings)
    yield from scaling_groups.problems(obj, zero)
    yield from minima.problems(template_of(obj)) if zero else ()
    yield from wishes.problems((obj.get("metadata") or {}).get("annotations") or {})
    yield from check(_view(obj), read)
    if old is None:
        yield from _mnnvl(obj, settings)
        yield from topology.created(obj, settings, read)
    else:
        yield from topology.updated(obj, old, settings, read)
        yield from immutable.problems(_without_empty_values(obj), _without_empty_values(old))
        yield from move(_view(obj), _view(old), read)


def faults(pcs: PodCliqueSet, settings: OperatorSettings) -> list[Problem]:
    """What would be refused today of a set that is stored already; what other objects decide is left out."""
    zero = not settings.manner.zero_minimum_refused
    filled = defaulted(HookReview("UPDATE", msgspec.json.decode(msgspec.json.encode(pcs))), settings.manner)
    if isinstance(filled, Denied):
        return list(filled.problems)
    return [
        *_template_problems(filled),
        *sharing.template_problems(filled),
        *sharing.problems(filled),
        *cliques.problems(filled, False, settings),
        *scaling_groups.problems(filled, zero),
        *(minima.problems(template_of(filled)) if zero else ()),
        *wishes.problems(pcs.annotations),
    ]


def _view(obj: Raw) -> PodCliqueSet:
    return msgspec.convert(obj, PodCliqueSet, strict=False)


def _without_empty_values(obj: Raw) -> Raw:
    """A set whose empty values are as if they had not been given."""
    return obj | {"spec": plain("grove", "PodCliqueSetSpec", obj.get("spec") or {})}


def _template_problems(obj: Raw) -> Iterator[Problem]:
    kind = template_of(obj).get("cliqueStartupType")
    if kind not in (ANY_ORDER, IN_ORDER, EXPLICIT):
        yield Problem(
            "spec.template.cliqueStartupType",
            f"must be {ANY_ORDER}, {IN_ORDER} or {EXPLICIT}",
            "FieldValueRequired" if kind is None else "FieldValueNotSupported",
            kind,
        )
    delay = template_of(obj).get("terminationDelay")
    if delay is None:
        yield Problem("spec.template.terminationDelay", "must be given", "FieldValueRequired")
    elif duration(delay) <= 0:
        yield Problem("spec.template.terminationDelay", "must be greater than 0", value=delay)


def _schedulers(obj: Raw, settings: OperatorSettings) -> Iterator[Problem]:
    path = "spec.template.cliques.spec.podSpec.schedulerName"
    specs = [(clique.get("spec") or {}).get("podSpec") or {} for clique in cliques_of(obj)]
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

"""Scheduler backends: THE table of them, and which one serves a set.

Selection: the annotation `grove.io/scheduler-backend` on the set, else the schedulerName of its cliques through the
configured profiles, else whichever backend knows the name; an empty name means the default profile. To add a backend:
one file beside this one and one line in BUILT_IN, or an entry point of the group `gangline.backends` in a package of
your own. The documents' registry is here by these names: list → `names`, get_backend → `for_set`,
get_backend_by_name → `by_name`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from gangline import extend
from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.errors import GanglineError
from gangline.operator.backends.contract import Backend, Capabilities, Facts, unusable
from gangline.operator.backends.coscheduling import CoschedulingBackend
from gangline.operator.backends.default import DefaultBackend
from gangline.operator.backends.kai import KaiBackend
from gangline.operator.backends.koordinator import KoordinatorBackend
from gangline.operator.backends.kueue import KueueBackend
from gangline.operator.backends.passthrough import PassthroughBackend
from gangline.operator.backends.volcano import VolcanoBackend
from gangline.operator.backends.yunikorn import YunikornBackend
from gangline.operator.desired.gangs import ChosenBackend
from gangline.rules.sets import OperatorSettings, Profile

BUILT_IN: Mapping[str, type[Backend]] = {
    "default": DefaultBackend,
    "kai": KaiBackend,
    "koordinator": KoordinatorBackend,
    "volcano": VolcanoBackend,
    "yunikorn": YunikornBackend,
    "kueue": KueueBackend,
    "coscheduling": CoschedulingBackend,
    "passthrough": PassthroughBackend,
}
ALIASES: Mapping[str, str] = {"workload": "default", "podgang": "kai"}
REMEMBERED = 10_000
KEPT = "kept"


class NoBackend(GanglineError):
    """No backend serves a set; the text says which there are."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The backend of a set, the name its pods carry, and how it was chosen."""

    backend: Backend
    scheduler_name: str
    source: str
    """annotation, profile, name or default; kept: pods are bound, so the former one stays."""
    profile: Profile | None = None
    also: tuple[str, ...] = ()
    """Other backends that know the name too; the first in the table was taken."""

    @property
    def chosen(self) -> ChosenBackend:
        return ChosenBackend(self.backend.name, self.scheduler_name)


class Registry:
    """Every backend that is switched on, by name. A selection is remembered until the set's spec or annotation
    changes."""

    def __init__(
        self,
        settings: OperatorSettings,
        backends: Mapping[str, type[Backend]] | None = None,
        on_selection: Callable[[Selection], None] = lambda selection: None,
    ) -> None:
        self.settings = settings
        table = backends if backends is not None else _table()
        wanted = {ALIASES.get(name, name) for name in settings.backends} or set(table)
        unknown = sorted(wanted - set(table))
        if unknown:
            raise NoBackend(f"no backend is called {unknown[0]!r}; there are: {', '.join(table)}")
        self.unusable = {name: why for name, made in table.items() if (why := unusable(name, made))}
        """Classes that other packages bring and that cannot be backends, and why."""
        usable = {name: make() for name, make in table.items() if name not in self.unusable}
        self._backends = {name: backend for name, backend in usable.items() if name in wanted}
        self._off = [name for name in table if name not in wanted]
        self.finalizers = tuple(
            dict.fromkeys(finalizer for backend in usable.values() for finalizer in backend.finalizers)
        )
        """What schedulers leave on pods for us to take off: those of backends that are switched off too, whose pods may
        be there still."""
        self._remembered: dict[str, tuple[int, str, Selection]] = {}
        self._on_selection = on_selection

    def __iter__(self) -> Iterator[Backend]:
        return iter(self._backends.values())

    @property
    def names(self) -> list[str]:
        return list(self._backends)

    def by_name(self, name: str) -> Backend:
        """A backend by its name or alias."""
        real = ALIASES.get(name, name)
        backend = self._backends.get(real)
        if backend is not None:
            return backend
        if real in self.unusable:
            raise NoBackend(f"backend {real!r} cannot be used: {self.unusable[real]}")
        if real in self._off:
            raise NoBackend(
                f"backend {real!r} is switched off; add it to scheduler.backends in the operator's configuration, "
                f"or use one of: {', '.join(self._backends)}"
            )
        raise NoBackend(f"no backend is called {name!r}; there are: {', '.join(self._backends)}")

    def for_set(self, pcs: PodCliqueSet) -> Selection:
        """The backend of a set; counted once, and then remembered."""
        meta = pcs.metadata
        override = meta.annotations.get(names.SCHEDULER_BACKEND, "")
        known = self._remembered.get(meta.uid)
        if known is not None and known[0] == meta.generation and known[1] == override:
            return known[2]
        selection = self._select(pcs, override)
        if meta.uid:
            if len(self._remembered) >= REMEMBERED:
                self._remembered.clear()
            self._remembered[meta.uid] = (meta.generation, override, selection)
            self._on_selection(selection)
        return selection

    def _select(self, pcs: PodCliqueSet, override: str) -> Selection:
        wanted = sorted({template.spec.pod_spec.get("schedulerName") or "" for template in pcs.spec.template.cliques})
        named = [name for name in wanted if name]
        if override:
            return self._overridden(self.by_name(override), named)
        if len({name or self.settings.default_profile for name in wanted}) > 1:
            raise NoBackend(
                f"the cliques of {pcs.name} name different schedulers: "
                f"{', '.join(name or '(none)' for name in wanted)}; a gang has one"
            )
        return self.for_scheduler(named[0] if named else "")

    def for_scheduler(self, scheduler_name: str) -> Selection:
        wanted = scheduler_name or self.settings.default_profile
        source = "profile" if scheduler_name else "default"
        profile = self.settings.profile(scheduler_name)
        if profile is not None and profile.backend:
            return Selection(self.by_name(profile.backend), wanted, source, profile)
        guess = profile is not None or not self.settings.manner.profiles_only
        backends = [backend for backend in self if guess and backend.matches(wanted)]
        if not backends:
            raise NoBackend(
                f"no backend serves schedulerName {wanted!r}; profiles: "
                f"{', '.join(item.name for item in self.settings.profiles)}; backends: {', '.join(self._backends)}; "
                "a profile with backend passthrough serves any scheduler by name"
            )
        return Selection(
            backends[0],
            wanted,
            "name" if scheduler_name else "default",
            profile,
            tuple(item.name for item in backends[1:]),
        )

    def kept(self, name: str, scheduler_name: str) -> Selection | None:
        """The backend that a gang has already, if it is still switched on."""
        backend = self._backends.get(name)
        if backend is None:
            return None
        profile = self.settings.profile(scheduler_name)
        return Selection(backend, scheduler_name or backend.scheduler_name, KEPT, profile)

    def _overridden(self, backend: Backend, named: list[str]) -> Selection:
        """The annotation decides; an explicit schedulerName must not contradict it, unless the backend leaves placing
        to others."""
        profile = next(
            (item for item in self.settings.profiles if ALIASES.get(item.backend, item.backend) == backend.name), None
        )
        strangers = [
            name
            for name in named
            if backend.capabilities.places and backend.scheduler_name and not self._serves(backend, name)
        ]
        if strangers:
            raise NoBackend(
                f"{names.SCHEDULER_BACKEND} asks for {backend.name}, but a clique names scheduler {strangers[0]!r}; "
                "remove one of the two"
            )
        if len(named) > 1:
            raise NoBackend(f"the cliques name different schedulers: {', '.join(named)}; a gang has one")
        usual = profile.name if profile is not None and backend.capabilities.places else backend.scheduler_name
        return Selection(backend, named[0] if named else usual or self.settings.default_profile, "annotation", profile)

    def _serves(self, backend: Backend, scheduler_name: str) -> bool:
        profile = self.settings.profile(scheduler_name)
        served = ALIASES.get(profile.backend, profile.backend) if profile is not None and profile.backend else ""
        return served == backend.name if served else backend.matches(scheduler_name)

    def gate(self, backend: Backend) -> str:
        return names.GATE_GROVE if self.settings.manner.one_gate else backend.gate

    def facts(self, base: Facts, selection: Selection) -> Facts:
        config = selection.profile.config if selection.profile else {}
        return replace(base, manner=self.settings.manner, config=config)


def capability_rows() -> dict[str, Capabilities]:
    """What each built-in backend can express, by its name or that of its generation: refusals and docs/backends.md are
    made from it."""
    return {
        row: can
        for name, item in BUILT_IN.items()
        for row, can in (item.generations or {name: item.capabilities}).items()
    }


@lru_cache(maxsize=1)
def _table() -> dict[str, type[Backend]]:
    return extend.table("gangline.backends", BUILT_IN)

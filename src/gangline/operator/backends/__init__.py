"""Scheduler backends: THE table of them, and which one serves a set.

Selection: the annotation `grove.io/scheduler-backend` on the set, else the schedulerName of its cliques through the
configured profiles, else whichever backend matches the name; an empty name means the default profile. To add a
backend: one file beside this one and one line in BUILT_IN, or an entry point of the group `gangline.backends` in a
package of your own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from gangline import extend
from gangline.api import names
from gangline.api.grove import PodCliqueSet
from gangline.errors import GanglineError
from gangline.operator.backends.contract import Backend, Facts
from gangline.operator.backends.default import Default
from gangline.operator.backends.kai import Kai
from gangline.operator.backends.passthrough import Passthrough
from gangline.operator.backends.volcano import Volcano
from gangline.operator.desired.gangs import Chosen
from gangline.rules.sets import OperatorSettings, Profile

BUILT_IN: Mapping[str, type[Backend]] = {
    "default": Default,
    "kai": Kai,
    "volcano": Volcano,
    "passthrough": Passthrough,
}
ALIASES: Mapping[str, str] = {"workload": "default", "podgang": "kai"}


class NoBackend(GanglineError):
    """No backend serves a set; the text says which there are."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The backend of a set, the name its pods carry, and how it was chosen."""

    backend: Backend
    scheduler_name: str
    source: str
    """annotation, profile, name or default."""
    profile: Profile | None = None

    @property
    def chosen(self) -> Chosen:
        return Chosen(self.backend.name, self.scheduler_name)


class Registry:
    """Every backend that is enabled, by name."""

    def __init__(self, settings: OperatorSettings, backends: Mapping[str, type[Backend]] | None = None) -> None:
        self.settings = settings
        table = backends if backends is not None else _table()
        self._backends = {name: table[name]() for name in table}

    def __iter__(self) -> Iterator[Backend]:
        return iter(self._backends.values())

    def by_name(self, name: str) -> Backend:
        """A backend by its name or alias."""
        found = self._backends.get(ALIASES.get(name, name))
        if found is None:
            raise NoBackend(f"no backend is called {name!r}; there are: {', '.join(self._backends)}")
        return found

    def for_set(self, pcs: PodCliqueSet) -> Selection:
        wanted = sorted({template.spec.pod_spec.get("schedulerName") or "" for template in pcs.spec.template.cliques})
        named = [name for name in wanted if name]
        override = pcs.annotations.get(names.SCHEDULER_BACKEND, "")
        if override:
            return self._overridden(self.by_name(override), named)
        if len({name or self.settings.default_profile for name in wanted}) > 1:
            raise NoBackend(f"the cliques of {pcs.name} name different schedulers: {', '.join(name or '(none)' for name in wanted)}; "
                            "a gang has one")
        return self.for_scheduler(named[0] if named else "")

    def for_scheduler(self, scheduler_name: str) -> Selection:
        wanted = scheduler_name or self.settings.default_profile
        source = "profile" if scheduler_name else "default"
        profile = self.settings.profile(scheduler_name)
        if profile is not None and profile.backend:
            return Selection(self.by_name(profile.backend), wanted, source, profile)
        found = next((backend for backend in self if backend.matches(wanted)), None)
        if found is None:
            raise NoBackend(f"no backend serves schedulerName {wanted!r}; profiles: "
                            f"{', '.join(each.name for each in self.settings.profiles)}")
        return Selection(found, wanted, "name" if scheduler_name else "default", profile)

    def _overridden(self, backend: Backend, named: list[str]) -> Selection:
        """The annotation decides; an explicit schedulerName must not contradict it."""
        profile = next((each for each in self.settings.profiles if each.backend == backend.name), None)
        strangers = [name for name in named if not backend.matches(name)
                     and (self.settings.profile(name) or Profile(name)).backend != backend.name]
        if strangers:
            raise NoBackend(f"{names.SCHEDULER_BACKEND} asks for {backend.name}, but a clique names scheduler {strangers[0]!r}; "
                            "remove one of the two")
        return Selection(backend, named[0] if named else (profile.name if profile else backend.name), "annotation", profile)

    def gate(self, backend: Backend) -> str:
        return names.GATE_GROVE if self.settings.manner.one_gate else backend.gate

    def facts(self, base: Facts, selection: Selection) -> Facts:
        config = selection.profile.config if selection.profile else {}
        return Facts(base.served, self.settings.manner, config, base.read)


@lru_cache(maxsize=1)
def _table() -> dict[str, type[Backend]]:
    return extend.table("gangline.backends", BUILT_IN)

"""Whether rules grant everything that another rule grants, decided without listing every single thing it grants.

A rule grants each of its verbs on each of its groups, resources and names: lists of a thousand words each are a
billion rights. For each word one asks which of the held rules have it; words that the same rules have are alike, and
what is left to compare is few. escalation.py asks. Beyond `MOST_STEPS` the question is given up. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from gangline.cluster.server.access.rbac import path_covers

Rule = Mapping[str, Any]
Holders = frozenset[int]
"""The numbers of the held rules that have a word."""
MOST_STEPS = 1_000_000
"""Words and rules that one comparison looks at, roughly: some tenths of a second."""


class TooManySteps(Exception):
    """The comparison would take too long."""


class HeldRules:
    """What somebody holds, ordered by word; one comparison, with one budget of steps."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._verbs, self._groups, self._resources, self._names = (_WordIndex() for _ in range(4))
        self._paths: dict[str, set[int]] = defaultdict(set)
        self._unnamed: set[int] = set()
        self._steps = MOST_STEPS
        for number, rule in enumerate(rules):
            self._verbs.add(rule.get("verbs"), number)
            self._groups.add(rule.get("apiGroups"), number)
            self._resources.add(rule.get("resources"), number)
            self._names.add(rule.get("resourceNames"), number)
            if not rule.get("resourceNames"):
                self._unnamed.add(number)
            for pattern in rule.get("nonResourceURLs") or []:
                self._paths[pattern].add(number)

    def cover(self, wanted: Rule) -> bool:
        """Whether these rules together grant everything that a rule does. A star is a word of its own, which only a
        star covers; a rule without names is covered only by such rules."""
        verbs = self._alike(self._verbs.holders(verb) for verb in wanted.get("verbs") or [])
        paths = self._alike(self._path(path) for path in wanted.get("nonResourceURLs") or [])
        groups = self._alike(self._groups.holders(group) for group in wanted.get("apiGroups") or [])
        resources = self._alike(self._resource(resource) for resource in wanted.get("resources") or [])
        names = self._alike(self._names.holders(name) | self._unnamed for name in wanted.get("resourceNames") or [])
        return self._meet(verbs, paths) and self._meet(verbs, groups, resources, names or {frozenset(self._unnamed)})

    def _resource(self, resource: str) -> set[int]:
        plural, _, sub = resource.partition("/")
        if not sub:
            return self._resources.holders(plural)
        return self._resources.holders(f"{plural}/{sub}") | self._resources.words.get(f"*/{sub}", set())

    def _path(self, path: str) -> set[int]:
        self._spend(len(self._paths))
        return {number for pattern, numbers in self._paths.items() if path_covers(pattern, path) for number in numbers}

    def _alike(self, words: Iterable[set[int]]) -> set[Holders]:
        """The words of one list, each with the rules that hold it; those that the same rules hold are one."""
        alike: set[Holders] = set()
        for holders in words:
            self._spend(1 + len(holders))
            alike.add(frozenset(holders))
        return alike

    def _meet(self, *lists: set[Holders]) -> bool:
        """Whether every choice of one word from each list has a rule that holds all of it."""
        if not all(lists):
            return True
        met, *others = lists
        for words in others:
            wider = set()
            for holders in met:
                self._spend(len(words) * (4 + len(holders)))
                wider |= {holders & word for word in words}
            met = wider
        return frozenset() not in met

    def _spend(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise TooManySteps


class _WordIndex:
    """Which rules have a word in one of their lists."""

    def __init__(self) -> None:
        self.words: dict[str, set[int]] = defaultdict(set)

    def add(self, words: Iterable[str] | None, number: int) -> None:
        for word in words or ():
            self.words[word].add(number)

    def holders(self, word: str) -> set[int]:
        return self.words.get(word, set()) | self.words.get("*", set())

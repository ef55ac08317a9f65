"""The runner of the suite: each manifest folder and each admission probe is one case."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from conformance.grove import compare
from conformance.grove.lab import Lab, kind_of, lab, put
from conformance.grove.play import edit
from conformance.grove.probes import probe
from conformance.grove.snapshot import Snapshot, identity, take
from conformance.results import Progress, Results
from conformance.shared import suite_folder
from gangline.api.kinds import TOPOLOGY, TOPOLOGY_BINDING, Kind
from gangline.api.meta import Raw
from yaml_loading import load_all_yaml

WRONG_UPSTREAM = ("meta-suffix-names",)
"""Cases where upstream takes the wrong template: only counts and names are compared."""


async def run(folder: Path, progress: Progress = lambda text: None) -> Results:
    logging.getLogger("gangline").setLevel(logging.CRITICAL)  # cases that must fail are retried loudly
    results = Results()
    base = folder if (folder / "cases").is_dir() else suite_folder("grove")
    for number, (case, test) in enumerate(found := _cases(folder)):
        progress(f"{number + 1} of {len(found)}: {case}")
        try:
            results.add(case, await (probe(base, test) if case.startswith("invalid/") else replay(base, Path(test))))
        except Exception as error:
            results.add(case, f"{type(error).__name__}: {error}")
    return results


def _cases(folder: Path) -> list[tuple[str, str]]:
    """Id and place of every case below a folder: of the suite, of its cases, or one case."""
    root = folder / "cases" if (folder / "cases").is_dir() else folder
    homes = [root] if (root / "case.json").exists() else sorted(path.parent for path in root.glob("*/case.json"))
    manifests = [(home.name, str(home)) for home in homes]
    invalid = root if root.name == "invalid" else root / "invalid"
    names = sorted(path.name.removesuffix(".response.json") for path in invalid.glob("*.response.json"))
    return manifests + [(f"invalid/{name}", name) for name in names]


async def replay(base: Path, home: Path) -> str:
    """The first difference of a case, or nothing."""
    about = json.loads((home / "case.json").read_text())
    documents = [item for item in load_all_yaml((home / "manifest.yaml").read_text()) if item]
    unstable = json.loads((home / "unstable.json").read_text()) if (home / "unstable.json").exists() else {}
    hashes = compare.Hashes()
    async with lab(base, about["config"], about["namespace"]) as here:
        for document in documents:
            await put(here.client, document, about["namespace"])
            await here.settle()
        before: Snapshot | None = None
        for number, state in enumerate(about["states"]):
            if number:
                change = json.loads((home / _edit_file(state)).read_text())
                await edit(here, about["namespace"], change["ops"])
            before, problem = await _state(here, home, about, documents, state, before, hashes, unstable)
            if problem:
                return f"{state}: {problem}"
    return ""


def _edit_file(state: str) -> str:
    return state.replace("objects-after", "edit")


async def _state(
    here: Lab,
    home: Path,
    about: Raw,
    documents: list[Raw],
    state: str,
    before: Snapshot | None,
    hashes: compare.Hashes,
    unstable: Raw,
) -> tuple[Snapshot, str]:
    recorded = json.loads((home / state).read_text())
    ours = await take(here, about["namespace"], _cluster_scoped(documents, recorded))
    loose = [item["path"] for item in unstable.get(state, ())]
    moved = identity(before, ours) if before is not None else None
    names_only = about["case"].startswith(WRONG_UPSTREAM)
    found = list(compare.differences(recorded, ours, moved, loose, names_only=names_only))
    if not names_only:
        recorded_hashes = json.loads((home / state.replace("objects", "hashes")).read_text())
        found += hashes.check(recorded_hashes, ours.hashes, loose)
    return ours, " · ".join(found[:6])


def _cluster_scoped(documents: list[Raw], recorded: Raw) -> list[tuple[Kind[Any], str]]:
    """Cluster-scoped objects that the case names."""
    named = [
        (kind_of(document), document["metadata"]["name"])
        for document in documents
        if document["kind"] in ("ClusterTopologyBinding", "Topology")
    ]
    named += [
        (kind, obj["metadata"]["name"])
        for obj in recorded["objects"]
        for kind in (TOPOLOGY, TOPOLOGY_BINDING)
        if kind.kind == obj["kind"]
    ]
    return list(dict.fromkeys(named + [(TOPOLOGY, name) for kind, name in named if kind is TOPOLOGY_BINDING]))

"""The league: gangline and other schedulers on one real control plane, one JSON line per row and scheduler.

    python bench/league [--scale F] [--only ROW,…] [--peers a,b] [--rounds N] [--patience S] [--kai FOLDER]
                        [--results FILE]
    python bench/league --page docs/league.md --results FILE

The plane is real (etcd, kube-apiserver, kube-controller-manager, as `make real` builds them), nodes are simulated, and
each scheduler plays in turn: rows one after the other, in each row one peer after the other, so that what else the
machine does meets all of them alike. Peers whose programs are not built are told as not run, with the reason."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.league.arena import Arena
from bench.league.page import page
from bench.league.peers import Peer, peers
from bench.league.rows import NODES, ROWS, Row, scaled

from real.releases import RELEASES


class League:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._results: Path | None = arguments.results
        table = peers(arguments.kai)
        asked = arguments.peers.split(",") if arguments.peers else list(table)
        rows = arguments.only.split(",") if arguments.only else list(ROWS)
        for name, known in ((set(asked), table), (set(rows), ROWS)):
            if strange := sorted(name - set(known)):
                raise SystemExit(f"not known: {', '.join(strange)}; there are: {', '.join(known)}")
        self._peers = [table[name] for name in asked]
        self._rows = [scaled(ROWS[name], arguments.scale) for name in rows]

    def tell(self, line: dict[str, Any]) -> None:
        print(json.dumps(line), flush=True)
        if self._results is not None:
            with self._results.open("a") as file:
                file.write(json.dumps(line) + "\n")

    async def run(self) -> None:
        for release in RELEASES.values():
            playing = [peer for peer in self._peers if peer.release is release and self._is_there(peer)]
            if playing:
                nodes = max(row.nodes for row in self._rows)
                await self._season(Arena(release, nodes, playing, self._arguments.patience), playing)

    def _is_there(self, peer: Peer) -> bool:
        why = peer.missing()
        for row in self._rows if why else ():
            self.tell({"bench": "league", "row": row.name, "peer": peer.name, "why": why})
        return not why

    async def _season(self, arena: Arena, playing: list[Peer]) -> None:
        await arena.start()
        try:
            for row, peer in self._matches(playing):
                line = await arena.play(peer, row)
                self.tell(line | {"fits": row.fits, "scale": self._arguments.scale, "version": peer.version()})
        finally:
            await arena.stop()

    def _matches(self, playing: list[Peer]) -> Iterator[tuple[Row, Peer]]:
        """Each row in as many rounds as asked for, in each every peer that can."""
        for row in self._rows:
            able = []
            for peer in playing:
                if why := peer.not_run(row):
                    self.tell({"bench": "league", "row": row.name, "peer": peer.name, "why": why})
                else:
                    able.append(peer)
            for _ in range(self._arguments.rounds):
                yield from ((row, peer) for peer in able)


def main() -> None:
    parser = argparse.ArgumentParser(description="The league: one JSON line per row and scheduler.")
    parser.add_argument("--scale", type=float, default=1.0, help=f"fewer gangs on fewer nodes than {NODES}")
    parser.add_argument("--only", default="", help=f"rows: {', '.join(ROWS)}")
    parser.add_argument("--peers", default="", help=f"schedulers: {', '.join(peers())}")
    parser.add_argument("--rounds", type=int, default=1, help="how often each row is played")
    parser.add_argument("--patience", type=float, default=300.0, help="seconds that a scheduler has for a row")
    parser.add_argument("--kai", type=Path, help="a folder with KAI's programs")
    parser.add_argument("--results", type=Path, help="a file to which lines are added, and from which --page prints")
    parser.add_argument("--page", type=Path, help="print this page from the results, and run nothing")
    given = parser.parse_args()
    if given.page is not None:
        if given.results is None:
            parser.error("--page needs --results")
        given.page.write_text(page(json.loads(line) for line in given.results.read_text().splitlines()))
        return
    asyncio.run(League(given).run())


if __name__ == "__main__":
    main()

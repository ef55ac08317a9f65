// What the colour of a cell tells: the map's data → for each cell a style, and the key with counts. The styles c1 to c8
// are told apart by people who see few colours; what has none of its own is one grey. Pure.
import { cellsOf } from "./map_cells.js";

const OWN = 8;
const STATES = { running: "c3", starting: "c5", waiting: "c1", evicted: "c6", ended: "other", failed: "c2" };
// What nobody holds, or what is not told; no name of Kubernetes begins with a dash.
const OPEN = { "-free": "free", "-reserved": "reserved", "-closed": "on closed nodes", "-in-use": "in use" };
const CAUSES = { "no demand": "c7", shortage: "c1", "taint or cordon": "c2", fragments: "c3", topology: "c4", reserved: "c5", quota: "c6", "gate or missing pods": "c8", starting: "other", failed: "other" };

// `only`: of which value alone the colours are shown; one that nobody has any more chooses nothing.
export function colours(data, chosen) {
  const values = { queue: byQueue, gang: byGang, state: byState, idle: byCause }[data.colour](data);
  const counts = new Map();
  for (const { nodes } of data.domains)
    for (const node of nodes)
      for (const cell of cellsOf(node)) {
        const value = values.of(cell);
        counts.set(value, (counts.get(value) ?? 0) + 1);
      }
  const only = counts.has(chosen) || chosen === "*" ? chosen : undefined;
  const styles = values.styles(counts, only);
  const style = (value) => (value in OPEN ? value.slice(1) : (styles.get(value) ?? "other"));
  const shown = (value) => only === undefined || only === value || (only === "*" && style(value) === "other");
  return {
    only,
    style: (cell) => (shown(values.of(cell)) ? style(values.of(cell)) : "faint"),
    key: keyOf(counts, style, (value) => OPEN[value] ?? values.word(value)),
  };
}

function keyOf(counts, style, word) {
  const named = [...counts].filter(([value]) => style(value) !== "other").sort((a, b) => b[1] - a[1]);
  const rest = [...counts].filter(([value]) => style(value) === "other");
  const key = named.map(([value, count]) => ({ value, word: word(value), style: style(value), count }));
  if (rest.length === 1) key.push({ value: rest[0][0], word: word(rest[0][0]), style: "other", count: rest[0][1] });
  else if (rest.length) key.push({ value: "*", word: `${rest.length} others`, style: "other", count: rest.reduce((sum, [, count]) => sum + count, 0) });
  return key;
}

// The most frequent have a colour each. A name asks for the same colour whenever and wherever it is shown, and takes the
// next one that is free: a queue keeps its colour when others come and go. The one that is chosen always has one.
function largest(counts, only) {
  const order = [...counts].filter(([value]) => !(value in OPEN) && value !== "").sort((a, b) => (b[0] === only) - (a[0] === only) || b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const taken = new Map();
  for (const value of order.slice(0, OWN).map(([value]) => value).sort()) {
    let place = wished(value);
    while (taken.has(place)) place = (place + 1) % OWN;
    taken.set(place, value);
  }
  return new Map([...taken].map(([place, value]) => [value, `c${place + 1}`]));
}

const wished = (name) => [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 65521, 7) % OWN;

const owner = (data, cell) => data.gangs[cell.gangs.find((gang) => gang >= 0)];

const free = (cell) => (cell.closed ? "-closed" : cell.cause === "reserved" ? "-reserved" : "-free");

const byQueue = (data) => ({
  of: (cell) => (cell.kind === "free" ? free(cell) : (owner(data, cell)?.queue ?? "")),
  styles: largest,
  word: (value) => value || "no queue",
});

const title = (gang) => (gang ? `${gang.namespace}/${gang.title}` : "");
const byGang = (data) => ({
  of: (cell) => (cell.kind === "free" ? free(cell) : title(owner(data, cell))),
  styles: largest,
  word: (value) => value || "no gang",
});

const byState = (data) => ({
  of: (cell) => (cell.kind === "free" ? free(cell) : (owner(data, cell)?.state ?? "")),
  styles: () => new Map(Object.entries(STATES)),
  word: (value) => value || "no gang",
});

const byCause = () => ({
  of: (cell) => (cell.kind === "free" ? cell.cause || "not known yet" : "-in-use"),
  styles: () => new Map(Object.entries(CAUSES)),
  word: (value) => value,
});

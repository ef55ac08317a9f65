// What one points at, in words and with links: the map's data and a place → elements.
import { cellsOf } from "./map_cells.js";

function element(name, text, more = {}) {
  return Object.assign(document.createElement(name), { textContent: text }, more);
}

const link = (href, text) => element("a", text, { href });
const path = (...parts) => `/${parts.map(encodeURIComponent).join("/")}`;

export function tell(place, data) {
  if (!place) return [element("p", "Point at a GPU to see whose it is.", { className: "dim" })];
  const { node } = place.box;
  const head = element("p", "");
  head.append(link(path("node", node.name), node.name), ` ${where(node, data)}`);
  if (node.closed) head.append(element("span", ` ✕ ${node.closed}`, { className: "badge closed" }));
  const cells = cellsOf(node);
  const lines = place.cell >= 0 ? [ofCell(cells[place.cell], place.cell, node, data)] : [];
  return [head, ...lines, ...ofNode(node, cells, data)];
}

function where(node, data) {
  const domain = data.domains.find((domain) => domain.nodes.includes(node));
  const inside = data.levels.map((level, place) => `${level} ${domain.path[place] || "–"}`).join(", ");
  return inside ? `in ${inside}` : "";
}

function ofCell(cell, place, node, data) {
  const line = element("p", `GPU ${place + 1} of ${node.gpus}: `);
  if (cell.kind === "free") {
    line.append("free", cell.cause ? `: ${because([cell.cause, 1, cell.gang, cell.until])}` : "");
    return line;
  }
  line.append(cell.kind === "shared" ? `shared, ${cell.used} of it taken${cell.gangs.length > 1 ? ": " : ", by "}` : "used by ");
  const part = (nth) => (cell.gangs.length > 1 ? `${cell.parts[nth]} by ` : "");
  cell.gangs.forEach((gang, nth) => line.append(nth ? ", " : "", cell.kind === "shared" ? part(nth) : "", ...named(data.gangs[gang])));
  if (!cell.gangs.length) line.append("nobody yet");
  return line;
}

// A cause in words: for whom it is kept and until when, or who waits because of it.
function because([cause, , gang, until]) {
  const whom = !gang ? "" : cause === "reserved" ? ` for ${gang}` : `, ${gang} waits`;
  return `${cause}${whom}${until ? ` until ${new Date(until * 1000).toISOString().slice(11, 16)} UTC` : ""}`;
}

function named(gang) {
  if (!gang) return ["a pod of no gang"];
  const facts = [gang.state, gang.queue && `queue ${gang.queue}`, gang.priority && `priority ${gang.priority}`, gang.user && `user ${gang.user}`];
  return [link(path("gang", gang.namespace, gang.name), `${gang.namespace}/${gang.title}`), ` (${facts.filter(Boolean).join(", ")})`];
}

function ofNode(node, cells, data) {
  const free = cells.filter((cell) => cell.kind === "free").length;
  const holders = (node.held ?? []).map(([gang, gpus]) => `${data.gangs[gang]?.title ?? "pods of no gang"} ${gpus}`);
  const shared = (node.shared ?? []).length ? [`${node.shared.length} shared`] : [];
  const idle = (node.idle ?? []).map((part) => `${part[1]} ${because(part)}`);
  return [element("p", [`${free} of ${node.gpus} ${node.gpus === 1 ? "GPU" : "GPUs"} free`, ...idle, ...holders, ...shared].join(" · "), { className: "dim" })];
}

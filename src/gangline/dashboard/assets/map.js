// The map alive: gets the data of the page's own address, lets the other modules lay it out and paint it, and tells of
// what one points at. Nothing is worked out here that the data does not say.
import { colours } from "./map_colours.js";
import { layOut, nodeAt } from "./map_layout.js";
import { outline, paint } from "./map_paint.js";
import { tell } from "./map_words.js";

const byId = (id) => document.getElementById(id);
const state = { data: null, layout: null, colours: null, chosen: null, shown: null, only: undefined };

export async function begin() {
  state.only = new URL(location.href).searchParams.get("only") ?? undefined;
  const plane = byId("plane");
  plane.addEventListener("pointermove", (event) => point(under(event)));
  plane.addEventListener("pointerleave", () => point(null));
  plane.addEventListener("click", (event) => choose(under(event)));
  plane.addEventListener("dblclick", () => open());
  plane.addEventListener("keydown", keys);
  byId("key").addEventListener("click", (event) => only(event.target.closest("button")));
  new ResizeObserver(() => draw()).observe(plane);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  document.addEventListener("renewed", load);
  await load();
}

async function load() {
  const address = new URL(location.href);
  address.searchParams.set("format", "json");
  const answer = await fetch(address, { cache: "no-store" });
  if (!answer.ok) return;
  state.data = await answer.json();
  draw();
  if (state.chosen) return;
  choose(named(address.searchParams.get("node")), false);
  if (state.chosen) bring(state.chosen.box);
}

const named = (name) => {
  const box = name && state.layout.boxes.find((box) => box.node.name === name);
  return box ? { box, cell: -1 } : null;
};

function draw() {
  const width = byId("plane").clientWidth;
  if (!state.data || !width) return;
  const kept = state.chosen?.box.node.name;
  state.layout = layOut(state.data, width);
  state.colours = colours(state.data, state.only);
  paint(byId("cells"), state.layout, state.colours);
  key();
  state.chosen = named(kept);
  show(state.chosen);
  byId("plane").dataset.drawn = String(state.layout.boxes.length);
}

function key() {
  const items = state.colours.key.map(({ word, style, count, value }) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    const swatch = document.createElement("span");
    swatch.className = `swatch ${style}`;
    button.type = "button";
    button.dataset.value = value;
    button.setAttribute("aria-pressed", String(state.colours.only === value));
    const named = Object.assign(document.createElement("bdi"), { textContent: word });
    button.append(swatch, " ", named, " ", Object.assign(document.createElement("span"), { className: "dim", textContent: count.toLocaleString("en") }));
    item.append(button);
    return item;
  });
  const focused = document.activeElement?.closest?.("#key button")?.dataset.value;
  byId("key").replaceChildren(...items);
  if (focused !== undefined) [...byId("key").querySelectorAll("button")].find((button) => button.dataset.value === focused)?.focus();
}

// Only what one colour stands for; the same again shows everything.
function only(button) {
  if (!button) return;
  state.only = state.colours.only === button.dataset.value ? undefined : button.dataset.value;
  inAddress("only", state.only);
  draw();
}

function under(event) {
  const { left, top } = byId("cells").getBoundingClientRect();
  return nodeAt(state.layout, event.clientX - left, event.clientY - top);
}

function point(place) {
  if (!state.chosen) show(place);
}

function choose(place, told = true) {
  state.chosen = place;
  show(place);
  if (told) inAddress("node", place?.box.node.name);
}

// So that who is given the address sees the same.
function inAddress(name, value) {
  const address = new URL(location.href);
  if (value === undefined) address.searchParams.delete(name);
  else address.searchParams.set(name, value);
  history.replaceState(null, "", address);
}

function show(place) {
  if (!state.layout) return;
  outline(byId("above"), state.layout, place, state.data);
  const same = place && state.shown && place.box === state.shown.box && place.cell === state.shown.cell;
  if (!same) byId("told").replaceChildren(...tell(place, state.data));
  state.shown = place;
}

function open() {
  if (state.chosen) location.href = `/node/${encodeURIComponent(state.chosen.box.node.name)}`;
}

function keys(event) {
  const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  if (event.key === "Enter") open();
  else if (event.key === "Escape") choose(null);
  else if (steps[event.key]) step(...steps[event.key]);
  else return;
  event.preventDefault();
}

// To the next node in a line, or the nearest one above or below.
function step(right, down) {
  const { boxes } = state.layout;
  if (!state.chosen) return choose({ box: boxes[0], cell: -1 });
  const at = state.chosen.box;
  let next = boxes[boxes.indexOf(at) + right];
  if (down) {
    const beyond = boxes.filter((box) => (box.y - at.y) * down > 0);
    const line = Math.min(...beyond.map((box) => Math.abs(box.y - at.y)));
    const near = beyond.filter((box) => Math.abs(box.y - at.y) === line);
    next = near.sort((one, other) => Math.abs(one.x - at.x) - Math.abs(other.x - at.x))[0];
  }
  if (!next) return;
  choose({ box: next, cell: -1 });
  bring(next);
}

// Into sight.
function bring(box) {
  const { top } = byId("cells").getBoundingClientRect();
  const y = top + box.y;
  if (y < 80 || y > innerHeight - 60) scrollBy({ top: y - innerHeight / 2 });
}

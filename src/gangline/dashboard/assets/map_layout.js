// Where everything stands: the map's data and a width → a box for each node, with labels of blocks and racks.
// A node is a few columns of cells; nodes of a rack stand together, racks fill lines, a block begins a new line. Pure.
const GAP = 1;
const LABEL = 15;
const BETWEEN = 8;
const APART = 20;

// Fewer nodes have larger cells.
const side = (nodes) => (nodes <= 12 ? 24 : nodes <= 60 ? 15 : nodes <= 300 ? 11 : nodes <= 1200 ? 7 : 5);
const across = (gpus) => (gpus <= 4 ? gpus : Math.ceil(gpus / 2) <= 8 ? Math.ceil(gpus / 2) : 16);

export function layOut(data, width) {
  const nodes = data.domains.flatMap((domain) => domain.nodes);
  const widest = Math.max(1, ...nodes.map((node) => across(node.gpus)));
  const tallest = Math.max(1, ...nodes.map((node) => Math.ceil(node.gpus / across(node.gpus))));
  const stepOf = (cell) => ({ cell, x: widest * (cell + GAP) + cell, y: tallest * (cell + GAP) + Math.ceil(cell * 0.7), below: Math.ceil(cell * 0.7), width });
  const grouped = [...byBlock(data).values()];
  const largest = { nodes: Math.max(1, ...data.domains.map((domain) => domain.nodes.length)), racks: data.levels.length && Math.max(1, ...grouped.map((racks) => racks.length)) };
  const step = fitting(side(nodes.length), largest, stepOf);
  const { cell } = step;
  const blocks = [...byBlock(data)].map(([name, racks]) => inBlock(name, racks, step));
  const height = inLines(blocks, width, APART, 12);
  const parts = (kind) => blocks.flatMap((block) => block[kind].map((part) => Object.assign(part, { x: part.x + block.x, y: part.y + block.y })));
  return { cell, width, height: Math.max(height, 40), boxes: parts("boxes"), labels: parts("labels"), frames: parts("frames") };
}

// The size of a cell, near the usual one, and the columns of a rack with which racks and blocks fill a line best.
function fitting(usual, largest, stepOf) {
  let best = { ...stepOf(usual), columns: 0 };
  if (!largest.racks) return best;
  let most = -Infinity;
  for (let cell = usual + (usual > 7 ? 5 : 0); cell >= Math.max(usual - 2, 4); cell--) {
    const step = stepOf(cell);
    for (let columns = 1; columns <= largest.nodes; columns++) {
      const wide = rackWidth(columns, step);
      if (wide > step.width) break;
      const lines = Math.ceil(largest.nodes / columns);
      const shape = Math.abs(Math.log(wide / (lines * step.y) / 2)) * 0.12;
      const gaps = ((lines * columns - largest.nodes) / largest.nodes) * 0.9;
      const score = filled(wide, largest.racks, step.width) - shape - gaps - Math.abs(usual - cell) * 0.015;
      if (score > most) [most, best] = [score, { ...step, columns }];
    }
  }
  return best;
}

// How much of a line racks of this width take: blocks of so many racks beside each other, or a block that needs several lines.
function filled(wide, racks, width) {
  const beside = Math.floor((width + BETWEEN) / (wide + BETWEEN));
  const block = Math.min(racks, beside) * (wide + BETWEEN) - BETWEEN;
  const blocks = racks > beside ? 1 : Math.floor((width + APART) / (block + APART));
  return (blocks * (block + APART) - APART) / width;
}

const pad = (step) => Math.ceil(step.cell / 2) + 2;
const rackWidth = (columns, step) => columns * step.x + 2 * pad(step) - step.cell;

// Gives each a place, in lines from left to right; gives the height of all.
function inLines(items, width, gap, below) {
  let [x, y, bottom] = [0, 0, 0];
  for (const item of items) {
    if (x && x + item.wide > width) [x, y] = [0, bottom + below];
    Object.assign(item, { x, y });
    x += item.wide + gap;
    bottom = Math.max(bottom, y + item.high);
  }
  return bottom;
}

// The outermost level is the block, the others together name the rack; with one level only there are no blocks.
function byBlock(data) {
  const blocks = new Map();
  for (const { path, nodes } of data.domains) {
    const block = path.length > 1 ? path[0] : null;
    if (!blocks.has(block)) blocks.set(block, []);
    blocks.get(block).push({ name: path.length ? path.slice(path.length > 1 ? 1 : 0).join(" › ") : null, nodes });
  }
  return blocks;
}

// A block's racks in lines below its name.
function inBlock(name, racks, step) {
  const head = name === null ? 0 : LABEL + 4;
  const placed = racks.map((rack) => inRack(rack, step));
  const high = inLines(placed, step.width, BETWEEN, BETWEEN) + head;
  const block = { boxes: [], labels: [], frames: [], high, wide: Math.max(...placed.map((rack) => rack.x + rack.wide)) };
  if (name !== null) block.labels.push({ x: 0, y: 0, text: name || "elsewhere", strong: true });
  for (const rack of placed)
    for (const kind of ["boxes", "labels", "frames"])
      block[kind].push(...rack[kind].map((part) => Object.assign(part, { x: part.x + rack.x, y: part.y + rack.y + head })));
  return block;
}

function inRack({ name, nodes }, step) {
  const edge = pad(step);
  const head = name === null ? 0 : LABEL + 4;
  const most = Math.max(1, Math.floor((step.width - 2 * edge + step.cell) / step.x));
  const columns = Math.max(1, Math.min(step.columns || most, most, nodes.length));
  const words = name === null ? 0 : Math.min(name.length * 6.2 + 2 * edge, step.width);
  const wide = Math.max(rackWidth(columns, step), words);
  const high = head + Math.ceil(nodes.length / columns) * step.y - step.below + edge + 2;
  const boxes = nodes.map((node, place) => {
    const box = { node, across: across(node.gpus), x: edge + (place % columns) * step.x, y: head + Math.floor(place / columns) * step.y + 2 };
    box.wide = box.across * (step.cell + GAP) - GAP;
    box.high = Math.ceil(node.gpus / box.across) * (step.cell + GAP) - GAP;
    return box;
  });
  if (name === null) return { boxes, labels: [], frames: [], wide, high };
  return { boxes, labels: [{ x: edge, y: 4, text: name || "elsewhere", wide: wide - edge }], frames: [{ x: 0, y: 0, wide, high }], wide, high };
}

// The node, and the GPU of it, at a place; cell -1 is the node between its cells.
export function nodeAt(layout, x, y) {
  if (!layout) return null;
  const near = Math.ceil(layout.cell / 2);
  const box = layout.boxes.find((box) => x >= box.x - near && x < box.x + box.wide + near && y >= box.y - 2 && y < box.y + box.high + near);
  if (!box) return null;
  const column = Math.floor((x - box.x) / (layout.cell + GAP));
  const line = Math.floor((y - box.y) / (layout.cell + GAP));
  const cell = line * box.across + column;
  return { box, cell: column >= 0 && column < box.across && line >= 0 && cell < box.node.gpus ? cell : -1 };
}

export const cellPlace = (layout, box, cell) => ({
  x: box.x + (cell % box.across) * (layout.cell + GAP),
  y: box.y + Math.floor(cell / box.across) * (layout.cell + GAP),
});

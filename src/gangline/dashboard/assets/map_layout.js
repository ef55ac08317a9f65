// Where everything stands: the map's data and a width → a box for each node, with labels of blocks and racks.
// A node is a few columns of cells; nodes of a rack stand together, racks fill lines, a block begins a new line. Pure.
const GAP = 1;
const LABEL = 15;

// Fewer nodes have larger cells.
const side = (nodes) => (nodes <= 60 ? 15 : nodes <= 300 ? 11 : nodes <= 1200 ? 7 : 5);
const across = (gpus) => (gpus <= 4 ? gpus : Math.ceil(gpus / 2) <= 8 ? Math.ceil(gpus / 2) : 16);

export function layOut(data, width) {
  const nodes = data.domains.flatMap((domain) => domain.nodes);
  const cell = side(nodes.length);
  const widest = Math.max(1, ...nodes.map((node) => across(node.gpus)));
  const tallest = Math.max(1, ...nodes.map((node) => Math.ceil(node.gpus / across(node.gpus))));
  const step = { cell, x: widest * (cell + GAP) + cell, y: tallest * (cell + GAP) + Math.ceil(cell * 0.7), width };
  const blocks = [...byBlock(data)].map(([name, racks]) => inBlock(name, racks, step));
  const height = inLines(blocks, width, 20, 12);
  const parts = (kind) => blocks.flatMap((block) => block[kind].map((part) => Object.assign(part, { x: part.x + block.x, y: part.y + block.y })));
  return { cell, width, height: Math.max(height, 40), boxes: parts("boxes"), labels: parts("labels"), frames: parts("frames") };
}

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
  const high = inLines(placed, step.width, 8, 8) + head;
  const block = { boxes: [], labels: [], frames: [], high, wide: Math.max(...placed.map((rack) => rack.x + rack.wide)) };
  if (name !== null) block.labels.push({ x: 0, y: 0, text: name || "elsewhere", strong: true });
  for (const rack of placed)
    for (const kind of ["boxes", "labels", "frames"])
      block[kind].push(...rack[kind].map((part) => Object.assign(part, { x: part.x + rack.x, y: part.y + rack.y + head })));
  return block;
}

function inRack({ name, nodes }, step) {
  const pad = Math.ceil(step.cell / 2) + 2;
  const head = name === null ? 0 : LABEL + 2;
  const columns = columnsFor(nodes.length, Math.max(1, Math.floor((step.width - 2 * pad) / step.x)), name === null);
  const words = name === null ? 0 : Math.min(name.length * 6.2 + 2 * pad, step.width);
  const wide = Math.max(columns * step.x + 2 * pad - step.cell, words);
  const high = head + Math.ceil(nodes.length / columns) * step.y + pad;
  const boxes = nodes.map((node, place) => {
    const box = { node, across: across(node.gpus), x: pad + (place % columns) * step.x, y: head + Math.floor(place / columns) * step.y + 2 };
    box.wide = box.across * (step.cell + GAP) - GAP;
    box.high = Math.ceil(node.gpus / box.across) * (step.cell + GAP) - GAP;
    return box;
  });
  if (name === null) return { boxes, labels: [], frames: [], wide, high };
  return { boxes, labels: [{ x: pad, y: 4, text: name || "elsewhere", wide: wide - pad }], frames: [{ x: 0, y: 0, wide, high }], wide, high };
}

// About twice as wide as high, without gaps in the last line where that can be.
function columnsFor(count, most, all) {
  if (all) return Math.min(most, count);
  const least = Math.ceil(Math.sqrt(count * 1.5));
  let best = least;
  for (let columns = least; columns <= Math.ceil(Math.sqrt(count * 5)); columns++) if (count % columns === 0 && count % best) best = columns;
  return Math.max(1, Math.min(best, most, count));
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

// Paints a layout on a canvas. Colours are the style sheet's, so that dark and light, and whoever changes them, agree.
import { cellsOf } from "./map_cells.js";
import { cellPlace } from "./map_layout.js";

const MOST_PIXELS = 24e6;
const STYLES = ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "other", "faint", "in-use", "free", "line", "text", "dim", "alarm"];

function sized(canvas, { width, height }) {
  const dense = Math.min(devicePixelRatio || 1, 2);
  const ratio = width * height * dense * dense > MOST_PIXELS ? 1 : dense;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

function palette() {
  const sheet = getComputedStyle(document.documentElement);
  return Object.fromEntries(STYLES.map((name) => [name, sheet.getPropertyValue(`--${name}`).trim()]));
}

export function paint(canvas, layout, colours) {
  const pen = sized(canvas, layout);
  const ink = palette();
  frames(pen, layout, ink);
  for (const box of layout.boxes)
    cellsOf(box.node).forEach((cell, place) => paintCell(pen, layout, cell, cellPlace(layout, box, place), colours.style(cell), ink, box.node.closed));
}

function frames(pen, layout, ink) {
  pen.strokeStyle = ink.line;
  pen.lineWidth = 1;
  for (const { x, y, wide, high } of layout.frames) pen.strokeRect(x + 0.5, y + 0.5, wide - 1, high - 1);
  pen.textBaseline = "top";
  for (const { x, y, text, strong, wide } of layout.labels) {
    pen.font = strong ? "600 13px system-ui, sans-serif" : "11px system-ui, sans-serif";
    pen.fillStyle = strong ? ink.text : ink.dim;
    pen.fillText(text, x, y, wide);
  }
}

function paintCell(pen, { cell: side }, cell, { x, y }, style, ink, closed) {
  if (cell.kind === "free") return paintFree(pen, side, cell, x, y, style, ink, closed);
  const colour = ink[style] || ink.other;
  if (cell.kind === "shared") {
    const full = Math.max(1, Math.round(side * cell.used));
    pen.strokeStyle = colour;
    pen.lineWidth = 1;
    pen.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
    pen.fillStyle = colour;
    pen.fillRect(x, y + side - full, side, full);
    return;
  }
  pen.fillStyle = colour;
  pen.fillRect(x, y, side, side);
}

// Empty is free, crossed is out of reach, hatched is kept for somebody.
function paintFree(pen, side, cell, x, y, style, ink, closed) {
  const own = !["free", "reserved", "closed", "faint"].includes(style);
  pen.strokeStyle = own ? ink[style] || ink.dim : style === "faint" ? ink.faint : ink.free;
  pen.lineWidth = own ? 1.5 : 1;
  if (own) {
    pen.globalAlpha = 0.35;
    pen.fillStyle = pen.strokeStyle;
    pen.fillRect(x, y, side, side);
    pen.globalAlpha = 1;
  }
  pen.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
  if (cell.cause === "reserved" && style !== "faint") hatch(pen, side, x, y, own ? pen.strokeStyle : ink.dim);
  if (closed) {
    pen.strokeStyle = ink.alarm;
    pen.beginPath();
    pen.moveTo(x + 1, y + side - 1);
    pen.lineTo(x + side - 1, y + 1);
    pen.stroke();
  }
}

function hatch(pen, side, x, y, colour) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, side, side);
  pen.clip();
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.beginPath();
  for (let at = -side; at < side; at += 4) {
    pen.moveTo(x + at, y + side);
    pen.lineTo(x + at + side, y);
  }
  pen.stroke();
  pen.restore();
}

// Frames the node pointed at, and every other cell of the same gang.
export function outline(canvas, layout, place, data) {
  const pen = sized(canvas, layout);
  if (!place) return;
  const ink = palette();
  const pointed = place.cell >= 0 ? cellsOf(place.box.node)[place.cell] : null;
  const gang = pointed?.gangs.find((gang) => gang >= 0);
  pen.strokeStyle = ink.text;
  pen.lineWidth = 1;
  if (gang !== undefined)
    for (const box of layout.boxes) {
      const mine = (box.node.held ?? []).some(([holder]) => holder === gang) || (box.node.shared ?? []).some(([, gangs]) => gangs.includes(gang));
      if (mine) pen.strokeRect(box.x - 1.5, box.y - 1.5, box.wide + 3, box.high + 3);
    }
  pen.lineWidth = 2.5;
  pen.strokeRect(place.box.x - 2.5, place.box.y - 2.5, place.box.wide + 5, place.box.high + 5);
}

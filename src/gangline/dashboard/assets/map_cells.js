// The cells of a node in their order: used, shared, reserved, free. Pure.
export function cellsOf(node) {
  const cells = [];
  for (const [gang, gpus] of node.held ?? []) for (let n = 0; n < gpus; n++) cells.push({ kind: "used", used: 1, gangs: [gang] });
  for (const [used, gangs, parts] of node.shared ?? []) cells.push({ kind: "shared", used, gangs, parts });
  for (const [cause, gpus, gang, until] of node.idle ?? []) {
    for (let n = 0; n < Math.floor(gpus) && cells.length < node.gpus; n++) cells.push({ kind: "free", used: 0, gangs: [], cause, gang, until, closed: node.closed });
  }
  while (cells.length < node.gpus) cells.push({ kind: "free", used: 0, gangs: [], cause: "", gang: "", until: null, closed: node.closed });
  return cells.slice(0, node.gpus);
}

// One step of a layout by forces: nodes push one another away, links pull, everything is drawn to the middle. Nodes are
// {x, y} and are moved in place; `heat` falls from 1 to 0, `tall` is height by width of where they stand. For some
// hundred nodes: every pair is looked at.
const APART = 130; // the length of a link at rest
const PUSH = 14000;
export const WIDE = 116; // the room of a node with its name in two lines
const HIGH = 62;

export function settle(nodes, links, heat, tall) {
  const lean = Math.min(2.2, Math.max(0.7, tall));
  const shift = new Map(nodes.map((node) => [node, [-node.x * 0.03 * lean, (-node.y * 0.032) / lean]]));
  for (let i = 0; i < nodes.length; i++) {
    for (let j = i + 1; j < nodes.length; j++) {
      const a = nodes[i], b = nodes[j];
      const dx = a.x - b.x || (i - j) * 0.1, dy = a.y - b.y || 0.1, square = Math.max(60, dx * dx + dy * dy);
      if (square > 360000) continue;
      const push = PUSH / square, distance = Math.sqrt(square);
      const [sx, sy] = [(dx / distance) * push, (dy / distance) * push];
      const one = shift.get(a), other = shift.get(b);
      one[0] += sx; one[1] += sy; other[0] -= sx; other[1] -= sy;
      // Names stand below nodes: two may come near one above the other, not side by side.
      const across = WIDE - Math.abs(dx), along = HIGH - Math.abs(dy);
      if (across > 0 && along > 0) {
        const axis = across / WIDE < along / HIGH ? 0 : 1;
        const room = (axis ? along * Math.sign(dy) : across * Math.sign(dx)) * 0.42 / heat ** 0.6;
        one[axis] += room; other[axis] -= room;
      }
    }
  }
  const degree = new Map();
  for (const ends of links) for (const end of ends) degree.set(end, (degree.get(end) || 0) + 1);
  for (const [a, b] of links) {
    const dx = b.x - a.x, dy = b.y - a.y, distance = Math.max(1, Math.hypot(dx, dy));
    const weakest = Math.min(degree.get(a), degree.get(b));
    const pull = ((distance - APART) / distance) * (0.5 / Math.sqrt(weakest));
    const one = shift.get(a), other = shift.get(b);
    if (!one || !other) continue;
    one[0] += dx * pull * 0.5; one[1] += dy * pull * 0.5; other[0] -= dx * pull * 0.5; other[1] -= dy * pull * 0.5;
  }
  for (const [node, [dx, dy]] of shift) {
    const far = Math.hypot(dx, dy), most = 60 * heat + 4;
    const share = far > most ? most / far : 1;
    const step = share * Math.max(heat, 0.18);
    node.x += dx * step; node.y += dy * step;
  }
}

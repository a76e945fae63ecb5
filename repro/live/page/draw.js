// Pictures, as SVG that is made element by element: no text is ever taken for markup.

const svgNS = "http://www.w3.org/2000/svg";

function add(parent, name, attributes) {
  const e = document.createElementNS(svgNS, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  parent.append(e);
  return e;
}

function clear(svg) {
  const { width, height } = svg.getBoundingClientRect();
  svg.replaceChildren();
  svg.setAttribute("viewBox", `0 0 ${Math.max(1, width)} ${Math.max(1, height)}`);
  return { width: Math.max(1, width), height: Math.max(1, height) };
}

const round = (x) => Math.round(x * 10) / 10;

// scale puts the points' instants on the width of a picture.
function scale(points, left, width) {
  const from = points[0].t, span = Math.max(points[points.length - 1].t - from, 1e-9);
  return (t) => left + ((t - from) / span) * width;
}

// stalls shades the stretches in which a run was stalled.
function stalls(svg, points, x, height) {
  for (let i = 0; i < points.length; i++) {
    if (!points[i].s) continue;
    const first = i;
    while (i + 1 < points.length && points[i + 1].s) i++;
    const from = x(points[Math.max(0, first - 1)].t);
    const width = round(Math.max(1, x(points[i].t) - from));
    add(svg, "rect", { class: "stall", x: round(from), y: 0, width, height });
    if (height > 60) add(svg, "rect", { class: "mark", x: round(from), y: 0, width, height: 3 });
  }
}

// spark draws one number over time. most, if given, is the top of the picture at least.
export function spark(svg, points, value, most = 0) {
  const { width, height } = clear(svg);
  if (points.length < 2) return;
  const x = scale(points, 0, width);
  const top = Math.max(most, ...points.map(value)) || 1;
  const y = (v) => height - 1 - (v / top) * (height - 3);
  stalls(svg, points, x, height);
  const line = points.map((p) => `${round(x(p.t))},${round(y(value(p)))}`);
  add(svg, "polygon", { class: "under", points: `0,${height} ${line.join(" ")} ${width},${height}` });
  add(svg, "polyline", { class: "line", points: line.join(" ") });
}

// ticks returns a few round numbers from 0 to at least most.
function ticks(most, wanted) {
  const rough = Math.max(most, 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough));
  const out = [];
  for (let v = 0; v < most + step; v += step) out.push(v);
  return out;
}

// roundTimes returns round instants between two, and how far they are apart.
function roundTimes(from, to, wanted) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
  const step = steps.find((s) => s >= (to - from) / wanted) || Math.ceil((to - from) / wanted / 86400) * 86400;
  const out = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) out.push(t);
  return out;
}

// area draws how many agents were in each stage, one stage on top of the other, and returns what a pointer needs to
// find a point again.
export function area(svg, history, duration) {
  const { width, height } = clear(svg);
  const points = history.points;
  if (points.length < 2) return null;
  const left = 34, bottom = 20, top = 6;
  const x = scale(points, left, width - left - 4);
  const lines = ticks(Math.max(...points.map((p) => p.a.reduce((n, m) => n + m, 0))), 4);
  const y = (n) => height - bottom - (n / lines[lines.length - 1]) * (height - bottom - top);
  for (const n of lines) {
    add(svg, "line", { class: "grid", x1: left, x2: width - 4, y1: round(y(n)), y2: round(y(n)) });
    add(svg, "text", { x: left - 6, y: round(y(n)) + 4, "text-anchor": "end" }).textContent = n;
  }
  const below = points.map(() => 0);
  history.stages.forEach((stage, i) => {
    if (!points.some((p) => p.a[i] > 0)) return;
    const lower = points.map((p, j) => `${round(x(p.t))},${round(y(below[j]))}`).reverse();
    points.forEach((p, j) => (below[j] += p.a[i]));
    const upper = points.map((p, j) => `${round(x(p.t))},${round(y(below[j]))}`);
    add(svg, "polygon", { class: `c-${stage}`, points: upper.concat(lower).join(" ") });
  });
  stalls(svg, points, x, height - bottom);
  for (const t of roundTimes(points[0].t, points[points.length - 1].t, width / 110)) {
    const anchor = x(t) > width - 40 ? "end" : x(t) < left + 20 ? "start" : "middle";
    add(svg, "text", { x: round(x(t)), y: height - 5, "text-anchor": anchor }).textContent = duration(t);
  }
  const cursor = add(svg, "line", { class: "cursor", y1: 0, y2: height - bottom, x1: -9, x2: -9 });
  return { x, cursor, points };
}

// nearest returns the index of the point that stands nearest to a place in the picture.
export function nearest(drawn, place) {
  let best = 0;
  drawn.points.forEach((p, i) => {
    if (Math.abs(drawn.x(p.t) - place) < Math.abs(drawn.x(drawn.points[best].t) - place)) best = i;
  });
  return best;
}

"use strict";
(() => {
const root = document.documentElement, $ = (s, in_) => (in_ || document).querySelector(s), all = (s, in_) => [...(in_ || document).querySelectorAll(s)];
const clamp = (v, low, high) => Math.min(Math.max(v, low), high);
const redraws = []; // what has to be drawn again in other colours

// Numbers and lengths of time in words, as the page has them.
const trim = s => s.includes(".") ? s.replace(/0+$/, "").replace(/\.$/, "") : s;
const number = v => {
  const a = Math.abs(v);
  if (a >= 1000 || Number.isInteger(v)) return Math.round(v).toLocaleString("en");
  return a < 1e-4 ? v.toPrecision(2) : trim(v.toFixed(a >= 100 ? 0 : a >= 10 ? 1 : a >= 1 ? 2 : 2 - Math.floor(Math.log10(a))));
};
const pair = (a, x, b, y) => a + " " + x + (b ? " " + b + " " + y : "");
const span = s => {
  if (s < 0) return "−" + span(-s);
  if (s === 0) return "0 s";
  if (s < 0.9995) return number(s * 1000) + " ms";
  if (s < 120) return number(s) + " s";
  const n = Math.round(s), d = Math.floor(n / 86400), h = Math.floor(n / 3600), m = Math.floor(n / 60);
  return s < 7200 ? pair(m, "min", n % 60, "s") : s < 172800 ? pair(h, "h", m % 60, "min") : pair(d, "d", h % 24, "h");
};
// An instant, as fine as what is seen of the run needs it.
const instant = (s, width) => {
  if (s < 120 || width > 3600) return span(s);
  const m = Math.floor(s / 60), rest = s - 60 * m;
  return (m >= 60 ? Math.floor(m / 60) + " h " + m % 60 + " min" : m + " min") + (rest >= 0.0005 ? " " + trim(rest.toFixed(width < 10 ? 3 : width < 120 ? 1 : 0)) + " s" : "");
};
const value = (v, unit, own) => v === null ? "–" : own || !unit ? number(v) : unit === "s" ? span(v) : unit === "B" ? bytes(v) : number(v) + " " + unit;
const bytes = v => v >= 1 << 30 ? number(v / (1 << 30)) + " GiB" : v >= 1 << 20 ? number(v / (1 << 20)) + " MiB" : v >= 1024 ? number(v / 1024) + " KiB" : number(v) + " B";

// Light and dark.
const theme = $("#theme"), dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
const themed = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-label", isDark() ? "Switch to light" : "Switch to dark"); redraws.forEach(f => f()); };
theme.hidden = false;
theme.onclick = () => { root.dataset.theme = isDark() ? "light" : "dark"; themed(); };
dark.addEventListener("change", themed);

// The command, to be pasted elsewhere.
all(".copy").forEach(b => {
  if (!navigator.clipboard) return;
  b.hidden = false;
  b.onclick = () => navigator.clipboard.writeText($("code", b.parentNode).textContent).then(() => { b.textContent = "Copied"; setTimeout(() => { b.textContent = "Copy"; }, 1500); }, () => {});
});

// On paper everything that matters is unfolded.
let folded = [];
addEventListener("beforeprint", () => { folded = all("details:not(.quiet):not([open])"); folded.forEach(d => { d.open = true; }); });
addEventListener("afterprint", () => { folded.forEach(d => { d.open = false; }); });

// A note beside the pointer. What it says is set as text, never as markup.
const tip = document.createElement("div");
tip.className = "tip"; tip.hidden = true; document.body.append(tip);
const say = (text, x, y) => {
  tip.textContent = text; tip.hidden = false;
  const r = tip.getBoundingClientRect(), right = x + 14 + r.width > innerWidth;
  tip.style.left = Math.max(4, (right ? x - 14 - r.width : x + 14)) + scrollX + "px";
  tip.style.top = (y + 18 + r.height > innerHeight ? y - 12 - r.height : y + 18) + scrollY + "px";
};
const hush = () => { tip.hidden = true; };

// Charts: the values at an instant, which is marked in all of them.
const charts = all(".chart").map(figure => {
  let data;
  try { data = JSON.parse(figure.dataset.chart); } catch (e) { return null; }
  const plot = $(".plot", figure), cursor = document.createElement("div");
  cursor.className = "cursor"; cursor.hidden = true; plot.append(cursor);
  return { plot, data, cursor, end: +figure.dataset.end, title: $("figcaption b", figure).textContent, i: -1 };
}).filter(c => c && c.data.t && c.data.t.length);
const before = (t, at) => { let low = 0, high = t.length; while (low < high) { const mid = (low + high) >> 1; if (t[mid] <= at) low = mid + 1; else high = mid; } return Math.max(0, low - 1); };
const mark = at => charts.forEach(c => { c.cursor.hidden = at === null || at > c.end; if (at !== null) c.cursor.style.left = 100 * at / c.end + "%"; });
charts.forEach(c => {
  const words = i => c.title + " at " + span(c.data.t[i]) + "\n" + c.data.s.map(s => s.n + "  " + value(s.v[i], c.data.u, s.own)).reverse().join("\n");
  const show = (at, x, y) => { c.i = before(c.data.t, at); mark(at); say(words(c.i), x, y); };
  const move = e => { const r = c.plot.getBoundingClientRect(); show(clamp((e.clientX - r.left) / r.width, 0, 1) * c.end, e.clientX, e.clientY); };
  const leave = () => { mark(null); hush(); };
  c.plot.addEventListener("pointermove", move);
  c.plot.addEventListener("pointerdown", move);
  c.plot.addEventListener("pointerleave", leave);
  c.plot.addEventListener("blur", leave);
  c.plot.addEventListener("keydown", e => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -1e9, End: 1e9 }[e.key];
    if (e.key === "Escape") return leave();
    if (!step) return;
    e.preventDefault();
    c.i = clamp(c.i + step, 0, c.data.t.length - 1);
    const r = c.plot.getBoundingClientRect();
    show(c.data.t[c.i], r.left + r.width * c.data.t[c.i] / c.end, r.top + 10);
  });
});

// Swimlanes, drawn as far as they are seen.
const holder = $("#swimlanes"), source = $("#lanes-data");
if (holder && source) try { swimlanes(holder, JSON.parse(source.textContent)); } catch (e) { holder.hidden = true; root.classList.remove("scripted"); }

// decode reads a lane's text: see encoder in the program for its letters. Times are in units.
function decode(text, agent, data) {
  const spans = [], calls = [];
  let at = 0, call = null, attempt = null, m;
  const letters = /([A-Z])([0-9a-z]+)/g;
  while ((m = letters.exec(text))) {
    const kind = m[1], n = parseInt(m[2], 36), stage = kind.charCodeAt(0) - 65;
    if (stage < 9) {
      const inCall = stage > 1;
      spans.push({ from: at, to: at + n, stage, call: inCall ? call : null, attempt: inCall ? attempt : null });
      at += n;
    } else if (kind === "J") at += n;
    else if (kind === "N" || kind === "X") calls.push(call = { id: kind === "X" ? data.texts[n] : agent + "-c" + String(n).padStart(3, "0") }), attempt = null;
    else if (kind === "R" && call) call.round = Math.floor(n / 1000), call.step = n % 1000;
    else if (kind === "Z" && call) call.ends = data.texts[n];
    else if (kind === "P") attempt = { n };
    else if (kind === "T" && attempt) attempt.tokens = n;
    else if (kind === "O" && attempt) attempt.outcome = data.texts[n];
    else if (kind === "W" && spans.length) spans[spans.length - 1].tool = data.texts[n];
    else if (kind === "V" && spans.length) spans[spans.length - 1].error = data.texts[n];
  }
  return spans;
}

function swimlanes(holder, data) {
  const canvas = $("canvas", holder), board = $(".board", holder), bar = $(".scrollbar", holder), says = $("#lane-says"), unit = data.unit, end = Math.max(data.end / unit, 1);
  const stages = data.stages, high = [0.25, 0.45, 0.65, 0.65, 0.65, 0.9, 0.9, 0.9, 0.9], head = 28;
  const lanes = data.lanes.map(([agent, parent, ends, text], i) => ({ i, agent, parent, ends, spans: decode(text, agent, data) }));
  for (const l of lanes) {
    l.wait = l.slot = 0;
    l.work = l.spans.length ? l.spans[l.spans.length - 1].to - l.spans[0].from : 0;
    for (const s of l.spans) { const n = s.to - s.from; if (s.stage > 1) l.wait = Math.max(l.wait, n); if (s.stage === 2) l.slot += n; }
    const last = l.spans[l.spans.length - 1];
    l.open = !!last && last.to >= end - 1 ? last.to - last.from : -1;
  }
  canvas.dataset.lanes = lanes.length;
  let shown = lanes, from = 0, to = end, top = 0, row = 14, width = 0, height = 0, names = 90, picked = null, colours = {}, waiting = false;

  function measure() {
    width = board.clientWidth;
    const c = canvas.getContext("2d");
    c.font = "12px system-ui, sans-serif";
    names = 14; // wide enough for the names, but not at the cost of the lanes
    for (const l of lanes.slice(0, 500)) names = Math.max(names, 12 + c.measureText((l.parent ? "└ " : "") + l.agent).width);
    names = Math.min(names, width * 0.3, 190);
    row = lanes.length <= 40 ? 16 : lanes.length <= 150 ? 12 : 9;
    if (width < 500) row = Math.max(row, 12);
    const whole = head + shown.length * row;
    height = Math.max(head + 3 * row, Math.min(whole, Math.max(260, innerHeight * 0.72)));
    canvas.style.height = height + "px";
    canvas.width = Math.round(width * devicePixelRatio); canvas.height = Math.round(height * devicePixelRatio);
    bar.firstElementChild.style.height = whole - head + "px";
    bar.hidden = whole <= height + 1;
    scrollTo_(top);
  }
  const rows = () => Math.max(0, shown.length * row - (height - head));
  function scrollTo_(v) { top = clamp(v, 0, rows()); if (Math.abs(bar.scrollTop - top) > 1) bar.scrollTop = top; later(); }
  const right = () => width - (bar.hidden ? 2 : 16);
  const x = t => names + (t - from) / (to - from) * (right() - names);
  const time = px => from + (px - names) / (right() - names) * (to - from);
  function view(a, b) {
    const least = Math.min(end, 20);
    let w = clamp(b - a, least, end);
    from = clamp(a, 0, end - w); to = from + w;
    later();
  }
  const zoom = (by, at) => view(at - (at - from) * by, at + (to - at) * by);
  const pan = by => view(from + by, to + by);
  function later() { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; draw(); }); } }

  function paint() {
    const style = getComputedStyle(root), get = n => style.getPropertyValue("--" + n).trim();
    colours = { bg: get("bg"), ink: get("ink"), soft: get("soft"), line: get("line"), stall: get("stall"), stallInk: get("stall-ink"), bad: get("bad"), link: get("link"), stages: stages.map(s => get("s-" + s) || get("s-none")) };
    later();
  }
  const steps = [1e-4, 2e-4, 5e-4, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];
  function draw() {
    const c = canvas.getContext("2d");
    c.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    c.fillStyle = colours.bg; c.fillRect(0, 0, width, height);
    const edge = right(), first = Math.max(0, Math.floor(top / row)), last = Math.min(shown.length, Math.ceil((top + height - head) / row));
    c.save();
    c.beginPath(); c.rect(names, 0, edge - names, height); c.clip();
    c.fillStyle = colours.stall;
    for (const [, a, b] of data.stalls) { const l = x(a / unit), r = x(b / unit); c.fillRect(l, head, Math.max(r - l, 2), height - head); }
    const width_ = (to - from) * unit, step = steps.find(s => s >= width_ * 80 / (edge - names)) || 604800;
    c.font = "11px system-ui, sans-serif"; c.textBaseline = "middle"; c.textAlign = "center";
    for (let t = Math.ceil(from * unit / step) * step; t <= to * unit; t += step) {
      const at = Math.round(x(t / unit)) + 0.5;
      c.strokeStyle = colours.line; c.beginPath(); c.moveTo(at, head - 4); c.lineTo(at, height); c.stroke();
      c.fillStyle = colours.soft; c.textAlign = at < names + 30 ? "left" : at > edge - 34 ? "right" : "center"; c.fillText(instant(Math.round(t * 1e6) / 1e6, width_), Math.max(at, names + 1), 10);
    }
    c.fillStyle = colours.stallInk;
    for (const [, a, b] of data.stalls) { const l = x(a / unit), r = x(b / unit); c.fillRect(l, head - 9, Math.max(r - l, 2), 4); }
    c.beginPath(); c.rect(names, head, edge - names, height - head); c.clip();
    const px = (to - from) / (edge - names);
    for (let i = first; i < last; i++) {
      const y = head + i * row - top, spans = shown[i].spans;
      let k = seek(spans, from);
      for (; k < spans.length && spans[k].from < to; k++) {
        let s = spans[k], a = s.from, b = s.to;
        // Stretches too short to be seen: the one that takes most of a pixel stands for all of it.
        if (b - a < px) {
          const until = a + px; let most = b - a;
          while (k + 1 < spans.length && spans[k + 1].to <= until) { k++; const n = spans[k].to - spans[k].from; if (n > most) { most = n; s = spans[k]; } b = spans[k].to; }
        }
        const l = x(a), r = Math.max(x(b), l + 0.6), h = Math.max(1, (row - 1) * high[s.stage]);
        c.fillStyle = colours.stages[s.stage]; c.fillRect(l, y + (row - 1 - h) / 2, r - l, h);
        if (s.attempt && s.attempt.outcome && s.to <= to && r - l > 3 && (k + 1 >= spans.length || spans[k + 1].attempt !== s.attempt)) { c.fillStyle = colours.bad; c.fillRect(r - 2, y, 2, row - 1); }
      }
    }
    // Where stalls begin and end, over the lanes too.
    c.strokeStyle = colours.stallInk; c.setLineDash([4, 3]);
    for (const [, a, b] of data.stalls) for (const t of [a, b]) { const at = Math.round(x(t / unit)) + 0.5; if (t > 0) { c.beginPath(); c.moveTo(at, head); c.lineTo(at, height); c.stroke(); } }
    c.setLineDash([]);
    if (picked) {
      const i = shown.indexOf(picked.lane);
      if (i >= 0) { const y = head + i * row - top, l = Math.max(x(picked.span.from), names), r = Math.min(x(picked.span.to), edge); c.strokeStyle = colours.ink; c.lineWidth = 2; c.strokeRect(l - 1, y - 1, Math.max(r - l, 2) + 2, row + 1); c.lineWidth = 1; }
    }
    c.restore();
    // Names, as many as there is room for.
    c.textAlign = "left"; c.textBaseline = "middle"; c.fillStyle = colours.soft;
    const every = Math.max(1, Math.ceil(12 / row));
    c.save(); c.beginPath(); c.rect(0, head - 3, names - 4, height - head + 3); c.clip();
    c.font = Math.min(12, Math.max(10, row)) + "px system-ui, sans-serif";
    for (let i = first; i < last; i++) if (i % every === 0) { c.fillStyle = picked && picked.lane === shown[i] ? colours.ink : shown[i].ends ? colours.bad : colours.soft; c.fillText((shown[i].parent ? "└ " : "") + shown[i].agent, 4, head + i * row - top + row / 2); }
    c.restore();
    if (!shown.length) { c.fillStyle = colours.soft; c.fillText("No agent has that in its name.", names, head + row); }
    for (const b of all("button[data-from]", holder)) { const [a, z] = around(b); b.setAttribute("aria-pressed", Math.abs(from - a) < 1 && Math.abs(to - z) < 1); }
  }
  // seek finds the first stretch that ends after t.
  function seek(spans, t) { let low = 0, h = spans.length; while (low < h) { const mid = (low + h) >> 1; if (spans[mid].to > t) h = mid; else low = mid + 1; } return low; }

  function words(lane, s) {
    const w = (to - from) * unit, lines = [lane.agent + (lane.parent ? " (for " + lane.parent + ")" : "")];
    if (s.call) lines[0] = s.call.id + (s.call.round ? ", round " + s.call.round + " step " + s.call.step : "");
    const stage = stages[s.stage].replace("_", " ");
    lines.push((s.tool ? "tool " + s.tool : stage) + (s.attempt ? ", attempt " + s.attempt.n : "") + ": " + span((s.to - s.from) * unit));
    lines.push("from " + instant(s.from * unit, Math.min(w, 100)) + " to " + instant(s.to * unit, Math.min(w, 100)));
    if (s.attempt) lines.push((s.attempt.tokens === undefined ? "tokens not known" : number(s.attempt.tokens) + " tokens") + ", " + (s.attempt.outcome || "ok"));
    if (s.call && s.call.ends) lines.push("the call " + s.call.ends);
    if (s.error) lines.push("error: " + s.error);
    if (lane.ends) lines.push("the task " + lane.ends);
    return lines;
  }
  function at(e) {
    const r = canvas.getBoundingClientRect(), px = e.clientX - r.left, py = e.clientY - r.top;
    const lane = shown[Math.floor((py - head + top) / row)], t = time(px);
    if (!lane || py < head || px < names) return null;
    const s = lane.spans[seek(lane.spans, t)], near = (to - from) / (right() - names) * 3;
    return s && s.from <= t + near ? { lane, span: s } : null;
  }
  function pick(p, e) {
    if ((p && p.span) !== (picked && picked.span)) { picked = p; later(); }
    if (!p) { hush(); mark(null); return; }
    const lines = words(p.lane, p.span);
    if (says.textContent !== lines.join(" · ")) says.textContent = lines.join(" · ");
    if (e) { say(lines.join("\n"), e.clientX, e.clientY); mark(clamp(time(e.clientX - canvas.getBoundingClientRect().left), 0, end) * unit); }
  }

  // Pointers: one drags or, if it does not move, picks; two pinch; a wheel zooms.
  const pointers = new Map(); let drag = null;
  canvas.addEventListener("pointerdown", e => {
    canvas.setPointerCapture(e.pointerId);
    pointers.set(e.pointerId, e);
    drag = { x: e.clientX, y: e.clientY, from, to, top, moved: false };
    if (pointers.size === 2) { const [a, b] = [...pointers.values()]; drag.apart = Math.max(20, Math.abs(a.clientX - b.clientX)); drag.mid = time((a.clientX + b.clientX) / 2 - canvas.getBoundingClientRect().left); drag.moved = true; hush(); }
  });
  canvas.addEventListener("pointermove", e => {
    if (!pointers.has(e.pointerId)) return pick(at(e), e);
    pointers.set(e.pointerId, e);
    if (pointers.size === 2 && drag.apart) {
      const [a, b] = [...pointers.values()], by = drag.apart / Math.max(20, Math.abs(a.clientX - b.clientX));
      return view(drag.mid - (drag.mid - drag.from) * by, drag.mid + (drag.to - drag.mid) * by);
    }
    const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
    if (!drag.moved && Math.hypot(dx, dy) < 5) return;
    drag.moved = true; hush();
    const t = -dx / (right() - names) * (drag.to - drag.from), full = drag.to - drag.from >= end * 0.999;
    view(drag.from + t, drag.to + t);
    const want = drag.top - dy;
    if (e.pointerType === "touch" && (want < 0 || want > rows() || full)) scrollBy(0, drag.y - e.clientY + (drag.page || 0)), drag.page = -(drag.y - e.clientY);
    scrollTo_(want);
  });
  const up = e => { if (pointers.delete(e.pointerId) && drag && !drag.moved && e.type === "pointerup") pick(at(e), e); };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => { hush(); mark(null); });
  canvas.addEventListener("wheel", e => {
    const t = time(e.clientX - canvas.getBoundingClientRect().left);
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) { e.preventDefault(); return pan(e.deltaX / (right() - names) * (to - from)); }
    if (e.shiftKey) { e.preventDefault(); return scrollTo_(top + e.deltaY); }
    // Only with a key held, or once the lanes have the focus, so that the page can be scrolled past them.
    if (!e.ctrlKey && !e.metaKey && document.activeElement !== canvas) return;
    e.preventDefault(); hush();
    zoom(Math.exp(clamp(e.deltaY, -100, 100) * 0.004), clamp(t, from, to));
  }, { passive: false });
  bar.addEventListener("scroll", () => { if (Math.abs(bar.scrollTop - top) > 1) { top = bar.scrollTop; later(); } });
  canvas.addEventListener("dblclick", e => zoom(0.4, clamp(time(e.clientX - canvas.getBoundingClientRect().left), from, to)));

  // go picks the next or the former stretch, in this lane or the one d lanes on, and brings it into sight.
  function go(by, d) {
    if (!shown.length) return;
    let i = picked ? shown.indexOf(picked.lane) : -1;
    if (i < 0) { i = Math.floor(top / row); d = 0; by = 0; }
    const lane = shown[clamp(i + d, 0, shown.length - 1)];
    if (!lane.spans.length) return;
    let k = picked && picked.lane === lane ? lane.spans.indexOf(picked.span) + by : seek(lane.spans, picked ? picked.span.from : from);
    k = clamp(k, 0, lane.spans.length - 1);
    const s = lane.spans[k], w = to - from;
    if (s.from < from || s.from > to) view(s.from - w * 0.1, s.from + w * 0.9);
    const y = shown.indexOf(lane) * row;
    if (y < top || y + row > top + height - head) scrollTo_(y - (height - head) / 2);
    pick({ lane, span: s }, null);
  }
  const does = {
    in: () => zoom(0.5, (from + to) / 2), out: () => zoom(2, (from + to) / 2), left: () => pan((from - to) * 0.2), right: () => pan((to - from) * 0.2), all: () => view(0, end),
  };
  const keys = { "+": does.in, "=": does.in, "-": does.out, _: does.out, ArrowLeft: does.left, ArrowRight: does.right, 0: does.all, n: () => go(1, 0), p: () => go(-1, 0), ArrowDown: () => go(0, 1), ArrowUp: () => go(0, -1), PageDown: () => scrollTo_(top + (height - head) * 0.9), PageUp: () => scrollTo_(top - (height - head) * 0.9), Home: () => view(0, to - from), End: () => view(end - (to - from), end), Escape: () => pick(null) };
  canvas.addEventListener("keydown", e => { const f = !e.ctrlKey && !e.metaKey && !e.altKey && keys[e.key]; if (f) { e.preventDefault(); f(); } });
  all("[data-do]", holder).forEach(b => { b.onclick = does[b.dataset.do]; });
  const around = b => { const a = +b.dataset.from / unit, z = +b.dataset.to / unit, room = Math.max((z - a) * 0.15, 20); return [clamp(a - room, 0, end), clamp(z + room, 0, end)]; };
  all("button[data-from]", holder).forEach(b => { b.onclick = () => view(...around(b)); });
  const stalls = $(".stalls", holder);
  if (stalls) stalls.onchange = () => { const o = stalls.selectedOptions[0]; if (o && o.dataset.from) view(...around(o)); };
  const order = $(".order", holder), find = $("input", holder);
  function arrange() {
    const by = { start: (a, b) => a.i - b.i, slot: (a, b) => b.slot - a.slot || a.i - b.i, wait: (a, b) => b.wait - a.wait || a.i - b.i, open: (a, b) => b.open - a.open || a.i - b.i, failed: (a, b) => !!b.ends - !!a.ends || a.i - b.i, work: (a, b) => b.work - a.work || a.i - b.i, name: (a, b) => a.agent < b.agent ? -1 : a.agent > b.agent ? 1 : a.i - b.i }[order.value] || ((a, b) => a.i - b.i);
    const text = find.value.trim().toLowerCase();
    shown = lanes.filter(l => !text || (l.agent + " " + l.parent).toLowerCase().includes(text)).sort(by);
    top = 0; measure();
  }
  order.onchange = arrange; find.oninput = arrange;
  holder.hidden = false; root.classList.add("scripted");
  redraws.push(paint);
  measure(); paint();
  new ResizeObserver(() => { if (board.clientWidth !== width) measure(); }).observe(board);
}

themed();
})();

// The page: takes snapshots from /events, and shows them. Whatever servers and agents have said goes in by
// textContent.
import { area, nearest, spark } from "./draw.js";

const pointsMax = 480;
const $ = (id) => document.getElementById(id);
const names = {
  think: "thinking", tool: "in a tool", slot: "waits for a slot", rate: "waits for a rate", backoff: "waits to retry",
  connect: "connects", headers: "waits for headers", first_token: "waits for first token", stream: "receives",
};
const label = (stage) => names[stage] || stage;

let history = { stages: [], points: [] };
let latest = null, drawn = null, pointer = null;

function set(id, text, mood) {
  const e = $(id);
  if (e.textContent !== text) e.textContent = text;
  if (mood !== undefined) e.classList.toggle("bad", mood === "bad");
}

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
function number(x) {
  const most = Math.abs(x) >= 100 || Number.isInteger(x) ? 0 : Math.abs(x) >= 10 ? 1 : Math.abs(x) >= 0.1 ? 2 : 3;
  return new Intl.NumberFormat("en-US", { maximumFractionDigits: most }).format(x);
}

// duration writes seconds as people say them.
function duration(s) {
  if (s < 10 && !Number.isInteger(s)) return `${s.toFixed(1)} s`;
  s = Math.round(s);
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const first = parts.findIndex(([n]) => s >= n);
  if (first < 0) return "0 s";
  return parts.slice(first, first + 2).map(([n, unit], i) => {
    const v = i === 0 ? Math.floor(s / n) : Math.floor((s % parts[first][0]) / n);
    return i > 0 && v === 0 ? "" : `${v} ${unit}`;
  }).filter(Boolean).join(" ");
}

function element(name, className, text) {
  const e = document.createElement(name);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

// pairs fills a list of names and values.
function pairs(id, rows) {
  const out = [];
  for (const [name, value, bad] of rows) out.push(element("dt", "", name), element("dd", bad ? "bad" : "", value));
  $(id).replaceChildren(...out);
}

function showHead(s) {
  const run = s.run;
  set("scenario", run.scenario);
  set("what", `wedge ${run.command}, seed ${run.seed}, ${run.clock} clock`);
  set("clock", duration(s.at_s));
  set("speed", run.clock === "wall" && run.scale !== 1 ? `×${number(run.scale)}` : s.run.clock === "virtual" && s.real_s > 0 ? `${duration(s.real_s)} real` : "");
  const stalled = s.stall && s.stall.open;
  document.title = `${stalled ? `STALL ${s.stall.episode} · ` : s.state === "ended" ? "ended · " : ""}${run.scenario} · wedge`;
  const share = run.tasks > 0 ? (s.agents.done + s.agents.failed) / run.tasks : run.until_s > 0 ? s.at_s / run.until_s : -1;
  $("progress").hidden = share < 0;
  if (share >= 0) $("progress").value = Math.min(1, share);
}

function showVerdict(s) {
  const card = $("verdict"), stall = s.stall;
  let mood = "good", headline = s.state === "ended" ? "The run has ended" : s.state === "starting" ? "The run has not begun" : "Work gets done", why = "", since = "";
  if (stall) {
    const what = [stall.outcome && stall.outcome.toUpperCase(), stall.cause].filter(Boolean).join(": ");
    why = stall.why;
    if (stall.open) {
      mood = "bad";
      headline = `Stall ${stall.episode}, for ${duration(stall.lasted_s)}${what ? ` · ${what}` : ""}`;
      since = `Nothing has got on since ${duration(stall.started_s)}; found at ${duration(stall.detected_s)}.`;
    } else {
      mood = "warn";
      headline += `. The last stall was number ${stall.episode}${what ? `, ${what}` : ""}`;
      since = `It went from ${duration(stall.started_s)} for ${duration(stall.lasted_s)}${stall.ended_by ? `, until ${stall.ended_by} finished a step` : ""}.`;
    }
  } else if (s.state === "running") since = "No stall so far.";
  else if (s.state === "ended") since = "Nothing stalled.";
  card.className = `verdict wide ${mood}`;
  set("headline", headline);
  set("why", why);
  set("since", since);
}

function perSecond(id, x) {
  const text = number(x);
  if ($(id).dataset.text === text) return;
  $(id).dataset.text = text;
  $(id).replaceChildren(text, element("small", "", " a second"));
}

function showTiles(s) {
  const c = s.calls, t = s.agents;
  perSecond("calls-per-s", c.per_s);
  set("calls-total", `${whole.format(c.completed)} in all, ${whole.format(c.in_flight)} in flight${c.failed ? `, ${whole.format(c.failed)} failed` : ""}`);
  perSecond("tokens-per-s", s.tokens.per_s);
  set("tokens-total", `${whole.format(s.tokens.received)} of ended attempts${s.tokens.wasted ? `, ${whole.format(s.tokens.wasted)} wasted` : ""}`);
  set("tasks", s.run.tasks ? `${whole.format(t.done)} of ${whole.format(s.run.tasks)}` : whole.format(t.done));
  set("tasks-more", `${whole.format(t.at_work)} agents at work${t.failed ? `, ${whole.format(t.failed)} failed` : ""}, ${whole.format(t.steps)} steps`);
  set("oldest", s.oldest ? duration(s.oldest.age_s) : "none");
  set("oldest-more", s.oldest ? `${s.oldest.id}: ${label(s.oldest.stage)} for ${duration(s.oldest.stage_s)}` : "no call is in flight");
  set("idle", duration(s.idle_s), s.stall && s.stall.open ? "bad" : "");
  set("idle-more", s.stalls === 0 ? "ago; no stall so far" : `ago; ${s.stalls} ${s.stalls === 1 ? "stall" : "stalls"} so far`);
}

function showBars(s) {
  const box = $("bars"), stages = s.agents.by_stage;
  if (box.childElementCount !== stages.length * 3) {
    box.replaceChildren(...stages.flatMap(({ stage }) => {
      const track = element("div", "track");
      track.append(element("div", `fill c-${stage}`));
      return [element("span", "", label(stage)), track, element("span", "n", "")];
    }));
  }
  const most = Math.max(1, s.agents.at_work);
  stages.forEach(({ n }, i) => {
    box.children[3 * i + 1].firstChild.style.width = `${(100 * n) / most}%`;
    const count = box.children[3 * i + 2];
    count.textContent = whole.format(n);
    count.classList.toggle("none", n === 0);
  });
  set("at-work", `${whole.format(s.agents.at_work)} at work`);
}

function showSlots(s) {
  const { max, in_use, waiting } = s.slots;
  set("slots-text", max ? `${whole.format(in_use)} of ${whole.format(max)} in use, ${whole.format(waiting)} ${waiting === 1 ? "call waits" : "calls wait"}` : "no limit");
  $("slots-meter").hidden = !max;
  $("slots-spark").hidden = !max;
  $("slots-fill").style.width = `${max ? Math.min(100, (100 * in_use) / max) : 0}%`;
  $("slots-meter").classList.toggle("full", max > 0 && in_use >= max);
  $("rates").replaceChildren(...s.rates.map((r) => element("p", r.left < 0 ? "warn" : "soft",
    `Rate limit: ${number(r.per_s)} ${r.of} a second, ${r.left < 0 ? `${number(-r.left)} promised ahead` : `${number(r.left)} left`}${r.waiting ? `, ${whole.format(r.waiting)} calls wait` : ""}`)));
  const c = s.calls;
  pairs("attempts", [["begun", whole.format(c.attempts)], ["at the servers", whole.format(c.sent)], ["ended by a time limit", whole.format(c.timeouts)],
    ["answered with an error", whole.format(c.refused)], ["waits to retry", whole.format(c.retries)]]);
}

function showGauges(s) {
  set("gauges-age", s.gauges.length ? `read ${duration(s.gauges_age_s)} ago` : "nothing to read");
  $("gauges-error").hidden = !s.gauges_error;
  set("gauges-error", s.gauges_error);
  $("gauges").replaceChildren(...s.gauges.map((g) => {
    const row = element("li", g.value === 0 ? "zero" : "");
    row.append(element("span", "", g.name.replaceAll("_", " ")), element("span", "", number(g.value)));
    return row;
  }));
}

function showFacts(s) {
  const rows = s.facts.map((f) => [f.name, f.value, f.bad]);
  if (s.run.model) rows.push(["model", s.run.model]);
  if (s.run.until_s) rows.push(["ends at", duration(s.run.until_s)]);
  if (s.run.evidence) rows.push(["evidence", s.run.evidence]);
  if (s.run.version) rows.push(["wedge", s.run.version]);
  pairs("facts", rows);
}

function draw() {
  const points = history.points, s = latest;
  if (!s || document.hidden) return;
  spark($("calls-spark"), points, (p) => p.c);
  spark($("tokens-spark"), points, (p) => p.k);
  if (s.slots.max) spark($("slots-spark"), points, (p) => p.u, s.slots.max);
  drawn = area($("area"), history, duration);
  set("span", points.length > 1 ? `the last ${duration(points[points.length - 1].t - points[0].t)} of the run's clock` : "");
  const seen = history.stages.filter((_, i) => points.some((p) => p.a[i] > 0));
  if ($("legend").dataset.seen !== seen.join()) {
    $("legend").dataset.seen = seen.join();
    $("legend").replaceChildren(...seen.map((stage) => {
      const item = element("li");
      item.append(element("span", `dot c-${stage}`), label(stage));
      return item;
    }));
  }
  showTip();
}

// showTip says what the pointer is at.
function showTip() {
  const tip = $("tip");
  tip.hidden = pointer === null || !drawn;
  if (tip.hidden) {
    if (drawn) drawn.cursor.setAttribute("x1", -9), drawn.cursor.setAttribute("x2", -9);
    return;
  }
  const p = drawn.points[nearest(drawn, pointer)], x = drawn.x(p.t);
  drawn.cursor.setAttribute("x1", x);
  drawn.cursor.setAttribute("x2", x);
  const lines = history.stages.map((stage, i) => [stage, p.a[i]]).filter(([, n]) => n > 0).reverse().map(([stage, n]) => {
    const line = element("div");
    line.append(element("span", `dot c-${stage}`), `${whole.format(n)} ${label(stage)}`);
    return line;
  });
  tip.replaceChildren(element("strong", "", duration(p.t) + (p.s ? ", stalled" : "")), ...lines);
  const right = x > $("chart").clientWidth / 2;
  tip.style.left = right ? "auto" : `${x + 12}px`;
  tip.style.right = right ? `${$("chart").clientWidth - x + 12}px` : "auto";
}

function remember(s) {
  const points = history.points, last = points[points.length - 1];
  if (last && s.at_s <= last.t) return;
  points.push({ t: s.at_s, a: s.agents.by_stage.map(({ n }) => n), c: s.calls.per_s, k: s.tokens.per_s, u: s.slots.in_use, w: s.slots.waiting, s: !!(s.stall && s.stall.open) });
  if (points.length < 2 * pointsMax) return;
  points.forEach((p, i) => { if (i % 2 === 1) p.s = p.s || points[i - 1].s; });
  history.points = points.filter((_, i) => i % 2 === 1);
}

function show(s) {
  latest = s;
  remember(s);
  showHead(s);
  showVerdict(s);
  showTiles(s);
  showBars(s);
  showSlots(s);
  showGauges(s);
  showFacts(s);
  draw();
}

function state(text, mood) {
  $("state").textContent = text;
  $("state").className = `badge ${mood}`;
}

const events = new EventSource("/events");
events.addEventListener("history", (e) => { history = JSON.parse(e.data); });
events.addEventListener("snapshot", (e) => {
  const s = JSON.parse(e.data);
  const stalled = s.stall && s.stall.open && s.state !== "ended";
  state(stalled ? "stalled" : s.state, stalled ? "bad" : s.state === "running" ? "good" : "soft");
  show(s);
});
events.addEventListener("end", (e) => {
  events.close(); // else it would knock at a closed door for ever
  show(JSON.parse(e.data));
  state("ended", "soft");
});
events.onerror = () => state("connection lost", "bad");

new ResizeObserver(draw).observe($("chart"));
document.addEventListener("visibilitychange", draw);
for (const kind of ["pointermove", "pointerdown"]) {
  $("area").addEventListener(kind, (e) => { pointer = e.clientX - $("area").getBoundingClientRect().left; showTip(); });
}
$("area").addEventListener("pointerleave", () => { pointer = null; showTip(); });

// By hand: a workload and a cluster that are changed, and at once what kube-scheduler makes of them.
import { ask, byId, copy, make, request, served, token } from "./common.js";
import { count, draw, drawRefused, short, VERBS } from "./map.js";

const FRESH = { workload: "", manifest: "", replicas: null, set: {}, edits: [] };
let steps = [];
let at = 0;
let seen = null; // The last answers that are drawn, of one moment.
let mapped = { of: null, report: null };
const now = () => steps[at].state;

/** The arguments of the state, as tools take them. */
const asArguments = () => {
  const { workload, manifest, replicas, set, edits } = now();
  const [namespace, ...named] = workload.split("/");
  const settings = Object.entries(set).map(([field, value]) => `${field}=${value}`);
  return { ...(manifest ? { manifest } : workload ? { workload: named.join("/"), namespace } : {}),
    ...(replicas !== null && { replicas }), ...(settings.length && { set: settings }), ...(edits.length && { edits }) };
};
const without = ({ replicas, ...others }) => others;

// One question is under way at a time, and the newest waits: no answer overwrites that of a newer one.
let asked = 0;
let isAsking = false;
let isOther = false; // Whether the controls are to be those of another state.
const refresh = async () => {
  asked += 1;
  if (isAsking) return;
  isAsking = true;
  for (let number = 0; number !== asked;) {
    number = asked;
    byId("hand").dataset.asks = "";
    await answer().catch((error) => drawRefused(error.message));
  }
  isAsking = false;
  if (isOther) controls();
  isOther = false;
  delete byId("hand").dataset.asks;
  byId("hand").dataset.answered = String(asked);
};
const answer = async () => {
  const passed = asArguments();
  if (!passed.workload && !passed.manifest) return drawRefused("Choose a workload, or paste a manifest.");
  const where = JSON.stringify([passed.edits, served.cluster.number]);
  const edits = passed.edits ? { edits: passed.edits } : {};
  // What was done to the cluster is made once, by whoever asks first.
  if (mapped.of !== where) mapped = { of: where, report: await ask("map", edits) };
  const [placed, explained] = await Promise.all([ask("simulate", passed), ask("explain", without(passed))]);
  seen = { placed, explained, map: mapped.report };
  draw(seen, passed.edits || [], {
    put, add: (node) => change(`one more like ${node}`, { edits: [...now().edits, `add-node ${node}:1`] }, `add ${at}`),
  });
};

/** Go on from the state that is shown; steps that were undone are forgotten. A step of the same kind is one with it. */
const change = (says, changed, kind = says) => {
  const state = { ...now(), ...changed };
  if (JSON.stringify(state) === JSON.stringify(now())) return;
  const isSame = steps[at].kind === kind && at > 0;
  steps = [...steps.slice(0, isSame ? at : at + 1), { says, state, kind }];
  at = steps.length - 1;
  turned();
};
const goTo = (place) => {
  at = Math.max(0, Math.min(steps.length - 1, place));
  isOther = true;
  turned();
};
const turned = () => {
  const items = steps.map(({ says }, place) => make("li", {}, make("button", {
    type: "button", textContent: says, className: place > at ? "undone" : "", onclick: () => goTo(place),
    ...(place === at && { "aria-current": "step" }) })));
  byId("timeline").replaceChildren(...items);
  [byId("undo").disabled, byId("redo").disabled] = [at === 0, at === steps.length - 1];
  refresh();
};

// What may be turned.
const known = () => served.cluster.workloads.find(({ name }) => name === now().workload) || {};
const slider = (name, { least, most, value, step = 1, shows = String, turn, whose = "" }) => {
  const id = `turn-${whose}${name}`.replace(/\W+/g, "-");
  const told = make("output", { textContent: shows(value), for: id });
  const control = make("input", { id, type: "range", min: least, max: most, step, value, "aria-valuetext": shows(value),
    ...(whose && { "aria-label": `${whose} ${name}` }) });
  control.addEventListener("input", () => {
    const text = shows(Number(control.value));
    told.textContent = text;
    control.setAttribute("aria-valuetext", text);
    turn(Number(control.value));
  });
  return make("div", { className: "turn" }, make("label", { for: id, textContent: name }), told, control);
};
const choice = (name, choices, value, turn, whose = "") => {
  const id = `turn-${whose}${name}`.replace(/\W+/g, "-");
  const options = choices.map(([each, text]) => make("option", { value: each, textContent: text ?? each }));
  const control = make("select", { id, ...(whose && { "aria-label": `${whose} ${name}` }) }, options);
  control.value = value;
  control.addEventListener("change", () => turn(control.value));
  return make("div", { className: "turn" }, make("label", { for: id, textContent: name }), control);
};
const setting = (field, value) =>
  change(`${field.replace(/\[.*\//, "[")} = ${value}`, { set: { ...now().set, [field]: value } }, field);
const amountOf = (text, unit) => {
  const [, number, suffix] = /^([\d.]+)(\w*)$/.exec(text || "0") || [0, 0, ""];
  const factors = unit === "cpu" ? { m: 1, "": 1000 } : { Ki: 1 / 1024, Mi: 1, Gi: 1024, "": 1 / 1048576, M: 0.954, G: 953.7 };
  return Math.round(Number(number) * (factors[suffix] ?? 1));
};
const constraintTurns = (each, _, all) => {
  const { set } = now();
  const own = short(each.topologyKey);
  const as = (field) => `${field}[${each.topologyKey}]`;
  const isDefault = each.source !== "pod";
  if (isDefault || all.filter(({ topologyKey }) => topologyKey === each.topologyKey).length > 1) {
    const why = isDefault ? "a default of the scheduler's" : "one of several over this key: change them in a manifest";
    return make("fieldset", {}, make("legend", { textContent: own }), make("p", { className: "dim", textContent: why }));
  }
  return make("fieldset", {}, make("legend", { textContent: own }),
    slider("maxSkew", { whose: own, least: 1, most: Math.max(5, each.maxSkew), value: set[as("maxSkew")] ?? each.maxSkew,
      turn: (value) => setting(as("maxSkew"), value) }),
    each.whenUnsatisfiable !== "DoNotSchedule" ? null : slider("minDomains", { whose: own, least: 0,
      most: Math.min(each.domains.length, 20) + 2, value: Number(set[as("minDomains")] ?? each.minDomains ?? 0) || 0,
      shows: (value) => (value ? String(value) : "none"), turn: (value) => setting(as("minDomains"), value || "null") }),
    choice("whenUnsatisfiable", [["DoNotSchedule"], ["ScheduleAnyway"]], each.whenUnsatisfiable,
      (value) => setting(as("whenUnsatisfiable"), value), own),
    ["nodeAffinityPolicy", "nodeTaintsPolicy"].map((policy) =>
      choice(policy, [["Honor"], ["Ignore"]], each[policy], (value) => setting(as(policy), value), own)));
};
const controls = () => {
  const state = now();
  const { replicas = 1, requests = {} } = known();
  const wanted = state.replicas ?? seen?.placed.replicas ?? replicas;
  const names = [["", "a manifest"], ...served.cluster.workloads.map(({ name }) => [name])];
  const text = make("textarea", { id: "manifest", rows: 5, value: state.manifest, spellcheck: false, placeholder: "apiVersion: apps/v1 …" });
  text.addEventListener("change", () => afresh({ manifest: text.value }));
  const amount = (unit, most, step, shows) => slider(`${unit} request`, { least: step, most: Math.max(most, 2 * amountOf(requests[unit], unit)), step,
    value: amountOf(state.set[unit] ?? requests[unit], unit), shows, turn: (value) => setting(unit, `${value}${unit === "cpu" ? "m" : "Mi"}`) });
  const focused = document.activeElement?.id;
  byId("controls").replaceChildren(
    make("div", { className: "card" }, make("h3", { textContent: "Workload" }),
      choice("workload", names, state.workload, (value) => afresh({ workload: value })),
      state.workload ? null : make("div", { className: "turn" }, make("label", { for: "manifest", textContent: "manifest" }), text),
      slider("replicas", { least: 0, most: Math.max(20, 2 * replicas, wanted), value: wanted,
        turn: (value) => change(count(value, "replica"), { replicas: value }, "replicas") })),
    make("div", { className: "card" }, make("h3", { textContent: "Spread" }), (seen?.explained.constraints || []).map(constraintTurns),
      seen?.explained.constraints.length ? null : make("p", { className: "dim", textContent: "No constraint." })),
    make("div", { className: "card" }, make("h3", { textContent: "Requests" }),
      requests.cpu ? amount("cpu", 4000, 50, (value) => `${value}m`) : null,
      requests.memory ? amount("memory", 8192, 64, (value) => `${value}Mi`) : null,
      requests.cpu ? null : make("p", { className: "dim", textContent: "None known." })),
  );
  if (focused) byId(focused)?.focus();
};
const afresh = (changed) => {
  const state = { ...FRESH, edits: now().edits, ...changed };
  isOther = true;
  change(state.workload || "a manifest", state);
};

/** What a node or a zone is from now on. */
const put = (target, word) => {
  const edits = now().edits.filter((edit) => ![...Object.values(VERBS), "uncordon"].some((verb) => edit === `${verb} ${target}`));
  const verb = word === "open" ? "uncordon" : VERBS[word];
  change(`${short(target)}: ${word === "ready" ? "as it was" : word}`, { edits: verb ? [...edits, `${verb} ${target}`] : edits });
};

byId("undo").addEventListener("click", () => goTo(at - 1));
byId("redo").addEventListener("click", () => goTo(at + 1));
document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target.matches("textarea, input[type=text]")) return;
  event.preventDefault();
  goTo(at + (event.shiftKey ? 1 : -1));
});
byId("copy").dataset.says = "Copy";
byId("copy").addEventListener("click", () => copy(byId("copy"), byId("command").textContent));
document.querySelector("#controls").addEventListener("submit", (event) => event.preventDefault());

// The token, and the cluster that is followed.
const locked = () => {
  sessionStorage.removeItem("token");
  [byId("hand").hidden, byId("locked").hidden] = [true, false];
  document.documentElement.dataset.ready = "true";
};
addEventListener("locked", locked);
byId("unlock").addEventListener("submit", (event) => {
  event.preventDefault();
  location.hash = new URL(event.target.url.value, location.origin).hash;
});
// A link that is pasted into the same tab.
addEventListener("hashchange", () => location.reload());

const look = async () => {
  const found = await (await request("/cluster")).json();
  const isChanged = served.cluster !== null && found.number !== served.cluster.number;
  served.cluster = found;
  byId("source").textContent = [found.source, count(found.nodes, "node"), count(found.pods, "pod"), found.isLive ? "live" : ""]
    .filter(Boolean).join(" · ");
  if (isChanged) {
    byId("changed").textContent = `Changed at ${found.time}`;
    refresh();
  }
};
const follow = async () => {
  if (!document.hidden) await look().catch((error) => { byId("changed").textContent = error.message; });
  setTimeout(follow, 3000);
};

const start = async () => {
  sessionStorage.setItem("token", token);
  history.replaceState(null, "", "/");
  if (!token) return locked();
  await look();
  const { workloads } = served.cluster;
  const first = workloads.find(({ waiting }) => waiting) ?? workloads[0];
  steps = [{ says: "the cluster as it is", state: { ...FRESH, workload: first?.name || "" }, kind: "" }];
  goTo(0);
  if (served.cluster.isLive) setTimeout(follow, 3000);
  document.documentElement.dataset.ready = "true";
};
start().catch((error) => { byId("changed").textContent = error.message; });

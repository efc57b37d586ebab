// What one moment looks like: the map, the answer in words, and the arithmetic of the next pod.
import { byId, make } from "./common.js";

export const VERBS = { cordoned: "cordon", drained: "drain", failed: "fail" };
const ACTS = [["cordoned", "Cordon"], ["drained", "Drain"], ["failed", "Fail"]];
const MANY = 240; // Nodes that are drawn at once; of more, those of a zone that is opened.
const MOST_DOTS = 12;
const MOST_ROWS = 12;
export const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
export const short = (key) => key.split("/").pop().replace(/^hostname$/, "node");

/** What all names end with behind a dot, which tells none from another. */
const endOf = (names) => {
  const parts = names.map((name) => name.split(".").slice(1));
  const shared = parts[0].filter((_, place) => parts.every((each) => each.at(-1 - place) === parts[0].at(-1 - place))).length;
  return names.length > 1 && shared ? `.${parts[0].slice(-shared).join(".")}` : "";
};
let end = "";
const named = (name) => (end && name.endsWith(end) ? name.slice(0, -end.length) : name);

/** `seen` are the answers, `edits` what was done to the cluster, `acts` what a menu does: put and add. */
export const draw = (seen, edits, acts) => {
  const { placed, explained, map } = seen;
  // At the end of a rollout, where there is one.
  const pods = new Map(placed.nodes.map((node) => [node.name, node]));
  const judged = new Map(explained.nodes.map((node) => [node.name, node]));
  const paths = new Map(map.nodes.map((node) => [node.path.join(" / "), node.path.at(-1) ?? "none"]));
  const isClear = new Set(paths.values()).size === paths.size;
  const zones = Map.groupBy(map.nodes, ({ path }) => (isClear ? paths.get(path.join(" / ")) : path.map((value) => value ?? "none").join(" / ")));
  end = endOf(map.nodes.map((node) => node.name));
  const sum = (nodes, field) => nodes.reduce((total, node) => total + (pods.get(node.name)?.[field] || 0), 0);
  const most = Math.max(1, ...[...zones.values()].map((nodes) => sum(nodes, "present") + sum(nodes, "placed")));
  const opened = new Set(Array.from(document.querySelectorAll("#map details[open]"), (each) => each.dataset.zone));
  const cells = (nodes) => nodes.map((node) => tile(node, pods.get(node.name), judged.get(node.name), edits, acts));
  const boxes = [...zones].map(([zone, nodes]) => {
    const [present, came] = [sum(nodes, "present"), sum(nodes, "placed")];
    const notOpen = nodes.filter((node) => stateOf(node, edits)).length;
    const bar = make("div", { className: "fill" }, make("i", { className: "was" }), make("i", { className: "came" }));
    [present, came].forEach((number, place) => { bar.children[place].style.width = `${number / most * 100}%`; });
    const name = make("button", { type: "button", className: "zone-name", textContent: zone, "aria-haspopup": "dialog",
      "aria-label": `Zone ${zone}: what happens to it`, onclick: () => menuOfZone(zone, nodes, map.keys, edits, acts) });
    const head = make("div", { className: "zone-head" }, name, make("b", { textContent: String(present + came) }),
      make("span", { textContent: came ? `${present} + ${came} new` : present === 1 ? "pod" : "pods" }),
      make("span", { className: "dim", textContent: `${count(nodes.length, "node")}${notOpen ? `, ${notOpen.toLocaleString("en")} not open` : ""}` }));
    return make("section", { className: "zone", "aria-label": `zone ${zone}` }, head, bar, listed(zone, nodes, cells, map, opened));
  });
  const gone = map.left.length ? make("p", { className: "dim", textContent: `gone: ${map.left.slice(0, MOST_ROWS).join(", ")}` }) : "";
  const focused = document.activeElement.closest("#map") && document.activeElement.getAttribute("aria-label").split(":")[0];
  byId("map").replaceChildren(...boxes, gone);
  const again = (each) => each.getAttribute("aria-label")?.split(":")[0] === focused;
  if (focused) Array.from(document.querySelectorAll("#map button")).find(again)?.focus();
  const samples = [["pod", "running"], ["pod new", "placed now"], ["sample fits", "the next pod fits"], ["sample closed", "not open"]];
  byId("legend").replaceChildren(...samples.map(([className, says]) => make("span", {}, make("i", { className }), ` ${says}`)),
    make("span", { textContent: "click a zone or a node to change it" }));
  drawAnswer(placed);
  drawWhy(explained, placed);
};

const listed = (zone, nodes, cells, map, opened) => {
  if (map.nodes.length <= MANY) return make("div", { className: "nodes" }, cells(nodes));
  const list = make("div", { className: "nodes small" });
  const fold = make("details", { data: { zone }, open: opened.has(zone) }, make("summary", { textContent: "nodes" }), list);
  const fill = () => { if (fold.open && !list.children.length) list.append(...cells(nodes)); };
  fold.addEventListener("toggle", fill);
  fill();
  return fold;
};

const stateOf = (node, edits) => {
  const done = Object.keys(VERBS).find((word) => edits.includes(`${VERBS[word]} ${node.name}`));
  const [cordoned, lost] = ["cordoned", "not ready"].map((word) => node.closed.includes(word));
  return done || (lost ? "failed" : cordoned ? "cordoned" : node.joined ? "added" : node.closed.length ? "tainted" : "");
};
const tile = (node, pods, judged, edits, acts) => {
  const { present = 0, placed = 0 } = pods || {};
  const state = stateOf(node, edits);
  const marks = [...Array(present).fill("pod"), ...Array(placed).fill("pod new")];
  const dots = marks.length > MOST_DOTS ? count(marks.length, "pod") : marks.map((className) => make("i", { className }));
  const fits = judged?.feasible ? "fits" : "does not fit";
  const says = `${node.name}: ${count(present, "pod")}${placed ? `, ${placed} placed now` : ""}${state && `, ${state}`}, the next pod ${fits}`;
  return make("button", { type: "button", className: `node ${state} ${judged?.feasible ? "fits" : ""}`, title: node.name,
    "aria-label": says, "aria-haspopup": "dialog", onclick: () => menuOfNode(node, judged, edits, acts) },
  make("span", { className: "name", textContent: named(node.name) }), make("span", { className: "pods" }, dots),
  make("span", { className: "state", textContent: state }));
};

// What happens to a node, or to a zone.
const menu = (title, facts, choices) => {
  const dialog = byId("menu");
  const button = ([text, does]) => make("button", { type: "button", textContent: text, onclick: () => { dialog.close(); does(); } });
  dialog.replaceChildren(make("h3", { id: "menu-title", textContent: title }), ...facts,
    make("div", { className: "acts" }, choices.map(button), button(["Close", () => {}])));
  dialog.showModal();
};
const choicesOf = (target, edits, acts) => {
  const isChanged = edits.some((edit) => [...Object.values(VERBS), "uncordon"].some((verb) => edit === `${verb} ${target}`));
  return [...ACTS, ...(isChanged ? [["ready", "As it was"]] : [])].map(([word, text]) => [text, () => acts.put(target, word)]);
};
const menuOfNode = (node, judged, edits, acts) => {
  const why = (judged?.rejections || []).flatMap((each) => each.reasons.map((reason) => `${each.plugin}: ${reason}`));
  const sums = (judged?.constraints || []).filter((each) => each.matching !== null).map((each) =>
    `${short(each.topologyKey)} ${each.domain}: ${each.matching} + ${each.selfMatch} − ${each.globalMinimum} = ${each.skew}, maxSkew ${each.maxSkew}`);
  const load = node.load.filter((each) => each.percent !== null).map((each) => `${each.resource} ${each.percent}%`);
  const facts = [...why, ...sums, ...(load.length ? [`requested: ${load.join(", ")}`] : [])];
  const opens = stateOf(node, edits) === "cordoned" ? [["Uncordon", () => acts.put(node.name, "open")]] : [];
  menu(node.name, [make("p", { textContent: judged?.feasible ? "The next pod fits." : "The next pod does not fit." }),
    make("ul", {}, facts.map((textContent) => make("li", { textContent })))],
  [...choicesOf(node.name, edits, acts), ...opens, ["Add one like it", () => acts.add(node.name)]]);
};
const menuOfZone = (zone, nodes, keys, edits, acts) => {
  const [key, value] = [keys[keys.length - 1], nodes[0].path[keys.length - 1]];
  if (key && value !== null) menu(zone, [make("p", { textContent: count(nodes.length, "node") })], choicesOf(`${key}=${value}`, edits, acts));
};

// The answer, and the arithmetic behind it.
const TONES = { yes: ["good", "Yes: "], no: ["bad", "No: "], unknown: ["warn", "Unknown: "] };
const said = (className, first, ...rest) => {
  byId("answer").className = `card answer ${className}`;
  byId("verdict").replaceChildren(make("p", { className: "first", textContent: first }), ...rest);
};
export const drawRefused = (message) => {
  said("bad", message);
  byId("command").textContent = "";
};
const drawAnswer = (placed) => {
  const [tone, word] = TONES[placed.verdict];
  const [first, ...rest] = placed.answer;
  const notes = [...placed.notes, ...placed.gaps, ...placed.notModelled];
  const texts = (all) => all.map((textContent) => make("p", { textContent }));
  said(tone, /^(Yes|No|Unknown)\b/.test(first) ? first : word + first, ...texts([...rest, ...placed.unmet, ...placed.doubts]),
    notes.length ? make("details", {}, make("summary", { textContent: count(notes.length, "note") }), texts(notes)) : "");
  byId("command").textContent = placed.provenance.command;
};
const drawWhy = (explained, placed) => {
  const reasons = explained.nodes.flatMap((node) => node.rejections.flatMap((each) => each.reasons.map((reason) => [reason, node.name])));
  const grouped = [...Map.groupBy(reasons, ([reason]) => reason)].sort(([, one], [, other]) => other.length - one.length);
  const rows = grouped.map(([reason, nodes]) => make("li", {}, make("b", { textContent: count(nodes.length, "node") }), ` ${reason} `,
    make("span", { className: "dim", textContent: `${nodes.slice(0, 4).map(([, node]) => named(node)).join(", ")}${nodes.length > 4 ? " …" : ""}` })));
  byId("why").replaceChildren(make("p", { className: "first", textContent: explained.answer[0].replaceAll(end || "\n", "") }),
    ...explained.constraints.map((each, place) => table(each, placed.distribution[place] || [])),
    rows.length ? make("h4", { textContent: "Why nodes do not fit" }) : "", make("ul", {}, rows));
};
const table = (constraint, distribution) => {
  const { topologyKey, maxSkew, selfMatch, globalMinimum, minDomains, whenUnsatisfiable, domains } = constraint;
  const after = new Map(distribution.map((each) => [each.value, each.after]));
  // What only prefers has no minimum: its domains are scored, not judged.
  const isHard = whenUnsatisfiable === "DoNotSchedule";
  const rows = domains.slice(0, MOST_ROWS).map(({ value, matching, notCounted }) => {
    const skew = matching + selfMatch - globalMinimum;
    const isOver = isHard && skew > maxSkew;
    const sum = make("td", {}, `${matching} + ${selfMatch} − ${globalMinimum} = ${skew}`,
      make("b", { textContent: isOver ? ` > ${maxSkew}` : ` ≤ ${maxSkew}` }));
    return make("tr", { className: notCounted ? "dim" : isOver ? "bad" : "" }, make("th", { scope: "row", title: value, textContent: named(value) }),
      make("td", { textContent: matching }), isHard ? sum : null, make("td", { textContent: after.get(value) ?? "" }));
  });
  const heads = ["", "now", ...(isHard ? ["matching + self − min = skew"] : []), "then"]
    .map((textContent) => make(textContent ? "th" : "td", { textContent }));
  const facts = [`maxSkew ${maxSkew}`, isHard ? `min ${globalMinimum}` : "", minDomains ? `minDomains ${minDomains}` : "", whenUnsatisfiable];
  return make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": `The arithmetic of ${short(topologyKey)}` },
    make("table", {}, make("caption", { textContent: `${short(topologyKey)}: ${facts.filter(Boolean).join(", ")}` }),
      make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows)),
    domains.length > MOST_ROWS ? make("p", { className: "dim", textContent: `and ${(domains.length - MOST_ROWS).toLocaleString("en")} more` }) : "");
};

// A question's tab: a form of its arguments, and its answer as a page.
import { askPage, byId, copy, make, served } from "./common.js";
import { asArguments } from "./hands.js";

const COMMON = ["edits", "ignoreDaemonsets", "deleteEmptydirData", "force", "kubeVersion", "featureGates", "limit", "timeout"];
const LONG = ["manifest", "toManifest", "promises"];
const opened = new Map();

const kindsOf = (schema) => (schema.anyOf || [schema]).filter((each) => each.type !== "null");
const choicesOf = (schema) => kindsOf(schema).flatMap((each) => each.enum || (each.const !== undefined ? [each.const] : []));

/** The control of an argument, and what it is. */
const field = (name, schema, isRequired, known) => {
  const id = `argument-${name}`;
  const [first] = kindsOf(schema);
  const is = (type) => kindsOf(schema).some((each) => each.type === type);
  const choices = choicesOf(schema);
  let control;
  let read;
  if (is("boolean")) {
    control = make("input", { id, type: "checkbox", checked: Boolean(known ?? schema.default) });
    const before = control.checked;
    read = () => (control.checked === before && known === undefined ? undefined : control.checked);
  } else if (choices.length && !is("integer")) {
    control = make("select", { id }, make("option", { value: "", textContent: "default" }),
      choices.filter((each) => each !== null).map((each) => make("option", { value: each, textContent: each })));
    control.value = known ?? "";
    read = () => control.value || undefined;
  } else if (is("array") || LONG.includes(name)) {
    const lines = Array.isArray(known) ? known.join("\n") : known ?? "";
    control = make("textarea", { id, rows: LONG.includes(name) ? 6 : 2, value: lines, required: isRequired });
    const texts = () => control.value.split("\n").map((line) => line.trim()).filter(Boolean);
    read = () => (LONG.includes(name) ? control.value || undefined : texts().length ? texts() : undefined);
  } else {
    const isNumber = !is("string") && !choices.length;
    control = make("input", { id, type: isNumber ? "number" : "text", step: "any", value: known ?? "", required: isRequired,
      autocomplete: "off" });
    if (name === "workload") control.setAttribute("list", "workloads");
    const asNumber = (text) => (is("integer") || first.type === "number") && /^[\d.]+$/.test(text);
    read = () => (control.value === "" ? undefined : asNumber(control.value) ? Number(control.value) : control.value);
  }
  const text = make("span", { className: "name", textContent: name });
  const help = make("span", { className: "help", id: `${id}-help`, textContent: schema.description || "" });
  control.setAttribute("aria-describedby", help.id);
  const label = make("label", { for: id }, text);
  return { name, read, row: make("div", { className: `field ${control.type}` }, label, control, help) };
};

const tabOf = (name, { says, arguments: schema }) => {
  const { namespace, ...others } = asArguments();
  const known = "workload" in schema.properties ? { namespace, ...others } : others;
  const isRequired = (argument) => (schema.required || []).includes(argument);
  const fields = Object.entries(schema.properties).map(([argument, each]) =>
    field(argument, each, isRequired(argument), known[argument]));
  const [own, common] = [false, true].map((isCommon) => fields.filter((each) => COMMON.includes(each.name) === isCommon));
  const go = make("button", { className: "go", textContent: "Ask" });
  const stop = make("button", { type: "button", textContent: "Cancel", hidden: true });
  const bar = make("progress", { hidden: true, "aria-label": "Asking" });
  const said = make("p", { role: "status", className: "said" });
  const command = make("code", { className: "command", tabIndex: 0, hidden: true });
  const copyIt = make("button", { type: "button", textContent: "Copy", hidden: true, data: { says: "Copy" } });
  copyIt.addEventListener("click", () => copy(copyIt, command.textContent));
  const asJson = make("button", { type: "button", textContent: "JSON", hidden: true, "aria-pressed": "false" });
  const shown = make("iframe", { title: `The answer of ${name}`, hidden: true });
  shown.setAttribute("sandbox", "allow-scripts");
  shown.setAttribute("allow", "clipboard-write");
  const json = make("pre", { hidden: true, tabIndex: 0 });
  asJson.addEventListener("click", () => {
    json.hidden = !json.hidden;
    shown.hidden = !json.hidden;
    asJson.setAttribute("aria-pressed", String(!json.hidden));
  });
  const form = make("form", { className: "card", "aria-label": `Arguments of ${name}` }, make("p", { textContent: says }),
    own.map((each) => each.row), make("div", { className: "acts" }, go, stop),
    make("details", {}, make("summary", { textContent: "What is done first, and the scheduler" }), common.map((each) => each.row)));
  const body = make("div", { className: "body" },
    make("h2", { id: "asked-title", textContent: name }),
    make("div", { className: "asking" }, form, make("div", { className: "result" }, bar, said,
      make("div", { className: "ask" }, command, copyIt, asJson), json, shown)));

  let running = null;
  const ask = async () => {
    running?.abort();
    const own_ = new AbortController();
    running = own_;
    const passed = Object.fromEntries(fields.map((each) => [each.name, each.read()]).filter(([, value]) => value !== undefined));
    const parts = (passed.workload || "").split("/");
    if (parts.length === 3) Object.assign(passed, { namespace: parts[0], workload: parts.slice(1).join("/") });
    [stop.hidden, bar.hidden] = [false, false];
    said.className = "said";
    said.textContent = "Asking…";
    const isNewest = () => running === own_;
    try {
      const answer = await askPage(name, passed, own_.signal);
      if (!isNewest()) return;
      Object.assign(shown, { srcdoc: answer.page, hidden: !json.hidden });
      command.textContent = answer.command;
      json.textContent = JSON.stringify(answer.report, null, 2);
      [command.hidden, copyIt.hidden, asJson.hidden] = [!answer.command, !answer.command, false];
      said.textContent = `Exit code ${answer.exitCode}`;
    } catch (error) {
      if (!isNewest()) return;
      said.textContent = own_.signal.aborted ? "Cancelled" : error.message;
      said.className = own_.signal.aborted ? "said" : "said bad";
    }
    [stop.hidden, bar.hidden] = [true, true];
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  stop.addEventListener("click", () => running?.abort());
  if (!(schema.required || []).length && !("manifest" in schema.properties)) ask();
  return body;
};

export const openTab = (name, question) => {
  if (!opened.has(name)) opened.set(name, tabOf(name, question));
  const names = make("datalist", { id: "workloads" }, served.cluster.workloads.map(({ name: value }) => make("option", { value })));
  byId("asked").replaceChildren(names, opened.get(name));
};

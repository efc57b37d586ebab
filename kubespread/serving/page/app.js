// The page's frame: tabs, and the cluster that is followed.
import { byId, copy, fragment, keep, make, request, served, token } from "./common.js";
import { begin, refresh, shared } from "./hands.js";
import { openTab } from "./tabs.js";

const buttonOfCopy = byId("copy");
buttonOfCopy.dataset.says = "Copy";
buttonOfCopy.addEventListener("click", () => copy(buttonOfCopy, byId("command").textContent));

const root = document.documentElement;
root.dataset.theme = sessionStorage.getItem("theme") || "";
byId("theme").addEventListener("click", () => {
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  sessionStorage.setItem("theme", root.dataset.theme);
});

const show = (name) => {
  ["hand", "asked", "locked"].forEach((each) => { byId(each).hidden = each !== name; });
};
const locked = () => {
  sessionStorage.removeItem("token");
  show("locked");
  root.dataset.ready = "true";
};
addEventListener("locked", locked);
byId("unlock").addEventListener("submit", (event) => {
  event.preventDefault();
  location.hash = new URL(event.target.url.value, location.origin).hash;
});
// A link that is pasted into the same tab.
addEventListener("hashchange", () => location.reload());

const BY_HAND = "";
const TABS = 10;
const choose = (name, questions) => {
  document.querySelectorAll("#tabs a").forEach((each) => {
    const isIt = each.dataset.name === name;
    each.toggleAttribute("aria-current", isIt);
    if (isIt) each.setAttribute("aria-current", "page");
    if (isIt && each.closest("details")) each.closest("details").open = true;
  });
  document.title = name ? `${name} · kubespread` : "kubespread";
  show(name ? "asked" : "hand");
  if (name) openTab(name, questions[name]);
  keep({ ...(name && { tab: name }), ...shared() });
};

const look = async () => {
  const now = await (await request("/cluster")).json();
  const isOther = served.cluster !== null && now.number !== served.cluster.number;
  served.cluster = now;
  const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
  byId("source").textContent = [now.source, count(now.nodes, "node"), count(now.pods, "pod"), now.isLive ? "live" : ""]
    .filter(Boolean).join(" · ");
  if (isOther) {
    byId("changed").textContent = `Changed at ${now.time}`;
    refresh();
  }
};
const follow = async () => {
  if (!document.hidden) await look().catch((error) => { byId("changed").textContent = error.message; });
  setTimeout(follow, 3000);
};

const start = async () => {
  const asked = fragment();
  sessionStorage.setItem("token", token);
  keep(Object.fromEntries([...asked].filter(([name]) => name !== "token")));
  if (!token) return locked();
  await look();
  const questions = await (await fetch("/questions")).json();
  const tab = (name, text) => make("li", {}, make("a", {
    href: `#tab=${name}`, data: { name }, textContent: text,
    onclick: (event) => { event.preventDefault(); choose(name, questions); },
  }));
  const tabs = [tab(BY_HAND, "By hand"), ...Object.keys(questions).map((name) => tab(name, name))];
  const more = make("details", {}, make("summary", { textContent: "more" }), make("ul", {}, ...tabs.slice(TABS)));
  byId("tabs").append(...tabs.slice(0, TABS), make("li", {}, more));
  begin(asked.get("hand"));
  choose(asked.get("tab") in questions ? asked.get("tab") : BY_HAND, questions);
  if (served.cluster.isLive) setTimeout(follow, 3000);
  root.dataset.ready = "true";
};
start().catch((error) => { byId("changed").textContent = error.message; });

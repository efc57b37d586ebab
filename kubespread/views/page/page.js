"use strict";
(() => {
  const byId = (name) => document.getElementById(name);
  const picture = document.querySelector(".topology");

  // What is large is packed, and laid out when it is opened.
  const inflated = async (element) => {
    if (!element.hasAttribute("data-packed")) return element.textContent;
    const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const read = async (name) => JSON.parse(await inflated(byId(name)));
  const whenUnpacked = [];
  const unpack = async (...within) => {
    const every = within.flatMap((each) => Array.from(each.querySelectorAll("script.packed")));
    for (const packed of every) {
      const elements = await inflated(packed);
      if (packed.isConnected) packed.outerHTML = elements;
    }
    within.flatMap((each) => Array.from(each.querySelectorAll(".more"))).forEach((button) => button.remove());
    if (every.length) whenUnpacked.forEach((follow) => follow());
  };
  const isPacked = (element) => Boolean(element && element.querySelector("script.packed"));
  // A picture's nodes are links into their table.
  const unpackOpened = (opened) => (opened.id === "nodes" || opened.matches(".domain") ? unpack(byId("nodes"), picture) : unpack(opened));
  document.addEventListener("toggle", (event) => {
    if (event.target.open && isPacked(event.target) && !event.target.querySelector(".more")) unpackOpened(event.target);
  }, true);
  document.addEventListener("click", (event) => {
    if (event.target.matches(".more")) unpack(event.target.closest("details"));
  });

  // Tables that sort.
  const number = (value) => (/^[−-]?[\d.,]+%?$/.test(value) ? parseFloat(value.replace("−", "-").replace(/,/g, "")) : null);
  const compare = (one, other) => {
    const [first, second] = [number(one), number(other)];
    if (first !== null && second !== null) return first - second;
    if (first !== null || second !== null) return first !== null ? -1 : 1;
    return one.localeCompare(other, "en", { numeric: true });
  };
  document.querySelectorAll("table.sortable").forEach((sorted) => {
    const body = sorted.tBodies[0];
    const heads = Array.from(sorted.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const button = Object.assign(document.createElement("button"), { type: "button" });
      button.append(...head.childNodes);
      head.replaceChildren(button);
      button.addEventListener("click", async () => {
        if (isPacked(sorted)) await unpack(sorted.closest("details"));
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const keyed = Array.from(body.rows, (row) => [row.cells[column].textContent, row]);
        keyed.sort((one, other) => (down ? compare(other[0], one[0]) : compare(one[0], other[0])));
        body.append(...keyed.map((each) => each[1]));
      });
    });
  });

  // One search for all tables: rows without the words are hidden, tables with hits are opened.
  const tables = Array.from(document.querySelectorAll("details.rows"));
  const rowsOf = (table) => Array.from(table.querySelectorAll("tbody tr"));
  const find = byId("find");
  const tiles = Array.from(document.querySelectorAll("[data-find]"));
  const wordsHeld = new Map();
  const wordsOf = (row) => {
    if (!wordsHeld.has(row)) wordsHeld.set(row, row.textContent.toLowerCase());
    return wordsHeld.get(row);
  };
  const search = async () => {
    if (find.value && tables.some(isPacked)) await unpack(...tables, ...(picture ? [picture] : []));
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let hits = 0;
    let rows = 0;
    wordsHeld.clear();
    for (const table of tables) {
      const before = hits;
      for (const row of rowsOf(table)) {
        row.hidden = !words.every((word) => wordsOf(row).includes(word));
        rows += 1;
        hits += row.hidden ? 0 : 1;
      }
      table.hidden = words.length > 0 && hits === before;
      if (words.length && hits > before) table.open = true;
    }
    find.closest(".find").querySelector(".count").textContent = words.length ? `${hits} of ${rows} rows` : "";
    tiles.forEach((tile) => tile.setAttribute("aria-pressed", String(find.value === tile.dataset.find)));
  };
  find.addEventListener("input", search);
  find.closest(".find").hidden = !tables.some((table) => rowsOf(table).length > 2 || isPacked(table));
  tiles.forEach((tile) => {
    tile.setAttribute("aria-pressed", "false");
    tile.addEventListener("click", () => { find.value = find.value === tile.dataset.find ? "" : tile.dataset.find; search(); });
  });

  // Rows are cards on a phone, where each value needs its name.
  const phone = matchMedia("(max-width: 700px)");
  const label = () => {
    if (!phone.matches) return;
    for (const table of tables) {
      const names = Array.from(table.querySelectorAll("thead th"), (head) => head.textContent);
      for (const row of table.querySelectorAll("tbody tr")) {
        Array.from(row.cells).forEach((cell, column) => { if (column) cell.dataset.label = names[column]; });
      }
    }
  };
  phone.addEventListener("change", label);
  whenUnpacked.push(label);
  label();

  // A click copies a command. Pages from files may not use the clipboard in every browser.
  const copied = async (code) => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      return true;
    } catch {
      getSelection().selectAllChildren(code);
      return document.execCommand("copy");
    }
  };
  const copying = () => document.querySelectorAll("code.command:not(.copied)").forEach((code) => {
    code.classList.add("copied");
    const button = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: "Copy" });
    button.setAttribute("aria-label", `Copy ${code.textContent}`);
    button.addEventListener("click", async () => { button.textContent = (await copied(code)) ? "Copied" : "Press Ctrl+C"; });
    code.after(button);
  });
  whenUnpacked.push(copying);
  copying();

  const drawn = async () => {
    const table = byId("nodes").querySelector("table");
    const names = Array.from(table.tHead.rows[0].cells, (cell) => cell.textContent);
    const nameColumn = names.indexOf("Node");
    const cellsNow = () => Array.from(picture.querySelectorAll("a.node"));
    const rowOf = (cell) => byId(cell.getAttribute("href").slice(1));
    const nameOf = (cell) => rowOf(cell).cells[nameColumn].textContent;

    // What the table says of a node, beside the picture.
    const detail = byId("detail");
    const tell = (cell) => {
      const list = document.createElement("dl");
      Array.from(rowOf(cell).cells).forEach((each, column) => {
        if (!each.textContent) return;
        const pair = document.createElement("div");
        pair.append(Object.assign(document.createElement("dt"), { textContent: names[column] }));
        pair.append(Object.assign(document.createElement("dd"), { textContent: each.textContent }));
        list.append(pair);
      });
      detail.replaceChildren(list);
      detail.hidden = false;
    };
    const reached = (event) => {
      const cell = event.target.closest("a.node");
      if (cell) tell(cell);
    };
    picture.addEventListener("mouseover", reached);
    picture.addEventListener("focusin", (event) => {
      reached(event);
      if (event.target.matches("a.node")) cellsNow().forEach((cell) => cell.setAttribute("tabindex", cell === event.target ? "0" : "-1"));
    });
    picture.addEventListener("click", (event) => {
      if (event.target.closest("a.node")) byId("nodes").open = true;
    });

    document.addEventListener("keydown", (event) => { if (event.key === "Escape") detail.hidden = true; });

    // One stop for the tab key, arrows within: left and right in reading order, up and down to the nearest.
    const middle = (cell) => {
      const box = cell.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const nearest = (cells, from, down) => {
      const [x, y] = middle(from);
      let best = null;
      let least = Infinity;
      for (const cell of cells) {
        const [otherX, otherY] = middle(cell);
        const away = (otherY - y) * down;
        const distance = away + 2 * Math.abs(otherX - x);
        if (away > 2 && distance < least) [best, least] = [cell, distance];
      }
      return best;
    };
    picture.addEventListener("keydown", (event) => {
      const cells = cellsNow().filter((cell) => cell.getClientRects().length);
      const at = cells.indexOf(event.target);
      if (at < 0) return;
      const next = { ArrowRight: () => cells[at + 1], ArrowLeft: () => cells[at - 1], Home: () => cells[0],
        End: () => cells[cells.length - 1], ArrowDown: () => nearest(cells, cells[at], 1), ArrowUp: () => nearest(cells, cells[at], -1) }[event.key];
      const cell = next && next();
      if (cell) {
        event.preventDefault();
        cell.focus();
      }
    });

    // Steps: each frame says what changed, so any of them is the sum of those before it.
    const frames = await read("frames");
    const steps = document.querySelector(".steps");
    if (steps) {
      const start = await read("map");
      const [podColumn, stateColumn] = [names.indexOf(start.columns.pods), names.indexOf(start.columns.state)];
      const loadColumns = start.columns.loads.map((name) => names.indexOf(name));
      const isFull = (percent, shades) => (shades.find((shade) => percent >= shade[0]) || [0, ""])[1];
      const cellOf = new Map();
      const loadsBefore = new Map();
      const isLater = new Set(start.later);
      const slider = byId("step");
      const amount = (text) => (text ? parseInt(text, 10) : null);
      const adopt = () => cellsNow().filter((cell) => !cellOf.has(nameOf(cell))).forEach((cell) => {
        cellOf.set(nameOf(cell), cell);
        const cells = loadColumns.map((column) => rowOf(cell).cells[column]);
        loadsBefore.set(nameOf(cell), cells.map((each) => (each ? amount(each.textContent) : null)));
      });
      adopt();
      const hasNames = Boolean(picture.querySelector(".name"));
      const isClosing = (state) => state === "cordoned" || state === "not ready";
      const marks = (pods) => {
        if (!pods) return "";
        if (!hasNames) return String(pods);
        return pods <= 9 ? "●".repeat(pods) : `●×${pods}`;
      };
      const word = (states) => ["not ready", "cordoned", "joined", "gone"].find((each) => states.includes(each)) ||
        (states.length ? "tainted" : "");
      const write = (element, text) => { if (element && element.textContent !== text) element.textContent = text; };
      const at = (step) => {
        const now = { pods: new Map(Object.entries(start.pods)), states: new Map(Object.entries(start.states)),
          off: new Set(isLater), joined: new Set(start.joined), moved: new Set(), loads: new Map() };
        frames.slice(0, step).forEach((frame, place) => {
          const { pods = {}, states = {}, loads = {}, joined = [], unavailable = [] } = frame;
          Object.keys(pods).forEach((node) => now.loads.set(node, loads[node] || loadColumns.map(() => null)));
          Object.entries(loads).forEach(([node, amounts]) => now.loads.set(node, amounts));
          const here = [...Object.keys(pods), ...joined];
          Object.entries(pods).forEach(([node, count]) => now.pods.set(node, count));
          Object.entries(states).forEach(([node, told]) => {
            now.states.set(node, [...told, ...(start.states[node] || []).filter((state) => !isClosing(state))]);
          });
          here.forEach((node) => now.off.delete(node));
          joined.filter((node) => isLater.has(node)).forEach((node) => now.joined.add(node));
          unavailable.forEach((node) => now.off.add(node));
          if (place === step - 1) now.moved = new Set([...here, ...Object.keys(states), ...unavailable]);
        });
        return now;
      };
      const counted = (count, noun) => `${count.toLocaleString("en")} ${count === 1 ? noun : noun.replace(/^\w+/, "$&s")}`;
      const totals = Array.from(picture.querySelectorAll(".total"));
      const sumUp = (now) => totals.forEach((total, place) => {
        const here = start.domains[place].filter((name) => !now.off.has(name));
        const pods = here.reduce((sum, name) => sum + (now.pods.get(name) || 0), 0);
        const came = here.filter((name) => now.joined.has(name)).length;
        const closed = here.filter((name) => (now.states.get(name) || []).some(isClosing)).length;
        write(total, `${counted(here.length, "node")}, ${counted(pods, start.dot)}${came ? `, ${came.toLocaleString("en")} new` : ""}${closed ? `, ${closed.toLocaleString("en")} closed` : ""}`);
        total.closest(".domain").classList.toggle("moved", start.domains[place].some((name) => now.moved.has(name)));
      });
      const draw = (name, cell, now) => {
        const isOff = now.off.has(name);
        const count = isOff ? 0 : now.pods.get(name) || 0;
        const isAwaited = isOff && isLater.has(name) && !now.joined.has(name);
        const states = isOff ? (isAwaited ? [] : ["gone"]) : [...(now.states.get(name) || []), ...(now.joined.has(name) ? ["joined"] : [])];
        const told = isAwaited ? "not there yet" : states.join(", ");
        write(cell.querySelector(".pods"), marks(count));
        const state = cell.querySelector(".state");
        write(state, (isOff ? "" : state && state.dataset.word) || word(states));
        cell.title = `${name}: ${counted(count, start.dot)} at this step${told && `, ${told}`}`;
        cell.classList.toggle("off", isOff);
        cell.classList.toggle("closed", states.some(isClosing));
        cell.classList.toggle("joined", states.includes("joined"));
        cell.classList.toggle("moved", now.moved.has(name));
        const row = rowOf(cell);
        write(row.cells[podColumn], String(count));
        write(row.cells[stateColumn], told);
        const load = isOff ? loadColumns.map(() => null) : now.loads.get(name) || loadsBefore.get(name);
        loadColumns.forEach((column, place) => {
          const told = load[place] === null ? "" : `${load[place]}${place ? "%" : ""}`;
          write(row.cells[column], told);
          if (place) row.cells[column].className = told && `f${Math.round(Math.min(100, load[place]) / 5)} ${load[place] >= start.full ? "warn" : ""}`.trim();
        });
        const fullest = Math.max(-1, ...load.slice(1).filter((percent) => percent !== null));
        start.shades.forEach((shade) => cell.classList.remove(shade[1]));
        if (!isOff && start.shades.length && fullest >= 0) cell.classList.add(isFull(fullest, start.shades));
      };
      const mark = (step) => document.querySelectorAll("tr[data-step]").forEach((row) => row.classList.toggle("now", Number(row.dataset.step) === step));
      const show = () => {
        const step = Number(slider.value);
        const now = at(step);
        mark(step);
        for (const [name, cell] of cellOf) draw(name, cell, now);
        sumUp(now);
        const told = step ? `${step} of ${frames.length}: ${frames[step - 1].label}: ${frames[step - 1].text}` : `before the first of ${frames.length} steps`;
        byId("said").textContent = told;
        slider.setAttribute("aria-valuetext", told);
      };
      const go = (by) => { slider.value = String(Number(slider.value) + by); moved(); };
      const arrive = () => {
        const named = /^#step=(\d+)$/.exec(location.hash);
        if (named) slider.value = named[1];
        show();
      };
      const moved = () => {
        history.replaceState(null, "", `#step=${slider.value}`);
        show();
      };
      slider.addEventListener("input", moved);
      addEventListener("hashchange", arrive);
      byId("back").addEventListener("click", () => go(-1));
      byId("next").addEventListener("click", () => go(1));
      steps.hidden = false;
      whenUnpacked.push(() => { adopt(); show(); });
      arrive();
    }
  };

  addEventListener("beforeprint", () => document.querySelectorAll(".remarks details").forEach((each) => { each.open = true; }));

  const theme = byId("theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  });
  // A link names an element, or what the first cells of a row say: as many as tell it from others, however they are sorted.
  const namesOfRow = (row) => Array.from(row.cells, (_, place) => Array.from(row.cells, (cell) => cell.textContent).slice(0, place + 1).join(" "));
  const named = (name) => tables
    .map((table) => rowsOf(table).filter((row) => name.startsWith(row.cells[0].textContent) && namesOfRow(row).includes(name)))
    .find((rows) => rows.length) || [];
  const nameOfRow = (row) => namesOfRow(row).find((name) => named(name).length === 1 && named(name)[0] === row) ?? namesOfRow(row).pop();
  const unfold = async () => {
    let name = location.hash.slice(1);
    try { name = decodeURIComponent(name); } catch { /* not ours */ }
    const found = () => name && (byId(name) || named(name)[0]);
    if (name && !name.startsWith("step=") && !found()) await unpack(...tables, ...(picture ? [picture] : []));
    const target = found();
    document.querySelectorAll("tr.chosen").forEach((row) => row.classList.remove("chosen"));
    if (!target) return;
    const folded = target.closest("details");
    if (folded) folded.open = true;
    if (target.matches("tr")) target.classList.add("chosen");
    target.scrollIntoView({ block: folded === target ? "start" : "center" });
  };
  tables.forEach((table) => table.addEventListener("click", (event) => {
    const cell = event.target.closest("tbody td:first-child");
    if (cell && !event.target.closest("button") && !String(getSelection())) location.hash = encodeURIComponent(nameOfRow(cell.parentElement));
  }));
  addEventListener("hashchange", unfold);
  (async () => {
    if (picture) await drawn();
    await unfold();
    document.documentElement.dataset.ready = "true";
  })();
})();

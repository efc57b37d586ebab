// Loads Python and kubespread on the first question, and answers each in the page.
const PYODIDE = "https://cdn.jsdelivr.net/pyodide/v314.0.7/full/";
const here = (file) => new URL(file, import.meta.url).href;
const text = async (file) => (await fetch(here(file))).text();

const place = document.getElementById("ask-here");
place.innerHTML = `
  <p><label>pod.yaml<br><textarea id="pod" rows="20" style="width: 100%" spellcheck="false"></textarea></label></p>
  <p><label>cluster.yaml<br><textarea id="cluster" rows="20" style="width: 100%" spellcheck="false"></textarea></label></p>
  <p><label>kubespread <input id="words" class="md-input md-input--stretch" value="explain pod.yaml -S cluster.yaml"></label>
  <button id="ask" class="md-button">Ask</button></p>
  <pre id="answer" style="overflow: auto"></pre>`;
const [pod, cluster, words, ask, answer] = ["pod", "cluster", "words", "ask", "answer"].map((id) => document.getElementById(id));
[pod.value, cluster.value] = await Promise.all(["pod.yaml", "cluster.yaml"].map(text));

let loading;
async function load() {
  const { loadPyodide } = await import(`${PYODIDE}pyodide.mjs`);
  const python = await loadPyodide();
  await python.loadPackage("micropip");
  const micropip = python.pyimport("micropip");
  await micropip.install.callKwargs(here((await text("wheel")).trim()), { deps: false });
  python.runPython(await text("playground.py"));
  await micropip.install(python.globals.get("needed")());
  return python;
}

ask.onclick = async () => {
  ask.disabled = true;
  answer.textContent = "Loading Python and kubespread …";
  try {
    const python = await (loading ??= load());
    python.FS.writeFile("pod.yaml", pod.value);
    python.FS.writeFile("cluster.yaml", cluster.value);
    answer.textContent = python.globals.get("answered")(words.value);
  } catch (error) {
    loading = undefined;
    answer.textContent = `${error}`;
  }
  ask.disabled = false;
};

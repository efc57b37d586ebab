// Elements, requests with the token, and the cluster that is served.
export const byId = (name) => document.getElementById(name);

/** An element; texts among the children are texts, whatever they hold. */
export const make = (tag, properties = {}, ...children) => {
  const { data, ...rest } = properties;
  const element = Object.assign(document.createElement(tag), rest);
  Object.entries(rest).filter(([name]) => name.includes("-") || name === "for" || name === "role")
    .forEach(([name, value]) => element.setAttribute(name, value));
  Object.assign(element.dataset, data);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
};

export const token = new URLSearchParams(location.hash.slice(1)).get("token") || sessionStorage.getItem("token") || "";

export const request = async (path, body) => {
  const headers = { authorization: `Bearer ${token}` };
  const asked = body === undefined ? { headers }
    : { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, asked);
  if (answer.status === 401) dispatchEvent(new Event("locked"));
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer;
};

/** The report. */
export const ask = async (name, body) => (await request(`/ask/${name}`, body)).json();

export const copy = async (button, text) => {
  await navigator.clipboard.writeText(text).catch(() => {});
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = button.dataset.says; }, 1500);
};

/** What is served now. */
export const served = { cluster: null };

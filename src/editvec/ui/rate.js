"use strict";
// Shows one query at a time with its candidates. A key rates the current candidate, saves the rating and goes to the next.
// The text of edits is always inserted as text, never as HTML.
(async () => {
  const token = new URLSearchParams(location.search).get("token");
  history.replaceState(null, "", "/?token=" + encodeURIComponent(token));
  const byId = (name) => document.getElementById(name);
  const ask = async (path, options = {}) => {
    const answer = await fetch(path, { ...options, headers: { "X-Token": token, "Content-Type": "application/json" } });
    const value = await answer.json();
    if (!answer.ok) throw new Error(value.error || answer.statusText);
    return value;
  };
  let task;
  try { task = await ask("/data"); } catch (error) { byId("main").textContent = String(error.message); return; }
  const rated = new Map(task.rated.map(([query, candidate, value]) => [`${query},${candidate}`, value]));
  const places = task.queries.flatMap((each, query) => each.candidates.map((_, candidate) => ({ query, candidate })));
  let now = places.findIndex((place) => !rated.has(`${place.query},${place.candidate}`));
  if (now < 0) now = Math.max(0, places.length - 1);

  function version(kind, sign, texts) {
    const block = document.createElement("pre");
    block.className = kind;
    block.append(`${sign} `);
    texts.forEach((text, at) => {
      const part = at % 2 ? document.createElement("b") : document.createElement("span");
      part.textContent = text;
      block.append(part);
    });
    return block;
  }
  function article(edit, name) {
    const block = document.createElement("article");
    block.className = name;
    block.append(version("gone", "-", edit.before), version("come", "+", edit.after));
    return block;
  }
  function draw() {
    const here = places[now];
    if (!here) { byId("main").textContent = "There is nothing to rate."; return; }
    const query = task.queries[here.query];
    const title = document.createElement("h2");
    title.textContent = "This edit";
    const blocks = query.candidates.map((edit, candidate) => {
      const block = article(edit, candidate === here.candidate ? "now" : "");
      const value = rated.get(`${here.query},${candidate}`);
      for (const choice of [0, 1, 2]) {
        const button = document.createElement("button");
        button.textContent = choice;
        button.className = value === choice ? "chosen" : "";
        button.onclick = () => { now = places.findIndex((p) => p.query === here.query && p.candidate === candidate); rate(choice); };
        block.append(button);
      }
      return block;
    });
    byId("main").replaceChildren(title, article(query.edit, "query"), ...blocks);
    byId("where").textContent =
      `query ${here.query + 1} of ${task.queries.length} · ${rated.size} of ${places.length} rated`;
    document.querySelector("article.now").scrollIntoView({ block: "nearest" });
  }
  async function rate(value) {
    const here = places[now];
    try {
      await ask("/", { method: "POST", body: JSON.stringify([here.query, here.candidate, value]) });
    } catch (error) {
      byId("saved").textContent = `not saved: ${error.message}`;
      byId("saved").className = "bad";
      return;
    }
    rated.set(`${here.query},${here.candidate}`, value);
    byId("saved").className = "";
    byId("saved").textContent = rated.size === places.length ? "all candidates are rated, thank you" : "saved";
    if (now < places.length - 1) now += 1;
    draw();
  }
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (["0", "1", "2"].includes(event.key)) rate(Number(event.key));
    else if (event.key === "ArrowRight" || event.key === "ArrowDown") { now = Math.min(places.length - 1, now + 1); draw(); }
    else if (event.key === "ArrowLeft" || event.key === "ArrowUp") { now = Math.max(0, now - 1); draw(); }
    else return;
    event.preventDefault();
  });
  draw();
})();

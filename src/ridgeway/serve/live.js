// The live page: shows what the server's board has, and sends what is entered. All text is set as text, never as HTML,
// but for the report's parts, which the server has made from a template that escapes.
(() => {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const shown = { state: null, report: null };
  const latest = {};
  let session = { write: null, read_only: true };
  let state = null;

  // -- small parts ---------------------------------------------------------------------------

  const element = (name, text, classes) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (classes) made.className = classes;
    return made;
  };
  const remembered = (key, value) => {
    try {
      return value === undefined ? localStorage.getItem(key) : localStorage.setItem(key, value);
    } catch { return null; } // a browser that keeps nothing
  };
  const moment = (stamp) => {
    const date = new Date(stamp);
    if (!stamp || Number.isNaN(date.getTime())) return "";
    const today = date.toDateString() === new Date().toDateString();
    return date.toLocaleString([], today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" });
  };

  // A message at the foot of the page; what can be taken back has a button for it.
  const message = (text, { wrong = false, undo = null } = {}) => {
    const line = element("p", text, wrong ? "wrong" : "");
    const away = () => line.remove();
    if (undo) {
      const button = element("button", "Undo");
      button.type = "button";
      button.addEventListener("click", () => { away(); send(undo.action, undo); });
      line.append(button);
    }
    const close = element("button", "Close");
    close.type = "button";
    close.addEventListener("click", away);
    line.append(close);
    $("messages").append(line);
    while ($("messages").children.length > 3) $("messages").firstChild.remove();
    setTimeout(away, wrong ? 20000 : 12000);
  };

  // -- requests ------------------------------------------------------------------------------

  const get = async (path) => {
    const response = await fetch(path, { cache: "no-store" });
    if (response.status === 401) { leave(); throw new Error("not let in"); }
    if (!response.ok) throw new Error(`${response.status}`);
    return response;
  };
  const post = async (action, fields) => {
    const body = JSON.stringify({ ...fields, person: $("person").value });
    const headers = { "content-type": "application/json", "x-ridgeway-token": session.write || "" };
    let response;
    try {
      response = await fetch(`/api/${action}`, { method: "POST", headers, body });
    } catch {
      return { error: "The server cannot be reached: nothing was recorded. Try again when it is back." };
    }
    if (response.status === 401) leave();
    const answer = await response.json().catch(() => ({ error: `The server answered ${response.status}.` }));
    return answer;
  };
  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  // Whether it was done; a surprising value is asked about first.
  const send = async (action, fields) => {
    let answer = await post(action, fields);
    if (answer.surprise) {
      const said = await ask({ title: "Is that right?", text: answer.surprise, yes: "Take it as it is" });
      if (said.choice !== "yes") return false;
      answer = await post(action, { ...fields, sure: true });
    }
    if (answer.error) { message(capital(answer.error), { wrong: true }); return false; }
    message(answer.message, { undo: answer.undo });
    return true;
  };

  // -- questions -----------------------------------------------------------------------------

  // A field for the result of an output; its name says which one.
  const field = (name, { name: output, label }, start = "") => {
    const made = element("label", undefined, name);
    const input = Object.assign(element("input"), { name, inputMode: "decimal", autocomplete: "off", spellcheck: false, value: start });
    input.dataset.output = output;
    made.append(element("span", label), " ", input);
    return made;
  };
  const typed = (place, name) => Object.fromEntries([...place.querySelectorAll(`[name=${name}]`)].map((input) => [input.dataset.output, input.value]));
  const ask = ({ title, text = "", values = [], reason = null, yes, other = null, needed = false }) => new Promise((done) => {
    const dialog = $("question");
    $("question-title").textContent = title;
    $("question-text").textContent = text;
    $("question-values").replaceChildren(...values.map(([output, start]) => field("right", output, start)));
    $("question-reason-label").hidden = reason === null;
    $("question-reason").value = "";
    $("question-reason-label").firstElementChild.textContent = reason ? reason.label : "";
    $("question-reason").required = needed;
    const [first, second] = dialog.querySelectorAll("button");
    first.textContent = yes;
    second.hidden = other === null;
    second.textContent = other || "";
    dialog.returnValue = "no";
    dialog.addEventListener("close", () => done({
      choice: dialog.returnValue, value: typed($("question-values"), "right"), reason: $("question-reason").value,
    }), { once: true });
    dialog.showModal();
    if (values.length === 0 && reason === null) dialog.querySelector("[value=no]").focus(); // Enter pressed twice takes nothing
  });

  const failed = async ({ trial, awaited, known }) => {
    const some = Object.keys(known).length > 0;
    const said = await ask({
      title: some ? `Trial ${trial}: no more will come` : `Trial ${trial} failed`,
      text: some ? `It keeps what it has, and will have no ${awaited.join(", ")}.` : "",
      reason: { label: "Why" }, yes: some ? "No more will come" : "Record the failure",
    });
    if (said.choice === "yes") send("fail", { trial, reason: said.reason });
  };
  const abandoned = async (trial) => {
    const said = await ask({
      title: `Give up trial ${trial}`, text: "It will not be made. Its point may be asked for again.",
      reason: { label: "Why" }, yes: "Give it up",
    });
    if (said.choice === "yes") send("abandon", { trial, reason: said.reason });
  };
  const corrected = async (row) => {
    const said = await ask({
      title: `Correct trial ${row.trial}`, text: "What stands there now stays in the history.",
      values: state.outputs.filter(({ name }) => !row.awaited.includes(name)).map((output) => [output, row.values[output.name]]),
      reason: { label: "Why (needed)" }, needed: true, yes: "Correct it", other: "It has no value",
    });
    if (said.choice === "yes") send("correct", { trial: row.trial, value: said.value, reason: said.reason });
    if (said.choice === "other") send("correct", { trial: row.trial, discard: true, reason: said.reason });
  };
  const added = async (row) => {
    const lacking = state.outputs.filter(({ name }) => row.awaited.includes(name));
    const said = await ask({
      title: `Add to trial ${row.trial}`, text: "What it has stays as it is.", values: lacking.map((output) => [output, ""]), yes: "Record",
    });
    if (said.choice === "yes") send("tell", { trial: row.trial, value: said.value });
  };
  const takenBack = async (row) => {
    const said = await ask({
      title: `Take trial ${row.trial} back`, text: "It will be pending again. What stands there now stays in the history.",
      reason: { label: "Why (needed)" }, needed: true, yes: "Take it back",
    });
    if (said.choice === "yes") send("reopen", { trial: row.trial, reason: said.reason });
  };

  // -- what is to be done --------------------------------------------------------------------

  const cards = new Map();
  const makeCard = (item) => {
    const card = $("card").content.firstElementChild.cloneNode(true);
    const form = card.querySelector("form");
    card.id = `trial-${item.trial}`;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const button = form.querySelector(".main");
      button.disabled = true;
      const fields = [...form.querySelectorAll("[name=value]")];
      const next = card.nextElementSibling || card.previousElementSibling;
      const empty = fields.filter((input) => !input.value.trim()).map((input) => input.dataset.output);
      const done = await send("tell", { trial: item.trial, value: typed(form, "value"), sigma: typed(form, "sigma"), note: form.elements.note.value });
      button.disabled = false;
      if (!done) { (fields.find((input) => input.value.trim()) || fields[0]).focus(); return; }
      const now = [...form.querySelectorAll("[name=value]")]; // the page may have been brought up to date meanwhile
      for (const input of [...now, ...form.querySelectorAll("[name=sigma], [name=note]")]) input.value = "";
      const rest = now.find((input) => empty.includes(input.dataset.output));
      (rest || (next && next.querySelector("[name=value]")) || $("n")).focus(); // the next result can be typed at once
    });
    form.elements.fail.addEventListener("click", () => failed(state.pending.find(({ trial }) => trial === item.trial)));
    form.elements.abandon.addEventListener("click", () => abandoned(item.trial));
    return card;
  };
  const fillCard = (card, item) => {
    card.querySelector("h3").textContent = `Trial ${item.trial}`;
    card.querySelector("dl").replaceChildren(...item.inputs.flatMap(([name, cell]) => [element("dt", name), element("dd", cell)]));
    const form = card.querySelector("form");
    const awaited = state.outputs.filter(({ name }) => item.awaited.includes(name));
    const before = { ...typed(form, "value") }, noise = { ...typed(form, "sigma") };
    const focus = form.contains(document.activeElement) ? document.activeElement.dataset.output : null;
    const known = state.outputs.filter(({ name }) => name in item.known).map(({ name, label }) => {
      const line = element("p", `${label} `, "known");
      line.append(element("b", item.known[name]));
      return line;
    });
    form.querySelector(".values").replaceChildren(...known, ...awaited.map((output) => field("value", output, before[output.name] || "")));
    form.querySelector(".sigmas").replaceChildren(...awaited.map(({ name, label }) =>
      field("sigma", { name, label: `Standard deviation of ${state.outputs.length > 1 ? `the noise of ${label}` : "its noise"}, if known` }, noise[name] || "")));
    const again = focus && [...form.querySelectorAll("[name=value]")].find((input) => input.dataset.output === focus);
    if (again) again.focus({ preventScroll: true });
    form.elements.fail.textContent = known.length ? "No more will come …" : "It failed …";
    form.elements.abandon.hidden = known.length > 0;
    card.querySelector(".who").textContent = `Asked for by ${item.by}${item.at ? `, ${moment(item.at)}` : ""}`;
  };
  const showPending = () => {
    const now = new Map(state.pending.map((item) => [item.trial, item]));
    for (const [trial, card] of cards) {
      if (now.has(trial)) continue;
      const lost = Object.values(typed(card, "value")).filter((text) => text.trim()).join(", ");
      const row = state.results.find((result) => result.trial === trial);
      const found = row && Object.values(row.values).join(", ");
      if (lost && row) message(`Trial ${trial} is settled (${found || row.state}, by ${row.by}). You had typed ${lost}.`, { wrong: true });
      card.remove();
      cards.delete(trial);
    }
    let before = null;
    for (const item of state.pending) {
      const card = cards.get(item.trial) || makeCard(item);
      cards.set(item.trial, card);
      const text = JSON.stringify([item, state.outputs]);
      if (card.dataset.shown !== text) { fillCard(card, item); card.dataset.shown = text; }
      const place = before ? before.nextElementSibling : $("cards").firstElementChild;
      if (place !== card) $("cards").insertBefore(card, place); // a card in its place keeps the focus
      before = card;
    }
    $("nothing").hidden = state.pending.length > 0;
  };

  // -- results -------------------------------------------------------------------------------

  const words = { told: "", attached: "attached", failed: "failed", abandoned: "given up" };
  const showResults = () => {
    const { results, columns, outputs } = state;
    $("some").textContent = results.length === 0 ? "There are none yet."
      : results.length < state.settled ? `The latest ${results.length} of ${state.settled}; the file has all.` : "The latest first.";
    const names = ["trial", ...outputs.map(({ label }) => label), "", "remarks", ...columns, "when", "by"];
    const left = names.indexOf("remarks", outputs.length + 2); // after the results, one of which may have this name
    $("head").replaceChildren(...names.map((name, i) => Object.assign(element("th", name, i === left ? "words" : undefined), { scope: "col" })));
    $("rows").replaceChildren(...results.map((row) => {
      const line = element("tr", undefined, row.state);
      const head = Object.assign(element("th", String(row.trial)), { scope: "row" });
      const remarks = element("td", undefined, "words");
      for (const [text, kind] of [[words[row.state], "mark"], [row.suspect && `${outputs.length > 1 ? `${row.suspect} ` : ""}does not fit the others`, "mark suspect"]]) {
        if (text) remarks.append(element("span", text, kind), " ");
      }
      remarks.append([row.reason, row.sigma && `sigma ${row.sigma}`, row.notes, row.corrected].filter(Boolean).join("; "));
      const actions = element("td", undefined, "writes");
      const act = (text, call) => {
        const button = element("button", text, "plain");
        button.type = "button";
        button.setAttribute("aria-label", `${text} trial ${row.trial}`);
        button.dataset.key = `${text} ${row.trial}`;
        button.addEventListener("click", () => call(row));
        actions.append(button);
      };
      if (row.state !== "abandoned") act("correct", corrected);
      if (row.awaited.length && ["told", "attached"].includes(row.state)) act("add", added);
      if (row.state !== "attached") act("take back", takenBack);
      line.append(head, ...row.short.map((cell) => element("td", cell)), actions, remarks, ...row.cells.map((cell) => element("td", cell)), element("td", moment(row.at)), element("td", row.by));
      return line;
    }));
    $("history").hidden = state.changes.length === 0;
    $("changes").replaceChildren(...state.changes.map((cells) => {
      const line = element("tr");
      line.append(...cells.map((cell) => element("td", cell)));
      return line;
    }));
  };

  // What had the focus has it again, where it is still there.
  const keepingFocus = (change) => {
    const key = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.key : null;
    const scrolled = [...document.querySelectorAll("#results .scroll")].map((box) => [box, box.scrollLeft, box.scrollTop]);
    change();
    for (const [box, left, top] of scrolled) box.scrollTo({ left, top, behavior: "instant" });
    const again = key && [...document.querySelectorAll("[data-key]")].find((other) => other.dataset.key === key);
    if (again) again.focus({ preventScroll: true });
  };

  const showState = () => {
    document.title = state.pending.length ? `(${state.pending.length}) ${state.name}` : state.name;
    $("name").textContent = state.name;
    $("counted").textContent = `${state.target}: ${state.counted}`;
    showPending();
    keepingFocus(showResults);
    document.documentElement.dataset.state = latest.state || "";
  };

  // -- the report ----------------------------------------------------------------------------

  const darkness = window.matchMedia("(prefers-color-scheme: dark)");
  let themes = null;
  let figures = {};
  const plots = () => [...document.querySelectorAll("#sections .plot")];
  const draw = (plot) => RidgewayFigures.draw(plot, figures[plot.dataset.figure], darkness.matches ? themes.dark : themes.light);

  // One output at a time is shown; which one is remembered.
  let newest = null;
  const chosen = () => newest.outputs.find(({ label }) => label === remembered("ridgeway-output")) || newest.outputs[0];
  const choose = (label) => { remembered("ridgeway-output", label); return showOutput(label); };
  const turns = { ArrowLeft: -1, ArrowRight: 1 };
  const showChooser = (now) => {
    const labels = newest.outputs.map(({ label }) => label);
    const focus = $("outputs").contains(document.activeElement);
    $("outputs").hidden = labels.length < 2;
    $("outputs").replaceChildren(...labels.map((label, i) => {
      const tab = Object.assign(element("button", label), { type: "button", id: `output-tab-${i}`, tabIndex: label === now ? 0 : -1 });
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", "output");
      tab.setAttribute("aria-selected", String(label === now));
      tab.addEventListener("click", () => choose(label));
      tab.addEventListener("keydown", (event) => {
        const to = event.key === "Home" ? 0 : event.key === "End" ? labels.length - 1 : event.key in turns ? (i + turns[event.key] + labels.length) % labels.length : null;
        if (to === null) return;
        event.preventDefault();
        choose(labels[to]);
        $("outputs").children[to].focus();
      });
      return tab;
    }));
    const selected = $("outputs").querySelector("[aria-selected=true]");
    if (focus && selected) selected.focus({ preventScroll: true });
    if (labels.length > 1) { $("output").setAttribute("role", "tabpanel"); $("output").setAttribute("aria-labelledby", selected.id); }
  };

  const showReport = (report) => {
    newest = report;
    $("advice").hidden = !report.advice;
    $("advice-text").textContent = report.advice || "";
    $("unknown").hidden = true;
    return showOutput(chosen().label);
  };
  const showOutput = async (label) => {
    const report = newest.outputs.find((output) => output.label === label);
    showChooser(label);
    figures = report.figures;
    const open = new Set([...document.querySelectorAll("#sections details[open]")].map((d) => d.parentElement.querySelector("h3").textContent));
    const old = new Map(plots().map((plot) => [plot.dataset.figure, plot]));
    const made = document.createElement("template");
    made.innerHTML = report.sections;
    for (const plot of made.content.querySelectorAll(".plot")) {
      const before = old.get(plot.dataset.figure);
      if (!before) continue;
      before.setAttribute("aria-label", plot.getAttribute("aria-label"));
      plot.replaceWith(before); // drawn anew in place: nothing flickers
      old.delete(plot.dataset.figure);
    }
    for (const details of made.content.querySelectorAll("details")) {
      details.open = open.has(details.parentElement.querySelector("h3")?.textContent);
    }
    old.forEach((plot) => Plotly.purge(plot));
    $("summary").innerHTML = report.summary;
    $("sections").replaceChildren(made.content);
    const links = [...document.querySelectorAll("#sections > section")].map((section) => {
      const item = element("li");
      item.append(Object.assign(element("a", section.querySelector("h2").textContent), { href: `#${section.id}` }));
      return item;
    });
    $("contents").replaceChildren(...[...$("contents").children].slice(0, 3), ...links);
    for (const plot of plots()) {
      if (figures !== report.figures) return; // another one was chosen meanwhile
      if (figures[plot.dataset.figure].layout.scene && !plot.dataset.turns) {
        plot.dataset.turns = "yes";
        RidgewayFigures.turnable(plot);
      }
      await draw(plot);
    }
    document.documentElement.dataset.report = shown.report;
    document.documentElement.dataset.output = label;
  };
  darkness.addEventListener("change", () => plots().forEach(draw));

  // -- what the server says ------------------------------------------------------------------

  const texts = { database: "The database does not answer; what you see may be old. " };
  const showNotices = (notices) => {
    $("notices").replaceChildren(...Object.entries(notices).map(([key, text]) =>
      element("p", (texts[key] || "") + capital(text), key === "computing" ? "calm" : "")));
  };

  // One request at a time for each sheet: what changes meanwhile is asked for afterwards, once.
  const busy = {};
  const bring = async (name) => {
    if (left || busy[name] || latest[name] === undefined || latest[name] === shown[name]) return;
    busy[name] = true;
    try {
      const response = await get(`/api/${name}`);
      const content = await response.json();
      shown[name] = response.headers.get("x-version");
      if (name === "state" && content) { state = content; showState(); }
      if (name === "report" && content) await showReport(content);
    } catch (error) {
      await new Promise((later) => setTimeout(later, 1000));
    } finally {
      busy[name] = false;
    }
    bring(name);
  };

  const link = (text, kind) => { $("link").textContent = text; $("link").className = `link ${kind}`; };
  let events = null;
  let left = false;
  const leave = () => {
    left = true;
    if (events) events.close();
    link("The server was started anew: open the address that it printed", "away");
  };
  const connect = () => {
    events = new EventSource("/api/events");
    events.onopen = () => link("Live", "live");
    events.onmessage = (event) => {
      const { sheets, notices } = JSON.parse(event.data);
      Object.assign(latest, sheets);
      showNotices(notices);
      bring("state");
      bring("report");
    };
    events.onerror = () => {
      if (left) return;
      link("The server cannot be reached; trying again", "away");
      if (events.readyState === EventSource.CLOSED) setTimeout(() => begin().catch(() => {}), 2000);
    };
  };

  // A browser keeps six connections to one place: a page that nobody sees gives its own back.
  const patience = 5000;
  let asleep = null;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(asleep);
    if (left || !events) return;
    if (document.hidden) asleep = setTimeout(() => { events.close(); link("Paused while nobody looks", ""); }, patience);
    else if (events.readyState === EventSource.CLOSED) connect();
  });

  $("ask").addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = $("ask").querySelector("button");
    button.disabled = true;
    button.textContent = "Choosing …";
    await send("ask", { n: Number($("n").value) });
    button.disabled = false;
    button.textContent = "Ask";
  });
  $("person").value = remembered("ridgeway-person") || "";
  $("person").addEventListener("change", () => remembered("ridgeway-person", $("person").value));

  const begin = async () => {
    try {
      session = await (await get("/api/session")).json();
      themes = themes || await (await fetch(document.body.dataset.themes)).json();
    } catch (error) {
      if (!left) { link("The server cannot be reached; trying again", "away"); setTimeout(() => begin(), 2000); }
      return;
    }
    document.documentElement.classList.toggle("read-only", session.read_only);
    connect();
  };
  begin();
})();

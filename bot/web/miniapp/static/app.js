// The Mini App of one owner: every view asks REST in the session that Telegram's signature opened.

import { backButton, initData, post, start, startParam } from "./telegram.js";

const PAGE = 30;
const session = {};
let words = {};
let stack = [];

const say = (key, values = {}) => (words[key] || key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

// Elements are made of text nodes only: names and messages may contain HTML.
function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child != null && child !== ""));
  return made;
}

class Failed extends Error {}

async function call(method, path, { query = {}, body } = {}) {
  const address = new URL(path, location.origin);
  for (const [name, value] of Object.entries({ user_id: session.user_id, ...query }))
    if (value != null && !(body && "group_ids" in body && name === "user_id")) address.searchParams.set(name, value);
  const headers = { "X-CSRF-Token": session.csrf || "" };
  if (session.token) headers.Authorization = `Bearer ${session.token}`;
  if (body) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(address, { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(30000) });
  } catch {
    throw new Failed(say("offline"));
  }
  if (answer.status === 401 || answer.status === 404) throw new Failed(say(answer.status === 401 ? "expired" : "gone"));
  if (!answer.ok) throw new Failed(say("refused", { why: (await answer.json().catch(() => ({}))).detail || answer.status }));
  return answer.status === 204 ? null : answer.json();
}

const get = (path, query) => call("GET", path, { query });
const day = (at, whole) =>
  new Intl.DateTimeFormat(session.lang, {
    dateStyle: "medium", timeZone: session.tz, ...(whole ? {} : { timeStyle: "short" }),
  }).format(new Date(at));

// What is laid out

const item = (title, lines, pressed) =>
  h(pressed ? "button" : "div", { class: "item", onclick: pressed || (() => {}) }, title,
    lines.filter(Boolean).map((line) => h("small", {}, line)));
const empty = (key) => h("p", { class: "dim" }, say(key));
const section = (key, rows) => (rows.length ? [h("h2", {}, say(key)), rows] : []);
const button = (key, pressed, kind = "plain") => h("button", { class: kind, onclick: busy(pressed) }, say(key));

function busy(then) {
  return async (event) => {
    const pressed = event.currentTarget;
    pressed.disabled = true;
    try {
      await then();
    } catch (error) {
      notice(error);
    }
    pressed.disabled = false;
  };
}

function notice(error) {
  if (!(error instanceof Failed)) console.error(error);
  document.querySelector(".notice")?.remove();
  document.querySelector("main").prepend(h("p", { class: "late notice", role: "alert" }, error instanceof Failed ? error.message : say("broken")));
}

// A question inside the page: apps of every age show it.
function sure(text, confirm, then) {
  const main = document.querySelector("main");
  main.replaceChildren(h("p", {}, text), h("div", { class: "row" }, h("button", { class: "bad", onclick: busy(then) }, confirm), button("no", show)));
}

async function growing(load, row, none) {
  const list = h("div");
  const more = button("more", add);
  let shown = 0;
  async function add() {
    const { rows, count } = await load(shown);
    shown += rows.length;
    list.append(...rows.map(row));
    more.hidden = !rows.length || shown >= count;
  }
  await add();
  return shown ? [list, more] : [empty(none)];
}

function search(placeholder, find, all) {
  const found = h("div");
  const field = h("input", { type: "search", placeholder: say(placeholder), "aria-label": say(placeholder), enterkeyhint: "search" });
  let latest = 0;
  async function look() {
    const mine = (latest += 1);
    try {
      const parts = field.value.trim() ? await find(field.value.trim()) : await all();
      if (mine === latest) found.replaceChildren(...parts);
    } catch (error) {
      notice(error);
    }
  }
  let timer;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, 300);
  });
  return look().then(() => [field, found]);
}

// The views

const views = {};

views.today = {
  icon: "☀️",
  async draw() {
    const found = await get("/today", { days: 7 });
    const occasion = (one) => item(one.text, [day(one.date, true), ...one.citations.slice(0, 1).map(quoted)], one.person_id && (() => go("person", one.person_id)));
    const parts = [
      section("tasks", found.tasks.map(task)), section("occasions", found.occasions.map(occasion)),
      section("promises", found.promises.map(task)), section("waiting", found.waiting.map(task)),
      section("contacts", found.contacts.map(task)), section("questions", found.questions.map((one) => item(one.text, []))),
    ].flat(2);
    return rowsOr(parts, "no-today");
  },
};

views.people = {
  icon: "👥",
  draw: () => search("people-find",
    async (query) => rowsOr((await get("/people/search", { query })).people.map(person), "nobody"),
    () => growing(async (offset) => {
      const { people, count } = await get("/people", { limit: PAGE, offset });
      return { rows: people, count };
    }, person, "nobody")),
};

const rowsOr = (rows, none) => (rows.length ? rows : [empty(none)]);
const short = (text) => (text.length > 120 ? `${text.slice(0, 120).replace(/\s+\S*$/, "")}…` : text);
const quoted = (line) => say("quoted", { quote: short(line.quote), day: day(line.at, true) });
const person = (one) => item(one.display_name, [say(`circle-${one.circle}`), short(one.bio)], () => go("person", one.id));

views.person = {
  async draw(id) {
    const one = await get(`/people/${id}`);
    const { node_id } = await get(`/people/${one.id}/known`);
    const facts = node_id ? (await get(`/graph/nodes/${node_id}/facts`, { limit: PAGE })).facts || [] : [];
    return [
      h("p", { class: "dim" }, [say(`circle-${one.circle}`), ...one.aliases].join(" · ")),
      one.bio && h("p", {}, one.bio),
      section("facts", facts.map(fact)),
      h("div", { class: "row" }, button("forget", () => sure(say("forget-sure", { name: one.display_name }), say("forget"), async () => {
        await call("DELETE", `/people/${one.id}`);
        await back();
      }), "bad")),
    ];
  },
  title: async (id) => (await get(`/people/${id}`)).display_name,
};

views.tasks = {
  icon: "✅",
  async draw() {
    const title = h("input", { placeholder: say("task-new"), "aria-label": say("task-new"), enterkeyhint: "done", maxlength: 200 });
    const add = async (event) => {
      event.preventDefault();
      if (!title.value.trim()) return;
      await call("POST", "/tasks", { query: { user_id: null }, body: { user_id: session.user_id, title: title.value.trim() } });
      await show();
    };
    const found = await Promise.all(["proposed", "open"].map((state) => get("/tasks", { state, limit: 100 })));
    const tasks = found.flatMap((one) => one.tasks);
    return [h("form", { onsubmit: (event) => add(event).catch(notice) }, title), ...rowsOr(tasks.map(task), "no-tasks")];
  },
};

function task(one) {
  const late = one.due_at && new Date(one.due_at) < new Date() && !one.whole_day;
  const change = (body) => async () => {
    await call("PATCH", `/tasks/${one.id}`, { body });
    await show();
  };
  const due = one.due_at && h("small", { class: late && "late" }, day(one.due_at, one.whole_day));
  const tomorrow = new Date(Date.now() + 86400000).toISOString();
  const said = (one.citations || []).map((line) => h("small", {}, quoted(line)));
  return h("div", { class: "item" }, one.title, due, said, h("div", { class: "row" },
    one.state === "proposed" ? button("confirm", change({ state: "open" })) : button("done", change({ state: "done" })),
    one.due_at && one.state !== "proposed" ? button("tomorrow", change({ next_at: tomorrow })) : null,
    button("drop", change({ state: "cancelled" }), "bad")));
}

views.facts = {
  icon: "💡",
  draw: () => search("facts-find",
    async (query) => rowsOr((await call("POST", "/graph/search", {
      body: { query, search_type: "facts", max_results: PAGE, group_ids: [String(session.user_id)] },
    })).results.map(fact), "no-facts"),
    () => growing(async (offset) => {
      const { facts, count } = await get("/graph/facts", { limit: PAGE, offset });
      return { rows: facts, count };
    }, fact, "no-facts")),
};

views.files = {
  icon: "📄",
  draw: () => growing(async (offset) => {
    const { artifacts, count } = await get("/artifacts", { limit: PAGE, offset });
    return { rows: artifacts, count };
  }, (one) => item(one.name || say("file"), [day(one.added_at), one.pages > 1 && say("pages", { count: one.pages })], () => go("file", one.id)), "no-files"),
};

views.file = {
  async draw(id) {
    const one = await get(`/artifacts/${id}`);
    const { parts } = one.state === "read" ? await get(`/artifacts/${id}/text`) : { parts: [] };
    return [
      h("p", { class: "dim" }, day(one.added_at)),
      one.state === "failed" && h("p", { class: "late" }, say("unread")),
      parts.map((part) => h("blockquote", {}, part.text, part.page ? h("small", { class: "dim" }, part.position.replace(`${one.name}, `, "")) : "")),
      h("div", { class: "row" }, button("forget", () => sure(say("forget-file", { name: one.name }), say("forget"), async () => {
        await call("DELETE", `/artifacts/${id}`);
        await back();
      }), "bad")),
    ];
  },
  title: async (id) => (await get(`/artifacts/${id}`)).name || say("file"),
};

const since = (one) =>
  one.valid_at ? say(one.valid_at_precision ? "since" : "said", { day: day(one.valid_at, true) }) : "";
const fact = (one) => item(one.fact, [since(one)], () => go("fact", one.uuid));

views.fact = {
  async draw(uuid) {
    const one = await get(`/graph/facts/${uuid}`);
    const text = h("textarea", { rows: 3, "aria-label": say("correct"), maxlength: 2000 });
    text.value = one.fact;
    return [
      h("p", {}, one.fact),
      since(one) && h("p", { class: "dim" }, since(one)),
      one.original_fact && h("p", { class: "dim" }, say("corrected", { day: day(one.updated_at, true), was: one.original_fact })),
      section("sources", one.evidence.map((line) => h("blockquote", {}, line.quote,
        h("small", { class: "dim" }, [line.speaker, day(line.at)].filter(Boolean).join(", "))))),
      h("h2", {}, say("correct")), text,
      h("div", { class: "row" },
        button("save", async () => {
          const changed = await call("PATCH", `/graph/facts/${uuid}`, { body: { fact: text.value.trim() } });
          stack.pop();
          await go("fact", changed.new_uuid);
        }, ""),
        button("forget", () => sure(say("forget-sure", { name: one.fact }), say("forget"), async () => {
          await call("DELETE", `/graph/facts/${uuid}`);
          await back();
        }), "bad")),
    ];
  },
  title: () => say("fact"),
};

// Going about

const tabs = () => Object.keys(views).filter((name) => views[name].icon);

async function show() {
  const [name, id] = stack.at(-1);
  const main = document.querySelector("main");
  const mine = stack.at(-1);
  main.setAttribute("aria-busy", "true");
  try {
    const view = views[name];
    const [title, parts] = await Promise.all([view.title ? view.title(id) : say(name), view.draw(id)]);
    if (mine !== stack.at(-1)) return;
    document.querySelector("h1").textContent = title;
    main.replaceChildren(...parts.flat(3).filter(Boolean));
  } catch (error) {
    main.replaceChildren();
    notice(error);
  }
  main.removeAttribute("aria-busy");
  const deep = stack.length > 1;
  backButton(deep, back);
  document.querySelector("#back").hidden = !deep || window.TelegramWebviewProxy !== undefined || window.parent !== window;
  for (const tab of document.querySelectorAll("nav button"))
    tab.toggleAttribute("aria-current", tab.dataset.name === stack[0][0]);
}

async function go(name, id) {
  stack.push([name, id]);
  scrollTo(0, 0);
  await show();
  document.querySelector("main").focus({ preventScroll: true });
}

async function back() {
  if (stack.length > 1) stack.pop();
  else post("web_app_close");
  await show();
}

function lay() {
  document.querySelector("nav").replaceChildren(...tabs().map((name) => h("button", { "data-name": name, onclick: () => {
    stack = [];
    return go(name);
  } }, h("span", { "aria-hidden": "true" }, views[name].icon), say(name))));
  document.querySelector("#back").setAttribute("aria-label", say("back"));
  document.querySelector("#back").addEventListener("click", back);
}

const LINKS = { p: "person", f: "fact", t: "tasks" };

async function begin() {
  start();
  const all = await (await fetch("/app/words.json")).json();
  const speak = (lang) => (words = all[lang] || all[(lang || "").slice(0, 2)] || all.en);
  speak(navigator.language);
  try {
    Object.assign(session, await call("POST", "/console/login", { body: { init_data: initData } }));
  } catch (error) {
    document.querySelector("h1").textContent = "Laplaced";
    notice(initData ? error : new Failed(say("outside")));
    return;
  }
  speak(session.lang);
  document.documentElement.lang = session.lang;
  lay();
  const [kind, id] = startParam.split(/_(.*)/);
  stack = [[tabs()[0]]];
  if (LINKS[kind] && id) await go(LINKS[kind], id);
  else await show();
}

begin();

// The script of the page. Pasted text must only become text nodes, never HTML.

import { Search, received, serve } from "./page-search.js";
import { nameOf } from "./read.js";
import {
  collisionProbability, count, describe, facts as known, formatTime, formats, lookup,
  odds, ours, parseTime, plan, seconds,
} from "./sortid.js";
import { SPANS, distance, grouped, plural, zoneTime } from "./words.js";

const $ = (id) => document.getElementById(id);
const on = (id, type, listener) => $(id).addEventListener(type, listener);

const SVG = ["svg", "rect", "line", "polyline"];

// Replaces an element's children. Lists of children can be nested. Skips false, undefined and "".
const fill = (element, ...children) =>
  element.replaceChildren(...children.flat(Infinity).filter((child) => child));

function make(tag, attributes = {}, ...children) {
  const space = SVG.includes(tag) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
  const element = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "boolean") element.toggleAttribute(name, value);
    else element.setAttribute(name, value);
  }
  fill(element, children);
  return element;
}

const [div, paragraph, span, cell] = ["div", "p", "span", "td"].map((tag) =>
  (name, ...children) => make(tag, { class: name }, children));

// An ID, a time or a similar text in one line. On narrow screens, its letters are smaller.
function mono(text, name = "") {
  const element = span(`mono fit ${name}`, text);
  element.style.setProperty("--n", text.length);
  return element;
}

// Characters that are invisible, or change the order of other characters.
const HIDDEN = /((?![\t ])[\p{Control}\p{Surrogate}\p{Separator}\p{DI}\ufff9-\uffff])/gu;

function escape(c) {
  return span("escape", "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0"));
}

// A text from the user. Codes such as U+202E replace its hidden characters.
const foreign = (text) =>
  span("foreign", text.split(HIDDEN).map((part, i) => (i % 2 ? escape(part) : part)));

const clip = (text, length) => (text.length > length ? text.slice(0, length) + "…" : text);
const clamp = (n, most) => Math.max(0, Math.min(most, n));
const sleep = (milli) => new Promise((resolve) => { setTimeout(resolve, milli); });

async function copy(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // the clipboard is missing or not allowed
    const area = make("textarea", { class: "away" }, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = "Copied";
  await sleep(1500);
  button.textContent = label;
}

function makeButton(text, press, attributes = {}) {
  const button = make("button", { type: "button", ...attributes }, text);
  button.addEventListener("click", () => press(button));
  return button;
}

const copyButton = (text, what) => makeButton("Copy", (button) => copy(text, button),
  { class: "copy", "aria-label": `Copy ${what}` });

const facts = (...list) => make("dl", { class: "facts" }, list);
const fact = (name, ...values) => [make("dt", {}, name), make("dd", {}, values)];

const copiedFact = (name, element, ...more) =>
  fact(name, element, more, copyButton(element.textContent, name));

const complain = (view, error) =>
  fill($(`${view}-status`), span("problem", foreign(error.message)));

/* Times */

// A sentence in which a time never breaks across two lines.
const withTimes = (text) => text.split(/(\d{4,}-\d\d-\d\dT[\d:.]+Z)/)
  .map((part, i) => (i % 2 ? span("mono time-in", part) : part));

const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC";

/* Bits */

const KINDS = {
  time: "time", counter: "counter", node: "node and counter", random: "random", data: "data",
  zero: "always zero", fixed: "the same in all IDs",
};
const wide = globalThis.matchMedia?.("(min-width: 44rem)");

const fieldName = (field) => field.name || "zero";
const meaning = (field) => field.meaning ?? KINDS[field.kind];
const place = ({ bits, low }) => (bits === 1 ? `bit ${low}` : `bits ${low + bits - 1} to ${low}`);

// The map of an ID's bits. In each row, a field is one segment.
function bitMap(id) {
  const map = make("div", { class: "map", role: "group", "aria-label": "Bits" });
  const bits = id.value.toString(2).padStart(id.format.width, "0");
  const tip = make("div", { class: "tip", hidden: true });
  const draw = () => {
    const columns = wide.matches ? 32 : 16;
    map.replaceChildren(tip);
    for (let start = 0; start < bits.length; start += columns) {
      const part = (field) => segment(id, field, bits, start, start + columns);
      const row = div("bits", id.format.layout.map(part));
      row.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
      tip.before(row);
    }
  };
  wide.addEventListener("change", () => { if (map.isConnected) draw(); });
  draw();
  return map;
}

// A field's segment in the row that has the bits from start to end. Only the first of a field's
// segments can have the focus.
function segment(id, field, bits, start, end) {
  const left = bits.length - field.low - field.bits;
  const from = Math.max(left, start);
  const size = Math.min(left + field.bits, end) - from;
  if (size <= 0) return undefined;
  const first = from === left;
  const label = `${fieldName(field)}, ${id.field(field)}: ${meaning(field)}; ${place(field)}`;
  const element = make(first ? "button" : "div", {
    class: `segment ${field.kind}`, "data-field": field.low,
    ...(first ? { type: "button", "aria-label": label } : { "aria-hidden": "true" }),
  }, span("name", first && fieldName(field)), Array.from(bits.slice(from, from + size), (bit, i) =>
    span(i > 0 && (from + i) % 8 === 0 ? "bit byte" : "bit", bit)));
  element.style.gridColumn = `span ${size}`;
  element.style.gridTemplateColumns = `repeat(${size}, minmax(0, 1fr))`;
  return element;
}

const head = (text, name = "") => make("th", { scope: "col", class: name }, text);
const tableOf = (name, heads, rows) => make("table", { class: name },
  make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows));

const fieldTable = (id) => tableOf("fields",
  [head("Field"), head("Bits", "number"), head("Value", "number"), head("Meaning")],
  id.format.layout.map((field) => make("tr", { "data-field": field.low },
    make("th", { scope: "row" }, span(`swatch ${field.kind}`), fieldName(field)),
    cell("bits-of number", String(field.bits)),
    cell("number value", mono(id.field(field).toString())),
    cell("", meaning(field)))));

// Marks the field under the mouse or with the focus, in the map and in the table.
function markFields(card, id) {
  const map = card.querySelector(".map");
  const tip = card.querySelector(".tip");
  const mark = (part) => {
    const low = part?.dataset.field;
    for (const each of card.querySelectorAll("[data-field]")) {
      each.classList.toggle("on", each.dataset.field === low);
    }
    tip.hidden = !part?.matches(".segment");
    if (tip.hidden) return;
    const field = id.format.layout.find((field) => String(field.low) === low);
    const value = id.field(field);
    fill(tip, make("strong", {}, fieldName(field)), ` ${value}`, make("br"),
      `0x${value.toString(16)}, ${place(field)}`, make("br"), meaning(field));
    const box = part.getBoundingClientRect();
    const frame = map.getBoundingClientRect();
    tip.style.top = `${box.bottom - frame.top + 6}px`;
    tip.style.left = "0";
    tip.style.left = `${clamp(box.left - frame.left, frame.width - tip.offsetWidth)}px`;
  };
  for (const type of ["mouseover", "focusin", "click"]) {
    card.addEventListener(type, ({ target }) => mark(target.closest("[data-field]")));
  }
  for (const type of ["mouseleave", "focusout"]) card.addEventListener(type, () => mark());
  card.addEventListener("keydown", ({ key }) => { if (key === "Escape") mark(); });
}

/* An item is an ID with its encoding. It also says where the ID was and how it was read. */

const lineOf = ({ line }) => grouped(line);
const timeOf = ({ id }) => (id.milli === undefined ? "" : formatTime(id.milli));
const as = ({ id: { format: { name, encodings } }, encoding, reason }) =>
  `as ${name}${encodings.length > 1 ? ` ${encoding}` : ""}: ${reason}`;

const ENCODINGS = { text: "Text", hex: "Hex", int: "Integer", uuid: "UUID" };

function card(item) {
  const { id, context, reason, others = [], stripped = [], notes = id.notes } = item;
  const { format, milli } = id;
  const place = () => `line ${lineOf(item)}, column ${item.column}: `;
  const element = make("article", { class: "card", "aria-label": `${nameOf(item)} ${id}` },
    make("header", {}, make("h3", {}, mono(String(id), "id")),
      span("quiet", `${format.title}: ${format.summary}`)),
    context !== undefined && paragraph("place", span("quiet", place()), excerpt(item)),
    bitMap(id), fieldTable(id),
    facts(
      milli !== undefined && [
        copiedFact("Time", mono(timeOf(item)), span("quiet", distance(milli, Date.now()))),
        fact("Local", mono(zoneTime(milli, localZone)), span("quiet", localZone)),
      ],
      format.encodings.map((encoding) => copiedFact(ENCODINGS[encoding], mono(id[encoding]))),
      notes.map((note) => fact("Note", note)),
      reason && fact("Read", as(item)),
      others.map((other) => fact("Or", make("a", { href: hashOf(item.input, { as: other.id.format.name }) },
        as(other)), timeOf(other) && mono(timeOf(other)))),
      stripped.length > 0 && fact("Removed", stripped.join(", "))));
  markFields(element, id);
  return element;
}

function excerpt({ context, start, end }) {
  const from = Math.max(0, start - 60);
  return [
    from > 0 && "…", foreign(context.slice(from, start)),
    make("mark", {}, foreign(context.slice(start, end))),
    foreign(context.slice(end, end + 100)), end + 100 < context.length && "…",
  ];
}

/* Look */

const CARDS = 4; // more IDs than this are shown in a table
const ROWS = 1000; // rows that a table has at first

function showSearch(search, source = "") {
  const { items, lines, total, ended } = search;
  let status = "";
  let shown = [];
  if (total > CARDS) {
    const times = Float64Array.from(search.times).sort();
    status = summary(search, times, source);
    shown = [times.length > 0 && timeline(times), list(items, total)];
  } else if (total > 0) {
    const several = total > 1 || items[0].context !== undefined;
    if (several) status = `${plural(total, "ID")}${source}${without(search)}`;
    shown = items.map(card);
  } else if (lines > 1 || search.faultCount === 0) {
    status = `No ID in ${plural(lines, "line")}${source}.`;
  }
  fill($("status"), withTimes(status));
  fill($("result"), ended && paragraph("problem", ended),
    search.faultCount > 0 && faultList(search), shown);
}

const without = (search) =>
  (search.without ? `; ${plural(search.without, "line")} without an ID` : "");

function faultList({ faults, faultCount, lines }) {
  const rows = faults.map(({ line, word, reason }) => paragraph("problem",
    lines > 1 && `Line ${grouped(line)}: `, foreign(clip(word, 80)), " is no ID: ",
    foreign(reason)));
  const more = faultCount - faults.length;
  return div("faults", rows,
    more > 0 && paragraph("quiet", `and ${plural(more, "more line")} like these`));
}

const range = (first, last) => `from ${formatTime(first)} to ${formatTime(last)}`;

function summary(search, times, source) {
  const { items, total, counts } = search;
  const names = Object.entries(counts).map(([name, n]) => `${grouped(n)} ${name}`).join(", ");
  const when = times.length === 0 ? "none with a time" : range(times[0], times.at(-1));
  const twice = items.length < total ? 0
    : total - new Set(items.map(({ id }) => `${id.format.name} ${id}`)).size;
  return `${plural(total, "ID")}${source}: ${names}; ${when}` +
    (twice ? `; ${plural(twice, "repetition")}` : "") + without(search);
}

// A plot of the times of IDs. The arrow keys move from bar to bar. A click or Enter shows one bar's
// IDs in a plot of their own, and in that plot a button goes back.
function timeline(times, back) {
  const first = times[0];
  const length = times.at(-1) - first + 1;
  const bars = Math.min(96, length);
  const counts = new Array(bars).fill(0);
  for (const time of times) counts[Math.floor((time - first) * bars / length)]++;
  const most = Math.max(...counts);
  const rects = counts.map((count, i) => {
    const height = count && Math.max(1.5, 90 * count / most);
    return make("rect", {
      x: `${100 * i / bars}%`, width: `${Math.max(0.25, 100 / bars - 0.15)}%`,
      y: `${100 - height}%`, height: `${height}%`,
    });
  });
  const last = bars - 1;
  const svg = make("svg", {
    role: "slider", tabindex: 0, "aria-label": "Timeline", "aria-valuemin": 0,
    "aria-valuemax": last,
  }, rects);
  const about = paragraph("quiet");
  const begin = (i) => first + Math.floor(i * length / bars);
  let at = -1;
  const show = (i) => {
    rects[at]?.classList.remove("on");
    at = i;
    rects[at]?.classList.add("on");
    const words = i < 0 ? `Each bar shows the IDs of ${duration(length / bars)}. The ` +
      `highest bar shows ${plural(most, "ID")}. Point at a bar, or use the arrow keys. A click or ` +
      "Enter enlarges a bar."
      : `${plural(counts[i], "ID")} ${range(begin(i), begin(i + 1) - 1)}`;
    fill(about, withTimes(words));
    svg.setAttribute("aria-valuenow", Math.max(i, 0));
    svg.setAttribute("aria-valuetext", words);
  };
  svg.addEventListener("mousemove", (event) => {
    const box = svg.getBoundingClientRect();
    show(clamp(Math.floor((event.clientX - box.left) * bars / box.width), last));
  });
  for (const type of ["mouseleave", "blur"]) svg.addEventListener(type, () => show(-1));
  const enlarge = () => {
    const inside = times.filter((time) => begin(at) <= time && time < begin(at + 1));
    if (bars > 1 && inside.length > 0) swap(timeline(inside, plot));
  };
  svg.addEventListener("click", enlarge);
  svg.addEventListener("keydown", (event) => {
    if (event.key === "Enter") enlarge();
    const next = {
      ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, Home: 0, End: bars,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    show(clamp(next, last));
  });
  show(-1);
  const swap = (other) => {
    plot.replaceWith(other);
    other.querySelector("svg").focus();
  };
  const plot = div("plot", back && makeButton("Back", () => swap(back)), svg,
    paragraph("ends", span("", formatTime(first)), span("", formatTime(times.at(-1)))), about);
  return plot;
}

function duration(milli) {
  const [unit, length] = SPANS.slice(2).find(([, seconds]) => milli >= seconds * 1000) ?? [];
  if (unit) return plural(Number((milli / length / 1000).toPrecision(2)), unit);
  return plural(Math.max(1, Math.round(milli)), "millisecond");
}

const columns = [
  { name: "Line", kind: "where optional", value: ({ line }) => line, show: lineOf },
  { name: "Time", kind: "", value: ({ id }) => id.milli ?? -Infinity, show: timeOf },
  { name: "Format", kind: "optional", value: nameOf, show: nameOf },
  { name: "ID", kind: "", value: ({ input }) => input, show: ({ input }) => input },
];

// The table of IDs. A click on a column's head sorts the table, a click on an ID opens a card.
function list(items, total) {
  let order = items;
  let sorted = 0;
  let descending = false;
  let rows = Math.min(ROWS, items.length);
  const heads = columns.map(({ name, kind }, i) => head(makeButton(name, () => sort(i)), kind));
  const table = tableOf("", heads, []);
  const [body] = table.tBodies;
  const more = makeButton("", () => {
    const from = rows;
    rows = Math.min(order.length, rows + ROWS);
    draw(from);
    body.rows[from]?.querySelector("button")?.focus();
  });
  const draw = (from = 0) => {
    if (from === 0) body.replaceChildren();
    body.append(...order.slice(from, rows).map(row));
    const rest = order.length - rows;
    more.hidden = rest === 0;
    more.textContent = `Show ${grouped(Math.min(ROWS, rest))} more of ${grouped(order.length)}`;
    const [direction, arrow] = descending ? ["descending", " ↓"] : ["ascending", " ↑"];
    heads.forEach((cell, i) => {
      cell.ariaSort = i === sorted ? direction : null;
      cell.firstChild.textContent = columns[i].name + (i === sorted ? arrow : "");
    });
  };
  const sort = (i) => {
    descending = i === sorted && !descending;
    sorted = i;
    const sign = descending ? -1 : 1;
    order = items.map((item) => [columns[i].value(item), item])
      .sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0)).map(([, item]) => item);
    draw();
  };
  draw();
  const copyLines = (show) => (button) => copy(order.map(show).join("\n") + "\n", button);
  return div("list",
    div("row", makeButton("Copy as text", copyLines(({ id }) => String(id))),
      makeButton("Copy as JSON", copyLines((item) => JSON.stringify(record(item))),
        { id: "copy-json" })),
    items.length < total &&
      paragraph("quiet", `The table has the first ${grouped(items.length)} of ${plural(total, "ID")}.`),
    table, div("row", more));
}

function row(item) {
  const open = makeButton(mono(item.input), () => {
    const opened = element.nextSibling?.className === "opened";
    const details = () => make("td", { colspan: columns.length }, card(item));
    if (opened) element.nextSibling.remove();
    else element.after(make("tr", { class: "opened" }, details()));
    open.ariaExpanded = !opened;
  }, { class: "plain", "aria-expanded": "false" });
  const element = make("tr", {}, columns.map(({ name, kind, show }) =>
    cell(kind, name === "ID" ? open : mono(show(item)))));
  return element;
}

function record({ id, encoding, input, line, column, notes = describe(id).notes }) {
  const prefix = id.prefix || undefined;
  return { ...describe(id), notes, text: String(id), input, prefix, encoding, line, column };
}

const chosenFormat = () => ($("read-as").value ? lookup($("read-as").value) : undefined);

let worker; // searches a large input
let searched; // the file or the large text that is shown

function stop() {
  worker?.terminate();
  worker = undefined;
  $("progress").hidden = true;
}

function look() {
  stop();
  searched = undefined;
  const text = $("input").value;
  const search = new Search(chosenFormat());
  search.add(text, true);
  const [single] = search.lines === 1 && search.total === 1 ? search.items : [];
  $("clear").hidden = !text;
  $("try").hidden = text !== "";
  setHash(single?.input ?? "", { as: $("read-as").value });
  document.title = single ? `${single.input}: ${nameOf(single)}` : "sortid: What is this ID?";
  if (!text.trim()) {
    fill($("status"));
    fill($("result"), overview());
    return;
  }
  showSearch(search);
  const hidden = text.replace(/[\r\n]/g, " ").match(HIDDEN)?.length;
  if (hidden) {
    $("result").prepend(paragraph("quiet", `The text has ${plural(hidden, "character")} that a ` +
      "screen does not show, or that change the order of others. Below, a code such as U+202E " +
      "replaces each such character."));
  }
}

// Starts a worker that runs this script. Only this function can make the address of a script.
const policy = globalThis.trustedTypes?.createPolicy("worker", { createScriptURL: (url) => url });

function startWorker() {
  const script = document.querySelector("script[type=module]").textContent;
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  return new Worker(policy?.createScriptURL(url) ?? url);
}

const megabytes = (size) => `${Math.round(size / 1e6)}`;

// Searches a file, or a large text as one, while the page still reacts. The name is for messages.
function openFile(file, name = file.name) {
  stop();
  $("input").value = "";
  $("clear").hidden = false;
  $("try").hidden = true;
  setHash("", { as: $("read-as").value });
  document.title = `sortid: ${name}`;
  fill($("status"), "0 MB");
  fill($("result"));
  $("progress").hidden = false;
  $("progress").value = 0;
  searched = { file, name };
  worker = startWorker();
  worker.addEventListener("error", (event) => {
    stop();
    complain("look", event);
  });
  worker.addEventListener("message", ({ data }) => {
    const search = received(data);
    if (data.size) {
      $("progress").value = data.size / file.size;
      $("status").textContent = `${megabytes(data.size)} of ${megabytes(file.size)} MB, ` +
        plural(data.total, "ID");
    }
    if (!search) return;
    if (data.result) stop();
    if (search.refused) {
      fill($("status"));
      fill($("result"), paragraph("problem", foreign(name), ` ${search.refused}`));
      return;
    }
    const progress = $("status").textContent;
    showSearch(search, ` of ${name}`);
    if (data.first) {
      $("status").textContent = progress;
      $("result").prepend(paragraph("quiet", "The first results:"));
    }
  });
  worker.postMessage({ file, format: chosenFormat()?.name });
}

const LARGE = 2_000_000; // a longer text is searched like a file

function lookAtLarge(text) { openFile(new Blob([text]), "the pasted text"); }

/* The formats: the page shows them until there is an ID */

const others = formats.filter((format) => !format.generates);
const [best] = [...ours].sort((a, b) => known[a.name].plan.preference - known[b.name].plan.preference);
const WIDEST = Math.max(...formats.map((format) => format.width));

const tryButton = (text) => makeButton(mono(text), () => lookAt(text), { class: "plain" });

// The fields of a format as a bar. Bits of all formats have the same width.
function bar({ layout, width }) {
  const about = layout.map((field) => `${field.bits} bits ${fieldName(field)}`).join(", ");
  const strip = make("div", { class: "strip", role: "img", "aria-label": about });
  strip.style.width = `${100 * width / WIDEST}%`;
  for (const field of layout) {
    const title = `${fieldName(field)}, ${field.bits} bits: ${meaning(field)}`;
    const part = make("span", { class: `segment ${field.kind}`, title },
      span("label", span("", fieldName(field))), span("label mono", span("", String(field.bits))));
    part.style.width = `${100 * field.bits / width}%`;
    strip.append(part);
  }
  return strip;
}

function overview() {
  const shown = new Set(ours.flatMap(({ layout }) => layout.map(({ kind }) => kind)));
  const kinds = Object.entries(KINDS).filter(([kind]) => shown.has(kind));
  return div("formats",
    make("h3", {}, "IDs that sortid makes"),
    paragraph("legend", kinds.map(([kind, words]) => span("", span(`swatch ${kind}`), words))),
    ours.map((format) => make("article", { class: "format" },
      make("header", {}, make("h4", {}, format.title), span("quiet", format.summary)),
      bar(format), tryButton(format.example))),
    make("h3", {}, "Other IDs that sortid reads"),
    make("ul", { class: "others" }, others.map(({ title, summary, example }) => make("li", {},
      span("", title, " ", span("quiet", summary)), tryButton(example)))));
}

function sampleLog() {
  const end = Date.now();
  let at;
  const generator = best.generator({ now: () => at });
  return Array.from({ length: 80 }, (_, i) => {
    at = Math.floor(end - 3_600_000 * (1 - Math.sqrt(i / 80)));
    return `${formatTime(at)} INFO order ${generator.generate()} shipped`;
  }).join("\n");
}

function lookAt(text) {
  go("look");
  $("input").focus();
  if (text.length > LARGE) {
    lookAtLarge(text);
    return;
  }
  $("input").value = text;
  look();
}

/* Make */

function offer(select, values, chosen, label = (value) => value) {
  fill(select, values.map((value) => new Option(label(value), value)));
  select.value = chosen;
}

// Formats that the page also makes, to show what they look like.
const examples = ["uuidv7", "ulid"].map(lookup);

// An ID of the time now with random bits.
function newExample(format) {
  const now = Date.now();
  const content = ({ kind, bits }) => {
    if (kind === "time") return BigInt(Math.floor((now - format.epoch) / format.tick));
    const random = crypto.getRandomValues(new BigUint64Array(2));
    return BigInt.asUintN(bits, random[0] << 64n | random[1]);
  };
  const variable = format.layout.filter(({ kind }) => kind !== "fixed");
  return format.fromFields(Object.fromEntries(variable.map((f) => [f.name, content(f)])));
}

let making = 0; // the newest request; older ones show no result

function makeChanged() {
  making++;
  const { name: format, title, encodings, generates } = lookup($("make-format").value);
  const options = !generates ? []
    : known[format].options.filter(({ name }) => /^(node|worker|ext)$/.test(name));
  const encoding = $("make-encoding").value;
  const isChosen = encoding !== $("make-encoding").options[0]?.value && encodings.includes(encoding);
  offer($("make-encoding"), encodings, isChosen ? encoding : encodings[0]);
  fill($("make-options"), options.map(({ name, value, needed = false }) =>
    make("label", {}, `${name}, ${value} `, make("input", {
      id: `make-${name}`, name, required: needed, placeholder: needed ? "" : "none", size: 16,
    }))));
  $("make-about").textContent = generates
    ? options.map(({ name, usage }) => `${name}: ${usage}.`).join(" ")
    : `Examples of a ${title}, with the time and random bits. In a program, use a library for it.`;
  $("make-status").textContent = "";
  $("make-result").hidden = true;
}

// Generators by format and options. A second click uses the same generator again.
const makers = new Map();

async function makeSome() {
  const run = ++making;
  const format = lookup($("make-format").value);
  const encoding = $("make-encoding").value;
  const given = [...new FormData($("make-form"))].map(([name, value]) => [name, value.trim()]);
  const options = Object.fromEntries(given.filter(([, value]) => value));
  const key = `${format.name} ${JSON.stringify(options)}`;
  let ids;
  try {
    if (format.generates && !makers.has(key)) makers.set(key, format.generator(options));
    const next = () => (format.generates ? makers.get(key).generate() : newExample(format));
    const length = $("make-count").valueAsNumber;
    ids = Array.from({ length }, next).sort((a, b) => a.compare(b));
  } catch (error) {
    complain("make", error);
    $("make-result").hidden = true;
    return;
  }
  // Wait, because after a reload of the page, a generator with the same node ID could make the IDs
  // of the last tick again.
  const end = ids.at(-1).milli + format.tick;
  if (known[format.name]?.needs_node && Date.now() < end) {
    $("make-status").textContent = "Waiting until the time of the last ID is over …";
    while (Date.now() < end) await sleep(end - Date.now());
    if (run !== making) return;
  }
  $("make-status").textContent = `${plural(ids.length, "new ID")} of ${format.name}`;
  $("make-output").value = ids.map((id) => id[encoding]).join("\n") + "\n";
  $("make-output").rows = Math.min(16, ids.length + 1);
  $("make-result").hidden = false;
  $("make-look").dataset.format = format.name;
}

/* Range */

const COLUMNS = {
  text: "text", hex: "text (hex)", int: "bigint, numeric", uuid: "uuid",
  bytea: "bytea (PostgreSQL)", blob: "blob (SQLite, MySQL)",
};

const RANGE = ["format", "from", "to", "zone", "column", "type"];

// Fills the form of a range with the parameters of the hash.
function setRange(parameters) {
  if (parameters.size === 0) return;
  for (const name of RANGE) {
    const input = $(`range-${name}`);
    const value = parameters.get(name);
    const isOption = !input.options || [...input.options].some((option) => option.value === value);
    if (value === null || !isOption) continue;
    input.value = value;
    if (name === "format") rangeChanged(); // it offers the types of the format
  }
  rangeChanged();
}

function rangeEdited() {
  rangeChanged();
  setHash("range", Object.fromEntries(RANGE.map((name) => [name, $(`range-${name}`).value])));
}

function rangeChanged() {
  const format = lookup($("range-format").value);
  const zone = $("range-zone").value;
  const select = $("range-type");
  const types = [...format.encodings, "bytea", "blob"]
    .filter((type) => type !== "text" || format.text.sorts);
  if ($("range-form").dataset.format !== format.name || !types.includes(select.value)) {
    const usual = format.width === 64 && types.includes("int") ? "int" : types[0];
    offer(select, types, usual, (type) => COLUMNS[type]);
    $("range-form").dataset.format = format.name;
  }
  const encoding = format.encodings.includes(select.value) ? select.value : "hex";
  $("range-status").textContent = "";
  $("range-result").replaceChildren();
  try {
    const now = Date.now();
    const from = timeIn($("range-from").value, now, zone);
    const to = timeIn($("range-to").value, now, zone);
    const { first, end } = format.bounds(from, to);
    const sql = condition($("range-column").value, select.value, first, end);
    const shown = (milli) => (zone === "UTC" ? formatTime(milli) : zoneTime(milli, zone));
    $("range-result").append(make("article", { class: "card" }, facts(
      copiedFact("First", mono(first[encoding], "first"), span("quiet", shown(from))),
      copiedFact("End", mono(end[encoding], "end"), span("quiet", `${shown(to)}, not included`)),
      copiedFact("SQL", span("mono sql", sql)))));
  } catch (error) {
    complain("range", error);
  }
}

// Like parseTime, but also reads the start of today and yesterday, as flags of the command do.
function timeIn(text, now, zone) {
  const day = /^(today|yesterday)$/i.exec(text.trim());
  if (!day) return parseTime(text, now, zone);
  const today = zoneTime(now, zone).slice(0, 10);
  const back = day[0].toLowerCase() === "today" ? 0 : 24 * 3_600_000;
  return parseTime(formatTime(Date.parse(today) - back).slice(0, 10), now, zone);
}

function pick(input, calendar) {
  const zone = $("range-zone").value;
  try {
    const milli = timeIn(input.value, Date.now(), zone);
    calendar.value = zoneTime(milli, zone).slice(0, 16).replace(" ", "T");
  } catch { /* the calendar begins empty */ }
  try {
    calendar.showPicker();
  } catch { // the browser has no calendar
    input.focus();
  }
}

function condition(column, type, first, end) {
  if (!column.trim()) throw new RangeError("the column has no name");
  const literal = ({ hex, [type]: text }) =>
    ({ int: text, bytea: `'\\x${hex}'`, blob: `X'${hex}'` }[type] ?? `'${text}'`);
  return `${column} >= ${literal(first)} AND ${column} < ${literal(end)}`;
}

/* Choose */

function chooseChanged() {
  const number = (name) => $(`choose-${name}`).valueAsNumber;
  $("choose-result").replaceChildren();
  let answer;
  try {
    answer = plan({
      rate: number("rate"), burst: number("burst") || 0, processes: number("processes"),
      years: number("years"), bits: Number($("choose-bits").value),
      can_assign_nodes: $("choose-nodes").checked,
    });
  } catch (error) {
    complain("choose", error);
    return;
  }
  const { recommended, command, asked } = answer;
  $("choose-status").textContent = `${count(answer.ids)} IDs in all. ` + (recommended
    ? `Recommended: ${recommended}.` : "No format fits. Change one of the numbers.");
  const burst = ({ burst_ahead_seconds: ahead, burst_waits_seconds: waits }) =>
    (ahead > 0 ? `runs ${seconds(ahead)} ahead of the clock`
      : waits > 0 ? `waits ${seconds(waits)}` : "goes through at once");
  const cells = {
    "": ({ fits }) => (fits ? "fits" : "no"),
    Why: ({ reasons }) => reasons.join("; "),
    Collision: (row) => odds(row.collision_probability),
    "IDs in a tick": (row) => `${count(row.ids_per_tick)} in ${seconds(row.tick_seconds)}`,
    ...(asked.burst > 0 && { "A burst": burst }),
    Until: ({ ends }) => ends.split("-")[0],
    Column: ({ column, bytes }) => `${column}, ${bytes} bytes`,
  };
  const heads = ["Format", ...Object.keys(cells)].map((name) => (name ? head(name) : make("td")));
  const rows = answer.formats.map((row) =>
    make("tr", { class: row.format === recommended ? "recommended" : "" },
      make("th", { scope: "row" }, row.format),
      Object.entries(cells).map(([name, text]) => make("td", {
        class: name ? "" : row.fits ? "fits" : "problem", "data-head": name,
      }, text(row)))));
  $("choose-result").append(div("answer",
    command && facts(fact("Go on with",
      make("code", { id: "choose-command" }, command), copyButton(command, "the command"))),
    tableOf("plan", heads, rows), riskPlot(answer)));
}

function riskPlot({ asked, formats: results }) {
  const all = results.map(({ format }) => {
    const points = Array.from({ length: 41 }, (_, i) => {
      const years = asked.years * Math.max(i, 0.2) / 40;
      return [i / 40, collisionProbability(lookup(format), { ...asked, years })];
    });
    return { format, points, last: points.at(-1)[1] };
  });
  const lines = all.filter(({ last }) => last > 0).sort((a, b) => b.last - a.last);
  const title = make("h3", {}, "Probability that two IDs are ever the same");
  const figure = (...children) => make("figure", { class: "plot risk" }, title, children);
  if (lines.length === 0) {
    return figure(paragraph("quiet", "None for any format, in all these years."));
  }
  // The scale is from 1 (certain) down to below the smallest value, in powers of a thousand.
  const least = Math.min(...lines.map(({ points }) => Math.log10(points[1][1])));
  const bottom = Math.min(-9, Math.floor(Math.max(least, -45) / 3) * 3);
  const heightOf = (power) => clamp(100 * power / bottom, 100);
  const height = (p) => heightOf(Math.log10(p));
  const about = lines.map(({ format, last }) =>
    `${format}: ${odds(last)} after ${asked.years} years`).join("; ");
  const svg = make("svg", {
    viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img", "aria-label": about,
  });
  const box = div("box", svg);
  const label = (name, text, top) => {
    box.append(span(name, text));
    box.lastChild.style.top = `${top}%`;
  };
  const across = (power, kind) => {
    const y = heightOf(power);
    svg.append(make("line", { x1: 0, x2: 100, y1: y, y2: y, class: kind }));
  };
  for (let power = 0; power >= bottom; power -= bottom < -24 ? 9 : 3) {
    across(power, "grid");
    label("tick", power === 0 ? "certain" : `one in 10^${-power}`, heightOf(power));
  }
  across(-6, "limit");
  let above = -Infinity;
  for (const { format, points, last } of lines) {
    const curve = points.map(([x, p]) => `${100 * x},${height(p)}`).join(" ");
    svg.append(make("polyline", { points: curve, class: "curve" }));
    above = Math.max(above + 6.5, height(last)); // so that names do not overlap
    label("name", format, above);
  }
  const safe = all.filter(({ last }) => last === 0).map(({ format }) => format).join(" and ");
  return figure(box, paragraph("ends", span("", "now"), span("", `${asked.years} years`)),
    paragraph("quiet", "The dashed line is one in a million. A format whose curve " +
      `ends above it is not recommended.${safe && ` For ${safe}, the probability is zero.`}`));
}

/* The address bar, and the view on the screen */

const views = ["look", "make", "range", "choose"];

function go(view) {
  for (const name of views) $(`view-${name}`).hidden = name !== view;
  for (const link of document.querySelectorAll("nav a")) {
    link.ariaCurrent = link.hash === `#${view}` ? "page" : null;
  }
  document.title = `sortid: ${$(`${view}-title`).textContent}`;
}

// The hash is a text or the name of a view, and parameters, as in #01ARZ3NDEKTSV4RRFFQ69G5FAV&as=ulid.
function hashOf(text, parameters) {
  const given = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value));
  const hash = [encodeURIComponent(text), given].join("&").replace(/&$/, "");
  return hash && `#${hash}`;
}

const changes = []; // when the address changed in the last ten seconds
let later;

// Browsers refuse more than 200 changes in ten seconds.
function setHash(text, parameters) {
  clearTimeout(later);
  const hash = hashOf(text, parameters);
  if (location.hash === hash) return;
  const now = performance.now();
  while (changes[0] < now - 10_000) changes.shift();
  if (changes.length === 100) {
    later = setTimeout(setHash, 500, text, parameters);
    return;
  }
  changes.push(now);
  history.replaceState(null, "", hash || location.pathname + location.search);
}

function follow() {
  let [hash, ...rest] = location.hash.slice(1).split("&");
  const parameters = new URLSearchParams(rest.join("&"));
  try {
    hash = decodeURIComponent(hash);
  } catch { /* the hash is not encoded */ }
  const isView = views.includes(hash);
  go(isView ? hash : "look");
  if (hash === "range") setRange(parameters);
  if (isView) return;
  const format = parameters.get("as") ?? "";
  const known = [...$("read-as").options].some(({ value }) => value === format);
  if (hash === $("input").value.trim() && format === $("read-as").value) return;
  $("read-as").value = known ? format : "";
  $("input").value = hash;
  look();
}

// A paste goes into the field, also if the field has no focus. A large text is too slow for a field.
function paste(event) {
  const [file] = event.clipboardData.files;
  const text = event.clipboardData.getData("text");
  const inField = event.target.matches("input, textarea");
  if (inField && (event.target !== $("input") || !file && text.length <= LARGE)) return;
  event.preventDefault();
  if (file) {
    go("look");
    openFile(file);
  } else if (text) {
    lookAt(text);
  }
}

/* Start */

function start() {
  const titleOf = (name) => nameOf({ id: { format: lookup(name) } });
  const names = (list) => list.map(({ name }) => name);
  offer($("make-format"), [...names(ours), ...names(examples)], best.name, (name) =>
    (lookup(name).generates ? name : `${titleOf(name)}, as an example`));
  offer($("range-format"), names(formats.filter(({ ordered }) => ordered)), best.name, titleOf);
  offer($("read-as"), ["", ...names(formats)], "", (name) => (name ? titleOf(name) : "any format"));
  const zones = new Set(["UTC", localZone, ...Intl.supportedValuesOf("timeZone")]);
  offer($("range-zone"), [...zones], "UTC");
  const tryLog = makeButton("a log", () => lookAt(sampleLog()), { class: "plain" });
  $("try").append(" ", tryButton(best.example), " or ", tryLog, ".");
  for (const button of document.querySelectorAll("button.pick")) {
    const [input, calendar] = button.parentElement.querySelectorAll("input");
    button.addEventListener("click", () => pick(input, calendar));
    calendar.addEventListener("input", () => {
      input.value = calendar.value.replace("T", " ");
      rangeEdited();
    });
  }

  on("input", "input", look);
  on("read-as", "change", () => (searched ? openFile(searched.file, searched.name) : look()));
  on("clear", "click", () => lookAt(""));
  on("file", "change", ({ target }) => { if (target.files[0]) openFile(target.files[0]); });
  on("make-format", "change", makeChanged);
  on("make-form", "submit", makeSome);
  on("make-copy", "click", () => copy($("make-output").value, $("make-copy")));
  on("make-look", "click", () => {
    $("read-as").value = $("make-look").dataset.format;
    lookAt($("make-output").value);
  });
  on("range-form", "input", rangeEdited);
  on("choose-form", "input", chooseChanged);
  addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", follow);
  addEventListener("paste", paste);
  addEventListener("dragover", (event) => {
    event.preventDefault();
    $("input").classList.add("over");
  });
  for (const type of ["dragleave", "drop"]) {
    addEventListener(type, () => $("input").classList.remove("over"));
  }
  addEventListener("drop", (event) => {
    event.preventDefault();
    go("look");
    const [file] = event.dataTransfer.files;
    if (file) openFile(file);
    else lookAt(event.dataTransfer.getData("text"));
  });

  makeChanged();
  rangeChanged();
  chooseChanged();
  fill($("result"), overview());
  follow();
  if (location.hash.length < 2) $("input").focus();
}

if (globalThis.document) start();
else serve(); // in a worker

// The page. It shows what people paste only as text nodes.

import {
  Finder, ParseError, Ratio, collisionProbability, count, detect, formatTime, formats, lookup, odds, parseTime, plan,
  plausible, plausibleRange, seconds, strip, zoneOffset,
} from "./sortid.js";

const $ = (id) => document.getElementById(id);
const on = (id, type, listener) => $(id).addEventListener(type, listener);

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element && name !== "form") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function svgElement(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const classed = (tag) => (className, ...children) => make(tag, { className }, ...children);
const div = classed("div");
const paragraph = classed("p");
const span = classed("span");

// An ID, a time or a similar text in one line. Narrow screens have smaller letters.
function mono(text, className = "") {
  const element = span(`mono fit ${className}`, text);
  element.style.setProperty("--n", text.length);
  return element;
}

// Characters that are invisible, or change the order of others.
const HIDDEN = /([\u0000-\u0008\u000a-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\ud800-\udfff\u{e0000}-\u{e0fff}])/gu;

const escape = (c) => span("escape", "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0"));

// A text from elsewhere, with such characters written as codes.
const foreign = (text) => span("foreign", ...text.split(HIDDEN).map((part, i) => (i % 2 ? escape(part) : part)));

const clip = (text, length) => (text.length > length ? text.slice(0, length) + "…" : text);
const grouped = (n) => n.toLocaleString("en");
const plural = (n, unit) => `${grouped(n)} ${unit}${n === 1 ? "" : "s"}`;

async function copy(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // not allowed, or not there
    const area = make("textarea", { value: text, className: "away" });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1500);
}

function makeButton(text, press, properties = {}) {
  const button = make("button", { type: "button", ...properties }, text);
  button.addEventListener("click", () => press(button));
  return button;
}

const copyButton = (text, what) =>
  makeButton("Copy", (button) => copy(text, button), { className: "copy", "aria-label": `Copy ${what}` });

const complain = (view, error) => $(`${view}-status`).replaceChildren(span("problem", foreign(error.message)));

/* Times */

// A sentence in which no time breaks across lines.
const withTimes = (text) => text.split(/(\d{4,}-\d\d-\d\dT[\d:.]+Z)/)
  .map((part, i) => (i % 2 ? span("mono time-in", part) : part));

const HOUR = 3600; // seconds
const SPANS = [
  ["year", 365.25 * 24 * HOUR], ["month", (30 * 24 + 10) * HOUR], ["day", 24 * HOUR], ["hour", HOUR], ["minute", 60],
  ["second", 1],
];

// How long before or after now, in the two largest units.
function distance(milli, now) {
  const seconds = Math.abs(Math.floor(now / 1000) - Math.floor(milli / 1000));
  if (seconds === 0) return "just now";
  const i = SPANS.findIndex(([, length]) => seconds >= length);
  const [[unit, length], [smaller, part] = ["", Infinity]] = SPANS.slice(i);
  const rest = Math.floor(seconds % length / part);
  const words = plural(Math.floor(seconds / length), unit) + (rest > 0 ? ` ${plural(rest, smaller)}` : "");
  return milli < now ? `${words} ago` : `in ${words}`;
}

// A time in a zone.
function zoneTime(milli, zone) {
  const offset = Math.round(zoneOffset(milli, zone) / 60_000) * 60_000;
  const ahead = (offset < 0 ? "-" : "+") + formatTime(Math.abs(offset)).slice(11, 16);
  return formatTime(milli + offset).replace("T", " ").replace("Z", ` ${ahead}`);
}

const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC";

/* Bits */

const wide = matchMedia("(min-width: 44rem)");

const fieldName = (field) => field.name || "zero";
const meaning = (field) => field.meaning ?? KINDS[field.kind];
const place = (field) => (field.bits === 1 ? `bit ${field.low}` : `bits ${field.low + field.bits - 1} to ${field.low}`);

// The map of an ID's bits: a field is a segment in each row.
function bitMap(id, highlight) {
  const map = make("div", { className: "map", role: "group", "aria-label": "Bits" });
  const bits = id.value.toString(2).padStart(id.format.width, "0");
  const tip = make("div", { className: "tip", hidden: true });
  const draw = () => {
    const columns = wide.matches ? 32 : 16;
    map.replaceChildren();
    for (let start = 0; start < bits.length; start += columns) {
      const row = div("bits");
      row.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
      for (const field of id.format.layout) {
        const left = bits.length - field.low - field.bits;
        const from = Math.max(left, start);
        const to = Math.min(left + field.bits, start + columns);
        if (from < to) row.append(segment(id, field, bits, from, to, from === left));
      }
      map.append(row);
    }
    map.append(tip);
  };
  map.mark = (field) => {
    for (const part of map.querySelectorAll(".segment")) part.classList.toggle("on", part.dataset.field === String(field?.low));
  };
  const hide = () => {
    tip.hidden = true;
    map.mark();
    highlight();
  };
  const show = ({ target }) => {
    const part = target.closest(".segment");
    const field = part && id.format.layout.find(({ low }) => String(low) === part.dataset.field);
    if (!field) return;
    map.mark(field);
    highlight(field);
    const value = id.field(field);
    tip.replaceChildren(make("strong", {}, fieldName(field)), ` ${value}`, make("br"), `0x${value.toString(16)}, ${place(field)}`, make("br"), meaning(field));
    tip.hidden = false;
    const box = part.getBoundingClientRect();
    const frame = map.getBoundingClientRect();
    tip.style.top = `${box.bottom - frame.top + 6}px`;
    tip.style.left = "0";
    tip.style.left = `${Math.max(0, Math.min(box.left - frame.left, frame.width - tip.offsetWidth))}px`;
  };
  for (const event of ["mouseover", "focusin", "click"]) map.addEventListener(event, show);
  for (const event of ["mouseleave", "focusout"]) map.addEventListener(event, hide);
  map.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  wide.addEventListener("change", () => { if (map.isConnected) draw(); });
  draw();
  return map;
}

// A field's part in a row. The first part takes the focus for all parts.
function segment(id, field, bits, from, to, first) {
  const label = `${fieldName(field)}, ${id.field(field)}: ${meaning(field)}; ${place(field)}`;
  const element = make(first ? "button" : "div", {
    className: `segment ${field.kind}`, ...(first ? { type: "button", "aria-label": label } : { "aria-hidden": "true" }),
  });
  element.dataset.field = field.low;
  element.style.gridColumn = `span ${to - from}`;
  element.style.gridTemplateColumns = `repeat(${to - from}, minmax(0, 1fr))`;
  element.append(span("name", first ? fieldName(field) : ""));
  for (let i = from; i < to; i++) {
    element.append(make("span", { className: i % 8 === 0 && i > from ? "bit byte" : "bit" }, bits[i]));
  }
  return element;
}

function tableOf(className, heads, rows) {
  return make("table", { className }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
}

const head = (text, className = "") => make("th", { scope: "col", className }, text);

// Names and values, each value with its remarks and buttons.
const fact = (name, ...values) => [make("dt", {}, name), make("dd", {}, ...values)];
const facts = (...list) => make("dl", { className: "facts" }, ...list.flat());

function fieldTable(id, map) {
  const rows = id.format.layout.map((field) => {
    const row = make("tr", {},
      make("th", { scope: "row" }, span(`swatch ${field.kind}`), fieldName(field)),
      make("td", { className: "bits-of number" }, String(field.bits)),
      make("td", { className: "number value" }, mono(id.field(field).toString())),
      make("td", {}, meaning(field)));
    row.addEventListener("mouseenter", () => map.mark(field));
    row.addEventListener("mouseleave", () => map.mark());
    return row;
  });
  return tableOf("fields", [head("Field"), head("Bits", "number"), head("Value", "number"), head("Meaning")], rows);
}

/* An item is {id, encoding}, with where and how it was read. */

const nameOf = ({ id: { format } }) => (format.generates ? format.name : format.title);
const timeOf = ({ id }) => (id.milli === undefined ? "" : formatTime(id.milli));
const as = ({ id, encoding }) => (id.format.encodings.length > 1 ? `${id.format.name} ${encoding}` : id.format.name);

/* A card */

const encodingNames = { text: "Text", hex: "Hex", int: "Integer", uuid: "UUID" };

// A card of an item.
function card(item) {
  const { id } = item;
  const { format } = id;
  const list = facts();
  const add = (name, ...values) => list.append(...fact(name, ...values));
  const copied = (name, value, ...more) => add(name, mono(value), ...more, copyButton(value, name));
  if (timeOf(item)) {
    copied("Time", timeOf(item), span("quiet", distance(id.milli, Date.now())));
    add("Local", mono(zoneTime(id.milli, localZone)), span("quiet", localZone));
  }
  const about = `${format.title}: ${format.summary}`;
  const element = make("article", { className: "card", "aria-label": `${nameOf(item)} ${id}` },
    make("header", {}, make("h3", {}, mono(String(id), "id")), span("quiet", about)));
  if (item.context !== undefined) {
    element.append(paragraph("place", span("quiet", `line ${grouped(item.line)}, column ${item.column}: `),
      ...excerpt(item)));
  }
  let rows = [];
  const map = bitMap(id, (field) => rows.forEach((row, i) => row.classList.toggle("on", format.layout[i] === field)));
  const table = fieldTable(id, map);
  rows = [...table.tBodies[0].rows];
  element.append(map, table);
  for (const encoding of format.encodings) copied(encodingNames[encoding], id[encoding]);
  for (const note of id.notes) add("Note", note);
  if (item.reason) add("Read", `as ${as(item)}: ${item.reason}`);
  for (const other of item.others ?? []) {
    add("Or", span("", `as ${as(other)}: ${other.reason}`), ...(timeOf(other) ? [mono(timeOf(other))] : []));
  }
  if (item.stripped?.length) add("Taken off", item.stripped.join(", "));
  element.append(list);
  return element;
}

function excerpt({ context, start, end }) {
  const from = Math.max(0, start - 60);
  return [
    from > 0 ? "…" : "", foreign(context.slice(from, start)), make("mark", {}, foreign(context.slice(start, end))),
    foreign(context.slice(end, end + 100)), end + 100 < context.length ? "…" : "",
  ];
}

/* Look */

const MOST = 200_000; // items that are kept

// Collects the IDs of a text, part by part.
class Search {
  constructor(format) {
    this.format = format; // or undefined
    this.now = Date.now();
    this.finder = new Finder({ formats: format && [format], now: this.now });
    this.hashes = new Ratio();
    this.items = [];
    this.lines = 0; // that have ended
    this.column = 0; // where a part of the line begins
    this.faults = []; // lines that look like an ID and are not one
    this.faultCount = 0;
    this.without = 0; // lines without an ID
    this.rest = "";
  }

  add(text, last) {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop();
    if (last && this.rest) lines.push(this.rest);
    for (const line of lines) {
      this.part(line.endsWith("\r") ? line.slice(0, -1) : line);
      this.lines++;
      this.column = 0;
    }
    if (!last && this.rest.length > 1 << 20) { // read a long line in parts, which end between words
      let end = this.rest.length;
      while (end > 0 && /[0-9A-Za-z_-]/.test(this.rest[end - 1])) end--;
      end ||= this.rest.length;
      this.part(this.rest.slice(0, end));
      this.column += end;
      this.rest = this.rest.slice(end);
    }
  }

  part(text) {
    const line = this.lines + 1;
    const word = text.trim();
    if (!word || this.items.length >= MOST) return;
    let problem;
    if (word.length <= 100 && !/\s/.test(word)) {
      try {
        this.items.push({ ...read(word, this.format, this.now, this.hashes), line, input: word });
        return;
      } catch (error) {
        problem = error;
      }
    }
    const found = this.finder.find(text);
    for (const { id, encoding, start, end } of found) {
      const from = Math.max(0, start - 200);
      this.items.push({
        id, encoding, line, column: this.column + start + 1, input: text.slice(start, end),
        context: text.slice(from, end + 200), start: start - from, end: end - from,
      });
    }
    if (found.length > 0) return;
    this.without++;
    if (!problem) return;
    this.faultCount++;
    if (this.faults.length < 20) this.faults.push({ line, word, problem });
  }
}

// Reads a word as an ID, or throws an error that says why it is not one.
function read(word, format, now, hashes) {
  const { text, stripped } = strip(word);
  if (format) {
    const reason = "the format was given";
    try {
      return { ...format.parseAny(word), reason };
    } catch (error) {
      if (stripped.length === 0) throw error;
      return { ...format.parseAny(text), reason, stripped };
    }
  }
  const [first, ...others] = detect(text, now);
  if (/^[0-9a-fA-F]{40}$/.test(text) && !hashes.accept(first !== undefined) && first) {
    throw new Error("probably a hash, as others here are; read as scru160 it is shown all the same");
  }
  if (!first) throw { get message() { return why(text); } }; // computed only for lines that are shown
  const timed = first.id.timed ? ", and its time is plausible" : "";
  return { ...first, reason: first.reason + timed, others, stripped };
}

// Why a word is not an ID: in our formats, whether it nearly is one of ours, in the formats of
// others.
function why(word) {
  const day = (milli) => formatTime(milli).split("T")[0];
  const { length } = word;
  const usual = ({ text: { lengths = [], usual_lengths: usual = lengths } }) => usual;
  const wrong = (format) => {
    try {
      const { id } = format.parseAny(word);
      const { from, to } = plausibleRange(format);
      return (plausible(id) ? "no generator makes such an ID"
        : `as ${format.name} its time would be ${formatTime(id.milli)}, and plausible is ${day(from)} to ${day(to)}`) +
        `; read as ${format.name} it is shown all the same`;
    } catch (error) {
      return error instanceof ParseError && usual(format).includes(length) ? `${format.name}: ${error.detail}` : undefined;
    }
  };
  const nearly = (format) => {
    const n = usual(format).find((n) => Math.abs(n - length) === 1);
    if (!n || !format.hasSymbols(word) || /^[0-9a-f]+$/i.test(word)) return undefined;
    return `it has ${plural(length, "character")}, and ${format.name} ${n}: was one ${length < n ? "lost" : "added"}?`;
  };
  const first = (among, reason) => among.map(reason).find((words) => words);
  return first(ours, wrong) ?? first(ours, nearly) ?? first(others, wrong) ??
    (/^[0-9]+$/.test(word) ? "it is larger than the largest ID of any format"
      : `its length of ${plural(length, "character")} fits no format`);
}

const CARDS = 4; // up to so many IDs are shown as a card each
const ROWS = 1000; // rows of a table at first

function showSearch(search, source) {
  const { items } = search;
  const parts = [];
  let status = "";
  if (items.length > 0 && items.length <= CARDS) {
    if (items.length > 1 || items[0].context !== undefined) status = `${plural(items.length, "ID")}${without(search)}`;
    parts.push(...items.map(card));
  } else if (items.length > 0) {
    status = summary(search);
    parts.push(timeline(items), list(items));
  } else if (search.lines > 1 || search.faultCount === 0) {
    status = `No ID in ${plural(search.lines, "line")}${source ? ` of ${source}` : ""}.`;
  }
  if (search.faultCount) parts.unshift(faultList(search));
  if (search.ended) parts.unshift(paragraph("problem", search.ended));
  $("status").replaceChildren(...withTimes(status));
  $("result").replaceChildren(...parts);
}

const without = (search) => (search.without ? `; ${plural(search.without, "line")} without one` : "");

function faultList(search) {
  const rows = search.faults.map(({ line, word, problem }) => paragraph("problem",
    search.lines > 1 ? `Line ${grouped(line)}: ` : "", foreign(clip(word, 80)), ` is no ID: ${problem.detail ?? problem.message}`));
  const more = search.faultCount - search.faults.length;
  if (more > 0) rows.push(paragraph("quiet", `and ${plural(more, "line")} more like these`));
  return div("faults", ...rows);
}

// The first and the last time of items.
function timesOf(items) {
  let first = Infinity;
  let last = -Infinity;
  for (const { id } of items) {
    first = Math.min(first, id.milli ?? first);
    last = Math.max(last, id.milli ?? last);
  }
  return { first, last };
}

function summary(search) {
  const counts = new Map();
  const values = new Set();
  for (const item of search.items) {
    counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1);
    values.add(`${item.id.format.name} ${item.id}`);
  }
  const { first, last } = timesOf(search.items);
  const twice = search.items.length - values.size;
  return `${plural(search.items.length, "ID")}: ${[...counts].map(([name, n]) => `${grouped(n)} ${name}`).join(", ")}; ` +
    `${first <= last ? `from ${formatTime(first)} to ${formatTime(last)}` : "none with a time"}${twice ? `; ${plural(twice, "repetition")}` : ""}${without(search)}`;
}

// A plot of when IDs were made. The arrow keys go along it.
function timeline(items) {
  const { first, last } = timesOf(items);
  if (last < first) return "";
  const length = last - first + 1;
  const bars = Math.min(96, length);
  const counts = new Array(bars).fill(0);
  for (const { id } of items) if (id.milli !== undefined) counts[Math.floor((id.milli - first) * bars / length)]++;
  const most = Math.max(...counts);
  const rects = counts.map((count, i) => {
    const height = count ? Math.max(1.5, 90 * count / most) : 0;
    return svgElement("rect", { x: `${100 * i / bars}%`, width: `${Math.max(0.25, 100 / bars - 0.15)}%`, y: `${100 - height}%`, height: `${height}%` });
  });
  const svg = svgElement("svg", { "role": "slider", "tabindex": 0, "aria-label": "Timeline", "aria-valuemin": 0, "aria-valuemax": bars - 1 }, ...rects);
  const about = paragraph("quiet");
  const bounds = (i) => [first + Math.floor(i * length / bars), first + Math.floor((i + 1) * length / bars) - 1];
  let at = -1;
  const show = (i) => {
    rects[at]?.classList.remove("on");
    at = i;
    const says = i < 0
      ? `How many were made when; ${grouped(most)} at most in ${duration(length / bars)}. Point at a bar, or use the arrow keys.`
      : `${plural(counts[i], "ID")} from ${formatTime(bounds(i)[0])} to ${formatTime(bounds(i)[1])}`;
    rects[i]?.classList.add("on");
    about.replaceChildren(...withTimes(says));
    svg.setAttribute("aria-valuenow", String(Math.max(i, 0)));
    svg.setAttribute("aria-valuetext", says);
  };
  svg.addEventListener("mousemove", (event) => {
    const box = svg.getBoundingClientRect();
    show(Math.max(0, Math.min(bars - 1, Math.floor((event.clientX - box.left) * bars / box.width))));
  });
  svg.addEventListener("mouseleave", () => show(-1));
  svg.addEventListener("blur", () => show(-1));
  svg.addEventListener("keydown", (event) => {
    const next = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: Math.max(at, 1) - 1, ArrowDown: Math.max(at, 1) - 1, Home: 0, End: bars - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    show(Math.min(bars - 1, next));
  });
  show(-1);
  return div("plot", svg,
    paragraph("ends", span("", formatTime(first)), span("", formatTime(last))), about);
}

function duration(milli) {
  const [unit, length] = SPANS.slice(2).find(([, seconds]) => milli >= seconds * 1000) ?? [];
  if (unit) return plural(Number((milli / length / 1000).toPrecision(2)), unit);
  return plural(Math.max(1, Math.round(milli)), "millisecond");
}

const columns = [
  { name: "Line", className: "where optional", value: (item) => item.line, show: (item) => grouped(item.line) },
  { name: "Time", value: ({ id }) => id.milli ?? -Infinity, show: timeOf },
  { name: "Format", className: "optional", value: nameOf, show: nameOf },
  { name: "ID", value: (item) => item.input, show: (item) => item.input },
];

// The table of IDs. A column's head sorts; an ID opens its card.
function list(items) {
  let order = items;
  let sorted = 0;
  let descending = false;
  let rows = Math.min(ROWS, items.length);
  const body = make("tbody");
  const more = makeButton("", () => {
    const from = rows;
    rows = Math.min(order.length, rows + ROWS);
    draw(from);
    body.rows[from]?.querySelector("button")?.focus();
  });
  const heads = columns.map((column, i) => head(makeButton(column.name, () => sort(i)), column.className));
  const draw = (from = 0) => {
    if (from === 0) body.replaceChildren();
    body.append(...order.slice(from, rows).map(row));
    more.hidden = rows >= order.length;
    more.textContent = `Show ${grouped(Math.min(ROWS, order.length - rows))} more of ${grouped(order.length)}`;
    const [direction, arrow] = descending ? ["descending", " ↓"] : ["ascending", " ↑"];
    heads.forEach((cell, i) => {
      cell.ariaSort = i === sorted ? direction : null;
      cell.firstChild.textContent = columns[i].name + (i === sorted ? arrow : "");
    });
  };
  const sort = (i) => {
    descending = i === sorted && !descending;
    sorted = i;
    const { value } = columns[i];
    const sign = descending ? -1 : 1;
    order = items.map((item) => [value(item), item])
      .sort(([a], [b]) => (a < b ? -sign : a > b ? sign : 0)).map(([, item]) => item);
    draw();
  };
  draw();
  const copyLines = (show) => (button) => copy(order.map(show).join("\n") + "\n", button);
  return div("list",
    div("row", makeButton("Copy as text", copyLines((item) => String(item.id))),
      makeButton("Copy as JSON", copyLines((item) => JSON.stringify(record(item))), { id: "copy-json" })),
    make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body), div("row", more));
}

function row(item) {
  const cells = columns.map(({ className = "", show }) => make("td", { className }, mono(show(item))));
  const element = make("tr", {}, ...cells);
  cells.at(-1).replaceChildren(makeButton(mono(item.input), (button) => {
    const open = element.nextSibling?.className === "opened";
    if (open) element.nextSibling.remove();
    else element.after(make("tr", { className: "opened" }, make("td", { colSpan: columns.length }, card(item))));
    button.setAttribute("aria-expanded", String(!open));
  }, { className: "plain", "aria-expanded": "false" }));
  return element;
}

function record({ id, encoding, input, line, column }) {
  const prefix = id.prefix.slice(0, -1) || undefined;
  return { ...id.toJSON(), text: String(id), input, prefix, encoding, line, column };
}

const chosenFormat = () => ($("read-as").value ? lookup($("read-as").value) : undefined);

let running = 0; // so that a newer search ends an older one

function look() {
  running++;
  const text = $("input").value;
  document.title = "sortid: look into an ID";
  $("clear").hidden = !text;
  $("try").hidden = text !== "";
  if (!text.trim()) {
    $("status").textContent = "";
    $("result").replaceChildren(overview());
    setHash();
    return;
  }
  const search = new Search(chosenFormat());
  search.add(text, true);
  showSearch(search);
  const hidden = [...text.matchAll(HIDDEN)].filter(([c]) => c !== "\n" && c !== "\r").length;
  if (hidden > 0) {
    $("result").prepend(paragraph("quiet",
      `The text has ${plural(hidden, "character")} that a screen does not show or that change the order of others; below they stand as U+XXXX.`));
  }
  const single = search.items.length === 1 && search.lines === 1 ? search.items[0] : undefined;
  setHash(single?.input);
  if (single) document.title = `${single.input}: ${nameOf(single)}`;
}

// Reads a file of any size in parts, so that the page still reacts.
async function openFile(file) {
  const run = ++running;
  const search = new Search(chosenFormat());
  $("input").value = "";
  $("clear").hidden = false;
  $("try").hidden = true;
  setHash();
  try {
    let stream = file.stream();
    const head = new Uint8Array(await file.slice(0, 8192).arrayBuffer());
    if (head[0] === 0x1f && head[1] === 0x8b) stream = stream.pipeThrough(new DecompressionStream("gzip"));
    const reader = stream.getReader();
    const decoder = new TextDecoder();
    let read = 0;
    let next = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (run !== running) return reader.cancel();
      if (read === 0 && value?.subarray(0, 8192).includes(0)) {
        reader.cancel();
        $("result").replaceChildren(paragraph("problem", foreign(file.name), " is a binary file, not text."));
        $("status").textContent = "";
        return undefined;
      }
      search.add(done ? decoder.decode() : decoder.decode(value, { stream: true }), done);
      if (done) break;
      read += value.length;
      if (search.items.length >= MOST) {
        reader.cancel();
        search.ended = `The first ${grouped(MOST)} IDs; the file was not read further.`;
        break;
      }
      if (performance.now() > next) {
        $("status").textContent = `${Math.round(read / 1e6)} MB, ${plural(search.items.length, "ID")}`;
        next = performance.now() + 100;
        await new Promise((resolve) => { setTimeout(resolve); });
      }
    }
  } catch (error) {
    search.ended = `The file could not be read to its end: ${error.message}`;
  }
  showSearch(search, "the file");
  return undefined;
}

/* The formats, which the page shows before there is an ID */

const KINDS = {
  time: "time", counter: "counter", node: "node and counter", random: "random", data: "data",
  zero: "always zero", fixed: "the same in all IDs",
};
const ours = formats.filter((format) => format.generates);
const others = formats.filter((format) => !format.generates);
const [best] = [...ours].sort((a, b) => a.plan.preference - b.plan.preference);
const WIDEST = Math.max(...formats.map((format) => format.width));

const tryButton = (text, label = mono(text)) => makeButton(label, () => lookAt(text), { className: "plain" });

// A format's bar of fields. A bit has the same width in all bars.
function bar(format) {
  const about = format.layout.map((field) => `${field.bits} bits ${fieldName(field)}`).join(", ");
  const strip = make("div", { className: "strip", role: "img", "aria-label": about });
  strip.style.width = `${100 * format.width / WIDEST}%`;
  for (const field of format.layout) {
    const title = `${fieldName(field)}, ${field.bits} bits: ${meaning(field)}`;
    const part = make("span", { className: `segment ${field.kind}`, title },
      span("label", span("", fieldName(field))), span("label mono", span("", String(field.bits))));
    part.style.width = `${100 * field.bits / format.width}%`;
    strip.append(part);
  }
  return strip;
}

function overview() {
  const shown = new Set(ours.flatMap((format) => format.layout.map(({ kind }) => kind)));
  const legend = Object.entries(KINDS).filter(([kind]) => shown.has(kind))
    .map(([kind, words]) => span("", span(`swatch ${kind}`), words));
  return div("formats",
    make("h3", {}, "IDs that sortid makes"), paragraph("legend", ...legend),
    ...ours.map((format) => make("article", { className: "format" },
      make("header", {}, make("h4", {}, format.title), span("quiet", format.summary)),
      bar(format), tryButton(format.example))),
    make("h3", {}, "IDs of others that it reads"),
    make("ul", { className: "others" }, ...others.map((format) =>
      make("li", {}, span("", format.title, " ", span("quiet", format.summary)), tryButton(format.example)))));
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
  $("input").value = text;
  go("look");
  look();
  $("input").focus();
}

/* Make */

function options(select, values, chosen) {
  select.replaceChildren(...values.map((value) => make("option", { value, selected: value === chosen }, value)));
}

let making = 0; // so that the result of an older request is not shown later

function makeChanged() {
  making++;
  const format = lookup($("make-format").value);
  const encoding = $("make-encoding").value;
  options($("make-encoding"), format.encodings, format.encodings.includes(encoding) ? encoding : "text");
  $("make-options").replaceChildren(...format.generatorOptions.map(({ name, value, needed }) =>
    make("label", {}, `${name}, ${value} `,
      make("input", { id: `make-${name}`, name, required: needed === true, placeholder: needed ? "" : "none", size: 16 }))));
  $("make-about").textContent = format.generatorOptions.map(({ name, usage }) => `${name}: ${usage}.`).join(" ");
  $("make-status").textContent = "";
  $("make-result").hidden = true;
}

// Generators by format and options: a second click continues.
const makers = new Map();

async function makeSome() {
  const run = ++making;
  const format = lookup($("make-format").value);
  const encoding = $("make-encoding").value;
  const count = Math.min(10_000, Math.max(1, Math.floor(Number($("make-count").value))));
  const inputs = [...$("make-options").querySelectorAll("input")];
  const given = Object.fromEntries(inputs.map(({ name, value }) => [name, value.trim()]).filter(([, value]) => value));
  const ids = [];
  try {
    const key = `${format.name} ${JSON.stringify(given)}`;
    if (!makers.has(key)) makers.set(key, format.generator(given));
    for (let i = 0; i < count; i++) ids.push(makers.get(key).generate());
  } catch (error) {
    complain("make", error);
    $("make-result").hidden = true;
    return;
  }
  // After a reload, a generator with the same node ID could repeat the last tick.
  const end = ids.at(-1).milli + format.tick;
  if (format.needs_node && Date.now() < end) {
    $("make-status").textContent = "Waiting until the time of the last ID is over …";
    while (Date.now() < end) await new Promise((resolve) => { setTimeout(resolve, end - Date.now()); });
    if (run !== making) return;
  }
  $("make-status").textContent = `${plural(ids.length, "new ID")} of ${format.name}`;
  $("make-output").value = ids.map((id) => id[encoding]).join("\n") + "\n";
  $("make-output").rows = Math.min(16, ids.length + 1);
  $("make-result").hidden = false;
  $("make-look").dataset.format = format.name;
}

/* Range */

const columnTypes = { text: "text", hex: "text (hex)", int: "bigint, numeric", uuid: "uuid", bytea: "bytea (PostgreSQL)", blob: "blob (SQLite, MySQL)" };

function rangeChanged() {
  const format = lookup($("range-format").value);
  const zone = $("range-zone").value;
  const select = $("range-type");
  const types = [...format.encodings, "bytea", "blob"].filter((type) => type !== "text" || format.text.sorts);
  if ($("range-form").dataset.format !== format.name || !types.includes(select.value)) {
    select.replaceChildren(...types.map((type) => make("option", { value: type }, columnTypes[type])));
    select.value = format.width === 64 && types.includes("int") ? "int" : types[0];
    $("range-form").dataset.format = format.name;
  }
  try {
    const now = Date.now();
    const from = parseTime($("range-from").value, now, zone);
    const to = parseTime($("range-to").value, now, zone);
    const { first, end } = format.bounds(from, to);
    const sql = condition($("range-column").value, select.value, first, end);
    const encoding = { bytea: "hex", blob: "hex" }[select.value] ?? select.value;
    const shown = (milli) => (zone === "UTC" ? formatTime(milli) : zoneTime(milli, zone));
    const copied = (name, element, about) => fact(name, element, span("quiet", about), copyButton(element.textContent, name));
    $("range-status").textContent = "";
    $("range-result").replaceChildren(make("article", { className: "card" }, facts(
      copied("First", mono(first[encoding], "first"), shown(from)),
      copied("End", mono(end[encoding], "end"), `${shown(to)}, not included`),
      copied("SQL", span("mono sql", sql), ""))));
  } catch (error) {
    complain("range", error);
    $("range-result").replaceChildren();
  }
}

function pick(input, calendar) {
  try {
    const milli = parseTime(input.value, Date.now(), $("range-zone").value);
    calendar.value = zoneTime(milli, $("range-zone").value).slice(0, 16).replace(" ", "T");
  } catch { /* the calendar begins empty */ }
  try {
    calendar.showPicker();
  } catch { // the browser has none
    input.focus();
  }
}

function condition(column, type, first, end) {
  if (!column.trim()) throw new RangeError("the column has no name");
  const literal = (id) => ({ int: id.int, bytea: `'\\x${id.hex}'`, blob: `X'${id.hex}'` }[type] ?? `'${id[type]}'`);
  return `${column} >= ${literal(first)} AND ${column} < ${literal(end)}`;
}

/* Choose */

function chooseChanged() {
  const number = (id) => ($(id).value === "" ? NaN : Number($(id).value));
  let answer;
  try {
    answer = plan({
      rate: number("choose-rate"), burst: $("choose-burst").value === "" ? 0 : number("choose-burst"), processes: number("choose-processes"),
      years: number("choose-years"), bits: Number($("choose-bits").value), can_assign_nodes: $("choose-nodes").checked,
    });
  } catch (error) {
    complain("choose", error);
    $("choose-result").replaceChildren();
    return;
  }
  $("choose-status").textContent = `${count(answer.ids)} IDs in all. ` +
    (answer.recommended ? `Recommended: ${answer.recommended}.` : "No format fits. See which of the numbers can change.");
  const burst = (row) => (row.burst_ahead_seconds > 0 ? `runs ${seconds(row.burst_ahead_seconds)} ahead of the clock`
    : row.burst_waits_seconds > 0 ? `waits ${seconds(row.burst_waits_seconds)}` : "goes through at once");
  const heads = ["Format", "", "Why", "Collision", "IDs in a tick", ...(answer.asked.burst > 0 ? ["A burst"] : []), "Until", "Column"];
  const rows = answer.formats.map((row) => make("tr", { className: row.format === answer.recommended ? "recommended" : "" },
    make("th", { scope: "row" }, row.format),
    ...[
      row.fits ? "fits" : "no", row.reasons.join("; "), odds(row.collision_probability),
      `${count(row.ids_per_tick)} in ${seconds(row.tick_seconds)}`, ...(answer.asked.burst > 0 ? [burst(row)] : []),
      row.ends.split("-")[0], `${row.column}, ${row.bytes} bytes`,
    ].map((text, i) => make("td", { className: i === 0 ? (row.fits ? "fits" : "problem") : "", "data-head": heads[i + 1] }, text))));
  const parts = [tableOf("plan", heads.map((name) => (name ? head(name) : make("td"))), rows)];
  if (answer.command) {
    parts.unshift(facts(fact("Go on with",
      make("code", { id: "choose-command" }, answer.command), copyButton(answer.command, "the command"))));
  }
  parts.push(riskPlot(answer));
  $("choose-result").replaceChildren(div("answer", ...parts));
}

// A plot of collision probabilities over the years.
function riskPlot({ asked, formats: results }) {
  const lines = results.map(({ format }) => ({
    format, points: Array.from({ length: 41 }, (_, i) => {
      const years = asked.years * Math.max(i, 0.2) / 40;
      return [i / 40, collisionProbability(lookup(format), { ...asked, years })];
    }),
  })).filter(({ points }) => points.at(-1)[1] > 0);
  const figure = make("figure", { className: "plot risk" });
  figure.append(make("h3", {}, "Probability that two IDs have ever been the same"));
  if (lines.length === 0) {
    figure.append(paragraph("quiet", "None, of any format, in all these years."));
    return figure;
  }
  // The scale goes from certainty to below the smallest value, in powers of a thousand.
  const least = Math.min(...lines.map(({ points }) => Math.log10(points[1][1])));
  const bottom = Math.min(-9, Math.floor(Math.max(least, -45) / 3) * 3);
  const height = (p) => 100 * Math.min(1, Math.log10(Math.max(p, 10 ** bottom)) / bottom);
  const svg = svgElement("svg", { viewBox: "0 0 100 100", preserveAspectRatio: "none", role: "img",
    "aria-label": lines.map(({ format, points }) => `${format}: ${odds(points.at(-1)[1])} after ${asked.years} years`).join("; ") });
  const box = div("box", svg);
  const label = (className, text, top) => {
    box.append(span(className, text));
    box.lastChild.style.top = `${top}%`;
  };
  const across = (power, kind) => svg.append(svgElement("line", { x1: 0, x2: 100, y1: 100 * power / bottom, y2: 100 * power / bottom, class: kind }));
  for (let power = 0; power >= bottom; power -= bottom < -24 ? 9 : 3) {
    across(power, "grid");
    label("tick", power === 0 ? "certain" : `one in 10^${-power}`, 100 * power / bottom);
  }
  across(-6, "limit");
  lines.sort((a, b) => b.points.at(-1)[1] - a.points.at(-1)[1]);
  let above = -Infinity;
  for (const { format, points } of lines) {
    svg.append(svgElement("polyline", { points: points.map(([x, p]) => `${100 * x},${height(p)}`).join(" "), class: "curve" }));
    above = Math.max(above + 6.5, height(points.at(-1)[1])); // so that names do not overlap
    label("name", format, above);
  }
  figure.append(box, paragraph("ends", span("", "now"), span("", `${asked.years} years`)),
    paragraph("quiet", "The dashed line is one in a million, above which no format is recommended." +
      (lines.length < results.length ? ` ${results.filter(({ format }) => !lines.some((line) => line.format === format)).map(({ format }) => format).join(" and ")}: none.` : "")));
  return figure;
}

/* The address bar, and what is on the screen */

const views = ["look", "make", "range", "choose"];

function go(view) {
  for (const name of views) $(`view-${name}`).hidden = name !== view;
  for (const link of document.querySelectorAll("nav a")) link.ariaCurrent = link.hash === `#${view}` ? "page" : null;
}

function setHash(text) {
  const hash = text && text !== "look" ? `#${encodeURIComponent(text)}` : "";
  if (location.hash !== hash) history.replaceState(null, "", hash || location.pathname + location.search);
}

function follow() {
  let hash = location.hash.slice(1);
  try {
    hash = decodeURIComponent(hash);
  } catch { /* it is not encoded */ }
  go(views.includes(hash) ? hash : "look");
  if (!views.includes(hash) && hash !== $("input").value.trim()) {
    $("input").value = hash;
    look();
  }
}

/* Start */

const named = (list) => list.map((format) => make("option", { value: format.name }, nameOf({ id: { format } })));
options($("make-format"), ours.map((format) => format.name), best.name);
$("range-format").append(...named(formats.filter((format) => format.ordered)));
$("range-format").value = best.name;
options($("range-zone"), [...new Set(["UTC", localZone, ...Intl.supportedValuesOf("timeZone")])], "UTC");
$("read-as").append(...named(formats));
$("try").append(" ", tryButton(best.example), " or ", makeButton("a log", () => lookAt(sampleLog()), { className: "plain" }), ".");
for (const button of document.querySelectorAll("button.pick")) {
  const [input, calendar] = button.parentElement.querySelectorAll("input");
  button.addEventListener("click", () => pick(input, calendar));
  calendar.addEventListener("input", () => {
    input.value = calendar.value.replace("T", " ");
    rangeChanged();
  });
}

on("input", "input", look);
on("read-as", "change", look);
on("clear", "click", () => lookAt(""));
on("file", "change", () => { if ($("file").files[0]) openFile($("file").files[0]); });
on("make-format", "change", makeChanged);
on("make-form", "submit", makeSome);
on("make-copy", "click", () => copy($("make-output").value, $("make-copy")));
on("make-look", "click", () => {
  $("read-as").value = $("make-look").dataset.format;
  lookAt($("make-output").value);
});
on("range-form", "input", rangeChanged);
on("choose-form", "input", chooseChanged);
addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", follow);
addEventListener("dragover", (event) => {
  event.preventDefault();
  $("input").classList.add("over");
});
for (const type of ["dragleave", "drop"]) addEventListener(type, () => $("input").classList.remove("over"));
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
$("result").append(overview());
$("clear").hidden = true;
follow();

// Which formats fit a load, and for how long. cmd/sortid/internal/plan has the formulas.
import { reject, wantOptions } from "./errors.js";
import { facts } from "./formats.js";
import { ALLOWANCE } from "./generator.js";
import { formatTime } from "./id.js";
import { ours } from "./ours.js";

const DAY = 86_400_000; // milliseconds
const SECONDS_PER_YEAR = 365.2425 * 24 * 60 * 60;
const MOST_RISK = 1e-6; // with a higher probability of a collision, a format does not fit
const MOST_AHEAD = ALLOWANCE / 1000; // seconds that a timestamp may be ahead of the clock

export function odds(p) {
  if (p === 0) return "none";
  if (p > 0.99) return "certain";
  return p > 0.01 ? `${Math.round(p * 100)} %` : `one in ${count(1 / p)}`;
}

export function count(n) {
  const words = ["", " thousand", " million", " billion", " trillion", " quadrillion"];
  if (n < 1e4) return n.toFixed(0);
  let i = Math.floor(Math.floor(Math.log10(n)) / 3);
  if (n / 1000 ** i >= 999.5) i++; // it would be printed as 1000
  if (i >= words.length) return `10^${Math.log10(n).toFixed(0)}`;
  const scaled = n / 1000 ** i;
  return (scaled < 9.95 ? String(Number(scaled.toPrecision(2))) : scaled.toFixed(0)) + words[i];
}

export function seconds(s) {
  if (s < 1) return `${(s * 1000).toFixed(0)} ms`;
  if (s < 120) return `${s.toFixed(1)} s`;
  return s < 7200 ? `${(s / 60).toFixed(0)} min` : `${(s / 3600).toFixed(0)} h`;
}

function checkRequest(r) {
  const day = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(r.from);
  const from = day ? Date.parse(`${r.from}T00:00:00Z`) : NaN;
  const whole = Number.isInteger(r.processes);
  for (const [name, ok, want] of [
    ["from", !Number.isNaN(from), "a day such as 2026-11-21"],
    ["rate", r.rate > 0 && r.rate <= 1e15, "IDs a second: more than 0, at most 1e15"],
    ["burst", r.burst >= 0 && r.burst <= 1e12, "IDs at once: 0 to 1e12"],
    ["processes", whole && r.processes >= 1 && r.processes <= 1e9, "1 to 1000000000"],
    ["years", r.years > 0 && r.years <= 10000, "more than 0, at most 10000"],
    ["bits", [0, 64, 128].includes(r.bits), "64, 128, or 0 for any"],
  ]) if (!ok) reject(`${name} is ${Number.isNaN(r[name]) ? "missing" : r[name]}, want ${want}`);
  return from;
}

export function collisionProbability({ name }, request) {
  const { plan, node_counter: shared } = facts[name];
  const { rate, years, processes, can_assign_nodes: nodes } = request;
  if (shared || nodes && processes > 1 && nodeSizes(processes, plan.node_bits).length > 0) return 0;
  const millis = years * SECONDS_PER_YEAR * 1000;
  const perMilli = rate / processes / 1000;
  // Two processes' IDs of one millisecond are equal with a probability of at most 2^-random_bits.
  const pairs = millis * processes * (processes - 1) / 2 * perMilli * perMilli;
  return -Math.expm1(-pairs * 2 ** -plan.random_bits) || 0;
}

// Sizes of node IDs, best first. The best has room for twice the processes, as in a rolling
// deployment. The last has just enough room.
function nodeSizes(processes, most = 0) {
  const bits = (n) => Math.max(1, Math.ceil(Math.log2(n)));
  const least = bits(processes);
  const best = Math.min(bits(2 * processes), most);
  return Array.from({ length: Math.max(0, best - least + 1) }, (_, i) => best - i);
}

// guard is how many high bits of the counter must start at zero, so that at most one tick in a
// thousand has too few IDs. If no guard achieves this, ok is false. mean is the mean number of IDs
// in a tick.
function guardBits(bits, perTick) {
  const size = 2 ** bits;
  for (let guard = bits <= 4 ? 1 : 0; ; guard++) {
    const starts = 2 ** (bits - guard); // how many values the counter can start at
    const mean = size - (starts - 1) / 2;
    const ok = (perTick - 1 - (size - starts)) / starts <= 1e-3;
    if (ok || guard === bits) return { guard, mean, ok };
  }
}

// Completes the result of a format that needs no node ID. Returns what makes the IDs unique.
function byChance({ node, plan }, load, result, refuse) {
  const { per_tick: mean, least, unique, node_bits: most } = plan;
  const tick = result.tick_seconds;
  if (least) { // a generator waits for the next millisecond
    if (load.burst > 0) result.burst_waits_seconds = Math.floor((load.burst - 1) / mean) * tick;
    const rate = least / tick;
    if (load.perSecond > rate) refuse(`a process makes at most ${rate.toFixed(0)} IDs a second`);
  }
  if (!most || !load.can_assign_nodes) return unique;
  const [size] = nodeSizes(load.processes, most);
  if (size && load.processes > 1) {
    result.options.node_bits = size;
    return `a ${node} ID of ${size} bits for each process`;
  }
  return `there are ${node} IDs for at most ${2 ** most} processes`;
}

// Does the same for a format that needs a node ID. If a counter is full, its generator uses the
// next tick.
function byNode({ node_counter: width, plan: { node_bits: most } }, load, result, refuse) {
  if (load.processes > 1 && !load.can_assign_nodes) {
    refuse("each process needs a node ID of its own, assigned or leased");
  }
  const tick = result.tick_seconds;
  const perTick = load.perSecond * tick;
  const choices = nodeSizes(load.processes, most).map((size) => {
    const { guard, mean, ok } = guardBits(width - size, perTick + 6 * Math.sqrt(perTick));
    const ahead = load.burst > 0 ? Math.floor((load.burst - 1) / mean) * tick : 0;
    return { size, guard, mean, ahead, holds: ok, inTime: ahead <= MOST_AHEAD };
  });
  if (choices.length === 0) return refuse(`there are at most 2^${most} node IDs`);
  const best = choices.find(({ holds, inTime }) => holds && inTime) ?? choices.at(-1);
  const { size, guard, mean, ahead, holds, inTime } = best;
  result.options = { node_bits: size, overflow_guard: guard };
  result.ids_per_tick = Math.floor(mean);
  result.burst_ahead_seconds = ahead;
  if (!holds) {
    refuse(`a process would make more IDs than its counter of ${width - size} bits holds in ` +
      seconds(tick));
  }
  if (!inTime) {
    refuse(`a burst would run ${seconds(ahead)} ahead of the clock, more than the allowance of ` +
      `${MOST_AHEAD} s`);
  }
  return `a node ID of ${size} bits for each process`;
}

export function plan(request) {
  wantOptions("plan", request,
    ["rate", "burst", "processes", "years", "bits", "can_assign_nodes", "from"]);
  const asked = {
    burst: 0, processes: 1, years: 20, bits: 0, can_assign_nodes: false,
    from: new Date().toISOString().slice(0, 10), ...request,
  };
  const end = checkRequest(asked) + Math.ceil(asked.years * 365.2425) * DAY;
  const load = { ...asked, perSecond: asked.rate / asked.processes };
  const results = ours.map((format) => {
    const { name, tick, last, bits } = format;
    const known = facts[name];
    const { sql } = known;
    const reasons = [];
    const refuse = (reason) => { reasons.push(reason); };
    const risk = collisionProbability(format, asked);
    const result = {
      format: name, collision_probability: risk,
      ids_per_tick: Math.floor(known.plan.per_tick ?? 0), tick_seconds: tick / 1000,
      burst_waits_seconds: 0, burst_ahead_seconds: 0, ends: formatTime(last).split("T")[0],
      bytes: sql.bytes, column: sql.postgres, options: {},
    };
    const unique = (known.node_counter ? byNode : byChance)(known, load, result, refuse);
    if (risk > MOST_RISK) {
      refuse(`collision: ${odds(risk)}; the limit is one in a million`);
    }
    if (end > last) refuse(`its timestamps end in ${new Date(last).getUTCFullYear()}`);
    if (asked.bits !== 0 && bits > asked.bits) refuse(`an ID has ${bits} bits`);
    if (reasons.length > 0) return { ...result, fits: false, reasons };
    const reason = asked.processes === 1 ? "one generator never makes an ID twice" : unique;
    return { ...result, fits: true, reasons: [reason] };
  });
  const preference = ({ format }) => facts[format].plan.preference;
  const [best] = results.filter(({ fits }) => fits).sort((a, b) => preference(a) - preference(b));
  return {
    asked, ids: asked.rate * asked.years * SECONDS_PER_YEAR, recommended: best?.format ?? "",
    ...(best && { command: planCommand(asked, best) }), formats: results,
  };
}

function planCommand({ processes }, { format, options }) {
  const { node_bits: size, overflow_guard: guard } = options;
  const node = processes === 1 ? `--${facts[format].node} 0/${size}`
    : `--lease STORE --node-bits ${size}`;
  return `sortid new ${format}${size ? ` ${node}` : ""}${guard ? ` --guard ${guard}` : ""}`;
}

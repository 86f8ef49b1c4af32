// Reads times.
import { reject, wantText } from "./errors.js";

const DAY = 86_400_000; // milliseconds
const UNITS = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 1e-3, µs: 1e-3, μs: 1e-3, ns: 1e-6 };
const RELATIVE = new RegExp("^(?:([+-])(?=.)|(?!0$))(?:([0-9]{1,10})w)?(?:([0-9]{1,10})d)?" +
  "((?:(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:h|ms|m|s|us|µs|μs|ns))*|0)$");
const ABSOLUTE = new RegExp("^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})" +
  "(?::([0-9]{2})(?:[.,]([0-9]+))?)?(?: ?(Z|([+-])([0-9]{2}):([0-9]{2})))?)?$");

// An offset in milliseconds, from its sign and numbers.
const offsetOf = (sign, hours, minutes, seconds = 0) =>
  Number(`${sign}1`) * ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;

export function parseTime(text, now = Date.now(), zone = "UTC") {
  wantText("parseTime", text);
  const shown = JSON.stringify(text.slice(0, 64));
  const fail = (reason) => reject(`cannot read the time ${shown}: ${reason}`);
  const far = "it is too far away";
  const unknown = "it is of no known form";
  const word = text.trim();
  if (word === "") fail("it is empty");
  if (/^now$/i.test(word)) return now;
  const [, whole, part] = /^(?:@|(?=[0-9]{9,13}\b))(-?[0-9]+)(?:\.([0-9]*))?$/.exec(word) ?? [];
  if (whole) {
    const size = Math.abs(Number(whole));
    if (!part && size >= 1e12 && size < 1e15) return Number(whole); // it is in milliseconds
    if (size >= 1e12) fail(far);
    const rest = Number(`0.${part || 0}`) * 1000;
    return Number(whole) * 1000 + Math.floor(whole.startsWith("-") ? -rest : rest);
  }
  const clock = /^([01]?[0-9]|2[0-3]):[0-5][0-9]$/.exec(word);
  if (clock) return inZone(dateIn(now, zone) + Date.parse(`1970-01-01T${word.padStart(5, "0")}Z`), zone);
  const ago = /^([0-9]{1,10})\s+(second|minute|hour|day|week)s?\s+ago$/i.exec(word);
  const relative = ago ? RELATIVE.exec(`-${ago[1]}${ago[2][0].toLowerCase()}`) : RELATIVE.exec(word);
  if (relative) {
    const [, sign = "-", weeks = 0, days = 0, rest] = relative;
    if (Math.max(weeks, days) >= 2 ** 31) fail(unknown);
    let milli = (Number(weeks) * 7 + Number(days)) * DAY;
    for (const [, n, unit] of rest.matchAll(/([0-9.]+)([a-zµμ]+)/g)) milli += n * UNITS[unit];
    if (milli > 2 ** 63 / 1e6) fail(far);
    return Math.floor(now + (sign === "-" ? -milli : milli));
  }
  const [, day, hour = "00", minute = "00", second = "00", fraction = "0", ...offset] =
    ABSOLUTE.exec(word) ?? fail(unknown);
  const [utc, sign, hours, minutes] = offset;
  const start = `${day}T${hour}:${minute}:${second}`;
  const local = Date.parse(`${start}Z`);
  const exists = !Number.isNaN(local) && new Date(local).toISOString().startsWith(start);
  if (!exists || hours > 24 || minutes > 60) fail("there is no such day or time of day");
  const time = sign ? local - offsetOf(sign, hours, minutes) : utc ? local : inZone(local, zone);
  return time + Math.floor(Number(`0.${fraction}`) * 1000);
}

// The midnight, in UTC, of the date that clocks in the zone show.
const dateIn = (now, zone) => Math.floor((now + zoneOffset(now, zone)) / DAY) * DAY;

// The first moment when clocks in the zone show a time, which is in UTC. If they skip it, because
// summer time begins, this adds what they skip. No zone changes its offset twice in two days.
function inZone(time, zone) {
  if (zone === "UTC") return time;
  const [before, after] = [time - DAY, time + DAY].map((near) => time - zoneOffset(near, zone));
  const isShown = (moment) => moment + zoneOffset(moment, zone) === time;
  return isShown(after) && (after < before || !isShown(before)) ? after : before;
}

export function zoneOffset(milli, timeZone) {
  const clock = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  const { value } = clock.formatToParts(milli).find(({ type }) => type === "timeZoneName");
  const parts = /([+-])(\d+):(\d+)(?::(\d+))?/.exec(value); // as in GMT-03:30
  return parts ? offsetOf(...parts.slice(1)) : 0;
}


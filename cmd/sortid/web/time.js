// Reads times.
import { reject } from "./errors.js";

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
  const shown = JSON.stringify(text.slice(0, 64));
  const fail = (reason) => reject(`cannot read the time ${shown}: ${reason}`);
  const far = "it is too far away";
  const unknown = "it is of no known form";
  const word = text.trim();
  if (word === "") fail("it is empty");
  if (/^now$/i.test(word)) return now;
  const [, whole, part] = /^@(-?[0-9]+)(?:\.([0-9]*))?$/.exec(word) ?? [];
  if (whole) {
    const size = Math.abs(Number(whole));
    if (!part && size >= 1e12 && size < 1e15) return Number(whole); // it is in milliseconds
    if (size >= 1e12) fail(far);
    const rest = Number(`0.${part || 0}`) * 1000;
    return Number(whole) * 1000 + Math.floor(whole.startsWith("-") ? -rest : rest);
  }
  const relative = RELATIVE.exec(word);
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
  const ahead = sign ? offsetOf(sign, hours, minutes)
    : utc || zone === "UTC" ? 0 : zoneOffset(local - zoneOffset(local, zone), zone);
  return local - ahead + Math.floor(Number(`0.${fraction}`) * 1000);
}

export function zoneOffset(milli, timeZone) {
  const clock = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  const { value } = clock.formatToParts(milli).find(({ type }) => type === "timeZoneName");
  const parts = /([+-])(\d+):(\d+)(?::(\d+))?/.exec(value); // as in GMT-03:30
  return parts ? offsetOf(...parts.slice(1)) : 0;
}


// Numbers and times in words.
import { formatTime } from "./id.js";
import { zoneOffset } from "./time.js";

export const grouped = (n) => n.toLocaleString("en");
export const plural = (n, unit) => `${grouped(n)} ${unit}${n === 1 ? "" : "s"}`;

const HOUR = 3600; // seconds
export const SPANS = Object.entries({
  year: 365.25 * 24 * HOUR, month: (30 * 24 + 10) * HOUR, day: 24 * HOUR, hour: HOUR, minute: 60,
  second: 1,
});

// How long a time is before or after now, in the two largest units.
export function distance(milli, now) {
  const seconds = Math.abs(Math.floor(now / 1000) - Math.floor(milli / 1000));
  if (seconds === 0) return "just now";
  const [[unit, length], [smaller, part] = ["", Infinity]] =
    SPANS.slice(SPANS.findIndex(([, length]) => seconds >= length));
  const rest = Math.floor(seconds % length / part);
  const words = plural(Math.floor(seconds / length), unit) +
    (rest > 0 ? ` ${plural(rest, smaller)}` : "");
  return milli < now ? `${words} ago` : `in ${words}`;
}

export function zoneTime(milli, zone) {
  const offset = Math.round(zoneOffset(milli, zone) / 60_000) * 60_000;
  const ahead = (offset < 0 ? "-" : "+") + formatTime(Math.abs(offset)).slice(11, 16);
  return formatTime(milli + offset).replace("T", " ").replace("Z", ` ${ahead}`);
}

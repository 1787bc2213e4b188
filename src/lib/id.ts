import { pooledBytes } from './random.ts';

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 26;
const BODY = new RegExp(`^[${CROCKFORD}]{${LENGTH}}$`);

/**
 * The ids of one process: `<prefix>_` and 26 lower-case Crockford base32 characters of a UUIDv7 (RFC 9562): 48 bits of
 * milliseconds, then 12 bits that count up within a millisecond, then 62 random bits. They sort in the order in which
 * they were made, also when the clock steps back.
 */
export class IdSequence {
  #lastMs = 0;
  #counter = 0;

  next<P extends string>(prefix: P, nowMs: number): `${P}_${string}` {
    if (nowMs > this.#lastMs) {
      this.#lastMs = nowMs;
      this.#counter = 0;
    } else if (++this.#counter > 0xfff) {
      this.#lastMs += 1;
      this.#counter = 0;
    }
    const random = pooledBytes(8);
    const high = (BigInt(this.#lastMs) << 16n) | 0x7000n | BigInt(this.#counter);
    const low = (random.readBigUInt64BE() & 0x3fffffffffffffffn) | 0x8000000000000000n;
    return `${prefix}_${encode(high, low)}`;
  }
}

const ofProcess = new IdSequence();

export function newId<P extends string>(prefix: P, nowMs: number): `${P}_${string}` {
  return ofProcess.next(prefix, nowMs);
}

/** Sorts before every id of this prefix that was made at `ms` or later, and after those made before. */
export function idFloor(prefix: string, ms: number): string {
  return `${prefix}_${encode(BigInt(Math.max(0, Math.floor(ms))) << 16n, 0n)}`;
}

/** True when `text` is `<prefix>_` and 26 characters of the alphabet; version bits are not looked at. */
export function isId(prefix: string, text: string): boolean {
  return text.startsWith(`${prefix}_`) && BODY.test(text.slice(prefix.length + 1));
}

function encode(high: bigint, low: bigint): string {
  // 128 bits are 26 characters of 5 bits: the first character holds only 3.
  const words = [Number(high >> 32n), Number(high & 0xffffffffn), Number(low >> 32n), Number(low & 0xffffffffn)];
  let text = '';
  for (let i = 0; i < LENGTH; i += 1) text += CROCKFORD[fiveBits(words, i * 5 - 2)];
  return text;
}

function fiveBits(words: readonly number[], start: number): number {
  let value = 0;
  for (let bit = start; bit < start + 5; bit += 1) {
    const word = bit < 0 ? 0 : (words[bit >> 5] ?? 0);
    value = (value << 1) | (bit < 0 ? 0 : (word >>> (31 - (bit & 31))) & 1);
  }
  return value;
}

import { hash } from 'node:crypto';
import { type HeaderList, revalidated } from '../http/headers.ts';

/** An encoded answer and its headers. */
export interface KeptAnswer {
  readonly body: Buffer;
  readonly etag: string;
  readonly headers: HeaderList;
}

/** Approximate overhead of an entry besides its bytes. */
const ENTRY_BYTES = 1_024;
/** An answer above this share of the cache would only displace the others. */
const SHARE = 1 / 8;

/** The entity tag is the hash of the bytes: the same state gives the same tag in every process. */
export function answerOf(encoded: string | Buffer): KeptAnswer {
  const body = typeof encoded === 'string' ? Buffer.from(encoded) : encoded;
  const etag = `"${hash('sha256', body, 'base64url').slice(0, 22)}"`;
  return { body, etag, headers: revalidated(etag) };
}

/**
 * A cache of encoded answers. All of them belong to one value of the store's change counter: when it changes, all are
 * dropped. Bounded by bytes; the oldest entry is dropped first.
 */
export class KeptAnswers {
  readonly #maxBytes: number;
  readonly #answers = new Map<string, KeptAnswer>();
  #version: string | null = null;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  find(version: string | null, key: string): KeptAnswer | undefined {
    if (version === null || version !== this.#version) return undefined;
    return this.#answers.get(key);
  }

  /**
   * `version` is the counter from before the answer was read: a later commit invalidates the entry.
   */
  keep(version: string | null, key: string, answer: KeptAnswer): void {
    if (version === null) return;
    if (version !== this.#version) {
      this.#answers.clear();
      this.#bytes = 0;
      this.#version = version;
    }
    const size = sizeOf(key, answer);
    if (size > this.#maxBytes * SHARE || this.#answers.has(key)) return;
    for (const [oldest, dropped] of this.#answers) {
      if (this.#bytes + size <= this.#maxBytes) break;
      this.#answers.delete(oldest);
      this.#bytes -= sizeOf(oldest, dropped);
    }
    this.#answers.set(key, answer);
    this.#bytes += size;
  }
}

function sizeOf(key: string, answer: KeptAnswer): number {
  return answer.body.length + key.length * 2 + ENTRY_BYTES;
}

/** Whether an If-None-Match names the tag, by the weak comparison of RFC 9110. */
export function isNamed(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((each) => each.trim().replace(/^W\//, '') === etag);
}

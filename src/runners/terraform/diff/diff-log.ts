import type { Redactor } from '../../../domain/secrets/pattern-replacer.ts';
import { PatternSearch } from '../../../domain/secrets/redaction-search.ts';
import { REDACTED } from '../../../domain/secrets/redaction.ts';
import { foldBlanks, WrappedReplacer } from '../../../domain/secrets/wrapped-replacer.ts';
import { LINE_LIMIT_BYTES } from '../../output/lines.ts';
import type { OutputSift } from '../../runner.ts';

/** The diff that terraform prints has values that were sensitive, in clear, under other attributes (T98). */

/** Held of one diff, some 200,000 lines. They were masked in 0.3 to 0.5 s, in pieces, on a busy core. */
export const HELD_MAX_BYTES = 16 * 1024 * 1024;
/** Masked in one piece, so that the event loop is not held. */
const PIECE_BYTES = 64 * 1024;
const NEWLINE = 10;
const NOTHING = Buffer.alloc(0);

/**
 * What terraform and tofu print before a diff, while they read the infrastructure. It is a list of what may pass and
 * not of how a diff begins: words that a later version adds are held, and shown a little later.
 */
const PROGRESS: readonly RegExp[] = [
  /^\s*$/,
  /^(?:Acquiring|Releasing) state lock\. /,
  /^\S.*: (?:Refreshing state|Reading|Opening|Renewing|Closing|Preparing import|Still \w+|Importing from ID .*)\.\.\./,
  /^\S.*: (?:Read|Opening|Renewal|Closing|Import) complete\b/,
  /^\S.*: Import prepared!/,
];

/** Lets progress pass line by line, and holds everything from the first other line on. */
export class HeldDiff implements OutputSift {
  readonly #maxBytes: number;
  /** The line that has not ended, while lines pass. */
  #line: Buffer = NOTHING;
  #held: Buffer[] | null = null;
  #size = 0;
  #isTaken = false;

  constructor(maxBytes = HELD_MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): Buffer {
    if (this.#held !== null) return this.#hold(chunk);
    // The caller reuses the memory of its chunk.
    const bytes = Buffer.concat([this.#line, chunk]);
    let at = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, at)) {
      if (!mayPass(bytes.subarray(at, end))) return this.#begin(bytes, at);
      at = end + 1;
    }
    if (bytes.length - at > LINE_LIMIT_BYTES) return this.#begin(bytes, at);
    this.#line = bytes.subarray(at);
    return bytes.subarray(0, at);
  }

  /** Whether a line ends or not, what is left was not seen to be progress. */
  end(): Buffer {
    const rest = this.#line;
    this.#line = NOTHING;
    return rest.length > 0 ? this.#begin(rest, 0) : NOTHING;
  }

  /** Whether there were more bytes than are held. */
  get isOver(): boolean {
    return this.#size > this.#maxBytes;
  }

  /** From the first line that does not pass until what was held is taken. */
  get isHolding(): boolean {
    return this.#held !== null && !this.#isTaken;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** What was held, once. */
  take(): readonly Buffer[] {
    const held = this.#held ?? [];
    this.#held = [];
    this.#isTaken = true;
    return held;
  }

  #begin(bytes: Buffer, at: number): Buffer {
    this.#held = [];
    this.#line = NOTHING;
    this.#hold(bytes.subarray(at));
    return bytes.subarray(0, at);
  }

  #hold(chunk: Buffer): Buffer {
    this.#size += chunk.length;
    if (this.isOver) this.#held = [];
    else this.#held?.push(Buffer.from(chunk));
    return NOTHING;
  }
}

function mayPass(line: Buffer): boolean {
  return line.length <= LINE_LIMIT_BYTES && PROGRESS.some((words) => words.test(line.toString()));
}

/** Replaces the values of one plan in what its programs print, also where terraform wraps them: in its warnings. */
export class DiffMasks {
  readonly #search: PatternSearch | null;
  readonly #longestBytes: number;

  private constructor(search: PatternSearch | null, longestBytes: number) {
    this.#search = search;
    this.#longestBytes = longestBytes;
  }

  static async of(patterns: readonly Buffer[]): Promise<DiffMasks> {
    const folded = patterns.map(foldBlanks);
    const longestBytes = folded.reduce((longest, { length }) => Math.max(longest, length), 0);
    return new DiffMasks(folded.length === 0 ? null : await PatternSearch.inPieces(folded), longestBytes);
  }

  /** The same bytes without the values, in pieces. */
  async *masked(held: readonly Buffer[]): AsyncGenerator<Buffer> {
    const replacer = this.#replacer();
    for (const chunk of held) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        const ready = replacer?.push(chunk.subarray(at, at + PIECE_BYTES)) ?? chunk.subarray(at, at + PIECE_BYTES);
        if (ready.length > 0) yield ready;
      }
    }
    const last = replacer?.end() ?? NOTHING;
    if (last.length > 0) yield last;
  }

  /** For one stream of a later program: masked after `inner` has seen it. */
  after(inner: OutputSift): OutputSift {
    const replacer = this.#replacer();
    if (replacer === null) return inner;
    return {
      push: (chunk) => replacer.push(inner.push(chunk)),
      end: () => Buffer.concat([replacer.push(inner.end()), replacer.end()]),
    };
  }

  #replacer(): Redactor | null {
    const search = this.#search;
    return search === null ? null : new WrappedReplacer(search, this.#longestBytes, Buffer.from(REDACTED));
  }
}

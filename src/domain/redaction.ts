import { LONGEST_VALUE_BYTES, secretForms, SHORT_BYTES } from './redaction-forms.ts';
import { PatternSearch } from './redaction-search.ts';

/** What stands in place of a secret value, on every face. */
export const REDACTED = '[redacted · secret]';
const MARK = Buffer.from(REDACTED);
const NOTHING = Buffer.alloc(0);

/**
 * Why a value is protected less than the others: `empty` (nothing, or line ends only: nothing is looked for), `short`
 * (below 6 bytes: the value itself is replaced wherever it stands, also within words; its encodings only where they are
 * 6 bytes or more) or `long` (only the first 32 KiB are looked for). `index` is its place in the list given.
 */
export interface SecretWarning {
  readonly index: number;
  readonly problem: 'empty' | 'short' | 'long';
}

/** The secret values of a run, made ready once for all its streams and texts. */
export interface SecretPatterns {
  readonly search: PatternSearch | undefined;
  readonly warnings: readonly SecretWarning[];
}

export function compileSecrets(secrets: readonly Buffer[]): SecretPatterns {
  const warnings: SecretWarning[] = [];
  const patterns = new Map<string, Buffer>();
  for (const [index, secret] of secrets.entries()) {
    const forms = secretForms(secret);
    for (const form of forms) patterns.set(form.toString('latin1'), form);
    const value = forms[0];
    if (value === undefined) warnings.push({ index, problem: 'empty' });
    else if (value.length < SHORT_BYTES) warnings.push({ index, problem: 'short' });
    else if (secret.length > LONGEST_VALUE_BYTES) warnings.push({ index, problem: 'long' });
  }
  return { search: patterns.size > 0 ? new PatternSearch([...patterns.values()]) : undefined, warnings };
}

/**
 * Replaces every secret value in one stream of bytes. `push` answers what is ready, which may be the same buffer or a
 * part of it; what may be the start of a value is held back until the next bytes tell, never more than the longest form
 * less one byte. `end` answers the rest.
 */
export interface Redactor {
  push(chunk: Buffer): Buffer;
  end(): Buffer;
}

const PASS: Redactor = { push: (chunk) => chunk, end: () => NOTHING };

export function createRedactor(secrets: readonly Buffer[] | SecretPatterns): Redactor {
  const { search } = 'search' in secrets ? secrets : compileSecrets(secrets);
  return search === undefined ? PASS : new StreamRedactor(search);
}

/** The same for one string. Text without a secret comes back as it is, lone surrogates included. */
export function redactText(text: string, secrets: readonly Buffer[] | SecretPatterns): string {
  const redactor = createRedactor(secrets);
  const bytes = Buffer.from(text);
  const ready = redactor.push(bytes);
  const rest = redactor.end();
  if (ready.length + rest.length === bytes.length && bytes.equals(Buffer.concat([ready, rest]))) return text;
  return Buffer.concat([ready, rest]).toString();
}

/**
 * Every byte that belongs to any occurrence of any form goes; occurrences that overlap become one mark. Positions count
 * from the start of the stream. The bytes held back are not kept: the state of the search says what they are.
 */
class StreamRedactor implements Redactor {
  readonly #search: PatternSearch;
  #state = 0;
  /** Bytes taken in, and of these the bytes answered (or replaced). */
  #taken = 0;
  #answered = 0;
  /** A mark was answered for everything up to here. */
  #markedTo = 0;
  /** Occurrences that are not answered yet, merged, in order. */
  #starts: number[] = [];
  #ends: number[] = [];

  constructor(search: PatternSearch) {
    this.#search = search;
  }

  push(chunk: Buffer): Buffer {
    const held = this.#search.pending(this.#state);
    const from = this.#taken;
    this.#state = this.#search.scan(chunk, this.#state, (end, length) => this.#add(from + end - length, from + end));
    this.#taken += chunk.length;
    return this.#answer(held, chunk, this.#taken - this.#search.pending(this.#state).length);
  }

  end(): Buffer {
    const held = this.#search.pending(this.#state);
    this.#state = 0;
    return this.#answer(held, NOTHING, this.#taken);
  }

  #add(from: number, end: number): void {
    let start = from;
    while (this.#ends.length > 0 && (this.#ends.at(-1) ?? 0) > start) {
      start = Math.min(start, this.#starts.pop() ?? start);
      this.#ends.pop();
    }
    if (this.#ends.length === 0 && this.#markedTo > start) {
      this.#markedTo = end;
      return;
    }
    this.#starts.push(start);
    this.#ends.push(end);
  }

  /** The bytes from #answered to `until`; `held` and then `chunk` are the bytes from #answered to #taken. */
  #answer(held: Buffer, chunk: Buffer, until: number): Buffer {
    const base = this.#answered;
    this.#answered = until;
    if (held.length === 0 && this.#ends.length === 0 && this.#markedTo <= base) {
      return until - base === chunk.length ? chunk : chunk.subarray(0, until - base);
    }
    const parts: Buffer[] = [];
    const keep = (start: number, end: number): void => {
      const [a, b] = [start - base, end - base];
      if (a < held.length) parts.push(held.subarray(a, Math.min(b, held.length)));
      if (b > held.length) parts.push(chunk.subarray(Math.max(0, a - held.length), b - held.length));
    };
    let done = Math.max(base, Math.min(this.#markedTo, until));
    let used = 0;
    for (const [i, start] of this.#starts.entries()) {
      if (start >= until) break;
      if (start > done) keep(done, start);
      parts.push(MARK);
      this.#markedTo = this.#ends[i] ?? start;
      done = Math.min(this.#markedTo, until);
      used += 1;
    }
    if (until > done) keep(done, until);
    this.#starts.splice(0, used);
    this.#ends.splice(0, used);
    return parts.length === 1 ? (parts[0] ?? NOTHING) : Buffer.concat(parts);
  }
}

import { Failure } from '../../failure.ts';
import { CHECK_KIND_FACTS, readOptions } from '../../checks/kinds.ts';
import type { CheckKind } from '../../checks/check.ts';
import { TargetReader } from '../../checks/target.ts';
import type { Entry } from '../change.ts';
import { CONFIG_LIMITS } from '../file.ts';

/** What an export of another program becomes: objects of a configuration file, and what has no place in one. */
export interface Imported {
  readonly checks: ReadonlyMap<string, Entry>;
  readonly schedules: ReadonlyMap<string, Entry>;
  /** One sentence for each thing that was not carried over, or has to be done by hand. */
  readonly notes: readonly string[];
}

/** Objects of an export: later ones are left out. */
const OBJECTS_MAX = 10_000;
const NOTES_MAX = 1_000;
const NAME_CHARACTERS_MAX = 63;
const SHOWN_CHARACTERS_MAX = 100;

/** Collects what is imported, each object under another name. */
export class Collector implements Imported {
  readonly checks = new Map<string, Entry>();
  readonly schedules = new Map<string, Entry>();
  readonly notes: string[] = [];
  /** By name, the last number behind it. */
  readonly #numbers = new Map<string, number>();

  /** Adds a check of one target, or notes why it can be none. */
  check(title: string, kind: CheckKind, target: string, fields: Entry): void {
    const { interval, enabled, ...own } = fields;
    try {
      new TargetReader(kind).read(`target=${target}`);
      readOptions(kind, own);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return this.leave(title, `a check of kind ${kind} takes NAME=${CHECK_KIND_FACTS[kind].form} as its target`);
    }
    this.#add(this.checks, title, { kind, interval, targets: [`target=${target}`], ...own, ...off(enabled) });
  }

  /** A schedule is imported disabled, so that nothing runs twice while the other program still runs it. */
  schedule(title: string, entry: Entry): void {
    this.#add(this.schedules, title, { ...entry, enabled: false });
  }

  leave(what: string, why: string): void {
    const shown = what.length > SHOWN_CHARACTERS_MAX ? `${what.slice(0, SHOWN_CHARACTERS_MAX)}…` : what;
    this.note(`Left out: ${shown}: ${why}.`);
  }

  note(text: string): void {
    if (this.notes.length < NOTES_MAX) this.notes.push(text);
  }

  #add(objects: Map<string, Entry>, title: string, entry: Entry): void {
    if (objects.size >= OBJECTS_MAX) return this.leave(title, `expected at most ${OBJECTS_MAX} objects`);
    objects.set(this.#freeName(nameOf(title), objects), entry);
  }

  /** The name, with a number behind it where it is taken. */
  #freeName(name: string, taken: ReadonlyMap<string, unknown>): string {
    for (let each = name; ;) {
      if (!taken.has(each)) return each;
      const number = (this.#numbers.get(name) ?? 1) + 1;
      this.#numbers.set(name, number);
      each = `${name.slice(0, NAME_CHARACTERS_MAX - 6)}-${number}`;
    }
  }
}

function off(enabled: unknown): Entry {
  return enabled === false ? { enabled } : {};
}

/** A title as a name of this service: small letters, digits and dashes. */
export function nameOf(title: string): string {
  const plain = title
    .slice(0, 4 * NAME_CHARACTERS_MAX)
    .normalize('NFKD')
    .toLowerCase();
  const words = plain.replaceAll(/[^a-z0-9]+/g, '-').replace(/^-/, '');
  return words.slice(0, NAME_CHARACTERS_MAX).replace(/-$/, '') || 'imported';
}

export type Json = Readonly<Record<string, unknown>>;

/** Reads an export in JSON. Throws invalid_argument. */
export function readExport(text: string): Json {
  if (Buffer.byteLength(text) > CONFIG_LIMITS.bytesMax)
    throw new Failure('invalid_argument', `file: expected at most ${CONFIG_LIMITS.bytesMax} bytes.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Failure('invalid_argument', 'file: expected an export in JSON.');
  }
  if (!isObject(value)) throw new Failure('invalid_argument', 'file: expected an export in JSON with named fields.');
  return value;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; empty for anything else. */
export function objectsIn(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function objectIn(value: unknown): Json {
  return isObject(value) ? value : {};
}

/** A text, or a number as one; null for anything else and for an empty text. */
export function textIn(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

import { Failure } from '../../../../domain/failure.ts';
import { CHECK_LIMITS, TargetReader } from '../../../../domain/checks/target.ts';
import { CHECK_KIND_FACTS, readOptions } from '../../../../domain/checks/kinds.ts';
import type { CheckKind } from '../../../../domain/checks/check.ts';
import { type ReadTimetable, TIMEZONE_DEFAULT, timetableReader } from '../../../../domain/schedules/schedule.ts';
import type { Entry } from '../../../../domain/configuration/change.ts';
import { CONFIG_LIMITS } from '../../../../domain/configuration/file.ts';
import { hasCredential } from './credential.ts';

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

/** One object of an export. */
export interface Subject {
  readonly title: string;
  /** Its name in a report where it gets none here; with it, two of the same title differ. */
  readonly what: string;
  /** What its check or schedule does not have of it: the rest of a sentence after the new name. */
  readonly losses: string[];
}

/** Collects what is imported, each object under another name. */
export class Collector implements Imported {
  readonly checks = new Map<string, Entry>();
  readonly schedules = new Map<string, Entry>();
  readonly notes: string[] = [];
  /** By name, the last number behind it. */
  readonly #numbers = new Map<string, number>();
  /** By cron line and zone, what is wrong with it. */
  readonly #faults = new Map<string, string | null>();
  readonly #readTimetable: ReadTimetable | null;
  #notesBeyond = 0;

  constructor(readTimetable: ReadTimetable | null = null) {
    this.#readTimetable = readTimetable;
  }

  /** For an export with schedules. */
  static async ofSchedules(): Promise<Collector> {
    return new Collector(await timetableReader());
  }

  /** Adds a check of one target, or notes why it can be none. */
  check(subject: Subject, kind: CheckKind, target: string, fields: Entry): void {
    const { interval, enabled, ...own } = fields;
    const { expectBodyBytes } = CHECK_LIMITS;
    if (Buffer.byteLength(textIn(own['expect_body']) ?? '') > expectBodyBytes)
      return this.leave(subject.what, `a check expects a text of at most ${expectBodyBytes} bytes`);
    try {
      new TargetReader(kind).read(`target=${target}`);
      readOptions(kind, own);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { form } = CHECK_KIND_FACTS[kind];
      return this.leave(subject.what, `a check of kind ${kind} takes NAME=${form} as its target`);
    }
    this.#add(this.checks, subject, { kind, interval, targets: [`target=${target}`], ...own, ...off(enabled) });
  }

  /**
   * Adds a schedule, or notes why its times can be none. It is imported disabled, so that nothing runs twice while the
   * other program still runs it.
   */
  schedule(subject: Subject, entry: Entry): void {
    const fault = this.timesFault(String(entry['cron']), textIn(entry['timezone']));
    if (fault === null) this.#add(this.schedules, subject, { ...entry, enabled: false });
    else this.leave(subject.what, fault);
  }

  /** What is wrong with a cron line or its zone; null for times that a schedule takes. */
  timesFault(cron: string, timezone: string | null): string | null {
    const key = `${cron}\n${timezone ?? ''}`;
    const known = this.#faults.get(key);
    if (known !== undefined) return known;
    // A line that never occurs takes 2 ms to refuse.
    if (this.#faults.size >= OBJECTS_MAX) return `expected at most ${OBJECTS_MAX} different times`;
    const fault = this.#readFault(cron, timezone);
    this.#faults.set(key, fault);
    return fault;
  }

  leave(what: string, why: string): void {
    const shown = what.length > SHOWN_CHARACTERS_MAX ? `${what.slice(0, SHOWN_CHARACTERS_MAX)}…` : what;
    this.note(`Left out: ${shown}: ${why}.`);
  }

  note(text: string): void {
    if (this.notes.length < NOTES_MAX) this.notes.push(text);
    else this.notes[NOTES_MAX] = `${(this.#notesBeyond += 1)} further lines of this report are left out.`;
  }

  /** The objects of a list with their places, which begin with 1. Anything else in it is noted. */
  objects(list: unknown, noun: string): { readonly each: Json; readonly place: number }[] {
    if (!Array.isArray(list)) return [];
    return list.flatMap((each: unknown, index) => {
      if (isObject(each)) return [{ each, place: index + 1 }];
      this.leave(`${noun} ${index + 1}`, 'it has no fields');
      return [];
    });
  }

  #readFault(cron: string, timezone: string | null): string | null {
    try {
      this.#readTimetable?.(cron, timezone ?? TIMEZONE_DEFAULT);
      return null;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return error.message.replace(/\.$/, '');
    }
  }

  #add(objects: Map<string, Entry>, { title, what, losses }: Subject, entry: Entry): void {
    if (objects.size >= OBJECTS_MAX) return this.leave(what, `expected at most ${OBJECTS_MAX} objects`);
    const name = this.#freeName(nameOf(title), objects);
    objects.set(name, entry);
    if (hasCredential(entry)) this.note(`Needed: ${name}: write the credential in place of [kept] in its URL`);
    for (const loss of losses) this.note(`${name}: ${loss}.`);
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

/** Throws invalid_argument for a file that is empty or too large. */
export function checkSize(text: string): void {
  if (text.trim() === '') throw new Failure('invalid_argument', 'file: it is empty.');
  if (Buffer.byteLength(text) > CONFIG_LIMITS.bytesMax)
    throw new Failure('invalid_argument', `file: expected at most ${CONFIG_LIMITS.bytesMax} bytes.`);
}

/** Reads an export in JSON. Throws invalid_argument. */
export function readExport(text: string): Json {
  checkSize(text);
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

/** Whether a field says anything: no null, false, empty text, or list or object without a member. */
export function isGiven(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value === true || textIn(value) !== null;
}

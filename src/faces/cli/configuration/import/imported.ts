import type { CheckKind } from '../../../../domain/checks/check.ts';
import type { Entry } from '../../../../domain/configuration/change.ts';
import { Failure } from '../../../../domain/failure.ts';
import { type ReadTimetable, TIMEZONE_DEFAULT, timetableReader } from '../../../../domain/schedules/timetable.ts';
import { yamlOf } from '../../../../domain/yaml/json.ts';
import { checksSection } from '../../../../operations/checks/configuration.ts';
import { schedulesSection } from '../../../../operations/schedules/configuration.ts';
import { hasCredential } from './credential.ts';
import { type Fields, type Item, LeftOut } from './reading/fields.ts';
import { Names } from './names.ts';
import { unreadNotes } from './reading/unread-notes.ts';

/** What an export of another program becomes: objects of a configuration file, and what has no place in one. */
export interface Imported {
  readonly checks: ReadonlyMap<string, Entry>;
  readonly schedules: ReadonlyMap<string, Entry>;
  /** One sentence for each thing that was not carried over, or has to be done by hand. */
  readonly notes: readonly string[];
}

const SECTIONS = { checks: checksSection, schedules: schedulesSection };

/** Objects of an export: later ones are left out. */
const OBJECTS_MAX = 10_000;
const NOTES_MAX = 1_000;
const SHOWN_CHARACTERS_MAX = 100;

/** One object of an export. */
export interface Subject {
  readonly title: string;
  /** The objects of the file that it is made of. */
  readonly from: readonly Fields[];
  /** What its check or schedule does not have of it: the rest of a sentence after the new name. */
  readonly losses: string[];
}

/** Collects what is imported, each object under another name. */
export class Collector implements Imported {
  readonly checks = new Map<string, Entry>();
  readonly schedules = new Map<string, Entry>();
  readonly notes: string[] = [];
  readonly #names = { checks: new Names(), schedules: new Names() };
  /** By cron line and zone, what is wrong with it. */
  readonly #faults = new Map<string, string | null>();
  readonly #readTimetable: ReadTimetable;
  #notesBeyond = 0;

  private constructor(readTimetable: ReadTimetable) {
    this.#readTimetable = readTimetable;
  }

  static async create(): Promise<Collector> {
    return new Collector(await timetableReader());
  }

  /** Imports each object of a list. One that throws LeftOut is named with its reason. */
  async each(items: readonly Item[], importOne: (fields: Fields, place: string) => Promise<void>): Promise<void> {
    for (const { place, fields } of items)
      if (fields === null) this.leave(place, 'it has no fields');
      else if (
        !(await this.attempt(
          () => fields.label,
          () => importOne(fields, place),
        ))
      )
        fields.drop();
  }

  /** False where the work threw LeftOut, whose reason is named. */
  async attempt(label: () => string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof LeftOut)) throw error;
      this.leave(label(), error.message);
      return false;
    }
  }

  /** Adds a check of one target. Throws LeftOut where it can be none. */
  async check(subject: Subject, kind: CheckKind, target: string, fields: Entry): Promise<void> {
    const { interval, enabled, ...own } = fields;
    await this.#add('checks', subject, { kind, interval, targets: [`target=${target}`], ...own, ...off(enabled) });
  }

  /**
   * Adds a schedule. It is imported disabled, so that nothing runs twice while the other program still runs it. Throws
   * LeftOut where it can be none.
   */
  async schedule(subject: Subject, entry: Entry): Promise<void> {
    const fault = this.timesFault(String(entry['cron']), entry['timezone']);
    if (fault !== null) throw new LeftOut(fault);
    await this.#add('schedules', subject, { ...entry, enabled: false });
  }

  /** What is wrong with a cron line or its zone; null for times that a schedule takes. */
  timesFault(cron: string, timezone: unknown = TIMEZONE_DEFAULT): string | null {
    const zone = String(timezone);
    const key = `${cron}\n${zone}`;
    const known = this.#faults.get(key);
    if (known !== undefined) return known;
    // A line that never occurs takes 2 ms to refuse.
    if (this.#faults.size >= OBJECTS_MAX) return `expected at most ${OBJECTS_MAX} different times`;
    const fault = this.#readFault(cron, zone);
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

  /** Names each field of the file that was not read. */
  finish(file: Fields): this {
    for (const note of unreadNotes(file.unread())) this.note(note);
    return this;
  }

  #readFault(cron: string, timezone: string): string | null {
    try {
      this.#readTimetable(cron, timezone);
      return null;
    } catch (error) {
      return faultOf(error);
    }
  }

  async #add(section: keyof typeof SECTIONS, { title, from, losses }: Subject, entry: Entry): Promise<void> {
    if (this[section].size >= OBJECTS_MAX) throw new LeftOut(`expected at most ${OBJECTS_MAX} objects`);
    try {
      // What svc config apply would refuse is refused here.
      await SECTIONS[section].read(yamlOf(entry), (value) => value);
    } catch (error) {
      throw new LeftOut(faultOf(error));
    }
    const name = this.#names[section].take(title);
    this[section].set(name, entry);
    for (const fields of from) fields.name(name);
    if (hasCredential(entry)) this.note(`Needed: ${name}: write the credential in place of [kept] in its URL`);
    for (const loss of losses) this.note(`${name}: ${loss}.`);
  }
}

/** The message of a refusal, for the middle of a sentence. */
function faultOf(error: unknown): string {
  if (!(error instanceof Failure)) throw error;
  return error.message.replace(/\.$/, '');
}

function off(enabled: unknown): Entry {
  return enabled === false ? { enabled } : {};
}

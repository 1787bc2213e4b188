import { hash } from 'node:crypto';
import { changedKeyReason } from '../inventories/host-key.ts';
import type { JobProgress } from '../jobs/job.ts';
import { oneLine } from '../one-line.ts';
import type { HostCounts, ReportEvent, TaskStatus } from './report.ts';

/** Hosts and tasks of a run that are stored with their results; all of them are counted. */
export const HOSTS_MAX = 10_000;
export const TASKS_MAX = 2_000;

/** The letters of a host's cells, one for each task; NO_CELL where the task did not reach the host. */
const CELL_LETTERS = {
  ok: 'o',
  changed: 'c',
  failed: 'f',
  unreachable: 'u',
  skipped: 's',
  ignored: 'i',
  rescued: 'r',
} as const satisfies Readonly<Record<TaskStatus, string>>;
const NO_CELL = '.';

const FIRST_CELLS = 16;
/** Kept of a name and of a message. */
const NAME_CHARACTERS_MAX = 300;
const MESSAGE_CHARACTERS_MAX = 500;
/**
 * Kept of all names and messages of a run, two bytes for each character: 10,000 failures of 500 characters, with names
 * of 40, take 11 MB. A host or task beyond it is counted as one that there was besides.
 */
const TEXT_BYTES_MAX = 12 * 1024 * 1024;
const BYTES_OF_A_CHARACTER = 2;
const MESSAGE_LEFT_OUT = '(left out: the messages of this run are too long)';
/** A host with a longer name is found again by the digest of its name. */
const KEY_CHARACTERS_MAX = 64;
/** Of a host in the recap that no result had. */
const NO_HOST = -1;

/** One host of a run. */
export interface HostResult extends HostCounts {
  readonly host: string;
  /** Its first failure, or the loss of its connection; null without one. `task` counts from 0. */
  readonly failure: { readonly task: number; readonly message: string } | null;
  /** One letter for each task up to the last one that reached it. */
  readonly cells: string;
}

export interface TaskOfRun {
  readonly play: string;
  readonly task: string;
}

/** What a verdict is made of. */
export interface Recap {
  /** Whether the run reported its end. */
  readonly ended: boolean;
  readonly plays: number;
  readonly playsWithoutHosts: number;
  /** Of a run that stopped early: plays that never began, and addressed hosts whose batch never began. */
  readonly playsLeft: number;
  readonly hostsLeft: number;
  readonly hosts: number;
  /** Hosts that ran something, without a failure and without losing their connection. */
  readonly good: number;
  readonly failed: number;
  readonly unreachable: number;
}

export interface PlaybookResults {
  readonly recap: Recap;
  /** By name, at most HOSTS_MAX and what TEXT_BYTES_MAX has room for. */
  readonly hosts: readonly HostResult[];
  /** In the order in which they began, at most TASKS_MAX and what TEXT_BYTES_MAX has room for. */
  readonly tasks: readonly TaskOfRun[];
  /** Hosts and tasks that there were besides. */
  readonly hostsCut: number;
  readonly tasksCut: number;
}

interface HostOfRun {
  cells: Buffer;
  used: number;
  failure: HostResult['failure'];
}

/**
 * Gathers what a run reports. `redact` is applied to every text that is kept, when it arrives: one program of the run
 * can write 10,000 names of 16,000 characters, which took 800 MB until the end and then 2 s of redaction in one turn.
 */
export class ResultsCollector {
  readonly #redact: (text: string) => string;
  readonly #hosts = new Map<number, HostOfRun>();
  readonly #numbers = new Map<string, number>();
  readonly #tasks: TaskOfRun[] = [];
  readonly #totals: { readonly host: string; readonly number: number; readonly counts: HostCounts }[] = [];
  #play = '';
  #taskCount = 0;
  #textBytes = 0;
  readonly #recap = {
    ended: false,
    plays: 0,
    playsWithoutHosts: 0,
    playsLeft: 0,
    hostsLeft: 0,
    hosts: 0,
    good: 0,
    failed: 0,
    unreachable: 0,
  };

  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  /** Adds an event. Answers what the run is at, where the event says so. */
  add(event: ReportEvent): JobProgress | null {
    const recap = this.#recap;
    switch (event.event) {
      case 'play':
        recap.plays += 1;
        this.#play = this.#text(event.name, NAME_CHARACTERS_MAX);
        return { play: this.#play, task: '' };
      case 'no_hosts':
        recap.playsWithoutHosts += 1;
        return null;
      case 'task':
        return this.#addTask(event.task, this.#text(event.name, NAME_CHARACTERS_MAX));
      case 'host':
        if (event.host < HOSTS_MAX && !this.#hosts.has(event.host)) {
          this.#hosts.set(event.host, { cells: Buffer.alloc(FIRST_CELLS, NO_CELL), used: 0, failure: null });
          this.#numbers.set(keyOf(event.name), event.host);
        }
        return null;
      case 'result':
        this.#addResult(event);
        return null;
      case 'total':
        this.#addTotal(event);
        return null;
      case 'end':
        recap.ended = true;
        recap.playsLeft = event.plays_left;
        recap.hostsLeft = event.hosts_left;
        return null;
    }
  }

  results(): PlaybookResults {
    const hosts = this.#totals.map(({ host, number, counts }): HostResult => {
      const found = this.#hosts.get(number);
      const failure = found?.failure ?? null;
      const cells = found?.cells.toString('latin1', 0, found.used) ?? '';
      return { host, ...counts, failure, cells };
    });
    return {
      recap: { ...this.#recap },
      hosts,
      tasks: this.#tasks,
      hostsCut: this.#recap.hosts - hosts.length,
      tasksCut: this.#taskCount - this.#tasks.length,
    };
  }

  /** Redacted before it is shortened: a part of a secret is not recognised. */
  #text(text: string, charactersMax: number): string {
    const line = oneLine(this.#redact(text));
    const kept = line.length <= charactersMax ? line : `${line.slice(0, charactersMax - 1).toWellFormed()}…`;
    // V8 keeps the whole of a text for as long as a part of it is kept.
    return Buffer.from(kept).toString();
  }

  /** Whether there is room for texts that are kept until the end; then they are counted. */
  #keeps(...texts: readonly string[]): boolean {
    const bytes = texts.reduce((sum, { length }) => sum + length * BYTES_OF_A_CHARACTER, this.#textBytes);
    if (bytes > TEXT_BYTES_MAX) return false;
    this.#textBytes = bytes;
    return true;
  }

  #addTask(number: number, name: string): JobProgress {
    const task = { play: this.#play, task: name };
    this.#taskCount = Math.max(this.#taskCount, number + 1);
    if (number === this.#tasks.length && number < TASKS_MAX && this.#keeps(task.play, task.task))
      this.#tasks.push(task);
    return task;
  }

  #addResult({ host, task, status, message }: Extract<ReportEvent, { event: 'result' }>): void {
    const found = this.#hosts.get(host);
    if (found === undefined || task >= this.#tasks.length) return;
    if (task >= found.cells.length) {
      const length = Math.min(TASKS_MAX, Math.max(2 * found.cells.length, task + 1));
      found.cells = Buffer.concat([found.cells, Buffer.alloc(length - found.cells.length, NO_CELL)]);
    }
    found.cells.write(CELL_LETTERS[status], task, 'latin1');
    found.used = Math.max(found.used, task + 1);
    if (found.failure !== null || (status !== 'failed' && status !== 'unreachable')) return;
    // Its long warning says why after more characters than are kept.
    const reason = status === 'unreachable' ? changedKeyReason(message ?? '') : null;
    const text = reason ?? this.#text(message ?? '', MESSAGE_CHARACTERS_MAX);
    found.failure = { task, message: this.#keeps(text) ? text : MESSAGE_LEFT_OUT };
  }

  #addTotal({ host, counts }: Extract<ReportEvent, { event: 'total' }>): void {
    const recap = this.#recap;
    recap.hosts += 1;
    if (counts.failures > 0) recap.failed += 1;
    if (counts.unreachable > 0) recap.unreachable += 1;
    if (counts.failures === 0 && counts.unreachable === 0 && counts.ok > 0) recap.good += 1;
    if (this.#totals.length >= HOSTS_MAX) return;
    const name = this.#text(host, NAME_CHARACTERS_MAX);
    if (this.#keeps(name)) this.#totals.push({ host: name, number: this.#numbers.get(keyOf(host)) ?? NO_HOST, counts });
  }
}

function keyOf(name: string): string {
  return name.length <= KEY_CHARACTERS_MAX ? name : hash('sha256', name, 'base64');
}

import { IdSequence } from '../../../src/lib/id.ts';

/** One daemon of the world, over all its lives. */
export interface Host {
  readonly index: number;
  readonly name: string;
  /** The machine that it is on. Those of one SQLite file share it. */
  readonly machine: Machine;
  /** Grows with each start. */
  life: number;
  isAlive: boolean;
  /** Until then it does nothing, as a process that was stopped. Milliseconds of the world. */
  stoppedUntil: number;
  /** Differs between lives, unless it was started again in place. */
  pid: number;
  /** Its next life is the new program of a restart in place. */
  follows: boolean;
  ids: IdSequence;
  /** What the kernel closes when it is killed. */
  readonly handles: Set<{ close(): void }>;
  readonly watchers: Set<(kind: string, name: string) => void>;
}

export interface Machine {
  readonly name: string;
  /** By how much its wall clock is wrong for good, in milliseconds, whatever else it is set to. */
  readonly apartMs: number;
  /** By how much it is ahead of the time of the world, in milliseconds, until it is set right. */
  aheadMs: number;
  /** How often it was switched on. */
  boots: number;
  /** Grows with each installation of a new program. */
  program: number;
  /** Until then nothing can be written to its disk, and how that shows. */
  disk: { readonly fault: DiskFault; readonly until: number };
}

export function bootOf({ name, boots }: Machine): string {
  return `boot-${boots}-of-${name}`;
}

/** `full`: SQLITE_FULL. `broken`: SQLITE_IOERR. */
export type DiskFault = 'full' | 'broken';

/** The daemon whose code runs, in one of its lives. */
export interface Running {
  readonly host: Host;
  readonly life: number;
}

/** One that does not live yet. */
export function newHost(index: number, name: string, machine: Machine): Host {
  return {
    index,
    name,
    machine,
    life: 0,
    isAlive: false,
    stoppedUntil: 0,
    pid: 4_000_000 + index,
    follows: false,
    ids: new IdSequence(),
    handles: new Set(),
    watchers: new Set(),
  };
}

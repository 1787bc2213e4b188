/** What differs between the stores of a world. */
import type { Db } from '../../../src/store/schema/schema.ts';
import type { Node, NodeSettings } from '../daemon.ts';
import type { Rows } from '../rules/rules.ts';
import type { Host, Machine } from '../world/host.ts';
import type { World } from '../world/world.ts';

/** The stores of a process, one after the other: each begins with the whole schema and no rows. */
export interface Stores {
  open(world: World): Promise<WorldStore>;
  close(): Promise<void>;
}

export interface WorldStore {
  /** A real one, for the files of people. */
  readonly folder: string;
  readonly rows: Rows;
  /** A daemon that does not renew its lease in time counts as dead. */
  readonly hasLeases: boolean;
  /** That of the files or the server. */
  readonly machine: Machine;
  /** Null where the store is no file. */
  readonly files: StoreFiles | null;
  /** That of the daemon with this number. */
  machineOf(index: number): Machine;
  settingsOf(host: Host): NodeSettings;
  /** Every row of every table becomes part of what two runs have in common. */
  noteRows(): void;
  /** For a look from outside, after the last step. */
  reader(node: Node): Promise<Reader>;
  close(): Promise<void>;
}

interface StoreFiles {
  /** Of the database. Its log is beside it. */
  readonly path: string;
  /** Has nothing open while `work` puts others in their place. */
  replace(work: () => void): void;
}

export interface Reader {
  readonly db: Db;
  close(): Promise<void>;
}

export const STORE_KINDS = ['sqlite', 'postgres'] as const;

export type StoreKind = (typeof STORE_KINDS)[number];

/** A machine without faults. */
export function machine(name: string, apartMs = 0): Machine {
  return { name, apartMs, aheadMs: 0, boots: 1, program: 1, disk: { fault: 'full', until: 0 } };
}

/** The rows without the one that the rules do not see. */
export function shown(world: World, rows: ReturnType<Rows>): ReturnType<Rows> {
  return world.hides === null ? rows : rows.filter(({ id }) => id !== world.hides);
}

export function hexOfBytes(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}

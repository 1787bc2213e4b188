import type { Settings } from '../../../config/settings/settings.ts';

/** Checks a backup, its key and its target, and writes nothing. Throws Failure. */
export type OpenRestore = (settings: Settings, order: RestoreOrder) => Promise<OpenedRestore>;

/** `backup` is the id of a backup in the directory of backups, or the path of a file. */
export interface RestoreOrder {
  readonly backup: string;
  readonly into: string;
}

export interface OpenedRestore {
  readonly facts: {
    readonly id: string;
    readonly format: string;
    /** RFC 3339. */
    readonly created_at: string;
    readonly schema: number;
    readonly jobs: number;
    readonly data_dir: string;
  };
  run(): Promise<Restored>;
  close(): Promise<void>;
}

/** What a restore has done: the numbers are those of the things that it ended. */
export interface Restored {
  readonly id: string;
  readonly created_at: string;
  readonly data_dir: string;
  readonly jobs: number;
  readonly interrupted: number;
  readonly cancelled: number;
  readonly approvals: number;
  readonly workflow_runs: number;
  readonly deliveries: number;
}

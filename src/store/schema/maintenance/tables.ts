import type { FailureCode } from '../../../domain/failure.ts';
import type { NotifyTarget } from '../../../domain/notify/target.ts';
import type { ProgramFiles } from '../../../domain/program.ts';
import type { Json } from '../../../lib/json.ts';

declare module '../schema.ts' {
  interface Schema {
    daemons: DaemonRow;
    cordon: CordonRow;
    node_cordons: NodeCordonRow;
    restarts: RestartRow;
    retention: RetentionRow;
  }
}

/** What a daemon answers to the request to read its settings again. */
export type ReloadAnswer =
  | { readonly transports: number; readonly restartNeeded: readonly string[] }
  | { readonly code: FailureCode; readonly message: string };

/** What a daemon runs, its last restart in place and reload, by its name. See schema.ts for the conventions. */
export interface RestartRow {
  node: string;
  daemon_id: string;
  /** JSON. */
  program: Json<ProgramFiles>;
  /** Of the files of the program when the daemon started; null until it is known. */
  digest: string | null;
  /** `executing`: the daemon ends, and the new program has not started yet. */
  state: 'idle' | 'requested' | 'draining' | 'executing' | 'aborted';
  forced: 0 | 1;
  /** 1 while the restart itself keeps the daemon from claiming; an operator's cordon is another row. */
  cordoned: 0 | 1;
  requested_at: number | null;
  drain_deadline: number | null;
  finished_at: number | null;
  /** Of the program that was tried, and is to be started. */
  wanted_digest: string | null;
  /** Why it was aborted. */
  reason: string | null;
  /** When the command line on the machine last requested that the settings are read again. */
  reload_requested_at: number | null;
  /** JSON: of that request; null until it is there. */
  reload_answer: Json<ReloadAnswer> | null;
}

export interface DaemonRow {
  id: string;
  host: string;
  boot_id: string;
  pid: number;
  version: string;
  started_at: number;
  /** Database time; null where an operating-system lock tells whether the daemon lives. */
  lease_until: number | null;
  /** When the lease was last renewed, database time; null without a lease, and for a build that did not record it. */
  renewed_at: number | null;
  stopped_at: number | null;
  /** Of its ingress listener, on the loopback address of its host; null for one that has none. */
  ingress_url: string | null;
  /** JSON: name and key of each target of `--notify`; null for a build that did not record them. */
  notify_targets: Json<readonly Pick<NotifyTarget, 'name' | 'key'>[]> | null;
  /** The key that it writes the ledger with; null for daemons of earlier builds, which write it without one. */
  ledger_key_id: string | null;
  /** 1: it tags every order; null for daemons of earlier builds, which tag few. */
  tags_orders: 1 | null;
  /** The name by which people know it; null for daemons of earlier builds. */
  node: string | null;
  order_tag: string | null;
  order_key_id: string | null;
}

/** A daemon that was cordoned alone; the others go on. */
export interface NodeCordonRow {
  node: string;
  cordoned_at: number;
  cordoned_by: string;
}

/** Of the whole service. */
export interface CordonRow {
  id: 1;
  cordoned_at: number | null;
  cordoned_by: string | null;
}

/** What was deleted of a table by its age, and whose turn it is. */
export interface RetentionRow {
  name: 'jobs' | 'events' | 'notifications';
  /** The daemon that deletes, until this time of the store's clock. */
  daemon_id: string;
  turn_until: number;
  shortened_at: number | null;
  /** Rows, in total. */
  deleted: number;
}

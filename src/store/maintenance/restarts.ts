import type { NewProgram } from '../../domain/new-program.ts';
import type { ProgramFiles } from '../../domain/program.ts';
import { toJson } from '../../lib/json.ts';
import { hasChanged, rowBy } from '../engine/rows.ts';
import type { Tx } from '../engine/tx.ts';
import type { DaemonRow, Db, RestartRow } from '../schema/schema.ts';

/** Of a restart that is under way. */
export const OPEN_RESTARTS: readonly RestartRow['state'][] = ['requested', 'draining', 'executing'];

/** What the daemon of this name runs, and its last restart. */
export const restartOf = rowBy('restarts', 'node');

/** A daemon and its restart, and what tells whether it lives. */
export type Restartable = RestartRow & Pick<DaemonRow, 'id' | 'host' | 'boot_id' | 'pid' | 'lease_until'>;

/** The daemons that have not stopped in order or start again, by name; dead ones too, the caller finds out. */
export function listRestartable(db: Db, node: string | null): Promise<Restartable[]> {
  const rows = db
    .selectFrom('restarts')
    .innerJoin('daemons', 'daemons.id', 'restarts.daemon_id')
    .selectAll('restarts')
    .select(['daemons.id', 'daemons.host', 'daemons.boot_id', 'daemons.pid', 'daemons.lease_until'])
    .where((eb) => eb.or([eb('daemons.stopped_at', 'is', null), eb('restarts.state', '=', 'executing')]))
    .orderBy('restarts.node');
  return (node === null ? rows : rows.where('restarts.node', '=', node)).execute();
}

/** The daemon of this name that ends to start again in its process. */
export function executingOf(db: Db, node: string) {
  return db
    .selectFrom('restarts')
    .innerJoin('daemons', 'daemons.id', 'restarts.daemon_id')
    .select(['daemons.host', 'daemons.boot_id', 'daemons.pid'])
    .where('restarts.node', '=', node)
    .where('restarts.state', '=', 'executing')
    .executeTakeFirst();
}

/** The daemons whose new program has not started yet, by name. */
export function listExecuting(db: Db): Promise<(NewProgram & Pick<RestartRow, 'node'>)[]> {
  return db
    .selectFrom('restarts')
    .innerJoin('daemons', 'daemons.id', 'restarts.daemon_id')
    .select(['restarts.node', 'restarts.finished_at', 'daemons.host', 'daemons.boot_id', 'daemons.pid'])
    .where('restarts.state', '=', 'executing')
    .orderBy('restarts.node')
    .execute();
}

/** A restart of which nothing is known. */
const NO_RESTART = { forced: 0, cordoned: 0, requested_at: null, drain_deadline: null, finished_at: null } as const;

const DONE = { state: 'idle', cordoned: 0, reason: null } as const;

/** How what a daemon left of a restart ends with the start of the next one of its name. */
const SETTLED = {
  idle: {},
  aborted: {},
  requested: { state: 'aborted', reason: 'the daemon ended before the new program was tried' },
  // Whether it stays cordoned is up to the operator: the daemon did not end as the restart wanted.
  draining: {
    state: 'aborted',
    reason: 'the daemon ended while its jobs ran; it is still cordoned, until svc maintenance uncordon',
  },
  // Which program has started now is known when its files were read; until then it works on.
  executing: { cordoned: 0 },
} as const satisfies Record<RestartRow['state'], Partial<RestartRow>>;

/** How a restart ends whose new program did not start in the process of the daemon. */
const STARTED_LATE = {
  state: 'idle',
  reason: 'the new program did not start in the process of the daemon; it was started again and runs now',
} as const;
const NOT_STARTED = {
  state: 'aborted',
  reason: 'the new program did not start in the process of the daemon; its error is in the log of the service',
} as const;

interface Start {
  readonly node: string;
  readonly daemonId: string;
  readonly program: ProgramFiles;
  /** It is the new program of a restart in place. */
  readonly follows: boolean;
}

/** Records what a daemon runs, at its start, and ends the restart that the daemon before it may have left. */
export async function settleRestart(tx: Tx, { node, daemonId, program, follows }: Start): Promise<void> {
  const before = await restartOf(tx.db, node);
  const isDone = follows && before?.state === 'executing';
  const digest = isDone ? before.wanted_digest : null;
  const now = { daemon_id: daemonId, program: toJson(program), digest };
  const none = { wanted_digest: null, reason: null, reload_requested_at: null, reload_answer: null };
  const row = { node, ...now, state: 'idle' as const, ...NO_RESTART, ...none };
  if (before === undefined) {
    await tx.db
      .insertInto('restarts')
      .values(row)
      .onConflict((conflict) => conflict.column('node').doUpdateSet(row))
      .execute();
    return;
  }
  const open = OPEN_RESTARTS.includes(before.state);
  const ended = {
    ...(isDone ? DONE : SETTLED[before.state]),
    ...(open ? { finished_at: tx.now, drain_deadline: null } : {}),
  };
  await tx.db
    .updateTable('restarts')
    .set({ ...now, ...ended })
    .where('node', '=', node)
    .execute();
}

/** Notes the digest of the program that a daemon runs, and whether it is the one that a restart left behind. */
export async function recordDigest(tx: Tx, daemonId: string, digest: string): Promise<void> {
  const row = tx.db.updateTable('restarts').where('daemon_id', '=', daemonId);
  const left = row.where('state', '=', 'executing').where('digest', 'is', null);
  await left.where('wanted_digest', '=', digest).set(STARTED_LATE).execute();
  await left.set(NOT_STARTED).execute();
  await row.set({ digest }).execute();
}

/** Requests a restart. One that is under way stays, and may be forced. False where nothing has changed. */
export async function requestRestart(tx: Tx, node: string, force: boolean): Promise<boolean> {
  const update = tx.db.updateTable('restarts').where('node', '=', node);
  const fresh = update
    .set({ ...NO_RESTART, state: 'requested', forced: force ? 1 : 0, requested_at: tx.now, reason: null })
    .set({ wanted_digest: null })
    .where('state', 'not in', OPEN_RESTARTS);
  if (await hasChanged(fresh)) return true;
  return force && (await hasChanged(update.set({ forced: 1 }).where('forced', '=', 0)));
}

/** Moves the restart of a daemon from one state to another. False where it is in another state by now. */
export function moveRestart(
  tx: Tx,
  daemonId: string,
  from: RestartRow['state'],
  to: Partial<Omit<RestartRow, 'node' | 'daemon_id'>>,
): Promise<boolean> {
  const update = tx.db.updateTable('restarts').set(to).where('daemon_id', '=', daemonId);
  return hasChanged(update.where('state', '=', from));
}

/** Ends restarts that wait for jobs, or failed to, because their cordon is lifted: of one daemon, or of all. */
export async function uncordonRestarts(tx: Tx, node: string | null, by: string): Promise<void> {
  const rows = tx.db.updateTable('restarts').where('cordoned', '=', 1).where('state', '!=', 'executing');
  const update = node === null ? rows : rows.where('node', '=', node);
  const reason = `${by} has lifted the cordon`;
  await update.where('state', '=', 'draining').set({ state: 'aborted', finished_at: tx.now, reason }).execute();
  await update.set({ cordoned: 0 }).execute();
}

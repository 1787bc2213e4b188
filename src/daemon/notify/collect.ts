import { foldable, foldFacts } from '../../domain/notifications.ts';
import { burstStep, SINGLE_MAX, WINDOW_MS, type BurstStep } from '../../domain/notify/burst.ts';
import { Failure } from '../../domain/failure.ts';
import type { AskedFacts } from '../../domain/approvals/notifications.ts';
import { deliveryTargetOf, isNumberedTarget, recipientOf } from '../../domain/notify/target.ts';
import type { Clock } from '../../lib/clock.ts';
import { newId } from '../../lib/id.ts';
import type { Transport } from '../../push/transport.ts';
import { getListedApproval, type ListedApproval } from '../../store/approvals/approvals.ts';
import type { Tx } from '../../store/engine/tx.ts';
import { listLiveEndpoints } from '../../store/notify/live-endpoints.ts';
import { listLiveTargets } from '../../store/notify/targets.ts';
import { askedFacts } from './asked-facts.ts';
import { countShown, foldWaiting, oldestWaiting, waitingBursts, type WaitingBurst } from '../../store/notify/bursts.ts';
import {
  type Assignment,
  assignTargets,
  countNotifications,
  countPending,
  followable,
  insertNotification,
  isUnannouncedDue,
  leaveOut,
  markFollowed,
  newNotifications,
  remindable,
  requestNotification,
  unannouncedApprovals,
} from '../../store/notify/notifications.ts';
import type { Db, EndpointRow } from '../../store/schema/schema.ts';
import type { Store } from '../../store/store.ts';

export interface CollectDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly self: () => string;
  /** The operator's own targets. */
  readonly transports: () => readonly Pick<Transport, 'id' | 'name' | 'key' | 'label'>[];
  readonly onError: (error: unknown) => void;
}

/** The size of a batch; the next pass follows at once. */
const BATCH = 200;

/** The time between two summary notifications, in milliseconds, and so the longest delay of one request. */
const ASKED_APART_MS = 10_000;
/** Where a deadline is nearer than this, that is too long. */
const URGENT_MS = 30_000;
const URGENT_APART_MS = 2_000;

/**
 * Creates the notifications that are due about approvals, and gives each notification its targets. Returns their
 * number.
 */
export async function collectNotifications(deps: CollectDeps): Promise<number> {
  if (!(await isSomethingDue(deps))) return 0;
  return deps.store.write(async (tx) => {
    // Another daemon that looks at the same time finds what this one made, because whatever is used is read after this.
    await tx.dialect.lockKey(tx.db, 'pages');
    const now = await tx.dialect.clock(tx.db, tx.now);
    const endpoints = await listLiveEndpoints(tx, tx.now);
    const targets = await assignmentsOf(deps, tx, endpoints);
    // An approval without recipients is announced as soon as there is one.
    const announced =
      targets.length === 0 ? 0 : await announceRequests(deps, tx, await unannouncedApprovals(tx.db, now, BATCH), now);
    if (targets.length > 0) await remind(deps, tx, await remindable(tx.db, now, BATCH));
    const followed = await followUp(deps, tx, await followable(tx.db, BATCH));
    const single = await newNotifications(tx.db, BATCH);
    const shown = await showBursts(tx);
    for (const id of [...single.map((row) => row.id), ...shown]) await assignTargets(tx, id, targets);
    return announced + followed + single.length + shown.length;
  });
}

/**
 * All recipients with their daemon: this one for endpoints and its own targets, one of the others for targets that only
 * they have. So it does not matter which daemon finds a notification first.
 */
async function assignmentsOf(
  { transports, self }: CollectDeps,
  tx: Tx,
  endpoints: readonly EndpointRow[],
): Promise<Assignment[]> {
  const daemonId = self();
  const byTarget = new Map<string, string>();
  for (const other of await listLiveTargets(tx))
    for (const target of other.targets) byTarget.set(deliveryTargetOf(target), other.daemonId);
  for (const { id } of [...transports(), ...endpoints]) byTarget.set(id, daemonId);
  return [...byTarget].map(([target, sender]) => ({ target, daemonId: sender }));
}

/** A read without locks, before a write that other daemons wait for. */
async function isSomethingDue({ store, clock }: CollectDeps): Promise<boolean> {
  const { db } = store;
  const now = await store.dialect.clock(db, clock.now());
  const found = await Promise.all([
    unannouncedApprovals(db, now, 1),
    remindable(db, now, 1),
    followable(db, 1),
    newNotifications(db, 1),
    dueBursts(db, clock.now()),
  ]);
  return found.some(({ length }) => length > 0);
}

type DueBurst = Pick<WaitingBurst, 'burst'> & BurstStep;

/** Of the bursts that wait, those of which something is to be shown now. */
async function dueBursts(db: Db, now: number): Promise<DueBurst[]> {
  const due: DueBurst[] = [];
  for (const each of await waitingBursts(db)) {
    const step = burstStep({ ...each, ...(await countShown(db, each.burst, now, WINDOW_MS)), now });
    if (step.fold || step.singles > 0) due.push({ burst: each.burst, ...step });
  }
  return due;
}

/** The ids of the notifications that are shown of the bursts: the first ones, and summaries of the others. */
async function showBursts(tx: Tx): Promise<string[]> {
  const ids: string[] = [];
  for (const { burst, singles, fold } of await dueBursts(tx.db, tx.now)) {
    if (fold) ids.push(...(await foldBurst(tx, burst)));
    else for (const { id } of await oldestWaiting(tx.db, burst, singles)) ids.push(id);
  }
  return ids;
}

/** The id of the summary; none where nothing that waits can be summarised. */
async function foldBurst(tx: Tx, burst: string): Promise<string[]> {
  const id = newId('page', tx.now);
  const folded = foldable((await foldWaiting(tx, burst, id)).map(({ detail }) => detail));
  if (folded.length === 0) return [];
  const facts = foldFacts(folded);
  await requestNotification(tx, { id, topic: `${facts.kind}:${id}`, facts });
  return [id];
}

interface Asked {
  readonly row: ListedApproval;
  readonly facts: AskedFacts;
}

/**
 * Reads requests, each apart: one whose rows cannot be read, because somebody wrote into the database, is reported once
 * and left out by `skip`, and holds up no other.
 */
async function readEach(
  { onError }: CollectDeps,
  tx: Tx,
  ids: readonly string[],
  skip: (id: string, reason: string) => Promise<void>,
): Promise<Asked[]> {
  const read: Asked[] = [];
  for (const id of ids) {
    try {
      const row = await getListedApproval(tx.db, id);
      read.push({ row, facts: await askedFacts(tx, row) });
    } catch (error) {
      if (isOfStore(tx, error)) throw error;
      await skip(id, 'it cannot be read');
      tx.afterCommit(() => onError(new Error(`no notification of ${id}, which cannot be read`, { cause: error })));
    }
  }
  return read;
}

/** Then the whole pass is tried again. */
function isOfStore({ dialect }: Tx, error: unknown): boolean {
  return error instanceof Failure ? error.code === 'unavailable' : dialect.faultOf(error) !== 'other';
}

async function announceRequests(deps: CollectDeps, tx: Tx, ids: readonly string[], now: number): Promise<number> {
  if (ids.length === 0) return 0;
  const leave = (id: string, reason: string) => leaveOut(tx, 'approval', id, reason);
  const recent = await countNotifications(tx.db, 'approval', tx.now, WINDOW_MS);
  if (recent + ids.length <= SINGLE_MAX) {
    for (const { row, facts } of await readEach(deps, tx, ids, leave))
      await requestNotification(tx, { topic: `approval:${row.id}`, facts: { kind: 'approval', ...facts } });
    return ids.length;
  }
  // Later requests wait for the next summary, but never past their deadline.
  const apart = (await isUnannouncedDue(tx.db, now, now + URGENT_MS)) ? URGENT_APART_MS : ASKED_APART_MS;
  if ((await countNotifications(tx.db, 'approvals', tx.now, apart)) > 0) return 0;
  const asked = await readEach(deps, tx, ids, leave);
  if (asked.length === 0) return ids.length;
  const summary = await requestNotification(tx, {
    topic: `approvals:${asked[0]?.row.id ?? ''}`,
    facts: { kind: 'approvals', count: await countPending(tx.db) },
  });
  const folded = { state: 'done', reason: `sent with ${summary ?? 'another notification'}`, followed: 1 } as const;
  for (const { row, facts } of asked)
    await insertNotification(tx, { topic: `approval:${row.id}`, facts: { kind: 'approval', ...facts } }, folded);
  return ids.length;
}

/** Reminders beyond the number that a person reads are omitted. */
async function remind(deps: CollectDeps, tx: Tx, late: readonly string[]): Promise<void> {
  const recent = await countNotifications(tx.db, 'reminder', tx.now, WINDOW_MS);
  const single = late.slice(0, Math.max(0, SINGLE_MAX - recent));
  for (const { row, facts } of await readEach(deps, tx, single, (id, why) => leaveOut(tx, 'reminder', id, why)))
    await requestNotification(tx, { topic: `reminder:${row.id}`, facts: { kind: 'reminder', ...facts } });
}

/** Returns the number of `settled`. */
async function followUp(deps: CollectDeps, tx: Tx, settled: readonly string[]): Promise<number> {
  for (const { row, facts } of await readEach(deps, tx, settled, (id) => markFollowed(tx, id))) {
    const { state, decided_by: by, decided_via: via } = row;
    if (state === 'pending') continue;
    await requestNotification(tx, {
      topic: `decided:${row.id}`,
      facts: { kind: 'decided', state, by: by === null ? null : personOf(deps, by), via, ...facts },
    });
    await markFollowed(tx, row.id);
  }
  return settled.length;
}

/** Names the decider for people; this daemon may have other targets than the one that sent the link. */
function personOf({ transports }: CollectDeps, decidedBy: string): string {
  if (isNumberedTarget(decidedBy)) return 'a target of the operator';
  const target = transports().find((each) => recipientOf(each) === decidedBy);
  return target === undefined ? decidedBy : `${target.name} (${target.label})`;
}

import { formatDuration } from '../../../../domain/duration.ts';
import { Failure } from '../../../../domain/failure.ts';
import type { Projected, ViewName } from '../../../../views/views.ts';
import { line } from '../../../text/safe.ts';
import { type Client, readData } from '../../connection/client.ts';
import { placeFlags, type Session } from '../../connection/session.ts';
import { operationVerb, TREE } from '../../syntax/tree.ts';
import type { Fields } from '../../syntax/arguments.ts';
import { type DaemonFacts, type NeededDaemon, type Reason, reasonOf } from './reason.ts';

type Node = Projected<'node.list'>[number];

/**
 * A wait ends when no daemon could continue what it is for during this time, in milliseconds. A daemon starts within
 * a few seconds, and an operator who has started none soon sees the advice.
 */
const UNCLAIMED_MAX_MS = 30_000;
/** The time until the first look, in milliseconds: most jobs are claimed by then, and cost no further request. */
const FIRST_LOOK_MS = 250;
/** The interval of looks, in milliseconds. */
const LOOK_MS = 1_500;
/** If a job that a daemon could take for this time, in milliseconds, is not taken, the wait says so. */
const BUSY_MS = 5_000;

/** What a wait is for. */
export interface Awaited {
  /** The start of a sentence that ends with what becomes of it without a daemon: `job job_… stays queued`. */
  readonly effect: string;
  /** Commands for the end of the wait, as sentences. */
  readonly advice: string;
  /** The sentence while the daemons that could take it do not; null without one. */
  readonly busy: string | null;
  /** The daemons that it needs, one of which is enough; empty while it waits for an approval. `over` ends the watch. */
  needs(): Promise<readonly NeededDaemon[] | 'over'>;
}

/**
 * Says why no daemon takes what a wait is for, and calls `end` when that has lasted for UNCLAIMED_MAX_MS. A daemon that
 * restarts in place is waited for. The returned function ends it.
 */
export function watchUnclaimed(session: Session, awaited: Awaited, end: (failure: Failure) => void): () => void {
  const { clock, stderr } = session.terminal;
  let claimableSince: number | null = clock.monotonic();
  let shown: string | null = null;
  let unclaimedSince: number | null = null;
  let isOver = false;
  const judge = (reason: Reason | null, isNeeded: boolean): void => {
    const now = clock.monotonic();
    claimableSince = reason === null ? (claimableSince ?? now) : null;
    const isLate = isNeeded && claimableSince !== null && now - claimableSince >= BUSY_MS;
    const words = reason === null ? (isLate ? awaited.busy : null) : notice(session, awaited, reason);
    if (words !== null && words !== shown) stderr.write(line(words));
    shown = words ?? shown;
    unclaimedSince = reason === null || reason.cure === null ? null : (unclaimedSince ?? now);
    if (reason === null || unclaimedSince === null || now - unclaimedSince < UNCLAIMED_MAX_MS) return;
    isOver = true;
    end(new Failure('unavailable', `${fact(session, awaited, reason)} ${awaited.advice}`.trimEnd()));
  };
  const look = async (): Promise<void> => {
    const needs = await awaited.needs();
    if (needs === 'over') isOver = true;
    else {
      const reason = await findReason(session, needs);
      if (!isOver) judge(reason, needs.length > 0);
    }
  };
  const again = async (): Promise<void> => {
    // What cannot be read now is read with the next look.
    await look().catch(() => undefined);
    if (!isOver) cancel = clock.after(LOOK_MS, () => void again());
  };
  let cancel = clock.after(FIRST_LOOK_MS, () => void again());
  return () => {
    isOver = true;
    cancel();
  };
}

function fact(session: Session, { effect }: Awaited, { why, cure }: Reason): string {
  const flags = session.options.remote !== null && cure?.verb === 'serve' ? '' : placeFlags(session);
  if (cure === null) return `${why}, so ${effect}.`;
  const command = cure.verb === null ? '' : ` svc ${cure.verb}${cure.flags ?? ''}${flags}.`;
  return `${why}, so ${effect}. ${cure.text}${command}`;
}

function notice(session: Session, awaited: Awaited, reason: Reason): string {
  const end = reason.cure === null ? 'Waiting for it.' : `Waiting for up to ${formatDuration(UNCLAIMED_MAX_MS)}.`;
  return `${fact(session, awaited, reason)} ${end}`;
}

/** Why no needed daemon continues; null if one can, or if nothing is needed. */
async function findReason({ client }: Session, needs: readonly NeededDaemon[]): Promise<Reason | null> {
  if (needs.length === 0) return null;
  const nodes = await read<'node.list'>(client, 'node list', {});
  const known = { nodes, isCordoned: false, restarting: [] };
  if (needs.some((needed) => reasonOf(known, needed) === null)) return null;
  const facts = nodes.some(({ state }) => state === 'cordoned') ? await readCordons(client, nodes) : known;
  const reasons = needs.map((needed) => reasonOf(facts, needed));
  if (reasons.includes(null)) return null;
  return reasons.find((reason) => reason?.cure === null) ?? reasons[0] ?? null;
}

/**
 * What a cordon comes from, which is not known of a server that has no queue, and then the daemons again: one that is
 * lifted between the answers would look like a cordon of single daemons.
 */
async function readCordons(client: Client, before: readonly Node[]): Promise<DaemonFacts> {
  const names = before.filter(({ state }) => state === 'cordoned').map(({ name }) => name);
  const service = await read<'maintenance.readiness'>(client, 'maintenance readiness', {}).catch(() => null);
  const restarts = await Promise.all(
    names.map((node) => read<'maintenance.restart'>(client, 'maintenance restart-status', { node }).catch(() => null)),
  );
  const open = restarts.flatMap((each) => (each === null || !OPEN.includes(each.state) ? [] : [each.node]));
  const nodes = await read<'node.list'>(client, 'node list', {});
  return { nodes, isCordoned: service?.cordoned === true, restarting: open };
}

const OPEN: readonly Projected<'maintenance.restart'>['state'][] = ['requested', 'draining'];

async function read<K extends ViewName>(client: Client, path: string, fields: Fields): Promise<Projected<K>> {
  return (await readData(await client.call(operationVerb(TREE, path).call, fields))).data as Projected<K>;
}

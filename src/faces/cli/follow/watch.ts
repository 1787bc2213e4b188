import { Failure } from '../../../domain/failure.ts';
import { pause } from '../../../lib/clock.ts';
import { orderLine } from '../../../domain/jobs/order-words.ts';
import type { Projected } from '../../../views/views.ts';
import { readData } from '../connection/client.ts';
import { EXIT_INTERRUPTED, isOverCap, POLL_MS, sayPolling } from './follow.ts';
import type { Session } from '../connection/session.ts';
import { line } from '../../text/safe.ts';
import { relative } from '../../text/time.ts';
import { write } from '../terminal.ts';
import { type OperationCall, operationVerb, TREE } from '../syntax/tree.ts';

/** Orders that are asked for at once, the newest ones: of many requests the list says enough. */
const ORDERS_MAX = 20;

type Approval = Projected<'approval.list'>[number];

/**
 * Follows the pending approvals until Ctrl-C. In JSON mode each change is one line, the array as the server sends
 * it; in text mode each new approval and each ended one is a line.
 */
export async function watchApprovals(session: Session, call: OperationCall): Promise<number> {
  const { terminal, options } = session;
  const detach = new AbortController();
  const restore = terminal.onInterrupt(() => detach.abort());
  let last = '';
  let pending: readonly Approval[] = [];
  try {
    for await (const data of lists(session, call, detach.signal)) {
      // A resumed stream begins with approvals that were shown already.
      if (data === last) continue;
      const now = JSON.parse(data) as readonly Approval[];
      if (options.output === 'json') await write(terminal.stdout, `${data}\n`);
      else await print(session, pending, now, last === '');
      last = data;
      pending = now;
    }
  } finally {
    restore();
  }
  return EXIT_INTERRUPTED;
}

/**
 * The lists of the stream. Its place may go to another when its time is over: then the list is read, until there is a
 * place again.
 */
async function* lists(session: Session, call: OperationCall, signal: AbortSignal): AsyncGenerator<string> {
  const { client, fields, terminal } = session;
  for (let isFirst = true; ; isFirst = false) {
    try {
      for await (const { event, data } of client.follow(call, fields, signal)) if (event === 'approvals') yield data;
      return;
    } catch (error) {
      if (!isOverCap(error)) throw error;
    }
    if (isFirst) sayPolling(session);
    const { data } = await readData(await client.call(operationVerb(TREE, 'approval list').call, {}));
    yield JSON.stringify(data);
    if (!(await pause(terminal.clock, POLL_MS, signal))) return;
  }
}

async function print(
  session: Session,
  before: readonly Approval[],
  now: readonly Approval[],
  isFirst: boolean,
): Promise<void> {
  const { stdout, stderr, clock } = session.terminal;
  if (isFirst && now.length === 0) stderr.write('No pending approvals. Press Ctrl-C to stop.\n');
  const had = new Set(before.map(({ id }) => id));
  const has = new Set(now.map(({ id }) => id));
  for (const each of before) if (!has.has(each.id)) await write(stdout, line(await endOf(session, each)));
  // The list is newest first; printed line by line, the newest comes last.
  const asks = now.filter(({ id }) => !had.has(id)).toReversed();
  for (const [index, each] of asks.entries()) {
    const words = asks.length - index > ORDERS_MAX ? null : await wordsOf(session, each);
    await write(stdout, line(asked(each, clock.now())));
    if (words !== null) await write(stdout, line(`          ${words}`));
  }
}

/** What is ordered, in one line; null where it has no words, or the caller may not read them. */
async function wordsOf({ client }: Session, { id }: Approval): Promise<string | null> {
  try {
    const { data } = await readData(await client.call(operationVerb(TREE, 'approval order').call, { id }));
    return orderLine(data as Projected<'order'>);
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

function asked({ id, runbook, requested_by: by, policy, expires_at: until }: Approval, nowMs: number): string {
  return `waiting   ${id}  ${runbook}, requested by ${by}: ${policy}; expires ${relative(until, nowMs)}`;
}

/** The list shows only that it is no longer pending. */
async function endOf({ client }: Session, { id, runbook }: Approval): Promise<string> {
  try {
    const { data } = await readData(await client.call(operationVerb(TREE, 'approval get').call, { id }));
    const { state, decided_by: by, decided_via: via, reason } = data as Approval;
    const who = by === null ? '' : ` by ${by} via ${via ?? '?'}`;
    return `${state.padEnd(9)} ${id}  ${runbook}${who}${reason === null ? '' : `: ${reason}`}`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return `settled   ${id}  ${runbook}`;
  }
}

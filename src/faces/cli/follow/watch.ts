import { Failure } from '../../../domain/failure.ts';
import type { Projected } from '../../../operations/views/views.ts';
import { readData } from '../connection/client.ts';
import { EXIT_INTERRUPTED } from './follow.ts';
import type { Session } from '../connection/session.ts';
import { line } from '../../text/safe.ts';
import { relative } from '../../text/time.ts';
import { write } from '../terminal.ts';
import { type OperationCall, operationVerb, TREE } from '../syntax/tree.ts';

type Approval = Projected<'approval.list'>[number];

/**
 * Follows what waits for a decision until Ctrl-C. In JSON mode each change is one line, the array as the server sends
 * it; in text mode a line tells each approval that came and how each ended that is gone.
 */
export async function watchApprovals(session: Session, call: OperationCall): Promise<number> {
  const { client, terminal, options, fields } = session;
  const detach = new AbortController();
  const restore = terminal.onInterrupt(() => detach.abort());
  let last = '';
  let pending: readonly Approval[] = [];
  try {
    for await (const { event, data } of client.follow(call, fields, detach.signal)) {
      // A stream that was taken up again begins with what was shown already.
      if (event !== 'approvals' || data === last) continue;
      const now = JSON.parse(data) as readonly Approval[];
      if (options.output === 'json') await write(terminal.stdout, `${data}\n`);
      else await tell(session, pending, now, last === '');
      last = data;
      pending = now;
    }
  } finally {
    restore();
  }
  return EXIT_INTERRUPTED;
}

async function tell(
  session: Session,
  before: readonly Approval[],
  now: readonly Approval[],
  isFirst: boolean,
): Promise<void> {
  const { stdout, stderr, clock } = session.terminal;
  if (isFirst && now.length === 0) stderr.write('Nothing waits for a decision. Ctrl-C ends this.\n');
  const had = new Set(before.map(({ id }) => id));
  const has = new Set(now.map(({ id }) => id));
  for (const each of before) if (!has.has(each.id)) await write(stdout, line(await endOf(session, each)));
  // The list is newest first; told line by line, the newest stands last.
  for (const each of now.toReversed()) if (!had.has(each.id)) await write(stdout, line(asked(each, clock.now())));
}

function asked({ id, runbook, requested_by: by, policy, expires_at: until }: Approval, nowMs: number): string {
  return `waiting   ${id}  ${runbook}, asked by ${by}: ${policy}; expires ${relative(until, nowMs)}`;
}

/** The list says only that it waits no more. */
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

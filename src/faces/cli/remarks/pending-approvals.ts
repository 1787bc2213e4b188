import { Failure } from '../../../domain/failure.ts';
import type { Projected } from '../../../views/views.ts';
import { line } from '../../text/safe.ts';
import { readData } from '../connection/client.ts';
import { placeFlags, type Session } from '../connection/session.ts';
import { operationVerb, TREE } from '../syntax/tree.ts';

/** Lines at most: the list of approvals has the others. */
const NAMED_MAX = 3;

/** Names the approvals that wait for the same workspace: what is applied first makes the plans of the others stale. */
export async function mentionPending(session: Session, workspace: string): Promise<void> {
  const { client, terminal } = session;
  const pending = await approvals(client).catch((error: unknown) => {
    // The call itself says what is wrong with the connection or the token.
    if (error instanceof Failure) return [];
    throw error;
  });
  const same = pending.filter((each) => each.workspace === workspace);
  for (const { id, kind, summary, requested_by: asker } of same.slice(0, NAMED_MAX))
    terminal.stderr.write(
      line(
        `Approval ${id} waits for the same workspace (${kind}: ${summary}, asked by ${asker}). ` +
          `An apply before it makes its plan stale. See it: svc approval get ${id}${placeFlags(session)}`,
      ),
    );
  if (same.length > NAMED_MAX) terminal.stderr.write(`And ${same.length - NAMED_MAX} more.\n`);
}

async function approvals(client: Session['client']): Promise<Projected<'approval.list'>> {
  const answer = await readData(await client.call(operationVerb(TREE, 'approval list').call, {}));
  return answer.data as Projected<'approval.list'>;
}

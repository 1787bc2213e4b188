import { Failure } from '../../../domain/failure.ts';
import type { Projected } from '../../../views/views.ts';
import { becameOf } from '../../areas/events/became.ts';
import { line } from '../../text/safe.ts';
import { readData } from '../connection/client.ts';
import type { Session } from '../connection/session.ts';
import { operationVerb, TREE } from '../syntax/tree.ts';
import { write } from '../terminal.ts';

/** Says what became of an event that was shown: its approval, and its job. */
export async function sayBecame(session: Session, event: Projected<'event.get'>): Promise<void> {
  const approval = await read<Projected<'approval.get'>>(session, 'approval get', event.approval_id);
  const job = await read<Projected<'job.get'>>(session, 'job get', event.job_id);
  const became = becameOf({ approval, job }, session.terminal.clock.now());
  if (became !== null) await write(session.terminal.stdout, `\n${line(became)}`);
}

/** Null without an id, and for what is no longer stored. */
async function read<T>({ client }: Session, path: string, id: string | null): Promise<T | null> {
  if (id === null) return null;
  try {
    return (await readData(await client.call(operationVerb(TREE, path).call, { id }))).data as T;
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

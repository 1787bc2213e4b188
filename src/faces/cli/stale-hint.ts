import type { Failure } from '../../domain/failure.ts';
import type { Projected } from '../../views/views.ts';
import type { Request } from './syntax/arguments.ts';
import { SentFailure } from './connection/client.ts';
import { placeFlags } from './connection/session.ts';
import { movedBy } from '../text/stale.ts';

type Stale = NonNullable<Projected<'approval.get'>['stale']>;

/** Who changed the state that a plan was made from, and what to do now; null for any other failure. */
export function staleHint(failure: Failure, request: Request | null, nowMs: number): string | null {
  if (failure.code !== 'stale_plan') return null;
  const stale = staleOf(failure);
  const run = request?.ask === 'run' ? request : null;
  // Only a decision about an approval has a stale plan and no name of a workspace.
  const name = run?.fields['name'];
  const again =
    'Make a new plan: svc workspace plan ' +
    `${typeof name === 'string' ? name : 'NAME'}${run === null ? '' : placeFlags(run)}`;
  return stale === null ? null : `${movedBy(stale, nowMs)} ${again}`;
}

function staleOf(failure: Failure): Stale | null {
  const stale = failure instanceof SentFailure ? sentStale(failure.body) : failure.extra['stale'];
  return typeof stale === 'object' && stale !== null ? (stale as Stale) : null;
}

/** The client has read the body as an error envelope already. */
function sentStale(body: string): unknown {
  return (JSON.parse(body) as { error?: { stale?: unknown } }).error?.stale;
}

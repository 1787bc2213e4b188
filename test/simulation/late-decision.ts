/** Somebody who decides in the last moment, when the deadline of the approval comes. */
import type { Clients } from './clients.ts';
import type { Place } from './place.ts';
import type { Action } from './plan/plan.ts';

export function decideLate(
  { world, store }: Place,
  clients: Clients,
  { at, decision }: Extract<Action, { do: 'decide-late' }>,
): void {
  const pending = store.rows("select id, expires_at from approvals where state = 'pending' order by id");
  const one = pending[Math.floor(at * pending.length)];
  if (one === undefined) return;
  const leftMs = Number(one['expires_at']) - world.wallOf({ machine: store.machine });
  const raw = { id: String(one['id']), decision };
  world.later('late', leftMs, () => {
    void clients.act({ do: 'call', afterMs: 0, as: 'decider', operation: 'approval.decision', raw });
  });
}

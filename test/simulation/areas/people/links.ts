import { call, keyOf, some } from '../../plan/make.ts';
import type { LinkUse, Made } from '../../plan/plan.ts';
import type { Stream } from '../../world/chance.ts';
import type { SimulatedArea } from '../area.ts';

const HOWS: readonly LinkUse[] = ['look', 'form', 'form', 'tap', 'tap', 'late'];

/** Also for somebody who asked, and for somebody who may not decide. */
function give(chance: Stream): Made {
  const recipient = chance.pick(['dan', 'dan', 'eve', 'eve', 'olga', 'rita']);
  return call('neighbour', 'approval.link', { id: some(chance, 'what waits'), recipient });
}

function admit(chance: Stream): Made {
  const expires = chance.chance(0.5) ? { expires: chance.pick(['3s', '15s']) } : {};
  const [owner, name] = [chance.pick(['dan', 'eve']), `decider-${chance.whole(0, 1e6)}`];
  return call('local', 'token.create', { name, owner, scope: 'approve', ...expires });
}

/** Links that decide: given out on the machine, and in the messages of the phone. */
export const LINKS: SimulatedArea = {
  rarity: 2,
  scene: ['dan', 'eve'].map((owner) => [
    'local',
    'token.create',
    { name: `phone-of-${owner}`, owner, scope: 'approve' },
  ]),
  makers: [
    [6, (chance) => call('operator', 'workflow.run', { name: 'asked' }, keyOf(chance))],
    [9, give],
    [4, admit],
    [2, (chance) => call('local', 'token.revoke', { token: some(chance, 'token of a decider') })],
    [9, (chance) => ({ do: 'link', at: chance.next(), how: chance.pick(HOWS) })],
  ],
  picks: {
    'what waits': "approvals where state = 'pending'",
    'token of a decider': "tokens where scope = 'approve' and revoked_at is null",
  },
  atRest: [
    {
      rule: 'A12',
      sql: `select approval_id, recipient, decision, count(*) as n from decision_links
        group by approval_id, recipient, target, decision having count(*) > 1`,
      words: ({ approval_id: id, recipient, decision, n }) =>
        `${String(recipient)} has ${String(n)} links to ${String(decision)} ${String(id)}`,
    },
    {
      rule: 'A9',
      sql: `select id, decided_by, decided_via from approvals where state = 'approved' and not exists (
        select 1 from ledger where operation = 'approval.decision' and target = approvals.id
        and principal = decided_by and via = decided_via)`,
      words: ({ id, decided_by: by, decided_via: via }) =>
        `the ledger does not say that ${String(by)} approved ${String(id)} over ${String(via)}`,
    },
  ],
};

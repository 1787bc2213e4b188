import { call, keyOf, some } from '../../plan/make.ts';
import type { Made } from '../../plan/plan.ts';
import type { Stream } from '../../world/chance.ts';
import type { SimulatedArea } from '../area.ts';

const GIT = 'https://git.example.org/ops.git';
const RUN = { playbook: 'site.yml', source: 'ops', inventory: 'localhost' };

const ASKED = `steps:
  - name: only
    playbook: site.yml
    source: ops
    inventory: localhost
    approval: required
`;

function decision(chance: Stream): Made {
  return call('decider', 'approval.decision', { id: some(chance, 'run of a commit'), decision: 'approve' });
}

/** Also of a ref that is not there. */
function other(chance: Stream): Made {
  const ref = chance.pick(['main', 'next', 'none']);
  return call('local', 'source.add', { name: 'other', git: GIT, ref, replace: chance.chance(0.5) });
}

/** A git source whose refs move, while jobs that use it wait. */
export const SOURCES: SimulatedArea = {
  rarity: 3,
  isUnmodelled: true,
  scene: [
    ['local', 'source.add', { name: 'ops', git: GIT, ref: 'main' }],
    ['local', 'workflow.add', { name: 'asked-of-git', text: ASKED }],
  ],
  makers: [
    [4, (chance) => call('operator', 'workflow.run', { name: 'asked-of-git' }, keyOf(chance))],
    [4, (chance) => call('operator', 'playbook.run', RUN, keyOf(chance))],
    [4, decision],
    [4, (chance) => ({ do: 'git', what: 'push', ref: chance.pick(['main', 'main', 'next']) })],
    [4, () => ({ do: 'git', what: 'sync' })],
    [8, () => ({ do: 'git', what: 'release' })],
    [2, other],
    [1, () => call('local', 'source.remove', { name: 'other' })],
    [1, (chance) => call('operator', 'job.redrive', { ids: [some(chance, 'job of a commit')] }, keyOf(chance))],
    [1, (chance) => call('operator', 'job.rerun', { id: some(chance, 'job of a commit') }, keyOf(chance))],
  ],
  faults: [
    [1, (chance) => ({ do: 'git', what: 'lose', forMs: chance.whole(10, 20_000) })],
    [1, () => ({ do: 'git', what: 'drop', ref: 'next' })],
  ],
  picks: {
    'run of a commit': "approvals where state = 'pending' and kind = 'playbook'",
    'job of a commit': "jobs where source = 'ops'",
  },
};

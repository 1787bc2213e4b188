import { call, keyOf } from '../plan/make.ts';
import type { Actor, Made } from '../plan/plan.ts';
import type { Stream } from '../world/chance.ts';
import type { SimulatedArea } from './area.ts';

/** Well formed, and of nothing. */
const NONE = '0'.repeat(26);

type Unknown = readonly [Actor, string, Readonly<Record<string, unknown>>];

/** Each names something that is not there. */
const UNKNOWN: readonly Unknown[] = [
  ['operator', 'command.run', { inventory: 'nowhere', command: ['succeeds'] }],
  ['operator', 'job.cancel', { id: `job_${NONE}` }],
  ['operator', 'job.redrive', { ids: [`job_${NONE}`] }],
  ['operator', 'job.rerun', { id: `job_${NONE}` }],
  ['decider', 'approval.decision', { id: `apr_${NONE}`, decision: 'approve' }],
  ['operator', 'workflow.run', { name: 'none' }],
  ['operator', 'workflow.cancel', { run: `wfr_${NONE}` }],
  ['local', 'maintenance.cordon', { node: 'none' }],
  ['local', 'maintenance.uncordon', { node: 'none' }],
  ['local', 'schedule.disable', { name: 'none' }],
];

function unknown(chance: Stream): Made {
  const [as, operation, raw] = chance.pick(UNKNOWN);
  const hasKey = operation === 'command.run' || operation === 'job.rerun';
  return call(as, operation, raw, hasKey ? keyOf(chance) : undefined);
}

/** The rest of a workflow whose last run may be under way. */
function rest(): Made {
  return call('operator', 'workflow.run', { name: 'gated', from: ['third'] });
}

/** Calls that are refused. */
export const REFUSALS: SimulatedArea = {
  makers: [
    [3, unknown],
    [1, rest],
  ],
};

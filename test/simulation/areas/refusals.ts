import { call, keyOf } from '../plan/make.ts';
import type { Actor, Made } from '../plan/plan.ts';
import type { Stream } from '../world/chance.ts';
import type { SimulatedArea } from './area.ts';

/** Well formed, and of nothing. */
const NONE = '0'.repeat(26);

const TICK = { name: 'tick', cron: '* * * * *', command: ['succeeds'], inventory: 'localhost' };

function stepIn(inventory: string): string {
  return `steps:\n  - name: only\n    command: [succeeds]\n    inventory: ${inventory}\n`;
}

function ruleIn(name: string, inventory: string): string {
  return `name: ${name}\nwhen: event.source == "generic"\naction:\n  command: [succeeds]\n  inventory: ${inventory}\n`;
}

type Refused = readonly [Actor, string, Readonly<Record<string, unknown>>];

/** Each names something that is not there. */
const UNKNOWN: readonly Refused[] = [
  ['operator', 'command.run', { inventory: 'nowhere', command: ['succeeds'] }],
  ['operator', 'job.cancel', { id: `job_${NONE}` }],
  ['operator', 'job.redrive', { ids: [`job_${NONE}`] }],
  ['operator', 'job.redrive', {}],
  ['operator', 'job.rerun', { id: `job_${NONE}` }],
  ['decider', 'approval.decision', { id: `apr_${NONE}`, decision: 'approve' }],
  ['operator', 'workflow.run', { name: 'none' }],
  ['operator', 'workflow.cancel', { run: `wfr_${NONE}` }],
  ['local', 'maintenance.cordon', { node: 'none' }],
  ['local', 'maintenance.uncordon', { node: 'none' }],
  ['local', 'schedule.disable', { name: 'none' }],
  ['local', 'token.revoke', { token: 'none' }],
  ['local', 'mute.remove', { id: `mute_${NONE}` }],
  ['local', 'silence.add', { rule: 'none', for: '20s', reason: 'none' }],
  ['local', 'silence.remove', { id: `sil_${NONE}` }],
  ['local', 'workflow.add', { name: 'lost', text: stepIn('nowhere') }],
  ['local', 'rule.add', { text: ruleIn('lost', 'nowhere') }],
  ['local', 'schedule.add', { ...TICK, name: 'lost', inventory: 'nowhere' }],
  ['local', 'deadman.add', { name: 'lost', webhook: 'none', every: '10s' }],
];

/** Each has a name that is of another one. */
const TAKEN: readonly Refused[] = [
  ['local', 'workflow.add', { name: 'gated', text: stepIn('localhost') }],
  ['local', 'rule.add', { text: ruleIn('repair', 'localhost') }],
  ['local', 'schedule.add', TICK],
  ['local', 'webhook.add', { name: 'alerts', source: 'alertmanager' }],
  ['local', 'deadman.add', { name: 'quiet', webhook: 'alerts', every: '10s' }],
];

function refused(chance: Stream, calls: readonly Refused[]): Made {
  const [as, operation, raw] = chance.pick(calls);
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
    [7, (chance) => refused(chance, UNKNOWN)],
    [3, (chance) => refused(chance, TAKEN)],
    [1, rest],
  ],
};

import type { Fact } from '../facts.ts';
import { addJob } from './jobs.ts';
import type { Moment, Move, OracleArea } from '../rule.ts';

/** An event made a job by a rule; that of a workflow is the job of its first step. */
function fire(moment: Moment, { target, detail }: Fact): void {
  const { model, refuse } = moment;
  if (model.isCordoned) refuse(`of ${String(detail['rule'])}, while the service was cordoned`);
  if (model.rules.get(String(detail['rule'])) !== true) refuse(`of ${String(detail['rule'])}, which is not enabled`);
  const name = `${String(detail['event_id'])} ${String(detail['rule'])}`;
  if (model.fires.has(name)) refuse(`of ${name}, which made ${model.fires.get(name)} before`);
  if (target?.startsWith('job_') !== true) return;
  model.fires.set(name, target);
  const step = model.jobs.get(target);
  const run = model.runs.get(step?.run ?? '');
  if (run !== undefined) run.isAsked = true;
  const initial = 'approval_id' in detail ? 'awaiting_approval' : 'queued';
  // A host asked for it where the event is its request.
  const trigger = moment.rows.jobs.get(target)?.trigger === 'host' ? 'host' : 'rule';
  if (step === undefined) addJob(moment, target, { trigger, initial, owners: [] });
}

function setRule(isEnabled: boolean): Move {
  return ({ model }, { target }) => void model.rules.set(target ?? '', isEnabled);
}

export const EVENTS: OracleArea = {
  moves: {
    'rule.add': ({ model }, { target, detail }) => void model.rules.set(target ?? '', detail['enabled'] === true),
    'rule.enable': setRule(true),
    'rule.disable': setRule(false),
    'rule.remove': ({ model }, { target }) => void model.rules.delete(target ?? ''),
    'rule.fire': fire,
  },
};

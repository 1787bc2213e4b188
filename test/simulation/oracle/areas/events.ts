import type { Fact } from '../facts.ts';
import { addJob } from './jobs.ts';
import type { Moment, OracleArea } from '../rule.ts';

/** An event made a job by a rule; that of a workflow is the job of its first step. */
function fire(moment: Moment, { target, detail }: Fact): void {
  const { model, refuse } = moment;
  if (model.isCordoned) refuse(`of ${String(detail['rule'])}, while the service was cordoned`);
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

export const EVENTS: OracleArea = { moves: { 'rule.fire': fire } };

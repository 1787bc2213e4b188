import type { Fact } from '../facts.ts';
import { addJob } from './jobs.ts';
import { differs, type Moment, OPERATOR, type OperationRule, type OracleArea } from '../rule.ts';

const disable: OperationRule = {
  scopes: OPERATOR,
  allows: (model, { raw }) => (model.schedules.has(String(raw['name'])) ? ['ok'] : ['not_found']),
  isOf: ({ target }, { raw }) => target === raw['name'],
  apply({ model }, { target }) {
    model.schedules.set(target ?? '', false);
    return {};
  },
  contradicts: (_model, data, _effect, { raw }) => differs(data, { name: raw['name'], enabled: false, next_at: null }),
};

/** A slot, with what it made; that of a workflow is the job of its first step. */
function slot(moment: Moment, { target, detail }: Fact): void {
  const { model, refuse } = moment;
  if (model.schedules.get(target ?? '') !== true) refuse(`of ${target}, which is not enabled`);
  const name = `${target} ${String(detail['slot'])}`;
  if (model.slots.has(name)) refuse(`of the slot ${name}, which was taken before`);
  model.slots.add(name);
  const made = detail['job_id'];
  if (typeof made !== 'string') return;
  const step = model.jobs.get(made);
  const run = model.runs.get(step?.run ?? '');
  if (run !== undefined) run.isAsked = true;
  const initial = 'approval_id' in detail ? 'awaiting_approval' : 'queued';
  if (step === undefined) addJob(moment, made, { trigger: 'schedule', initial, owners: [] });
}

export const SCHEDULES: OracleArea = {
  operations: { 'schedule.disable': disable },
  moves: {
    // One that is replaced stays enabled or disabled.
    'schedule.add': ({ model }, { target }) =>
      void model.schedules.set(target ?? '', model.schedules.get(target ?? '') ?? true),
    'schedule.enable': ({ model }, { target }) => void model.schedules.set(target ?? '', true),
    'schedule.remove': ({ model }, { target }) => void model.schedules.delete(target ?? ''),
    'schedule.run': slot,
    'schedule.refuse': slot,
  },
};

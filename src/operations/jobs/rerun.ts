import * as z from 'zod';
import { OPERATORS } from '../../domain/access/scope.ts';
import { rerunJob } from '../../jobs/rerun.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import * as field from '../core/fields.ts';
import { writeOperation } from '../core/operation.ts';
import { refuseHooks } from '../sources/refuse-hooks.ts';
import { ungatedDetail, writtenJob } from './queued.ts';

const rerun = writeOperation({
  id: 'job.rerun',
  summary: 'Queue the order of an ended job again, as a new job',
  effect: 'enqueue',
  scopes: OPERATORS,
  http: { method: 'POST', path: '/jobs/{id}/rerun' },
  cli: {
    verb: 'job rerun',
    wait: 'job',
    positionals: ['id'],
    examples: ['svc job rerun job_01m7yd4zyke00anp2z332d2j5p'],
  },
  mcp: { none: 'Running something again is decided by a person.' },
  input: z.strictObject({ id: field.id('job') }),
  answers: ['job.enqueued', 'approval.pending'],
  failures: ['not_found', 'conflict', 'not_implemented'],
  async prepare(context, { id }) {
    const { source } = await getJob(context.store.db, id);
    if (source !== null) await refuseHooks(context, source);
  },
  async run({ tx, services, caller, because }, { id }) {
    const { via: trigger, name, owner, credential } = caller;
    const queued = await rerunJob(tx, services, id, { trigger, name, owner, credential, because });
    return writtenJob(queued, { rerun_of: id, ...ungatedDetail(queued) });
  },
});

export const RERUN_OPERATIONS = [rerun];

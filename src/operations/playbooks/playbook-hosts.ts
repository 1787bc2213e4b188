import * as z from 'zod';
import { READERS } from '../../domain/access/scope.ts';
import { Failure } from '../../domain/failure.ts';
import { isTerminal } from '../../domain/jobs/job.ts';
import type { HostResult } from '../../domain/playbooks/results.ts';
import { requestTurn } from '../../lib/flow/cooperative.ts';
import { getJob } from '../../store/jobs/jobs.ts';
import { findRunTasks, readHosts } from '../../store/playbooks/results.ts';
import type { Db } from '../../store/schema/schema.ts';
import * as field from '../core/fields.ts';
import { localOnly, readOperation } from '../core/operation.ts';
import { reply } from '../core/reply.ts';

/** With 2,000 tasks each, an answer has at most 1 MB of cells. */
const HOSTS_SHOWN_MAX = 500;
const HOSTS_SHOWN = 100;

const hosts = readOperation({
  id: 'playbook.hosts',
  summary: 'Show how each task of a playbook run ended on each host',
  scopes: READERS,
  ...localOnly('The events of the job have the output of each task.'),
  cli: { verb: 'playbook hosts', positionals: ['id'], examples: ['svc playbook hosts job_01m7yd4zyke00anp2z332d2j5p'] },
  input: z.strictObject({
    id: field.id('job'),
    limit: z.int().min(1).max(HOSTS_SHOWN_MAX).default(HOSTS_SHOWN).describe('Hosts to show, those with a fault first'),
  }),
  answers: ['playbook.hosts'],
  failures: ['not_found', 'conflict'],
  async run({ store: { db } }, { id, limit }) {
    const job = await getJob(db, id);
    const run = await findRunTasks(db, id);
    if (run === undefined)
      throw new Failure(
        'conflict',
        isTerminal(job.state)
          ? `Job ${id} has no results by host: it is not a playbook, or it ended before its first task.`
          : `Job ${id} is ${job.state}: it has no results yet.`,
      );
    const shown = await firstHosts(db, id, limit);
    return reply('playbook.hosts', {
      job_id: id,
      tasks: [...run.tasks],
      tasks_left_out: run.tasks_cut,
      hosts: shown,
      hosts_left_out: run.hosts + run.hosts_cut - shown.length,
    });
  },
});

/** Those that failed or were lost, then the others, each by name. */
async function firstHosts(db: Db, jobId: string, limit: number): Promise<HostResult[]> {
  const faulty: HostResult[] = [];
  const others: HostResult[] = [];
  for await (const block of readHosts(db, jobId)) {
    for (const host of block) {
      const list = host.failures + host.unreachable > 0 ? faulty : others;
      if (list.length < limit) list.push(host);
    }
    // A block takes some milliseconds to decode.
    await requestTurn();
  }
  return [...faulty, ...others].slice(0, limit);
}

export const PLAYBOOK_HOST_OPERATIONS = [hosts];

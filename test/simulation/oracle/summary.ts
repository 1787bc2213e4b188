import type { Model, ModelJob } from './model.ts';

/**
 * What a plan came to, without ids and times: each job with what it came from, its states and its approval. A time of a
 * schedule is left out: how many there are depends on how long the daemons take to start.
 */
export function summaryOf(model: Model): string[] {
  const jobs = [...model.jobs.values()].filter(({ trigger }) => trigger !== 'schedule');
  const names = new Map<string, string>();
  const nameOf = (job: ModelJob): string => {
    const known = names.get(job.id);
    if (known !== undefined) return known;
    const from = model.jobs.get(job.redriveOf ?? job.rerunOf ?? '');
    const steps = [...(model.runs.get(job.run ?? '')?.steps.values() ?? [])];
    const what = steps.find((step) => step.job === job.id)?.name ?? job.command.join(' ');
    const name = `${job.trigger} ${what}${from === undefined ? '' : ` of (${nameOf(from)})`}`;
    names.set(job.id, name);
    return name;
  };
  const lines = jobs.map((job) => {
    const approval = model.approvals.get(job.approval ?? '')?.state ?? 'none';
    const states = job.history.map(({ state }) => state).join(', ');
    const owners = job.owners.toSorted().join(', ');
    return `job ${nameOf(job)}: ${states}; exit ${job.exitCode}; approval ${approval}; owners ${owners}`;
  });
  for (const { workflow, state, steps } of model.runs.values())
    lines.push(`run ${workflow}: ${state}; ${[...steps.values()].map((step) => model.stateOf(step)).join(', ')}`);
  for (const [name, isEnabled] of model.schedules)
    lines.push(`schedule ${name}: ${isEnabled ? 'enabled' : 'disabled'}`);
  return [...lines.toSorted(), `cordoned: ${model.isCordoned}`];
}

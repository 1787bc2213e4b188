import type { Snapshot } from './facts.ts';
import type { Model } from './model.ts';

/** How the rows differ from the model, as sentences; none where each explains the other. */
export function differences(model: Model, rows: Snapshot): string[] {
  const found = [
    ...statesOf('job', model.jobs, rows.jobs),
    ...statesOf('approval', model.approvals, rows.approvals),
    ...statesOf('run', model.runs, rows.runs),
    ...statesOf('token', model.tokens, rows.tokens),
  ];
  for (const job of model.jobs.values()) {
    const row = rows.jobs.get(job.id);
    if (row === undefined || row.state !== job.state) continue;
    if (row.exitCode !== job.exitCode)
      found.push(`job ${job.id} ended with ${job.exitCode}, its row has ${row.exitCode}`);
    if (job.state === 'running' && row.isToBeCancelled !== job.isToBeCancelled)
      found.push(`job ${job.id} is ${job.isToBeCancelled ? '' : 'not '}to be cancelled, its row says otherwise`);
  }
  for (const [name, isEnabled] of model.schedules)
    if (rows.schedules.get(name) !== isEnabled)
      found.push(`schedule ${name} is ${isEnabled ? 'enabled' : 'disabled'}, its row says otherwise`);
  if (rows.isCordoned !== model.isCordoned)
    found.push(`the service is ${model.isCordoned ? '' : 'not '}cordoned, its row says otherwise`);
  return found;
}

type ById = ReadonlyMap<string, { readonly state: string }>;

function* statesOf(what: string, model: ById, rows: ById): Generator<string> {
  for (const [id, { state }] of model)
    if (rows.get(id)?.state !== state)
      yield `${what} ${id} is ${state}, its row ${rows.get(id)?.state ?? 'is not there'}`;
  for (const [id, { state }] of rows) if (!model.has(id)) yield `${what} ${id} is ${state}, and no one asked for it`;
}

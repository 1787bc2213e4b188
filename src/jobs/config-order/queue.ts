import type { OrderedChange } from '../../domain/configuration/change.ts';
import { configKind, type ConfigSpec } from '../../domain/config-order/kind.ts';
import { toJson } from '../../lib/json.ts';
import { digestOfText, insertConfigOrder } from '../../store/configuration/orders.ts';
import type { NewJob } from '../../store/jobs/jobs.ts';
import { newJob, type Queued, type Queueing, queueOrAsk } from '../queue.ts';

/** Checks of objects may ask other processes, and 5,000 take seconds. */
const TIMEOUT_MS = 600_000;

interface ConfigRequest extends Omit<ConfigSpec, 'file' | 'shown' | 'count'> {
  readonly text: string;
  readonly shownChanges: readonly OrderedChange[];
}

/** It waits for the approval of another person in every service. */
export async function queueConfig(
  queueing: Queueing,
  ttlMs: number,
  { text, shownChanges, ...request }: ConfigRequest,
): Promise<Queued> {
  const shown = toJson(shownChanges);
  const digests = { file: digestOfText(text), shown: digestOfText(shown) };
  const spec: ConfigSpec = { ...request, ...digests, count: shownChanges.length };
  const job: NewJob = {
    ...newJob(queueing, configKind.runbook(spec)),
    kind: 'config',
    source: null,
    workspace: null,
    concurrencyKey: null,
    privileged: false,
    spec: JSON.stringify(spec),
    timeoutMs: TIMEOUT_MS,
  };
  const queued = await queueOrAsk({ ...queueing, gate: { origin: 'manual', ttlMs } }, job);
  await insertConfigOrder(queueing.tx, { job_id: job.id, file: text, changes: shown });
  return queued;
}

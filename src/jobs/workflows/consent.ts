import type { StepAction } from '../../domain/rules/step-actions.ts';
import type { RunDefinition } from '../../domain/workflows/workflow.ts';
import { listDecided } from '../../store/approvals/approvals.ts';
import { passesTag } from '../../store/engine/tags/tags.ts';
import type { Tx } from '../../store/engine/tx.ts';
import type { WorkflowRunRow } from '../../store/schema/schema.ts';
import type { ListedStep } from '../../store/workflows/runs.ts';
import type { Gate, Provenance } from '../queue.ts';
import { refusalOf } from './step-fault.ts';

/** What people have said of the steps of a run so far. */
interface Consent {
  /** As a part of a sentence, of the first step that got a no; null without one. */
  readonly refusal: string | null;
  /** What a step asks for that does not have an approval itself: that of a start without a yes so far. */
  readonly gate: Gate | null;
}

/**
 * A no counts from anywhere; a yes only with its tag, because it lets steps run (T80, T85), and of a job that one of
 * `rows` has, which were checked.
 */
export async function consentOf(
  tx: Tx,
  run: WorkflowRunRow,
  { gate }: Pick<RunDefinition<StepAction>, 'gate'>,
  rows: readonly ListedStep[],
): Promise<Consent> {
  const jobs = new Set(rows.map(({ job_id: id }) => id));
  const decided = (await listDecided(tx.db, run.id)).filter((approval) => jobs.has(approval.job_id));
  const no = decided.find(({ state }) => state !== 'approved');
  if (no !== undefined) return { refusal: refusalOf(no.step, no.state), gate: null };
  if (gate === undefined) return { refusal: null, gate: null };
  for (const approval of decided) if (await passesTag(tx, 'approvals', approval)) return { refusal: null, gate: null };
  return { refusal: null, gate: { ...provenanceOf(run), ...gate } };
}

/** What started the run, for the approvals of its steps. */
export function provenanceOf({
  origin,
  event_id: alert,
  rule,
  matched_at: matchedAt,
  schedule,
}: WorkflowRunRow): Provenance {
  return {
    origin,
    ...(alert === null || origin !== 'alert' ? {} : { alert }),
    ...(rule === null ? {} : { rule }),
    ...(matchedAt === null ? {} : { matchedAt }),
    ...(schedule === null ? {} : { schedule }),
  };
}

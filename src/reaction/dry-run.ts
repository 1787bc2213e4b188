import type { EventOutcome, TraceStep } from '../domain/events/event.ts';
import { decodeTrace, unmatchedStep } from './trace.ts';
import { eventOf } from '../store/events/events.ts';
import type { EventRow } from '../store/schema/schema.ts';
import { evaluateBy } from './evaluate-rules.ts';
import { unindexed } from './rules/rule-set.ts';
import type { EvaluatedEvent, Outcome, ReactionDeps, Sender } from './types.ts';
import type { CompiledRule } from './rules/compiled-rules.ts';
import { judge, decideAndRecord } from './decide-and-record.ts';

/** What a rule would do for an event. */
interface DryRun {
  readonly outcome: EventOutcome;
  /** Whether it would make a job, ask for one, or tell people. */
  readonly fires: boolean;
  readonly reason: string;
  readonly trace: readonly TraceStep[];
}

/** Undoes the write, with what it came to. */
class Undone extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super('the dry run is rolled back');
    this.outcome = outcome;
  }
}

const FIRES: ReadonlySet<EventOutcome> = new Set(['fired', 'gated', 'matched']);
const WOULD: Partial<Record<EventOutcome, string>> = {
  fired: 'matches: a job would be queued.',
  gated: 'matches: a job would wait for approval.',
  ignored: 'does not match.',
};

/**
 * What the rule alone would do if the stored event arrived now. Runs the firing code in a transaction that is rolled
 * back, so that a refusal of the job is found too: nothing is written or sent. A disabled rule is decided as if it were
 * enabled, without making its job.
 */
export async function dryRun(deps: ReactionDeps, rule: CompiledRule, row: EventRow): Promise<DryRun> {
  const sender: Sender = {
    principal: 'rule test',
    owners: [],
    subjects: [],
    via: 'cli',
    trigger: 'rule',
    depth: row.depth,
  };
  const { silences } = await deps.rules.current();
  const [evaluated] = await evaluateBy(deps, [eventOf(row)], sender, { silences, rulesFor: () => unindexed([rule]) });
  if (evaluated === undefined) throw new Error('one event was to be evaluated');
  const { outcome, reason, trace } = rule.enabled ? await settled(deps, evaluated) : await judged(deps, evaluated);
  const would = WOULD[outcome];
  const text = would === undefined ? reason : `Rule ${rule.name} ${would}`;
  return {
    outcome,
    fires: FIRES.has(outcome),
    reason: rule.enabled ? text : `${text} It is disabled and evaluates no event.`,
    trace: evaluated.unmatched > 0 ? [unmatchedStep(rule.name)] : trace,
  };
}

type Judged = Pick<DryRun, 'outcome' | 'reason' | 'trace'>;

async function judged({ store, clock }: ReactionDeps, evaluated: EvaluatedEvent): Promise<Judged> {
  return judge(store.db, evaluated, await store.dialect.clock(store.db, clock.now()));
}

async function settled(deps: ReactionDeps, evaluated: EvaluatedEvent): Promise<Judged> {
  try {
    return await deps.store.write(async (tx) => {
      throw new Undone(await decideAndRecord(deps, tx, evaluated));
    });
  } catch (thrown) {
    if (!(thrown instanceof Undone)) throw thrown;
    const { outcome, reason, trace } = thrown.outcome.event;
    return { outcome, reason, trace: decodeTrace(trace).steps };
  }
}

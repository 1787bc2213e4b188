import { type CelAnswer, compileCel, type CelOptions } from '../cel/cel.ts';
import { CelRefused } from '../cel/refused.ts';
import type { CelShape } from '../cel/shape.ts';
import { Failure } from '../failure.ts';
import type { PlanAction, PlanEntry, PlannedChanges, Verdict } from './plan.ts';

/** The policy of a workspace, in CEL over `plan`; null for an expression that is not set. */
export interface Policy {
  readonly approveWhen: string | null;
  readonly denyWhen: string | null;
}

type PolicyField = 'approve_when' | 'deny_when';

interface Judgement {
  readonly verdict: Verdict;
  /** Why, as a part of a sentence without any value, such as "deny_when is true". */
  readonly reason: string;
}

/** The size of plan that the cost of an expression is reckoned for; with a larger one it grows in proportion. */
const ENTRIES = 5_000;

const text = (length: number): CelShape => ({ kind: 'text', length });
const ENTRY: CelShape = {
  kind: 'record',
  what: 'an entry',
  fields: { address: text(128), type: text(64), name: text(64), action: text(8) } satisfies Record<
    keyof PlanEntry,
    CelShape
  >,
};
const LIST: CelShape = { kind: 'list', count: ENTRIES, of: ENTRY };
const PLAN: CelShape = {
  kind: 'record',
  what: 'plan',
  fields: { destroys: LIST, changes: LIST, creates: LIST } satisfies Record<keyof PlannedChanges, CelShape>,
};

function sample(action: PlanAction): PlanEntry {
  return { address: 'module.network.aws_subnet.inner["a"]', type: 'aws_subnet', name: 'inner', action };
}

const OPTIONS: CelOptions = {
  roots: { plan: PLAN },
  samples: [
    { name: 'a plan that changes nothing', values: { plan: { destroys: [], changes: [], creates: [] } } },
    {
      name: 'a plan with an entry of each kind',
      values: {
        plan: {
          destroys: [sample('destroy'), sample('replace')],
          changes: [sample('update')],
          creates: [sample('create')],
        },
      },
    },
  ],
};

/** Checks a policy expression. Throws invalid_argument that names the field, the place and the fault. */
export async function lintPolicy(field: PolicyField, expression: string): Promise<void> {
  try {
    await compileCel(expression, OPTIONS);
  } catch (thrown) {
    if (thrown instanceof CelRefused) throw new Failure('invalid_argument', `${field}: ${thrown.message}.`);
    throw thrown;
  }
}

/**
 * The verdict of a policy on a plan. It fails closed: a deny_when that cannot be evaluated denies, and such an
 * approve_when requires approval. Without an approve_when, a plan that destroys or replaces anything requires approval.
 */
export async function judge(policy: Policy, planned: PlannedChanges): Promise<Judgement> {
  if (policy.denyWhen !== null) {
    const denies = await ask(policy.denyWhen, planned);
    if ('error' in denies)
      return { verdict: 'deny', reason: `deny_when cannot be evaluated for this plan (${denies.error})` };
    if (denies.value) return { verdict: 'deny', reason: 'deny_when is true' };
  }
  if (policy.approveWhen === null) return byDefault(planned);
  const approves = await ask(policy.approveWhen, planned);
  if ('error' in approves)
    return {
      verdict: 'require_approval',
      reason: `approve_when cannot be evaluated for this plan (${approves.error})`,
    };
  return approves.value
    ? { verdict: 'require_approval', reason: 'approve_when is true' }
    : { verdict: 'clean', reason: 'approve_when is false' };
}

function byDefault(planned: PlannedChanges): Judgement {
  const count = planned.destroys.length;
  if (count === 0) return { verdict: 'clean', reason: 'it destroys and replaces nothing' };
  return {
    verdict: 'require_approval',
    reason: `it destroys or replaces ${count} ${count === 1 ? 'resource' : 'resources'}`,
  };
}

/** An expression that a later version refuses is an error like any other: the plan must not slip through. */
async function ask(expression: string, planned: PlannedChanges): Promise<CelAnswer> {
  try {
    const compiled = await compileCel(expression, OPTIONS);
    return compiled.evaluate({ plan: planned });
  } catch (thrown) {
    if (thrown instanceof CelRefused) return { error: thrown.message };
    throw thrown;
  }
}

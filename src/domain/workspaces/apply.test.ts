import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ApplyDecision, type ApplyFacts, decideApply, type SavedPlanFacts } from './apply.ts';

const FRESH: ApplyFacts = { kind: 'apply', plan: null, requireSavedPlan: false, protectDestroy: false, holder: null };
const CLEAN: SavedPlanFacts = {
  id: 'art_1',
  consumedBy: null,
  verdict: 'clean',
  verdictReason: 'it destroys and replaces nothing',
  stale: false,
  pendingApprovalId: null,
};

function saved(plan: Partial<SavedPlanFacts>, facts: Partial<ApplyFacts> = {}): ApplyFacts {
  return { ...FRESH, ...facts, plan: { ...CLEAN, ...plan } };
}

interface Row {
  readonly rule: string;
  readonly facts: ApplyFacts;
  readonly move: ApplyDecision['move'];
  readonly code?: 'conflict' | 'stale_plan' | 'concurrency_held';
  readonly ungated?: boolean;
  readonly says?: RegExp;
}

const GATED = { verdict: 'require_approval', verdictReason: 'it destroys or replaces 3 resources' } as const;
const DENIED = { verdict: 'deny', verdictReason: 'deny_when is true' } as const;

const TABLE: readonly Row[] = [
  { rule: 'Apply with no plan: queued, a fresh and auto-approved apply', facts: FRESH, move: 'queue', ungated: true },
  {
    rule: 'Apply with no plan while another holds the key: queued behind it',
    facts: { ...FRESH, holder: 'job_9' },
    move: 'queue',
    ungated: true,
  },
  {
    rule: 'Apply with no plan, protect_destroy: queued, for it is no destroy',
    facts: { ...FRESH, protectDestroy: true },
    move: 'queue',
    ungated: true,
  },
  {
    rule: 'T29: apply with no plan, require_saved_plan: conflict that says what to do',
    facts: { ...FRESH, requireSavedPlan: true },
    move: 'refuse',
    code: 'conflict',
    says: /Make a plan.*art_/,
  },
  {
    rule: 'Saved plan, verdict clean: queued, applies straight through',
    facts: saved({}),
    move: 'queue',
    ungated: false,
  },
  {
    rule: 'Saved plan, verdict clean, require_saved_plan and protect_destroy: queued',
    facts: saved({}, { requireSavedPlan: true, protectDestroy: true }),
    move: 'queue',
    ungated: false,
  },
  { rule: 'Saved plan, verdict require_approval: waits for a decision', facts: saved(GATED), move: 'ask' },
  {
    rule: 'Error 1: saved plan, verdict deny: conflict with the reason',
    facts: saved(DENIED),
    move: 'refuse',
    code: 'conflict',
    says: /denies.*art_1.*deny_when is true/,
  },
  {
    rule: 'Error 2: saved plan with no recorded verdict: conflict that says what to do',
    facts: saved({ verdict: null, verdictReason: null }),
    move: 'refuse',
    code: 'conflict',
    says: /art_1.*new plan/,
  },
  {
    rule: 'Error 3: saved plan that is stale when asked for: stale_plan, nothing queued',
    facts: saved({ stale: true }),
    move: 'refuse',
    code: 'stale_plan',
    says: /moved on.*art_1.*new plan/,
  },
  {
    rule: 'A plan runs once: conflict naming the job that took it',
    facts: saved({ consumedBy: 'job_7' }),
    move: 'refuse',
    code: 'conflict',
    says: /runs once.*job_7/,
  },
  {
    rule: 'A pending approval of the artifact: conflict naming it',
    facts: saved({ ...GATED, pendingApprovalId: 'apr_5' }),
    move: 'refuse',
    code: 'conflict',
    says: /apr_5/,
  },
  {
    rule: 'Saved plan, verdict clean, while another apply or destroy holds the key: concurrency_held naming it',
    facts: saved({}, { holder: 'job_9' }),
    move: 'refuse',
    code: 'concurrency_held',
    says: /job_9/,
  },
  {
    rule: 'Saved plan, verdict require_approval, while another holds the key: concurrency_held',
    facts: saved(GATED, { holder: 'job_9' }),
    move: 'refuse',
    code: 'concurrency_held',
    says: /job_9/,
  },
  { rule: 'Destroy: a plain enqueue, never gated', facts: { ...FRESH, kind: 'destroy' }, move: 'queue', ungated: true },
  {
    rule: 'Destroy while another holds the key: queued behind it',
    facts: { ...FRESH, kind: 'destroy', holder: 'job_9' },
    move: 'queue',
    ungated: true,
  },
  {
    rule: 'Destroy, require_saved_plan: queued, for it is no apply',
    facts: { ...FRESH, kind: 'destroy', requireSavedPlan: true },
    move: 'queue',
    ungated: true,
  },
  {
    rule: 'T29: destroy, protect_destroy: conflict',
    facts: { ...FRESH, kind: 'destroy', protectDestroy: true },
    move: 'refuse',
    code: 'conflict',
    says: /protect_destroy/,
  },
];

/** From the first refusal to the last: if several apply, the earlier is reported. */
const ORDER: readonly [string, ApplyFacts][] = [
  [
    'consumed',
    saved(
      { consumedBy: 'job_7', verdict: null, verdictReason: null, stale: true, pendingApprovalId: 'apr_5' },
      { holder: 'job_9' },
    ),
  ],
  [
    'no verdict',
    saved({ verdict: null, verdictReason: null, stale: true, pendingApprovalId: 'apr_5' }, { holder: 'job_9' }),
  ],
  ['stale', saved({ ...DENIED, stale: true, pendingApprovalId: 'apr_5' }, { holder: 'job_9' })],
  ['denied', saved({ ...DENIED, pendingApprovalId: 'apr_5' }, { holder: 'job_9' })],
  ['pending', saved({ ...GATED, pendingApprovalId: 'apr_5' }, { holder: 'job_9' })],
  ['held', saved(GATED, { holder: 'job_9' })],
];
const MESSAGES = [/runs once/, /No policy verdict/, /moved on/, /denies/, /apr_5/, /job_9/];

describe('The table of an apply', () => {
  for (const { rule, facts, move, code, ungated, says } of TABLE) {
    it(rule, () => {
      const decision = decideApply(facts);
      assert.equal(decision.move, move);
      if (decision.move === 'queue') assert.equal(decision.ungated, ungated);
      if (decision.move === 'refuse') assert.equal(decision.code, code);
      if (says !== undefined) assert.match(decision.move === 'refuse' ? decision.message : '', says);
    });
  }

  for (const [index, [name, facts]] of ORDER.entries()) {
    it(`reports "${name}" before every refusal after it`, () => {
      const decision = decideApply(facts);
      assert.ok(decision.move === 'refuse');
      const message = MESSAGES[index];
      assert.ok(message !== undefined);
      assert.match(decision.message, message);
    });
  }

  it('accepts a saved plan only with a fitting verdict and without any obstacle', () => {
    for (const consumedBy of [null, 'job_7']) {
      for (const verdict of [null, 'clean', 'require_approval', 'deny'] as const) {
        for (const stale of [false, true]) {
          for (const pendingApprovalId of [null, 'apr_5']) {
            for (const holder of [null, 'job_9']) {
              const decision = decideApply(saved({ consumedBy, verdict, stale, pendingApprovalId }, { holder }));
              const free = consumedBy === null && !stale && pendingApprovalId === null && holder === null;
              const expected =
                free && verdict === 'clean' ? 'queue' : free && verdict === 'require_approval' ? 'ask' : 'refuse';
              assert.equal(decision.move, expected);
            }
          }
        }
      }
    }
  });
});

/** Each row is an event's facts and what becomes of it; the words are what a person reads. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Asked,
  factsOf,
  failed,
  MINUTE_MS,
  NOW,
  rule,
  SILENCE,
  telling,
} from '../../../test/support/fixtures/tried-rules.ts';
import { CHAIN_MAX, type EventOutcome } from '../events/event.ts';
import { decideReaction, decidingRule, doneReason } from './reaction.ts';

interface Row extends Asked {
  readonly when: string;
  readonly outcome: EventOutcome;
  readonly reason: string;
  readonly rule: string | null;
  readonly notifies?: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    when: 'there is no rule for it',
    tried: [],
    outcome: 'ignored',
    reason: 'No enabled rule is for this source of events.',
    rule: null,
  },
  {
    when: 'one rule did not match',
    tried: [],
    unmatched: 1,
    outcome: 'ignored',
    reason: 'No rule matched; 1 was tried.',
    rule: null,
  },
  {
    when: 'no rule matched',
    tried: [],
    unmatched: 2,
    outcome: 'ignored',
    reason: 'No rule matched; 2 were tried.',
    rule: null,
  },
  { when: 'a rule matched', tried: [rule('b')], unmatched: 1, outcome: 'fired', reason: '', rule: 'b' },
  {
    when: 'a rule matched that requires approval',
    tried: [rule('a', { approval: 'required' })],
    outcome: 'gated',
    reason: '',
    rule: 'a',
  },
  {
    when: 'a rule that tells people matched',
    tried: [telling('a')],
    unmatched: 1,
    outcome: 'matched',
    reason: 'Rule a matched and only notifies.',
    rule: 'a',
    notifies: ['a'],
  },
  {
    when: 'two such rules matched',
    tried: [telling('a'), telling('b')],
    outcome: 'matched',
    reason: 'Rule a (and 1 more) matched and only notifies.',
    rule: 'a',
    notifies: ['a', 'b'],
  },
  {
    when: 'a rule that tells people came before one that acts',
    tried: [telling('a'), rule('b')],
    outcome: 'fired',
    reason: '',
    rule: 'b',
    notifies: ['a'],
  },
  {
    when: 'an error came before a rule that acts',
    tried: [failed('a'), rule('b')],
    outcome: 'fired',
    reason: '',
    rule: 'b',
  },
  {
    when: 'an error came before a rule that tells people',
    tried: [failed('a'), telling('b')],
    outcome: 'matched',
    reason: 'Rule b matched and only notifies.',
    rule: 'b',
    notifies: ['b'],
  },
  {
    when: 'nothing but an error came of it',
    tried: [failed('b')],
    unmatched: 1,
    outcome: 'error',
    reason: 'Rule b could not be evaluated: the event has no "x".',
    rule: 'b',
  },
  {
    when: 'nothing but errors came of it',
    tried: [failed('b'), failed('d'), failed('e')],
    unmatched: 1,
    outcome: 'error',
    reason: 'Rule b (and 2 more) could not be evaluated: the event has no "x".',
    rule: 'b',
  },
  {
    when: 'the values of the action do not fit',
    tried: [rule('a', { unfit: 'limit: not a host name' })],
    outcome: 'error',
    reason: 'Rule a matched, but its action cannot be filled in: limit: not a host name.',
    rule: 'a',
  },
  {
    when: 'a silence is open',
    tried: [rule('a', { silence: SILENCE })],
    outcome: 'suppressed',
    reason: 'Silence sil_1 stops rule a until 2026-05-01T12:01:00.000Z: the move',
    rule: 'a',
  },
  {
    when: 'a silence stops a rule that tells people',
    tried: [telling('a', { silence: SILENCE })],
    outcome: 'suppressed',
    reason: 'Silence sil_1 stops rule a until 2026-05-01T12:01:00.000Z: the move',
    rule: 'a',
  },
  {
    when: 'a silence stops one of two such rules',
    tried: [telling('a', { silence: SILENCE }), telling('b')],
    outcome: 'matched',
    reason: 'Rule b matched and only notifies.',
    rule: 'b',
    notifies: ['b'],
  },
  {
    when: 'the cooldown is not over',
    tried: [rule('a', { cooldownMs: 10 * MINUTE_MS })],
    standing: { a: { lastFiredAt: NOW - 2 * MINUTE_MS } },
    outcome: 'suppressed',
    reason: 'Rule a acted for this fingerprint 2m ago, and its cooldown is 10m.',
    rule: 'a',
  },
  {
    when: 'the cooldown is nearly over: whole seconds are shown, and only those that have passed',
    tried: [rule('a', { cooldownMs: MINUTE_MS })],
    standing: { a: { lastFiredAt: NOW - 59_959 } },
    outcome: 'suppressed',
    reason: 'Rule a acted for this fingerprint 59s ago, and its cooldown is 1m.',
    rule: 'a',
  },
  {
    when: 'it acted less than a second ago',
    tried: [rule('a', { cooldownMs: MINUTE_MS })],
    standing: { a: { lastFiredAt: NOW - 59 } },
    outcome: 'suppressed',
    reason: 'Rule a acted for this fingerprint 59ms ago, and its cooldown is 1m.',
    rule: 'a',
  },
  {
    when: 'the cooldown is over to the millisecond',
    tried: [rule('a', { cooldownMs: MINUTE_MS })],
    standing: { a: { lastFiredAt: NOW - MINUTE_MS } },
    outcome: 'fired',
    reason: '',
    rule: 'a',
  },
  {
    when: 'the clock was two hours ahead when the rule fired',
    tried: [rule('a', { cooldownMs: MINUTE_MS })],
    standing: { a: { lastFiredAt: NOW + 120 * MINUTE_MS } },
    outcome: 'fired',
    reason: '',
    rule: 'a',
  },
  {
    when: 'the rule fired and has no cooldown',
    tried: [rule('a')],
    standing: { a: { lastFiredAt: NOW } },
    outcome: 'fired',
    reason: '',
    rule: 'a',
  },
  {
    when: 'its job is still open',
    tried: [rule('a')],
    standing: { a: { lastFiredAt: NOW - MINUTE_MS, openJob: { id: 'job_1', state: 'awaiting_approval' } } },
    outcome: 'suppressed',
    reason: 'Duplicate: rule a made job_1 for this fingerprint and status, and that is awaiting_approval.',
    rule: 'a',
  },
  {
    when: 'the service is cordoned',
    tried: [rule('a')],
    facts: { cordoned: true },
    outcome: 'suppressed',
    reason: 'cordoned',
    rule: 'a',
  },
  {
    when: 'the service is cordoned and the rule only notifies',
    tried: [telling('a')],
    facts: { cordoned: true },
    outcome: 'matched',
    reason: 'Rule a matched and only notifies.',
    rule: 'a',
    notifies: ['a'],
  },
  {
    when: 'the chain has the most jobs allowed',
    tried: [rule('a')],
    facts: { depth: CHAIN_MAX },
    outcome: 'fired',
    reason: '',
    rule: 'a',
  },
  {
    when: 'the chain is one job longer',
    tried: [rule('a')],
    facts: { depth: CHAIN_MAX + 1 },
    outcome: 'suppressed',
    reason: 'loop',
    rule: 'a',
  },
];

describe('What becomes of an event', () => {
  for (const row of ROWS) {
    test(`${row.outcome} where ${row.when}`, () => {
      const { outcome, reason, rule: by, notifies } = decideReaction(factsOf(row));
      assert.deepEqual(
        { outcome, reason, rule: by, notifies },
        { outcome: row.outcome, reason: row.reason, rule: row.rule, notifies: row.notifies ?? [] },
      );
    });
  }

  test('the first step that stops it is reported, in the order silence, cooldown, duplicate, cordon, loop', () => {
    const all = rule('a', { silence: SILENCE, cooldownMs: MINUTE_MS, approval: 'required' });
    const standing = { a: { lastFiredAt: NOW, openJob: { id: 'job_1', state: 'running' as const } } };
    const facts = { cordoned: true, depth: CHAIN_MAX + 1 };
    const reasons = [
      decideReaction(factsOf({ tried: [all], standing, facts })),
      decideReaction(factsOf({ tried: [{ ...all, silence: null }], standing, facts })),
      decideReaction(factsOf({ tried: [{ ...all, silence: null, cooldownMs: null }], standing, facts })),
      decideReaction(factsOf({ tried: [{ ...all, silence: null }], facts })),
      decideReaction(factsOf({ tried: [{ ...all, silence: null }], facts: { depth: CHAIN_MAX + 1 } })),
    ].map(({ reason }) => reason.split(' ')[0]);
    assert.deepEqual(reasons, ['Silence', 'Rule', 'Duplicate:', 'cordoned', 'loop']);
    const step = decideReaction(factsOf({ tried: [rule('a')], facts: { depth: CHAIN_MAX + 1 } })).trace.find(
      (each) => each.step === 'loop',
    );
    assert.match(step?.why ?? '', /^Rule a makes no job of this event: the chain before it has 4 jobs/);
  });
});

test('The reason of what was done names the job, and the approval that it waits for', () => {
  assert.equal(doneReason('a', { id: 'job_1', approvalId: null }), 'Rule a matched: job_1 is queued.');
  assert.equal(
    doneReason('a', { id: 'job_1', approvalId: 'apr_1' }),
    'Rule a matched: job_1 waits for the approval apr_1.',
  );
});

test('The rule that decides is the first that matched and does more than tell people', () => {
  assert.equal(decidingRule([failed('a'), telling('b'), rule('d'), rule('e')])?.name, 'd');
  assert.equal(decidingRule([telling('a')]), undefined);
});

/** Which steps a decision shows, and what they say. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { factsOf, failed, MINUTE_MS, NOW, rule, SILENCE, telling } from '../../../test/support/fixtures/tried-rules.ts';
import type { ReactionFacts, TriedRule } from './reaction-facts.ts';
import { decideReaction, refused } from './reaction.ts';

function stepsOf(facts: ReactionFacts): string[] {
  return decideReaction(facts).trace.map(({ step, rule: name, result }) => `${name ?? '-'} ${step}: ${result}`);
}

describe('The steps of an evaluation', () => {
  test('name every rule that matched or failed, and for one that matched each thing that was asked', () => {
    const facts = factsOf({ tried: [failed('b'), telling('c'), rule('d')], unmatched: 1 });
    assert.deepEqual(stepsOf(facts), [
      'b rule: error',
      'c rule: passed',
      'c silence: passed',
      'c cooldown: passed',
      'c fire: passed',
      'd rule: passed',
      'd silence: passed',
      'd cooldown: passed',
      'd duplicate: passed',
      'd cordon: passed',
      'd loop: passed',
      'd gate: passed',
      'd fire: passed',
    ]);
  });

  test('say what was not reached behind what stopped it', () => {
    const facts = factsOf({ tried: [rule('a', { cooldownMs: MINUTE_MS })], standing: { a: { lastFiredAt: NOW } } });
    const steps = ['a rule: passed', 'a silence: passed', 'a cooldown: stopped'];
    const rest = ['duplicate', 'cordon', 'loop', 'gate', 'fire'].map((step) => `a ${step}: not reached`);
    assert.deepEqual(stepsOf(facts), [...steps, ...rest]);
  });
});

function silenceStep(some: Partial<TriedRule>): unknown {
  const { outcome, trace } = decideReaction(factsOf({ tried: [rule('a', some)] }));
  const step = trace.find((each) => each.step === 'silence');
  return [outcome, step?.result, step?.why];
}

test('A silence that cannot be evaluated stops nothing, and its step says so, unless another stops the rule', () => {
  const failedSilences = [
    { id: 'sil_2', error: 'the event has no "x"' },
    { id: 'sil_3', error: 'character 1: why' },
  ];
  assert.deepEqual(silenceStep({ failedSilences }), [
    'fired',
    'error',
    'Silence sil_2 (and 1 more) could not be evaluated and stops nothing: the event has no "x".',
  ]);
  assert.deepEqual(silenceStep({ failedSilences: failedSilences.slice(1) }), [
    'fired',
    'error',
    'Silence sil_3 could not be evaluated and stops nothing: character 1: why.',
  ]);
  assert.deepEqual(silenceStep({ failedSilences, silence: SILENCE }), [
    'suppressed',
    'stopped',
    'Silence sil_1 stops rule a until 2026-05-01T12:01:00.000Z: the move',
  ]);
  assert.deepEqual(silenceStep({}), ['fired', 'passed', 'No open silence stops it.']);
});

test('A refusal of the job makes the outcome an error that says why, in the reason and in the last step', () => {
  const decision = decideReaction(factsOf({ tried: [rule('a')] }));
  const { outcome, reason, trace } = refused(decision, 'There is no workspace net.');
  assert.deepEqual(
    { outcome, reason },
    { outcome: 'error', reason: 'Rule a matched, but nothing was queued: There is no workspace net.' },
  );
  assert.deepEqual(
    trace.slice(-2).map(({ step, rule: name, result, why }) => [step, name, result, why]),
    [
      ['gate', 'a', 'not reached', 'The job was refused before.'],
      ['fire', 'a', 'error', 'There is no workspace net.'],
    ],
  );
});

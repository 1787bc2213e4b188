import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TraceStep } from '../domain/events/event.ts';
import { toJson } from '../lib/json.ts';
import { decodeTrace, encodeTrace, unmatchedStep } from './trace.ts';

const STEPS: readonly TraceStep[] = [
  { step: 'rule', rule: 'b', result: 'error', why: 'It could not be evaluated: the event has no "x".' },
  { step: 'rule', rule: 'c', result: 'passed', why: 'It matched.' },
  { step: 'silence', rule: 'c', result: 'stopped', why: 'Silence sil_1 stops it.' },
];

test('The steps of an evaluation come back as they were stored, with the numbers of the other rules', () => {
  for (const [unmatched, notTried] of [
    [0, 0],
    [97, 0],
    [0, 3],
  ] as const) {
    const trace = { steps: STEPS, unmatched, notTried };
    assert.deepEqual(decodeTrace(encodeTrace(trace)), trace);
  }
});

test('A thousand rules that did not match are one entry', () => {
  assert.equal(encodeTrace({ steps: [], unmatched: 1_000, notTried: 0 }), '[[1000,0]]');
});

test('A row of an earlier build has the names of the rules that did not match', () => {
  assert.deepEqual(decodeTrace(toJson(['a', ['rule', 'c', 'passed', 'It matched.']])), {
    steps: [unmatchedStep('a'), STEPS[1]],
    unmatched: 0,
    notTried: 0,
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TraceStep } from '../domain/events/event.ts';
import { NOT_MATCHED } from '../domain/rules/reaction.ts';
import { decodeTrace, encodeTrace } from './trace.ts';

const unmatched = (rule: string): TraceStep => ({ step: 'rule', rule, result: 'stopped', why: NOT_MATCHED });

test('The steps of an evaluation come back as they were stored', () => {
  const steps: readonly TraceStep[] = [
    unmatched('a'),
    { step: 'rule', rule: 'b', result: 'error', why: 'It could not be evaluated: the event has no "x".' },
    { step: 'rule', rule: 'c', result: 'passed', why: 'It matched.' },
    { step: 'silence', rule: 'c', result: 'stopped', why: 'Silence sil_1 stops it.' },
  ];
  assert.deepEqual(decodeTrace(encodeTrace(steps)), steps);
});

test('A rule that did not match costs its name and 3 bytes', () => {
  assert.equal(encodeTrace([unmatched('disk-full'), unmatched('b')]), '["disk-full","b"]');
});

test('Of a thousand rules that did not match a hundred are named, and the others are counted', () => {
  const steps = decodeTrace(
    encodeTrace([
      ...Array.from({ length: 1_000 }, (_, n) => unmatched(`r${n}`)),
      { step: 'rule', rule: 'z', result: 'passed', why: 'It matched.' },
    ]),
  );
  assert.equal(steps.length, 102);
  assert.deepEqual(
    steps.slice(-2).map(({ rule, why }) => [rule, why]),
    [
      ['z', 'It matched.'],
      [null, '900 more rules did not match.'],
    ],
  );
});

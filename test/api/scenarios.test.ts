/** The rules of each operation, one scenario each, and the check that no operation is without one. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { isNone } from '../../src/operations/core/http-face.ts';
import { OPERATIONS } from '../../src/operations/table.ts';
import { assertNoTitleLost } from '../support/golden-titles.ts';
import { runScenarios, titleOf } from '../support/scenario.ts';
import { SCENARIOS } from './scenarios/scenarios.ts';

test('Every operation with a route has a scenario, and every scenario has an operation', () => {
  const routed = OPERATIONS.filter(({ http }) => !isNone(http)).map(({ id }) => id);
  const answer = new Set(SCENARIOS.map(({ operation }) => operation));
  assert.deepEqual(
    routed.filter((id) => !answer.has(id)),
    [],
    'write a scenario in test/api/scenarios for these',
  );
  assert.deepEqual(
    [...answer].filter((id) => !OPERATIONS.some((row) => row.id === id)),
    [],
    'these are in no row of the table',
  );
});

test('No scenario is lost: each rule that there was is there', () => {
  assertNoTitleLost(join(import.meta.dirname, '..', 'golden', 'scenarios.txt'), SCENARIOS.map(titleOf));
});

runScenarios(SCENARIOS);

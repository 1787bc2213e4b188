import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadOperation } from './areas.ts';
import { OPERATIONS } from './table.ts';

test('each operation is found without loading the whole table', async () => {
  const strangers = [];
  for (const { id } of OPERATIONS) if ((await loadOperation(id).catch(() => null))?.id !== id) strangers.push(id);
  assert.deepEqual(strangers, [], 'the area of these operations lacks their ids');
  await assert.rejects(loadOperation('job.dance'), /there is no operation job[.]dance/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STEP_ACTIONS } from '../rules/step-actions.ts';
import { readWorkflowFile } from '../workflows/file.ts';

test('a step that makes a backup says its name', async () => {
  await assert.rejects(readWorkflowFile('steps:\n  - {name: a, backup: true}\n', STEP_ACTIONS), {
    message: 'steps.a.backup (line 2): expected the name of the backup, such as nightly.',
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { APPROVAL_STATES } from '../../domain/approvals/approval.ts';
import { JOB_STATES } from '../../domain/jobs/job.ts';
import { marked } from './marks.ts';

test('on a terminal each state has a mark besides its word; elsewhere the word is alone', () => {
  for (const state of [...JOB_STATES, ...APPROVAL_STATES, 'ok', 'warn', 'fail', 'unknown']) {
    assert.match(marked({ nowMs: 0, color: false, width: 80 }, state), new RegExp(`^\\S ${state}$`), state);
    assert.equal(marked({ nowMs: 0, color: false, width: null }, state), state);
  }
  assert.equal(marked({ nowMs: 0, color: false, width: 80 }, 'constructor'), 'constructor');
});

/** What the redaction of secrets costs for hostile output. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileSecrets, createRedactor } from '../../../src/domain/secrets/redaction.ts';
import { threadCpuMs } from '../../support/measure/loop-spans.ts';

test('hostile output costs time in proportion to its length', () => {
  const redactor = createRedactor([Buffer.from(`${'a'.repeat(5000)}b`)]);
  const piece = Buffer.alloc(1000, 'a');
  const start = threadCpuMs();
  let kept = 0;
  for (let i = 0; i < 5000; i += 1) kept += redactor.push(piece).length;
  assert.equal(kept, 5_000_000 - 5000);
  assert.equal(kept + redactor.end().length, 5_000_000);
  // Some 0.2 s. A search that starts again at each byte compares 5,000 bytes for each of the 5 million: some 25 s.
  assert.ok(threadCpuMs() - start < 10_000);
});

test('Output of digits and separators alone costs time in proportion to its length', () => {
  const value = Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 7) % 251));
  const compiled = compileSecrets([value]);
  for (const piece of ['0x', '61 ', ': ', 'f', `${value.subarray(0, 3).toString('hex')}:`]) {
    const redactor = createRedactor(compiled);
    const chunk = Buffer.from(piece.repeat(1_000_000 / piece.length));
    const before = threadCpuMs();
    for (let i = 0; i < 4; i += 1) redactor.push(chunk);
    // Some 60 ms. Anything that grows with what is held would take minutes.
    assert.ok(threadCpuMs() - before < 5_000, piece);
  }
});

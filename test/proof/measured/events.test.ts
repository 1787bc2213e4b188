/** What a hostile message to the ingress costs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalise, refusal } from '../../support/events/payloads.ts';
import { threadCpuMs } from '../../support/measure/loop-spans.ts';

test('The time for a payload of 1 MiB is in proportion to its size', () => {
  const size = 1_000_000;
  const hostile = [
    '://'.repeat(size / 3),
    `a${'='.repeat(size)}`,
    '?a'.repeat(size / 2),
    'a-'.repeat(size / 2),
    `basic ${' '.repeat(size)}`,
    `x=1${'basic '.repeat(size / 6)}`,
    '://x@'.repeat(size / 5),
    'a=%'.repeat(size / 3),
    `${'a'.repeat(size)}=`,
  ];
  for (const text of hostile) {
    const began = threadCpuMs();
    normalise('generic', { name: 'A', labels: { text } });
    const tookMs = threadCpuMs() - began;
    assert.ok(tookMs < 1_500, `${JSON.stringify(text.slice(0, 12))}…: ${tookMs} ms`);
  }
  const broken = [
    `{"name":"a","url":"${' '.repeat(size)}`,
    `{"name":"a"${'"name" '.repeat(size / 7)}`,
    `{"name":"x${'" '.repeat(size / 2)}x`,
    `{${'"name":"'.repeat(size / 8)}`,
  ];
  for (const text of broken) {
    const began = threadCpuMs();
    refusal('gatus', text);
    const tookMs = threadCpuMs() - began;
    assert.ok(tookMs < 1_500, `${text.slice(0, 30)}…: ${tookMs} ms`);
  }
});

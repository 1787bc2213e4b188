import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toJson } from '../../lib/json.ts';
import { AREAS } from '../areas.ts';
import { readHeads } from './audit.ts';
import { shownDetail } from './audit-detail.ts';

/** Of all areas. */
const AUDITED = Object.assign({}, ...AREAS.map(({ audited }) => audited));

const HASH = 'ab'.repeat(32);

test('Heads are read as svc audit head prints them, as text and as JSON', () => {
  const head = { chain: 'main', seq: 7, hash: HASH };
  assert.deepEqual(readHeads(`main 7 ${HASH}\n\ndmn_01m7yd4zyke00anp2z332d2j5p 12 ${HASH}\n`), [
    head,
    { chain: 'dmn_01m7yd4zyke00anp2z332d2j5p', seq: 12, hash: HASH },
  ]);
  assert.deepEqual(readHeads(JSON.stringify({ schema_version: 1, kind: 'audit.head', data: [head] })), [head]);
});

test('A file that holds no heads is refused with the line, and never counts as heads that match', () => {
  for (const text of [
    '',
    '\n',
    'main',
    `main x ${HASH}`,
    `main 7 ${HASH}\nmain 8`,
    '{"data":[]}',
    '{',
    '{"data":[{"chain":"main"}]}',
  ]) {
    assert.throws(() => readHeads(text), { code: 'invalid_argument', message: /^ledger_head: / }, text);
  }
});

test('What the ledger records of an operation is shown under the name that it is recorded with', () => {
  const kept: readonly (readonly [operation: string, detail: Record<string, unknown>])[] = [
    ['silence.add', { rule: 'disk-full' }],
    ['mute.add', { scope_kind: 'host' }],
    ['webhook.add', { source: 'generic', signed: false }],
    ['workspace.apply', { workspace: 'net', plan: 'art_1', ungated: true }],
    ['workspace.restore', { version: 3, from_version: 1, serial: 7, force: true }],
    [
      'playbook.run',
      { playbook: 'clean.yml', limit: 'web', hosts: ['web1'], host_count: 1, tags: ['logs'], check: false },
    ],
    ['command.run', { inventory: 'prod', because: 'OPS-211' }],
    ['data_dir.modes', { entries: ['seal.key 0755'], jobs: ['job_1'] }],
  ];
  for (const [operation, detail] of kept)
    assert.deepEqual(shownDetail(AUDITED, operation, toJson({ ...detail, scope_value: 'hidden' })), detail, operation);
});

import assert from 'node:assert/strict';
import { insertBackup } from '../../../../src/store/backups/backups.ts';
import { newId } from '../../../../src/lib/id.ts';
import type { Program } from '../../../support/program.ts';
import type { Scenario } from '../../../support/scenario.ts';

const path = '/api/v1/backups';

async function two(program: Program): Promise<Readonly<Record<string, string>>> {
  const ids = ['older', 'newer'].map((name) => [name, newId('bak', Date.now())] as const);
  for (const [name, id] of ids)
    await program.store.write((tx) =>
      insertBackup(tx, {
        id,
        job_id: newId('job', tx.now),
        name: 'store',
        file: `canary-${name}`,
        host: 'canary-host',
        created_at: Date.UTC(2026, 10, 21),
        size_bytes: 1_234,
        sha256: 'ab'.repeat(32),
        verified_at: name === 'older' ? null : Date.UTC(2026, 10, 22),
      }),
    );
  return Object.fromEntries(ids);
}

export const BACKUP_SCENARIOS: readonly Scenario[] = [
  {
    operation: 'backup.list',
    rule: 'is an empty list where there is nothing, never absent',
    as: 'readonly',
    send: { method: 'GET', path },
    expect: { status: 200, kind: 'backup.list', text: /"data":\[\]\}\n$/ },
  },
  {
    operation: 'backup.list',
    rule: 'is newest first, with digest and size, and without the place of a file',
    given: two,
    as: 'approve',
    send: { method: 'GET', path },
    expect: {
      status: 200,
      kind: 'backup.list',
      data: [
        { size_bytes: 1_234, sha256: 'ab'.repeat(32), verified_at: '2026-11-22T00:00:00.000Z' },
        { created_at: '2026-11-21T00:00:00.000Z', verified_at: null },
      ],
    },
    expectNot: ['canary'],
    async afterwards(_program, given, body) {
      const { data } = body as { data: { id: string }[] };
      assert.deepEqual(
        data.map(({ id }) => id),
        [given['newer'], given['older']],
      );
      assert.deepEqual(Object.keys(data[0] ?? {}), [
        'id',
        'job_id',
        'created_at',
        'size_bytes',
        'sha256',
        'verified_at',
      ]);
    },
  },
  {
    operation: 'backup.list',
    rule: 'takes no query parameter',
    as: 'readonly',
    send: { method: 'GET', path: `${path}?limit=1` },
    expect: { status: 400, code: 'invalid_argument' },
  },
];

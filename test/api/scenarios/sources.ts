import { insertSource } from '../../../src/store/sources/sources.ts';
import type { Program } from '../../support/program.ts';
import type { Scenario } from '../../support/scenario.ts';

const COMMIT = 'a1'.repeat(20);

async function twoSources(program: Program): Promise<Record<string, string>> {
  const at = Date.UTC(2026, 0, 2);
  await program.store.write(async (tx) => {
    await insertSource(tx, {
      name: 'ops',
      kind: 'git',
      location: 'git@git.example.org:canary/infra.git',
      ref: 'main',
      commit_id: COMMIT,
      synced_at: at,
      created_at: at,
    });
    await insertSource(tx, {
      name: 'net',
      kind: 'dir',
      location: '/srv/canary',
      ref: null,
      commit_id: null,
      synced_at: null,
      created_at: at,
    });
  });
  return {};
}

export const SOURCE_SCENARIOS: readonly Scenario[] = [
  {
    operation: 'source.list',
    rule: 'is an empty list where there is nothing, never absent',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/sources' },
    expect: { status: 200, kind: 'source.list', text: /"data":\[\]\}\n$/ },
  },
  {
    operation: 'source.list',
    rule: 'is by name, and says nothing of where a source is',
    given: twoSources,
    as: 'approve',
    send: { method: 'GET', path: '/api/v1/sources' },
    expect: {
      status: 200,
      kind: 'source.list',
      text: new RegExp(
        '"data":\\[\\{"name":"net","kind":"dir","ref":null,"commit":null,"synced_at":null\\},\\{"name":"ops",' +
          `"kind":"git","ref":"main","commit":"${COMMIT}","synced_at":"2026-01-02T00:00:00.000Z"\\}\\]`,
      ),
    },
    expectNot: ['canary', 'git.example.org', '"location"'],
  },
  {
    operation: 'source.list',
    rule: 'is not for hosts',
    as: 'host',
    send: { method: 'GET', path: '/api/v1/sources' },
    expect: { status: 403, code: 'forbidden' },
  },
  {
    operation: 'source.list',
    rule: 'takes no field',
    as: 'readonly',
    send: { method: 'GET', path: '/api/v1/sources?kind=git' },
    expect: { status: 400, code: 'invalid_argument', message: /kind/ },
  },
  {
    operation: 'source.add',
    rule: 'has no route: where configuration comes from is decided on the machine',
    as: 'operator',
    send: { method: 'POST', path: '/api/v1/sources', body: { name: 'ops', git: 'git@h:x' } },
    expect: { status: 404, code: 'not_found' },
  },
];

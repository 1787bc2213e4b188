/** What the last probe of the daemon found of a target, and that it was never up: where that is shown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepTargetState, type KeptState } from '../../../src/store/checks/sweep.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';
import { startProgram } from '../../support/program.ts';
import { send } from '../../support/scenario.ts';
import { appOf, svc } from '../../support/terminal.ts';

const SEEN = { check: 'web', from: 'unknown', orFrom: 'unknown', lastChange: 1, pending: null } as const;
const RESULT = { durationMs: 3, certificateDays: null } as const;
const STATES: readonly KeptState[] = [
  { ...SEEN, ...RESULT, target: 'a', status: 'down', wasUp: 0, detail: 'refused' },
  { ...SEEN, ...RESULT, target: 'b', status: 'down', wasUp: 1, detail: 'timeout' },
  { ...SEEN, ...RESULT, target: 'c', status: 'up', wasUp: 1, detail: 'ok' },
];

/** The fields of a target behind those that each has. */
const keys = (target: object | undefined): string[] => Object.keys(target ?? {}).slice(5);

test('B5: check get has the last detail of a target; each view and the overview say that it was never up', async (t) => {
  const program = await startProgram(t);
  const targets = ['a', 'b', 'c', 'd'].map((name) => `${name}=10.0.0.5:80`);
  await callLocally(program, 'check.add', { name: 'web', kind: 'tcp', interval: '1h', targets });
  await program.store.write(async (tx) => {
    for (const state of STATES) await keepTargetState(tx, state);
  });
  const [a, b, c, d] = (await callLocally<{ targets: object[] }>(program, 'check.get', { name: 'web' })).targets;
  assert.deepEqual([keys(a), keys(b), keys(c), keys(d)], [['detail', 'never_up'], ['detail'], ['detail'], []]);
  const list = await send(program, 'readonly', { method: 'GET', path: '/api/v1/checks' });
  const [listed] = (list.json as { data: [{ targets: object[] }] }).data;
  assert.deepEqual(listed.targets.map(keys), [['never_up'], [], [], []]);

  const { stdout } = await svc(['check', 'get', 'web'], { app: appOf(program) });
  assert.match(stdout, /^a +down +refused, never up /m);
  assert.match(stdout, /^b +down +timeout /m);
  assert.match(stdout, /^d +unknown +- /m);

  const cookie = await program.session(program.tokens.readonly);
  const page = await (await fetch(`${program.url}/`, { headers: { cookie } })).text();
  assert.match(page, /<a href="\/checks\/web">a<\/a> of web, never up<\/li>/);
  assert.match(page, /<a href="\/checks\/web">b<\/a> of web<\/li>/);
});

/** What holds for every verb, however it fails. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordsOf } from '../../../../test/documents/blocks.ts';
import { NO_APP, type Ran, svc } from '../../../../test/support/terminal.ts';
import { Failure } from '../../../domain/failure.ts';
import { TREE } from './tree.ts';
import type { App } from '../terminal.ts';

const refuse = (): Promise<never> => Promise.reject(new Failure('unavailable', 'It is so.'));
const CLOSED: App = { ...NO_APP, openLocal: refuse, withoutStore: refuse };

function requireEnvelope({ exitCode, stdout, stderr }: Ran, code: RegExp, words: string): void {
  assert.notEqual(exitCode, 0, words);
  assert.equal(stderr, '', words);
  assert.match(stdout, /^[^\n]+\n$/, `${words}: one line`);
  const envelope = JSON.parse(stdout) as { error: { code: string; message: string; hint: string } };
  assert.deepEqual(Object.keys(envelope), ['schema_version', 'kind', 'error'], words);
  assert.match(envelope.error.code, code, words);
  for (const text of [envelope.error.message, envelope.error.hint]) assert.ok(text.length > 0, words);
}

test('point 37: every verb answers a usage error with one envelope on standard output in JSON mode', async () => {
  assert.ok(TREE.verbs.length > 100);
  for (const { path } of TREE.verbs) {
    const words = `${path} --no-such-flag --output json`;
    requireEnvelope(await svc(words.split(' '), { app: CLOSED }), /^invalid_argument$/, words);
  }
});

test('points 37, 38: every verb that calls an operation answers its failure so, asking nothing', async () => {
  let failed = 0;
  for (const verb of TREE.verbs) {
    if (!('operation' in verb.call)) continue;
    const [example = ''] = verb.examples;
    const given = wordsOf(example);
    const at = given.indexOf('--');
    const more = ['--output', 'json', '--no-input', '--yes'];
    const argv = at < 0 ? [...given, ...more] : [...given.slice(0, at), ...more, ...given.slice(at)];
    requireEnvelope(await svc(argv, { app: CLOSED, typed: '', columns: 80 }), /./, example);
    failed += 1;
  }
  assert.ok(failed > 80, String(failed));
});

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { completionScript, SHELLS } from './completion.ts';
import { TREE } from '../syntax/tree.ts';

const DRIVER = 'COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _svc; printf "%s\\n" "${COMPREPLY[@]}"';

/** In the place of the program: answers what `svc complete` would for one command line. */
const STAND_IN = [
  'svc() { case "$*" in',
  "'complete -- job get job_'*|'complete -- schedule add x --apply '*) echo job_1 net;;",
  'esac; }\n',
].join('\n');

/** The proposals of bash for the last of `words`. */
function proposed(...words: string[]): string[] {
  const text = execFileSync('bash', ['--norc', '-s', '--', 'svc', ...words], {
    encoding: 'utf8',
    input: completionScript(TREE, 'bash') + STAND_IN + DRIVER,
  });
  return text.split('\n').filter(Boolean);
}

test('bash completes nouns, verbs, flags and values', () => {
  assert.deepEqual(proposed('to'), ['token']);
  assert.deepEqual(proposed('token', ''), ['list', 'create', 'revoke']);
  assert.deepEqual(proposed('job', 'red'), ['redrive']);
  assert.deepEqual(proposed('token', 'create', '--sc'), ['--scope']);
  assert.deepEqual(proposed('token', 'create', '--scope', ''), ['readonly', 'operator', 'approve', 'host']);
  assert.deepEqual(proposed('job', 'redrive', '--state', 'i'), ['interrupted']);
  assert.deepEqual(proposed('job', 'list', '--state', 'i'), ['interrupted']);
  assert.deepEqual(proposed('--output', ''), ['text', 'json']);
  assert.deepEqual(proposed('--output', 'json', 'ser'), ['serve']);
  assert.deepEqual(proposed('completion', ''), ['bash', 'zsh', 'fish']);
  assert.deepEqual(proposed('serve', '--web'), ['--web-addr']);
});

test('bash proposes nothing after --, and nothing for a free value', () => {
  assert.deepEqual(proposed('command', 'run', '--', '-'), []);
  assert.deepEqual(proposed('job', 'list', '--limit', ''), []);
});

test('bash asks svc for the names of things, with all words up to the cursor', () => {
  assert.deepEqual(proposed('job', 'get', 'job_'), ['job_1']);
  assert.deepEqual(proposed('schedule', 'add', 'x', '--apply', ''), ['job_1', 'net']);
  assert.deepEqual(proposed('check', 'add', 'web', '--kind', 't'), ['tcp', 'tls']);
  assert.deepEqual(proposed('job', 'get', 'other'), []);
  assert.deepEqual(proposed('job', 'list', ''), [], 'takes no argument');
});

test('the script of each shell names every verb and every flag', () => {
  for (const shell of SHELLS) {
    const script = completionScript(TREE, shell);
    for (const verb of TREE.verbs) {
      for (const word of verb.path.split(' ')) assert.ok(script.includes(word), `${shell}: ${verb.path}`);
      for (const flag of verb.flags)
        assert.ok(
          script.includes(shell === 'fish' ? ` -l ${flag.name}` : `--${flag.name}`),
          `${shell}: ${verb.path} --${flag.name}`,
        );
    }
  }
});

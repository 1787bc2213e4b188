import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNpmShell } from './npm-shell.ts';

test('a shell of npm is one that waits for its command, and no other parent', () => {
  for (const [command, words, expected] of [
    ['exec', ['sh', '-c', "'svc' serve"], true],
    ['start', ['/bin/sh', '-c', 'scripts/setup && bin/svc serve'], true],
    ['run', ['/usr/bin/bash', '-c', 'bin/svc serve >log 2>&1'], true],
    ['run-script', ['dash', '-c', 'bin/svc serve &>log'], true],
    ['start', ['sh', '-c', 'bin/svc serve & echo started'], false],
    ['start', ['sh', '-c', 'nohup bin/svc serve >log 2>&1 &'], false],
    ['exec', ['bash'], false],
    ['exec', ['node', '-c', 'svc serve'], false],
    ['exec', ['npm exec svc serve'], false],
    ['test', ['sh', '-c', 'bin/svc serve'], false],
    [undefined, ['sh', '-c', 'bin/svc serve'], false],
    ['exec', [], false],
  ] as const)
    assert.equal(isNpmShell({ npm_command: command }, words), expected, `${command} ${words.join(' ')}`);
});

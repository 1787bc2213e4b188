import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
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

/** Blocks its event loop until its shell is gone and its look at the shell is due, as a busy machine does. */
const DAEMON = `
  const { stopWithNpm } = await import(${JSON.stringify(join(import.meta.dirname, 'npm-shell.ts'))});
  const { systemClock } = await import(${JSON.stringify(join(import.meta.dirname, '..', '..', 'lib', 'clock.ts'))});
  stopWithNpm({ npm_command: 'start' }, systemClock, () => { console.log('stopped'); process.exit(); });
  const { writeSync } = await import('node:fs');
  writeSync(1, 'ready\\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
  setTimeout(() => { console.log('outlived'); process.exit(); }, 500);
`;

for (const [signal, end] of [
  ['SIGHUP', 'outlived'],
  ['SIGTERM', 'stopped'],
] as const)
  test(`a busy daemon whose shell gets ${signal} has ${end}`, async () => {
    const words = [process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module', '-e', '"$DAEMON"'];
    const shell = spawn('/bin/sh', ['-c', `${words.join(' ')}; exit 0`], { env: { DAEMON }, detached: true });
    let output = '';
    shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await once(shell.stdout, 'data');
    // A closed terminal signals the whole group, and npm its shell alone.
    process.kill(signal === 'SIGHUP' ? -(shell.pid ?? 0) : (shell.pid ?? 0), signal);
    await once(shell.stdout, 'close');
    assert.equal(output, `ready\n${end}\n`);
  });

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { test } from 'node:test';

const CAP_SYS_NICE = 23n;
const PROGRAM = join(import.meta.dirname, '..', '..', '..', 'test', 'support', 'bounds', 'crowded-session.ts');
const SKIP = !existsSync('/proc/self/autogroup')
  ? 'the kernel does not share processors out among sessions'
  : mayRaisePriority()
    ? false
    : 'needs CAP_SYS_NICE';

function mayRaisePriority(): boolean {
  const effective = /^CapEff:\t([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '0';
  return ((BigInt(`0x${effective}`) >> CAP_SYS_NICE) & 1n) === 1n;
}

test(
  'T78: a session is preferred while many processes run beside a job, not before or after',
  { skip: SKIP },
  async () => {
    // In a separate session: other tests have theirs in common with this one.
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    assert.equal(await text(child.stdout), '{"before":false,"during":true,"child":0,"after":false}\n');
  },
);

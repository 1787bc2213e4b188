import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { suite, test } from 'node:test';

/** Prints the KiB in large pages before and after, and whether the memory is as it was. A kernel may give none. */
const PROGRAM = `
  import { readFileSync } from 'node:fs';
  import { splitLargePages } from ${JSON.stringify(import.meta.resolve('./lean.ts'))};
  import { openSystemCalls } from ${JSON.stringify(import.meta.resolve('../sandbox/kernel/system-call.ts'))};
  const large = () => Number(/^AnonHugePages: +(\\d+) kB$/m.exec(readFileSync('/proc/self/smaps_rollup', 'latin1'))[1]);
  const memory = Buffer.allocUnsafeSlow(16 * 1024 * 1024).fill(7);
  const before = large();
  splitLargePages(openSystemCalls());
  console.log(JSON.stringify({ before, after: large(), same: memory.every((byte) => byte === 7) }));
`;

suite('the memory of a process that stays', () => {
  const skip = process.platform !== 'linux' || !existsSync('/proc/self/smaps_rollup');
  test('its large pages become small ones and hold what they held', { skip }, () => {
    const args = ['--no-warnings', '--input-type=module', '--eval', PROGRAM];
    const env = { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1' };
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
    assert.equal(stderr, '');
    const { before, ...now } = JSON.parse(stdout) as { before: number; after: number; same: boolean };
    assert.deepEqual(now, { after: 0, same: true }, `${before} KiB in large pages before`);
  });
});

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { suite, test } from 'node:test';

/** KiB of a mapping that are in large pages, and the flags of it as the kernel writes them. */
interface Mapping {
  readonly kib: number;
  readonly flags: string;
}

/** Prints the mapping of some memory of the C library before and after, and whether the memory is as it was. */
const PROGRAM = `
  import { readFileSync } from 'node:fs';
  import { splitLargePages } from ${JSON.stringify(import.meta.resolve('./lean.ts'))};
  import { openSystemCalls } from ${JSON.stringify(import.meta.resolve('../sandbox/kernel/system-call.ts'))};
  const mappings = () => readFileSync('/proc/self/smaps', 'latin1').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)
    .map((text) => ({
      from: BigInt('0x' + /^[0-9a-f]+/.exec(text)[0]),
      to: BigInt('0x' + /^[0-9a-f]+-([0-9a-f]+)/.exec(text)[1]),
      kib: Number(/^AnonHugePages: +(\\d+) kB$/m.exec(text)?.[1] ?? 0),
      flags: /^VmFlags: (.*?) *$/m.exec(text)?.[1] ?? '',
    }));
  const said = ({ kib, flags }) => ({ kib, flags });
  const known = new Set(mappings().map(({ from }) => from));
  const memory = Buffer.allocUnsafeSlow(16 * 1024 * 1024).fill(7);
  const own = mappings().filter(({ from }) => !known.has(from)).toSorted((a, b) => b.kib - a.kib)[0];
  splitLargePages(openSystemCalls());
  const after = own && mappings().find(({ from, to }) => from <= own.from && own.from < to);
  const same = memory.every((byte) => byte === 7);
  console.log(JSON.stringify({ before: own ? said(own) : null, after: after ? said(after) : null, same }));
`;

suite('the memory of a process that stays', () => {
  const skip = process.platform !== 'linux' || !existsSync('/proc/self/smaps');
  test('its large pages become small ones and hold what they held', { skip }, () => {
    const args = ['--no-warnings', '--input-type=module', '--eval', PROGRAM];
    const env = { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1' };
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
    assert.equal(stderr, '');
    const { before, after, same } = JSON.parse(stdout) as {
      before: Mapping | null;
      after: Mapping | null;
      same: boolean;
    };
    assert.ok(same);
    assert.equal(after?.kib ?? 0, 0, JSON.stringify(before));
    // A kernel may offer no large page, or have none left, and another C library asks for none.
    const hadSome = before !== null && before.kib > 0;
    if (hadSome) assert.ok(after?.flags.split(' ').includes('nh'), stdout);
  });
});

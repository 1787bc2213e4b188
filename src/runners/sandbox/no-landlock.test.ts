import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type LandlockFacts, whyNoLandlock } from './no-landlock.ts';
import { needs } from '../../../test/support/tools.ts';

const { ENOSYS, EPERM, EACCES, EOPNOTSUPP } = constants.errno;
const NO_LINUX = needs('Linux');
const ROOT = join(import.meta.dirname, '..', '..', '..');
const NEW: LandlockFacts = { error: ENOSYS, release: '6.8.0-31-generic', modules: null, isFiltered: null };
const WITH = 'capability,landlock,yama,apparmor';
const WITHOUT = 'capability,yama,apparmor';
const PROFILE = /landlock_create_ruleset, landlock_add_rule and landlock_restrict_self in the seccomp profile/;
const BUILT_WITHOUT = /6\.8\.0-31-generic, was built without it$/;
const OFF = /has it switched off: start the kernel with lsm=landlock,/;

const CASES: readonly (readonly [facts: Partial<LandlockFacts>, says: RegExp, blamesFilter: boolean])[] = [
  [{ release: '5.12.19' }, /; this kernel is 5\.12\.19$/, false],
  [{ release: '4.4.0', isFiltered: true, error: EPERM }, /; this kernel is 4\.4\.0$/, false],
  [{ release: '5.13.0' }, /5\.13\.0, was built without it$/, false],
  [{ release: '10.0.0-rc1' }, /10\.0\.0-rc1, was built without it$/, false],
  [{ isFiltered: false }, BUILT_WITHOUT, false],
  [{ error: 0 }, BUILT_WITHOUT, false],
  [{ modules: WITHOUT, isFiltered: true }, BUILT_WITHOUT, false],
  [{ error: EOPNOTSUPP }, OFF, false],
  [{ error: EOPNOTSUPP, modules: WITHOUT, isFiltered: true }, OFF, false],
  [{ isFiltered: true }, /is new enough, but its calls are not there \(ENOSYS\), probably because of the filter/, true],
  [{ modules: WITH, isFiltered: true }, /6\.8\.0-31-generic, has it, but a filter of system calls .*\(ENOSYS\)/, true],
  [{ error: EPERM, modules: WITH }, /has it, but a filter of system calls refuses it \(EPERM\)/, true],
  [{ error: EPERM }, /\. A filter of system calls refuses it \(EPERM\)/, true],
  [{ error: EACCES, isFiltered: true }, /A filter of system calls refuses it \(EACCES\)/, true],
  [
    { error: EPERM, modules: WITHOUT },
    /refuses it \(EPERM\).*not active in the kernel either \(capability,yama,/,
    true,
  ],
];

test('the reason for no Landlock blames the kernel only where the kernel is the cause', () => {
  for (const [facts, says, blamesFilter] of CASES) {
    const reason = whyNoLandlock({ ...NEW, ...facts });
    assert.match(reason, /^sandboxed jobs need Landlock \(Linux 5\.13 or newer; 6\.7 for every kind of job\)/);
    assert.match(reason, says);
    assert.equal(PROFILE.test(reason), blamesFilter, reason);
  }
});

test(
  'below a real filter that refuses Landlock, the reason names the filter and its answer',
  { skip: NO_LINUX },
  () => {
    const wrapper = join(ROOT, 'test/support/faults/without-landlock.ts');
    const probe =
      "const { createLauncher } = await import('./src/runners/launch/launch.ts');" +
      'console.log(JSON.stringify(await createLauncher().supported(() => Promise.resolve(true))));';
    for (const name of ['ENOSYS', 'EPERM']) {
      const node = [process.execPath, '--no-warnings'] as const;
      const args = [...node.slice(1), wrapper, '--errno', name, ...node, '--input-type=module', '-e', probe];
      const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', timeout: 60_000 });
      assert.notEqual(stdout, '', stderr);
      const { state, detail } = JSON.parse(stdout) as { readonly state: string; readonly detail: string };
      assert.equal(state, 'none');
      assert.ok(detail.includes(`(${name})`) && detail.includes('filter of system calls'), detail);
      assert.match(detail, PROFILE);
    }
  },
);

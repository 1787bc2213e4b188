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
const PROFILE = /allow it in the seccomp profile/;
const BUILT_WITHOUT = /, which this kernel, 6\.8\.0-31-generic, was built without;/;
const OFF = /, 6\.8\.0-31-generic, has switched off: start it with lsm=landlock,/;
/** Of the part before the document, which has the rest. */
const CHARS_MAX = 160;

const CASES: readonly (readonly [facts: Partial<LandlockFacts>, says: RegExp, blamesFilter: boolean])[] = [
  [{ release: '5.12.19' }, / Linux 5\.13 or newer .*, and this kernel is 5\.12\.19;/, false],
  [{ release: '4.4.0', isFiltered: true, error: EPERM }, /, and this kernel is 4\.4\.0;/, false],
  [{ release: '5.13.0' }, /5\.13\.0, was built without;/, false],
  [{ release: '10.0.0-rc1' }, /10\.0\.0-rc1, was built without;/, false],
  [{ isFiltered: false }, BUILT_WITHOUT, false],
  [{ error: 0 }, BUILT_WITHOUT, false],
  [{ modules: WITHOUT, isFiltered: true }, BUILT_WITHOUT, false],
  [{ error: EOPNOTSUPP }, OFF, false],
  [{ error: EOPNOTSUPP, modules: WITHOUT, isFiltered: true }, OFF, false],
  [{ isFiltered: true }, /, whose calls are not there \(ENOSYS\), probably because of a filter of system calls/, true],
  [
    { modules: WITH, isFiltered: true },
    /6\.8\.0-31-generic, has and a filter of system calls refuses \(ENOSYS\)/,
    true,
  ],
  [{ error: EPERM, modules: WITH }, / has and a filter of system calls refuses \(EPERM\)/, true],
  [{ error: EPERM }, /, which a filter of system calls refuses \(EPERM\)/, true],
  [{ error: EACCES, isFiltered: true }, / a filter of system calls refuses \(EACCES\)/, true],
  [{ error: EPERM, modules: WITHOUT }, /refuses \(EPERM\).*, and start the kernel with lsm=landlock,/, true],
];

test('the reason for no Landlock blames the kernel only where the kernel is the cause', () => {
  for (const [facts, says, blamesFilter] of CASES) {
    const reason = whyNoLandlock({ ...NEW, ...facts });
    const [cause = '', document] = reason.split('; ');
    assert.match(cause, /^sandboxed jobs need Landlock, /);
    assert.ok(cause.length <= CHARS_MAX, `${cause.length}: ${cause}`);
    assert.equal(document, 'see "Where Landlock is missing" in docs/explanation/sandbox.md');
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

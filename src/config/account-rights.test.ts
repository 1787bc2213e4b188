import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hiddenProcesses } from './account-rights.ts';

const LIMITS = 'Max realtime priority  0          0\nMax realtime timeout   unlimited  unlimited  us\n';
const mounted = (options: string): string =>
  `22 1 0:20 / /sys rw - sysfs sysfs rw\n23 1 0:21 / /proc rw,nosuid - proc proc ${options}\n`;

describe('The processes of another account', () => {
  it('can be found where /proc shows them and a job can be marked', () => {
    for (const options of ['rw', 'rw,hidepid=0', 'rw,hidepid=off'])
      assert.equal(hiddenProcesses(mounted(options), LIMITS), null);
  });

  it('are hidden by an option of /proc, which is named', () => {
    for (const options of [
      'rw,hidepid=2',
      'rw,gid=5,hidepid=invisible',
      'rw,hidepid=ptraceable',
      'rw,hidepid=noaccess',
    ])
      assert.match(hiddenProcesses(mounted(options), LIMITS) ?? '', /hidepid=/);
    assert.equal(hiddenProcesses(`${mounted('rw,hidepid=2')}${mounted('rw')}`, LIMITS), null, 'the last mount counts');
  });

  it('cannot be marked under a limit on real-time processing', () => {
    const limited = LIMITS.replaceAll('unlimited', '200000');
    assert.match(hiddenProcesses(mounted('rw'), limited) ?? '', /LimitRTTIME/);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { svc } from '../../../../test/support/terminal.ts';
import { systemdUnit } from './systemd-unit.ts';

/** The daemon does not work with these: docs/how-to/run-as-a-service.md says why. `npm run kernels` tries the rest. */
const UNUSABLE =
  /^(?:ProtectProc|PrivateUsers|LimitRTTIME|MemoryDenyWrite\w+|ProtectControlGroups|Restrict(?:Realtime|SUIDSGID))=/m;

test('the unit names this installation and the data directory, as systemd reads words', async () => {
  const ran = await svc(['systemd-unit', '--data-dir', '/srv/gate']);
  assert.equal(ran.exitCode, 0, ran.stderr);
  assert.match(
    ran.stdout,
    /^ExecStart=\/.*\/bin\/svc serve --data-dir \/srv\/gate --job-user gatehouse-job$/m,
    'absolute',
  );
  assert.match(ran.stdout, /^Type=notify$/m);
  assert.doesNotMatch(ran.stdout, /=\/bin\/kill /, 'a small Debian has no such program');
  assert.doesNotMatch(ran.stdout, UNUSABLE);
  const odd = systemdUnit({ command: '/opt/my tools/svc', dataDir: '/srv/50%/"a"$b' });
  assert.match(odd, /^ExecStart="\/opt\/my tools\/svc" serve --data-dir "\/srv\/50%%\/\\"a\\"\$\$b" /m);
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import * as app from '../../../src/app.ts';
import { openFixture } from '../../support/fixtures/installation.ts';
import { svc } from '../../support/terminal.ts';

test('A webhook that is added on the machine has the public URL of the daemon that runs', async (t) => {
  const fixture = await openFixture(t);
  await fixture.serve({ args: ['--public-url', 'https://gate.example'] });
  const dataDir = join(fixture.dir, 'data');
  const added = await svc(
    [
      'webhook',
      'add',
      'alerts',
      '--source',
      'generic',
      '--data-dir',
      dataDir,
      '--seal-key-file',
      join(fixture.dir, 'seal.key'),
    ],
    { app },
  );
  assert.match(added.stdout, /^https:\/\/gate\.example\/hook\/\S+$/m, added.stderr);
});

import { test } from 'node:test';
import { openFixture } from '../../support/fixtures/installation.ts';
import { endsFor, NO_DAEMON, wait } from '../../support/waits/unclaimed.ts';

test('The verb that makes a backup ends after 30s without a daemon', async (t) => {
  endsFor(await wait(await openFixture(t), 'backup', 'create', '--wait'), NO_DAEMON);
});

/** A person who can write the database makes no backup be removed, and none count as whole. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { newId } from '../../../src/lib/id.ts';
import { backUp, listOf, openBackupFixture, outputOf, queueBackup } from '../../support/backups/backup-fixture.ts';
import type { FixtureOptions } from '../../support/fixtures/installation.ts';
import { type DebianServer, startDebianServer } from '../../support/postgres/debian-server.ts';
import { needs } from '../../support/tools.ts';

async function refuse(t: TestContext, options: FixtureOptions): Promise<void> {
  const on = await openBackupFixture(t, [], options);
  const { fixture } = on;
  // Its own directory of backups, which the command line of the fixture looks in too.
  await fixture.start();
  await backUp(on, 'nightly');
  const [{ id } = assert.fail('no backup')] = await listOf(on);
  const set = (columns: { removed_at?: number | null; sha256?: string }): Promise<unknown> =>
    fixture.store.write(({ db }) => db.updateTable('backups').set(columns).where('id', '=', id).execute());
  await set({ removed_at: 1 });
  // Each removes first what is noted as removed.
  await backUp(on, 'other');
  assert.equal(readdirSync(join(on.dataDir, 'backups')).filter((file) => file.includes(id)).length, 1);
  await set({ removed_at: null });
  assert.ok((await listOf(on)).some((each) => each.id === id));
  await fixture.call('backup.verify', { id });
  await set({ sha256: 'of another file' });
  await assert.rejects(fixture.call('backup.verify', { id }), {
    code: 'forbidden',
    message: `Integrity: backup ${id} was changed after it was written. Nothing was run.`,
  });
}

test('T80: a backup that somebody ordered in the database is not made', async (t) => {
  const on = await openBackupFixture(t);
  const { fixture } = on;
  const row = await fixture.row(await queueBackup(on));
  const id = newId('job', Date.now());
  const forged = { ...row, id, concurrency_key: null, order_tag: null, order_key_id: null };
  const spec = JSON.stringify({ name: '../../../../escaped' });
  await fixture.store.write(({ db }) =>
    db
      .insertInto('jobs')
      .values({ ...forged, spec })
      .execute(),
  );
  await fixture.start(on.flags);
  await fixture.waitFor(row.id, ['succeeded']);
  await fixture.waitFor(forged.id, ['failed']);
  assert.match(await outputOf(on, forged.id), /^Integrity: job job_\w+ has no tag.*Nothing was run\.$/m);
  assert.equal(existsSync(join(fixture.dir, 'escaped')), false);
  assert.equal((await listOf(on)).length, 1);
});

test('T80: a backup whose row was changed is not removed, on SQLite', (t) => refuse(t, {}));

describe('T80: on a server as old as pg_dump', { skip: needs('pg_dump', 'postgresql server') }, () => {
  let server: DebianServer;
  before(async () => {
    server = await startDebianServer();
  });
  after(() => server.stop());

  test('T80: a backup whose row was changed is not removed, on PostgreSQL', async (t) =>
    refuse(t, { databaseUrl: await server.database() }));
});

/** The schema of a store changes only when an operator starts the new daemon or runs `svc migrate`. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import * as app from '../../../src/app.ts';
import { FAILURES } from '../../../src/domain/failure.ts';
import { svc } from '../../support/terminal.ts';
import { readSettings } from '../../../src/config/settings/read-settings.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { appliedMigrations, migrate } from '../../../src/store/engine/migrate.ts';
import { readMigrations } from '../../../src/store/engine/migration.ts';
import { openSqlite } from '../../../src/store/engine/sqlite/sqlite.ts';
import { startRefused } from '../../support/daemon.ts';
import { openFixture } from '../../support/fixtures/installation.ts';

const MIGRATIONS = readMigrations(join(import.meta.dirname, '..', '..', '..', 'migrations', 'sqlite'));
const NEWEST = MIGRATIONS.at(-1)?.number ?? 0;
const OLDER = MIGRATIONS.at(-2)?.number ?? 0;

/** A data directory whose store has the schema of the build before. */
async function olderDataDir(t: TestContext): Promise<string> {
  const parent = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'));
  chmodSync(parent, 0o711);
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  const dir = join(parent, 'data');
  mkdirSync(dir, { mode: 0o700 });
  const engine = await openSqlite(join(dir, 'gatehouse.db'), systemClock);
  await migrate(engine, MIGRATIONS.slice(0, -1), 0);
  await engine.close();
  return dir;
}

async function schemaAt(dir: string): Promise<number> {
  const engine = await openSqlite(join(dir, 'gatehouse.db'), systemClock);
  const newest = (await appliedMigrations(engine.reader)).at(-1)?.number ?? 0;
  await engine.close();
  return newest;
}

function settingsOf(dir: string): ReturnType<typeof readSettings> {
  return readSettings({ 'data-dir': dir }, {});
}

describe('An upgrade', () => {
  test('is not made by a verb that reads or writes: it is refused with the command that makes it', async (t) => {
    const dir = await olderDataDir(t);
    for (const argv of [
      ['job', 'list'],
      ['token', 'create', '--name', 'ana', '--scope', 'operator'],
    ]) {
      const { exitCode, stdout } = await svc([...argv, '--data-dir', dir, '--output', 'json'], { app });
      assert.equal(exitCode, FAILURES.unavailable.exit);
      assert.match(stdout, /"code":"unavailable".*svc migrate.*svc serve/);
    }
    assert.equal(await schemaAt(dir), OLDER);
  });

  test('is not made by serve --no-migrate', async (t) => {
    const dir = await olderDataDir(t);
    const { stdout } = await startRefused({ dataDir: dir, args: ['--no-migrate'] });
    assert.match(stdout, /"code":"unavailable".*svc migrate/);
    assert.equal(await schemaAt(dir), OLDER);
  });

  test('is made by svc migrate, once', async (t) => {
    const dir = await olderDataDir(t);
    assert.deepEqual(await app.runMigrate(settingsOf(dir)), { from: OLDER, to: NEWEST });
    assert.deepEqual(await app.runMigrate(settingsOf(dir)), { from: NEWEST, to: NEWEST });
  });

  test('is made by serve', async (t) => {
    const dir = await olderDataDir(t);
    const fixture = await openFixture(t);
    const daemon = await fixture.start({ dataDir: dir });
    assert.equal(await daemon.stop(), 0);
    assert.equal(await schemaAt(dir), NEWEST);
  });
});

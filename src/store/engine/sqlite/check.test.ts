import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../../lib/clock.ts';
import { testKeyring } from '../../../../test/support/seal.ts';
import { checkDurability } from './check.ts';
import { SqliteConnection } from './driver.ts';
import { openStore } from '../../store.ts';

describe('the check of an SQLite store', () => {
  let dir = '';
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gatehouse-check-'));
  });
  after(() => rm(dir, { recursive: true }));

  test('finds nothing in a store as it is opened', async () => {
    const store = await openStore({
      location: { file: join(dir, 'a.db') },
      clock: systemClock,
      daemonId: 'd',
      keyring: testKeyring,
    });
    assert.deepEqual(await store.dialect.integrity(store.db), []);
    await store.close();
  });

  test('names a connection whose commits would not survive a power cut', () => {
    const connection = new SqliteConnection(join(dir, 'b.db'), { readOnly: false });
    connection.raw.exec('pragma synchronous = normal');
    assert.deepEqual(checkDurability(connection), [
      'journal_mode is delete, expected wal',
      'synchronous is 1, expected 2 (full)',
    ]);
    connection.close();
  });
});

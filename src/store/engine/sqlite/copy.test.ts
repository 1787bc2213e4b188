import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../../lib/clock.ts';
import { testKeyring } from '../../../../test/support/seal.ts';
import { openStore, type Store } from '../../store.ts';
import { copyDatabase } from './copy.ts';

const NEVER = new AbortController().signal;
/** More than one batch of pages, so that writes come in between. */
const FILLER_ROWS = 40;
const FILLER_BYTES = 1_000_000;

describe('A copy of an SQLite store', () => {
  let dir = '';
  let file = '';
  let store: Store;
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'gatehouse-copy-'));
    file = join(dir, 'gatehouse.db');
    store = await openStore({ location: { file }, clock: systemClock, daemonId: 'd', keyring: testKeyring });
    const filler = { first_seq: 1, last_seq: 1, at: 0, raw_bytes: FILLER_BYTES };
    for (let i = 0; i < FILLER_ROWS; i += 1)
      await store.write(({ db }) =>
        db
          .insertInto('job_chunks')
          .values({ ...filler, job_id: `filler-${i}`, data: Buffer.alloc(FILLER_BYTES, i) })
          .execute(),
      );
  });
  after(async () => {
    await store.close();
    rmSync(dir, { recursive: true });
  });

  const write = (principal: string): Promise<void> =>
    store.write(async (tx) =>
      tx.record({ principal, owner: principal, via: 'cli', operation: 'test', target: null, detail: {} }),
    );

  test('F32: is of one moment, though writes go on, and holds up none of them', async () => {
    await write('before');
    const copying = copyDatabase(file, join(dir, 'one'), NEVER);
    const copied = copying.then(() => true);
    let writes = 0;
    while (!(await Promise.race([copied, write('during').then(() => false)]))) writes += 1;
    const facts = await copying;
    assert.ok(writes > 0);
    const copy = new DatabaseSync(join(dir, 'one'), { readOnly: true });
    const [head] = facts.heads;
    assert.equal(facts.heads.length, 1);
    const rows = copy.prepare('select seq, hash from ledger order by seq').all();
    assert.equal(rows.length, head?.seq);
    assert.equal(rows.at(-1)?.['hash'], head?.hash);
    assert.ok(rows.length < 1 + writes, 'it has what was committed when it began, not what came later');
    assert.equal(copy.prepare('select count(*) as n from job_chunks').get()?.['n'], FILLER_ROWS);
    copy.close();
  });

  test('stops when it is asked to, with the reason', async () => {
    const stop = new AbortController();
    const copying = copyDatabase(file, join(dir, 'two'), stop.signal);
    stop.abort(new Error('somebody cancelled it'));
    await assert.rejects(copying, /somebody cancelled it/);
    await assert.rejects(copyDatabase(file, join(dir, 'three'), stop.signal), /somebody cancelled it/);
  });

  test('is refused where it cannot be written', async () => {
    writeFileSync(join(dir, 'file'), '');
    await assert.rejects(copyDatabase(file, join(dir, 'file', 'copy'), NEVER), /unable to open database file/);
  });
});

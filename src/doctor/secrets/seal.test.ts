import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createSealKeeper } from '../../config/seal-keeper.ts';
import { randomBytes } from '../../lib/random.ts';
import { createKeyring, type Keyring } from '../../lib/seal.ts';
import { resealAll } from '../../store/secrets/reseal.ts';
import { assertSameKey } from '../../store/secrets/seal.ts';
import { setSecret } from '../../store/secrets/secrets.ts';
import { install, type Installation } from '../../../test/support/doctor-facts.ts';
import { examineSeal } from './seal.ts';

const BY = { principal: 'ana', owner: 'ana', via: 'cli' };

describe('The entry seal of the doctor', () => {
  let home: Installation;
  let ring: Keyring;
  beforeEach(async () => {
    home = await install();
    ring = await createSealKeeper(home.paths.sealKey, () => false).keyring();
  });
  afterEach(() => home.remove());

  async function setTwo(by: Keyring): Promise<void> {
    for (const name of ['one', 'two'])
      await home.store.write((tx) => setSecret(tx, by, { project: 'net', name }, Buffer.from('value')));
  }

  async function demand(status: string, detail: RegExp): Promise<void> {
    const found = await examineSeal({ ...home.parts(), began: { wallMs: 0, monotonicMs: 0 } });
    assert.match(found.detail, detail);
    assert.equal(found.status, status);
  }

  test('is ok while everything is under the key that seals, whose id it tells', async () => {
    await setTwo(ring);
    await demand('ok', new RegExp(`; key ${ring.activeId}, 2 sealed items\\.$`));
    const text = await readFile(home.paths.sealKey, 'utf8');
    const found = await examineSeal({ ...home.parts(), began: { wallMs: 0, monotonicMs: 0 } });
    assert.equal(found.detail.includes(text.split(' ')[1] ?? ''), false);
  });

  test('warns of what is still under an older key, and says what to do', async () => {
    await setTwo(ring);
    const rotated = await createSealKeeper(home.paths.sealKey, () => false).rotate();
    await demand('warn', /2 of 2 sealed items still under an older key: run svc seal rotate/);
    await resealAll(home.store, rotated, BY);
    await demand('ok', new RegExp(`; key ${rotated.activeId}, 2 sealed items\\.$`));
  });

  test('fails for what no key here opens, and for another key than the one that the daemons noted', async () => {
    const foreign = createKeyring([{ key: randomBytes(32), createdAt: null }]);
    await assertSameKey(home.store, foreign);
    await demand('fail', new RegExp(`seal with key ${foreign.activeId}, which is not in this file`));
    await setTwo(foreign);
    await demand('fail', /2 of 2 sealed items cannot be opened with it: restore the key file/);
  });

  test('fails for a missing key that sealed items need', async () => {
    await setTwo(ring);
    await rm(home.paths.sealKey);
    await demand('fail', /is missing: 2 sealed items cannot be opened without it\.$/);
  });
});

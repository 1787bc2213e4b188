/** Secrets and the seal as the local command line asks for them: what no server does. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { z } from 'zod';
import { localCaller } from '../../../src/domain/access/caller.ts';
import type { FailureCode } from '../../../src/domain/failure.ts';
import { randomBytes } from '../../../src/lib/random.ts';
import { createKeyring } from '../../../src/lib/seal.ts';
import { invoke } from '../../../src/operations/core/invoke.ts';
import { parseInput } from '../../../src/operations/core/parse.ts';
import { requireSecrets, RUN_SECRETS_MAX, runSecretsField } from '../../../src/operations/secrets/run-secrets.ts';
import { SECRET_BYTES_MAX } from '../../../src/domain/secrets/secret.ts';
import { OPERATIONS } from '../../../src/operations/table.ts';
import { readSecrets, setSecret } from '../../../src/store/secrets/secrets.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { refusal as refusalOf } from '../../support/refusal.ts';

const CANARY = 'canary-value-of-a-secret';
/** And it never repeats the value. */
const refusal = (code: FailureCode, message: RegExp) => (error: unknown) => {
  assert.equal(String(error).includes(CANARY), false);
  return refusalOf(code, message)(error);
};

let program: Program;
before(async () => {
  program = await startProgram(null);
});
after(() => program.close());
beforeEach(() =>
  program.store.write(async ({ db }) => {
    for (const table of ['secrets', 'seal', 'ledger', 'chains', 'idempotency'] as const) await db.deleteFrom(table).execute();
  }),
);

async function call<T = unknown>(id: string, raw: object = {}, services = program.services, idempotencyKey?: string): Promise<T> {
  const operation = OPERATIONS.find((row) => row.id === id);
  assert.ok(operation);
  const answer = await invoke({ store: program.store, services }, operation, { caller: localCaller('ana'), raw, idempotencyKey });
  assert.ok(answer.shape === 'body');
  return answer.data as T;
}

interface Status {
  readonly key_id: string | null;
  readonly algorithm: string;
  readonly created_at: string | null;
  readonly sealed_items: number;
  readonly state: string;
}

const status = (services = program.services): Promise<Status> => call<Status>('seal.status', {}, services);

async function ledger(operation: string): Promise<{ target: string | null; detail: unknown; principal: string }[]> {
  const rows = await program.store.db.selectFrom('ledger').selectAll().where('operation', '=', operation).execute();
  return rows.map(({ target, detail, principal }) => ({ target, detail: JSON.parse(detail) as unknown, principal }));
}

describe('a secret', () => {
  test('is set, set again and removed; the ledger tells who and which version, never what', async () => {
    const set = await call<{ version: number }>('secret.set', { secret: 'net/token', value: CANARY });
    assert.deepEqual(Object.keys(set), ['project', 'name', 'version', 'created_at', 'updated_at']);
    assert.equal((await call<{ version: number }>('secret.set', { secret: 'net/token', value: 'x' })).version, 2);
    assert.deepEqual(await ledger('secret.set'), [1, 2].map((version) => ({ target: 'net/token', detail: { version }, principal: 'local:ana' })));
    assert.equal((await call<{ version: number }>('secret.remove', { secret: 'net/token' })).version, 2);
    assert.deepEqual(await ledger('secret.remove'), [{ target: 'net/token', detail: {}, principal: 'local:ana' }]);
    await assert.rejects(call('secret.remove', { secret: 'net/token' }), refusal('not_found', /^There is no secret net\/token\.$/));
  });

  test('that is set twice with one idempotency key is set once, and the value is not in what is kept of it', async () => {
    const first = await call('secret.set', { secret: 'net/token', value: CANARY }, program.services, 'once');
    assert.deepEqual(await call('secret.set', { secret: 'net/token', value: 'other' }, program.services, 'once'), first);
    const kept = await program.store.db.selectFrom('idempotency').selectAll().execute();
    assert.equal(kept.length, 1);
    assert.equal(JSON.stringify(kept).includes(CANARY), false);
  });

  test('has a project and a name, each of the form of every name', async () => {
    for (const secret of ['token', 'net/', '/token', 'net/token/x', 'Net/token', 'net/-x', '../x', 'net/..', `net/${'x'.repeat(64)}`, 'net token/x', '--help/x']) {
      await assert.rejects(call('secret.set', { secret, value: CANARY }), refusal('invalid_argument', /^secret: expected PROJECT\/NAME/), secret);
      await assert.rejects(call('secret.remove', { secret }), refusal('invalid_argument', /^secret: expected PROJECT\/NAME/), secret);
    }
  });

  test('has a value of 1 to 65,536 bytes without a NUL; a refusal never repeats it', async () => {
    await assert.rejects(call('secret.set', { secret: 'net/token', value: '' }), refusal('invalid_argument', /^value: expected a value, and there is none/));
    await assert.rejects(call('secret.set', { secret: 'net/token', value: `${CANARY}\0` }), refusal('invalid_argument', /^value: a NUL character is not allowed/));
    const most = 'ü'.repeat(SECRET_BYTES_MAX / 2);
    await assert.rejects(call('secret.set', { secret: 'net/token', value: `${CANARY}${most}` }), refusal('invalid_argument', /^value: expected at most 65536 bytes/));
    await assert.rejects(call('secret.set', { secret: 'net/token' }), refusal('invalid_argument', /^value: /));
    await call('secret.set', { secret: 'net/token', value: most });
    assert.equal(String((await readSecrets(program.store.db, await program.services.keyring(), { x: 'net/token' })).get('x')), most);
  });

  test('is not set where the store is sealed with another key', async () => {
    await call('seal.init');
    const stranger = createKeyring([{ key: randomBytes(32), createdAt: null }]);
    const services = { ...program.services, keyring: () => Promise.resolve(stranger) };
    await assert.rejects(call('secret.set', { secret: 'net/token', value: CANARY }, services), refusal('invalid_argument', /^--seal-key-file: this store is sealed with another key/));
  });
});

function refs(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`v${n}`, 'net/token']));
}

describe('the secrets of a run', () => {
  const input = z.strictObject({ run_secrets: runSecretsField });
  const parse = (refs: unknown): unknown => parseInput(input, { run_secrets: refs }).run_secrets;

  test('are variables and secrets, and none where nothing is said', () => {
    assert.deepEqual(parse({ token: 'net/token', _A1: 'app/key' }), { token: 'net/token', _A1: 'app/key' });
    assert.deepEqual(parseInput(input, {}), { run_secrets: {} });
  });

  test('T18: have no name that steers the tool or its loader', () => {
    for (const name of ['LD_PRELOAD', 'LD_LIBRARY_PATH', 'NODE_OPTIONS', 'PYTHONPATH', 'BASH_ENV', 'SVC_TOKEN', 'TF_CLI_ARGS', 'PATH', 'HOME']) {
      assert.throws(() => parse({ [name]: 'net/token' }), refusal('invalid_argument', new RegExp(`^run_secrets\\.${name}: a secret may not have this name`)), name);
    }
    for (const name of ['', '1a', 'a-b', 'a b', 'a=b', 'ü', 'x'.repeat(129)]) {
      assert.throws(() => parse({ [name]: 'net/token' }), refusal('invalid_argument', /^run_secrets\.?.*: expected a name of letters, digits and _/), name);
    }
  });

  test('T14: name secrets by project and name only', () => {
    for (const ref of ['', 'token', 'net/', '../x', 'net/token/x', '--help', '-x/y', 'net/to ken', CANARY]) {
      assert.throws(() => parse({ A: ref }), refusal('invalid_argument', /^run_secrets\.A: expected project\/secret\.$/), ref);
    }
    assert.throws(() => parse({ A: 1 }), refusal('invalid_argument', /^run_secrets\.A: expected project\/secret/));
    for (const wrong of [['A=net/token'], 'A=net/token', 7, null]) assert.throws(() => parse(wrong), refusal('invalid_argument', /^run_secrets: expected an object/));
  });

  test(`are ${RUN_SECRETS_MAX} at most`, () => {
    assert.deepEqual(parse(refs(RUN_SECRETS_MAX)), refs(RUN_SECRETS_MAX));
    assert.throws(() => parse(refs(RUN_SECRETS_MAX + 1)), refusal('invalid_argument', /^run_secrets: expected at most 64 secrets/));
  });

  test('that are not there are not found, at the request', async () => {
    await call('secret.set', { secret: 'net/token', value: CANARY });
    await requireSecrets(program.store.db, { a: 'net/token' });
    await assert.rejects(requireSecrets(program.store.db, { a: 'net/token', b: 'net/other' }), refusal('not_found', /^There is no secret net\/other\.$/));
  });
});

describe('the seal', () => {
  test('its status tells the key, since when, how much is sealed, and whether all of it is under that key', async () => {
    const before = await call<Status>('seal.init');
    assert.deepEqual(Object.keys(before), ['key_id', 'algorithm', 'created_at', 'sealed_items', 'state']);
    assert.deepEqual({ ...before, key_id: '', created_at: '' }, { key_id: '', algorithm: 'aes-256-gcm', created_at: '', sealed_items: 0, state: 'ok' });
    await call('secret.set', { secret: 'net/token', value: CANARY });
    assert.deepEqual(await status(), { ...before, sealed_items: 1 });
    const ring = await program.services.seal.rotate();
    assert.deepEqual({ ...(await status()), created_at: '' }, { ...before, key_id: ring.activeId, created_at: '', sealed_items: 1, state: 'rotating' });
    const stranger = createKeyring([{ key: randomBytes(32), createdAt: null }]);
    const keeper = { keyring: () => Promise.resolve(stranger), find: () => Promise.resolve(stranger), rotate: () => Promise.resolve(stranger) };
    assert.equal((await status({ ...program.services, seal: keeper })).state, 'foreign');
    const missing = { ...keeper, keyring: () => assert.fail('looking makes no key'), find: () => Promise.resolve(null) };
    assert.deepEqual(await status({ ...program.services, seal: missing }), { ...before, key_id: null, created_at: null, sealed_items: 1, state: 'missing' });
  });

  test('a rotation adds a key, seals everything anew, and the values are as they were', async () => {
    await call('secret.set', { secret: 'net/token', value: CANARY });
    const before = await status();
    const rotated = await call<Status>('seal.rotate');
    assert.notEqual(rotated.key_id, before.key_id);
    assert.deepEqual([rotated.state, rotated.sealed_items], ['ok', 1]);
    assert.equal(String((await readSecrets(program.store.db, await program.services.keyring(), { x: 'net/token' })).get('x')), CANARY);
    assert.deepEqual(await ledger('seal.rotate'), [
      { target: rotated.key_id, detail: { added: true }, principal: 'local:ana' },
      { target: rotated.key_id, detail: { added: true, items: 1 }, principal: 'local:ana' },
    ]);
    assert.equal((await program.store.db.selectFrom('seal').selectAll().executeTakeFirstOrThrow()).key_id, rotated.key_id);
  });

  test('a rotation that was cut short is finished without another key; the next one adds one', async () => {
    await call('secret.set', { secret: 'net/token', value: CANARY });
    const ring = await program.services.seal.rotate();
    assert.equal((await status()).state, 'rotating');
    const finished = await call<Status>('seal.rotate');
    assert.deepEqual([finished.key_id, finished.state], [ring.activeId, 'ok']);
    assert.notEqual((await call<Status>('seal.rotate')).key_id, ring.activeId);
  });

  test('T19: what was altered is named by a rotation, which does the rest', async () => {
    for (const name of ['a', 'b', 'c']) await call('secret.set', { secret: `net/${name}`, value: CANARY });
    await program.store.write(({ db }) => db.updateTable('secrets').set({ sealed: randomBytes(90) }).where('name', '=', 'b').execute());
    await assert.rejects(call('seal.rotate'), refusal('conflict', /^Key [0-9a-f]{16} seals from now on, but these were altered and stay as they are: secret net\/b\.$/));
    const ring = await program.services.keyring();
    assert.equal(String((await readSecrets(program.store.db, ring, { x: 'net/c' })).get('x')), CANARY);
    const ids = await program.store.db.selectFrom('secrets').select(['name', 'key_id']).orderBy('name').execute();
    assert.deepEqual(ids.map((row) => row.key_id === ring.activeId), [true, false, true]);
  });

  test('a store whose noted key is lost takes a new one by seal init, unless something needs the lost one', async () => {
    const lost = createKeyring([{ key: randomBytes(32), createdAt: null }]);
    const keeper = { keyring: () => Promise.resolve(lost), find: () => Promise.resolve(lost), rotate: () => Promise.resolve(lost) };
    await call('seal.init');
    // The tokens of this program are active: their hashes need the key that was noted.
    await assert.rejects(call('seal.init', {}, { ...program.services, seal: keeper }), refusal('invalid_argument', /sealed with another key/));
    const revoked = await program.store.db.selectFrom('tokens').select(['id', 'revoked_at']).execute();
    await program.store.write(({ db }) => db.updateTable('tokens').set({ revoked_at: 1 }).execute());
    try {
      assert.equal((await call<Status>('seal.init', {}, { ...program.services, seal: keeper })).key_id, lost.activeId);
      await program.store.write((tx) => setSecret(tx, lost, { project: 'net', name: 'token' }, Buffer.from(CANARY)));
      await assert.rejects(call('seal.init'), refusal('invalid_argument', /sealed with another key/));
    } finally {
      await program.store.write(({ db }) => db.updateTable('tokens').set({ revoked_at: null }).where('id', 'in', revoked.map(({ id }) => id)).execute());
    }
  });
});

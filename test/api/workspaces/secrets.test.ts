/** Secrets, and the secrets of a run, as the local command line asks for them: what no server does. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { randomBytes } from '../../../src/lib/random.ts';
import { createKeyring } from '../../../src/lib/seal.ts';
import { parseInput } from '../../../src/operations/core/parse.ts';
import { RUN_SECRETS_MAX, runSecretsField } from '../../../src/operations/secrets/run-secrets.ts';
import { SECRET_BYTES_MAX } from '../../../src/domain/secrets/secret.ts';
import { toJson } from '../../../src/lib/json.ts';
import { readSecrets, requireSecrets } from '../../../src/store/secrets/secrets.ts';
import { CANARY, refusal, secretCommands } from '../../support/fixtures/secret-commands.ts';

const commands = secretCommands();
const { call, ledger } = commands;

describe('a secret', () => {
  test('is set, set again and removed; the ledger has the person and version, never the value', async () => {
    const set = await call<{ version: number }>('secret.set', { secret: 'net/token', value: CANARY });
    assert.deepEqual(Object.keys(set), ['project', 'name', 'version', 'created_at', 'updated_at']);
    assert.equal((await call<{ version: number }>('secret.set', { secret: 'net/token', value: 'x' })).version, 2);
    assert.deepEqual(
      await ledger('secret.set'),
      [1, 2].map((version) => ({ target: 'net/token', detail: { version }, principal: 'local:ana' })),
    );
    assert.equal((await call<{ version: number }>('secret.remove', { secret: 'net/token' })).version, 2);
    assert.deepEqual(await ledger('secret.remove'), [{ target: 'net/token', detail: {}, principal: 'local:ana' }]);
    await assert.rejects(
      call('secret.remove', { secret: 'net/token' }),
      refusal('not_found', /^There is no secret net\/token\.$/),
    );
  });

  test('that an inventory uses as its SSH key is not removed', async () => {
    await call('secret.set', { secret: 'ops/key', value: CANARY });
    const columns = {
      model: toJson({ hosts: [], groups: [] }),
      digest: '',
      hosts: 0,
      groups: 0,
      created_at: 0,
      updated_at: 0,
    };
    const row = { ...columns, name: 'prod', ssh_key: 'ops/key' };
    await commands.program.store.write(({ db }) => db.insertInto('inventories').values(row).execute());
    await assert.rejects(
      call('secret.remove', { secret: 'ops/key' }),
      refusal('conflict', /^Inventory prod uses ops\/key as its SSH key; set another one first\.$/),
    );
    const other = { ssh_key: 'ops/other' };
    await commands.program.store.write(({ db }) => db.updateTable('inventories').set(other).execute());
    await call('secret.remove', { secret: 'ops/key' });
  });

  test('that is set twice with one idempotency key is set once, and its value is not kept with that key', async () => {
    const first = await call('secret.set', { secret: 'net/token', value: CANARY }, commands.program.services, 'once');
    assert.deepEqual(
      await call('secret.set', { secret: 'net/token', value: 'other' }, commands.program.services, 'once'),
      first,
    );
    const kept = await commands.program.store.db.selectFrom('idempotency').selectAll().execute();
    assert.equal(kept.length, 1);
    assert.equal(JSON.stringify(kept).includes(CANARY), false);
  });

  test('has a project and a name, each of the form of every name', async () => {
    for (const secret of [
      'token',
      'net/',
      '/token',
      'net/token/x',
      'Net/token',
      'net/-x',
      '../x',
      'net/..',
      `net/${'x'.repeat(64)}`,
      'net token/x',
      '--help/x',
    ]) {
      await assert.rejects(
        call('secret.set', { secret, value: CANARY }),
        refusal('invalid_argument', /^secret: expected PROJECT\/NAME/),
        secret,
      );
      await assert.rejects(
        call('secret.remove', { secret }),
        refusal('invalid_argument', /^secret: expected PROJECT\/NAME/),
        secret,
      );
    }
  });

  test('has a value of 1 to 65,536 bytes without a NUL; a refusal never repeats it', async () => {
    await assert.rejects(
      call('secret.set', { secret: 'net/token', value: '' }),
      refusal('invalid_argument', /^value: expected a value; found none/),
    );
    await assert.rejects(
      call('secret.set', { secret: 'net/token', value: `${CANARY}\0` }),
      refusal('invalid_argument', /^value: a NUL character is not allowed/),
    );
    const most = 'ü'.repeat(SECRET_BYTES_MAX / 2);
    await assert.rejects(
      call('secret.set', { secret: 'net/token', value: `${CANARY}${most}` }),
      refusal('invalid_argument', /^value: expected at most 65536 bytes/),
    );
    await assert.rejects(call('secret.set', { secret: 'net/token' }), refusal('invalid_argument', /^value: /));
    await call('secret.set', { secret: 'net/token', value: most });
    assert.equal(
      String(
        (
          await readSecrets(commands.program.store.db, await commands.program.services.keyring(), { x: 'net/token' })
        ).get('x'),
      ),
      most,
    );
  });

  test('is not set where the store is sealed with another key', async () => {
    await call('seal.init');
    const stranger = createKeyring([{ key: randomBytes(32), createdAt: null }]);
    const services = { ...commands.program.services, keyring: () => Promise.resolve(stranger) };
    await assert.rejects(
      call('secret.set', { secret: 'net/token', value: CANARY }, services),
      refusal('invalid_argument', /^--seal-key-file: this store is sealed with another key/),
    );
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
    for (const name of [
      'LD_PRELOAD',
      'LD_LIBRARY_PATH',
      'NODE_OPTIONS',
      'PYTHONPATH',
      'BASH_ENV',
      'SVC_TOKEN',
      'TF_CLI_ARGS',
      'PATH',
      'HOME',
    ]) {
      assert.throws(
        () => parse({ [name]: 'net/token' }),
        refusal('invalid_argument', new RegExp(`^run_secrets\\.${name}: this variable changes how the tool runs`)),
        name,
      );
    }
    for (const name of ['', '1a', 'a-b', 'a b', 'a=b', 'ü', 'x'.repeat(129)]) {
      assert.throws(
        () => parse({ [name]: 'net/token' }),
        refusal('invalid_argument', /^run_secrets\.?.*: expected a name of letters, digits and _/),
        name,
      );
    }
  });

  test('T14: name secrets by project and name only', () => {
    for (const ref of ['', 'token', 'net/', '../x', 'net/token/x', '--help', '-x/y', 'net/to ken', CANARY]) {
      assert.throws(
        () => parse({ A: ref }),
        refusal('invalid_argument', /^run_secrets\.A: expected project\/secret\.$/),
        ref,
      );
    }
    assert.throws(() => parse({ A: 1 }), refusal('invalid_argument', /^run_secrets\.A: expected project\/secret/));
    for (const wrong of [['A=net/token'], 'A=net/token', 7, null])
      assert.throws(() => parse(wrong), refusal('invalid_argument', /^run_secrets: expected an object/));
  });

  test(`are ${RUN_SECRETS_MAX} at most`, () => {
    assert.deepEqual(parse(refs(RUN_SECRETS_MAX)), refs(RUN_SECRETS_MAX));
    assert.throws(
      () => parse(refs(RUN_SECRETS_MAX + 1)),
      refusal('invalid_argument', /^run_secrets: expected at most 64 secrets/),
    );
  });

  test('that are not there are not found, at the request', async () => {
    await call('secret.set', { secret: 'net/token', value: CANARY });
    await requireSecrets(commands.program.store.db, { a: 'net/token' });
    await assert.rejects(
      requireSecrets(commands.program.store.db, { a: 'net/token', b: 'net/other' }),
      refusal('not_found', /^There is no secret net\/other\.$/),
    );
  });
});

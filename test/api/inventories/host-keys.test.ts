/** Host keys as the local command line shows and accepts them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Failure } from '../../../src/domain/failure.ts';
import { fingerprint, type HostKey } from '../../../src/domain/inventories/host-key.ts';
import type { Projected } from '../../../src/views/views.ts';
import { callLocally } from '../../support/fixtures/workspaces.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { refusal } from '../../support/refusal.ts';
import { appOf, type Ran, svc } from '../../support/terminal.ts';

type Keys = Projected<'inventory.host_keys'>;

const keyOf = (letter: string): HostKey => ({ type: 'ssh-ed25519', key: letter.repeat(68) });

/** A program whose hosts offer these keys, by port. */
async function programWith(t: Parameters<typeof startProgram>[0], offered: Map<number, HostKey[]>): Promise<Program> {
  const program = await startProgram(t);
  const scan = ({ port }: { port: number }): Promise<HostKey[]> => {
    const keys = offered.get(port);
    return keys === undefined
      ? Promise.reject(new Failure('unavailable', 'no key was offered'))
      : Promise.resolve(keys);
  };
  const made: Program = { ...program, services: { ...program.services, hostKeys: { scan } } };
  await callLocally(made, 'inventory.add', { name: 'prod', text: '[web]\nweb1:2201\nweb2:2202\nweb3:2203\n' });
  return made;
}

const call = (program: Program, operation: string, some: object): Promise<Keys> =>
  callLocally<Keys>(program, operation, { name: 'prod', ...some });
const rows = (program: Program) => program.store.db.selectFrom('host_keys').selectAll().orderBy('host').execute();

/** `svc inventory trust prod web1` with these words, and this answer to the question. */
function trust(program: Program, words: readonly string[], typed?: string): Promise<Ran> {
  const app = appOf({ store: program.store, services: program.services });
  return svc(['inventory', 'trust', 'prod', 'web1', ...words], { app, ...(typed === undefined ? {} : { typed }) });
}

describe('The question about host keys', () => {
  test('shows the fingerprint, and only yes accepts the key', async (t) => {
    const program = await programWith(t, new Map([[2201, [keyOf('a')]]]));
    for (const typed of ['\n', 'n\n', 'yess\n', '']) {
      const ran = await trust(program, [], typed);
      assert.equal(ran.exitCode, 1);
      assert.match(ran.stderr, /^web1 \(web1:2201\)\n {2}ssh-ed25519 SHA256:\S+\nCompare the fingerprints/);
      assert.match(ran.stderr, /not confirmed; nothing was done/);
    }
    assert.deepEqual(await rows(program), []);
    const ran = await trust(program, [], 'y\n');
    assert.equal(ran.exitCode, 0, ran.stderr);
    assert.match(ran.stdout, /ssh-ed25519 SHA256:\S+ {2}accepted\n$/);
    assert.equal((await rows(program)).length, 1);
  });

  test('is not asked with --yes or --fingerprint; without a terminal one of them is required', async (t) => {
    const program = await programWith(t, new Map([[2201, [keyOf('a')]]]));
    const refused = await trust(program, []);
    assert.equal(refused.exitCode, 1);
    assert.match(refused.stderr, /needs --fingerprint, or --yes without a comparison/);
    const other = await trust(program, ['--fingerprint', fingerprint(keyOf('b'))]);
    assert.equal(other.exitCode, 5);
    assert.deepEqual(await rows(program), []);
    for (const words of [['--fingerprint', fingerprint(keyOf('a'))], ['--yes']])
      assert.equal((await trust(program, words)).exitCode, 0);
    assert.equal((await rows(program)).length, 1);
  });

  test('marks a key that differs from the accepted one', async (t) => {
    const offered = new Map([[2201, [keyOf('a')]]]);
    const program = await programWith(t, offered);
    await trust(program, ['--yes']);
    offered.set(2201, [keyOf('b')]);
    assert.match((await trust(program, [], 'n\n')).stderr, /\n {2}CHANGED: accepted before was SHA256:\S+\n/);
  });
});

describe('A host key', () => {
  test('is accepted only by its fingerprint, and no other key that the host offers', async (t) => {
    const [a, b] = [keyOf('a'), { ...keyOf('b'), type: 'ssh-rsa' }];
    const program = await programWith(t, new Map([[2201, [a, b]]]));
    await assert.rejects(call(program, 'inventory.trust', { hosts: 'web1' }), refusal('invalid_argument', /^fingerpr/));
    await assert.rejects(
      call(program, 'inventory.trust', { hosts: 'web1', fingerprints: [fingerprint(keyOf('c'))] }),
      refusal('conflict', /^fingerprints: web1 offers SHA256:.* nothing was accepted\.$/),
    );
    assert.deepEqual(await rows(program), []);
    const [shown] = await call(program, 'inventory.trust', { hosts: 'web1', fingerprints: [fingerprint(a)] });
    assert.deepEqual(shown?.accepted, [{ type: 'ssh-ed25519', fingerprint: fingerprint(a) }]);
    assert.deepEqual(
      (await rows(program)).map(({ host, type, key, added_by: by }) => [host, type, key, by]),
      [['web1', 'ssh-ed25519', a.key, 'local:tester']],
    );
  });

  test('is refused for hosts that the inventory has not, naming the field', async (t) => {
    const program = await programWith(t, new Map());
    for (const operation of ['inventory.scan', 'inventory.trust', 'inventory.untrust']) {
      const more = operation === 'inventory.trust' ? { fingerprints: [fingerprint(keyOf('a'))] } : {};
      await assert.rejects(
        call(program, operation, { hosts: 'web9', ...more }),
        refusal('invalid_argument', /^hosts: host "web9" is not in inventory "prod"; expected one of its hosts or gr/),
      );
    }
  });

  test('that changed is shown beside the accepted one, and replaces it when it is accepted', async (t) => {
    const [a, b] = [keyOf('a'), keyOf('b')];
    const offered = new Map([[2201, [a]]]);
    const program = await programWith(t, offered);
    await call(program, 'inventory.trust', { hosts: 'web1', fingerprints: [fingerprint(a)] });
    offered.set(2201, [b]);
    const [changed] = await call(program, 'inventory.scan', { hosts: 'web1' });
    assert.deepEqual(
      [changed?.keys, changed?.accepted],
      [
        [{ type: 'ssh-ed25519', fingerprint: fingerprint(b), accepted: false }],
        [{ type: 'ssh-ed25519', fingerprint: fingerprint(a) }],
      ],
    );
    assert.equal((await rows(program))[0]?.key, a.key);
    await call(program, 'inventory.trust', { hosts: 'web1', fingerprints: [fingerprint(b)] });
    assert.deepEqual(
      (await rows(program)).map(({ key }) => key),
      [b.key],
    );
  });

  test('of each host of a group is accepted at once; a host that does not answer says so', async (t) => {
    const program = await programWith(
      t,
      new Map([
        [2201, [keyOf('a')]],
        [2202, [keyOf('b')]],
      ]),
    );
    const fingerprints = ['a', 'b'].map((letter) => fingerprint(keyOf(letter)));
    const found = await call(program, 'inventory.trust', { hosts: 'web', fingerprints });
    assert.deepEqual(
      found.map(({ host, fault, accepted }) => [host, fault, accepted.length]),
      [
        ['web1', null, 1],
        ['web2', null, 1],
        ['web3', 'no key was offered', 0],
      ],
    );
    await assert.rejects(
      call(program, 'inventory.trust', { hosts: 'web3', fingerprints }),
      refusal('conflict', /^hosts: web3: no key was offered; nothing was accepted\.$/),
    );
  });

  test('is removed, and gone with its inventory', async (t) => {
    const program = await programWith(
      t,
      new Map([
        [2201, [keyOf('a')]],
        [2202, [keyOf('b')]],
      ]),
    );
    const fingerprints = ['a', 'b'].map((letter) => fingerprint(keyOf(letter)));
    await call(program, 'inventory.trust', { hosts: 'web1,web2', fingerprints });
    assert.equal(await call(program, 'inventory.untrust', { hosts: 'web1' }), undefined);
    assert.deepEqual(
      (await rows(program)).map(({ host }) => host),
      ['web2'],
    );
    await assert.rejects(call(program, 'inventory.untrust', { hosts: 'web1' }), refusal('not_found'));
    assert.equal(await call(program, 'inventory.remove', {}), undefined);
    assert.deepEqual(await rows(program), []);
  });
});

/**
 * Sources as the command line adds, fetches, shows and removes them: git and its transport are real but for the
 * network.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join, relative } from 'node:path';
import { after, before, describe, test } from 'node:test';
import * as app from '../../../src/app.ts';
import { checkTag } from '../../../src/store/engine/tags/tags.ts';
import { placeOfSource } from '../../../src/store/sources/source-place.ts';
import { Repository } from '../../support/attacks/hostile-repositories.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { type Ran, svc } from '../../support/terminal.ts';
import { needs } from '../../support/tools.ts';

/**
 * The replacement of ssh: as the real one, it connects to the port of the server (on the loopback address) and passes
 * on what both sides say. It answers for one host, and sends the server its words before the command.
 */
const SSH = `#!/bin/bash
[[ $1 == -G ]] && exit 1
while (( $# )); do words+="$1 "; [[ $1 == -p ]] && port=$2; command=$1; shift; done
[[ $words == *known.test* ]] || { echo "Host key verification failed." >&2; exit 255; }
exec 3<>/dev/tcp/127.0.0.1/$port 4<&0 || exit 255
printf '%s\\n%s\\n' "$words" "$command" >&3
cat <&4 >&3 &
exec cat <&3
`;

describe('svc source', () => {
  /** The server's side, outside of the sandbox: serves any repository, and keeps the words of ssh. */
  const asked: string[] = [];
  const server = createServer((socket) => {
    let heard = '';
    socket
      .on('error', () => undefined)
      .on('data', function listen(chunk: Buffer) {
        heard += chunk.toString('latin1');
        const [words = '', command, ...rest] = heard.split('\n');
        if (command === undefined || rest.length === 0) return;
        socket.off('data', listen);
        asked.push(words);
        const [program = '', repository = ''] = command.split(' ');
        const child = spawn(program, [repository.replaceAll("'", '')], { stdio: ['pipe', 'pipe', 'pipe'] });
        child.stdin.write(rest.join('\n'), 'latin1');
        child.stdin.on('error', () => undefined);
        socket.pipe(child.stdin);
        child.stdout.pipe(socket);
      });
  });

  const path = process.env['PATH'];
  after(() => (process.env['PATH'] = path));
  let bin: string;
  let fixture: Fixture;
  let port: number;
  const ending: (() => Promise<void>)[] = [];
  before(async () => {
    fixture = await openFixture({ after: (step) => ending.push(step) });
    bin = join(fixture.dir, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'ssh'), SSH);
    chmodSync(join(bin, 'ssh'), 0o755);
    process.env['PATH'] = `${bin}:${path}`;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
    ending.push(async () => void server.close());
  });
  after(async () => {
    for (const step of ending.toReversed()) await step();
  });

  function local(...argv: string[]): Promise<Ran> {
    return svc([...argv, '--output', 'json'], {
      env: { SVC_DATA_DIR: join(fixture.dir, 'data'), SVC_SEAL_KEY_FILE: join(fixture.dir, 'seal.key') },
      app,
    });
  }

  interface Answer {
    readonly kind: string;
    readonly data: Record<string, unknown>;
    readonly error?: { readonly code: string; readonly message: string };
  }

  async function answer(exit: number, ...argv: string[]): Promise<Answer> {
    const ran = await local(...argv);
    assert.equal(ran.exitCode, exit, `${argv.join(' ')}: ${ran.stdout}${ran.stderr}`);
    return (ran.stdout === '' ? { kind: '', data: {} } : JSON.parse(ran.stdout)) as Answer;
  }

  async function refused(exit: number, words: RegExp, ...argv: string[]): Promise<void> {
    const { error } = await answer(exit, ...argv);
    assert.match(`${error?.code}: ${error?.message}`, words, argv.join(' '));
  }

  test(
    'a git source is fetched when it is added and when it is synced, over ssh that never prompts',
    { skip: needs('git', 'Landlock ABI 4') },
    async () => {
      const repository = new Repository(join(fixture.dir, 'repository'));
      const first = repository.commit();
      const url = `ssh://git@known.test:${port}${repository.at}`;
      const { kind, data } = await answer(0, 'source', 'add', 'ops', '--git', url, '--ref', 'main');
      assert.deepEqual(
        [kind, { ...data, synced_at: 0 }],
        ['source.get', { name: 'ops', kind: 'git', ref: 'main', commit: first, synced_at: 0 }],
      );
      const trees = join(fixture.dir, 'data', 'sources', 'ops');
      assert.deepEqual(readdirSync(join(trees, first)), ['main.tf']);
      const words = asked.at(-1)?.split(' ') ?? [];
      for (const word of ['-oBatchMode=yes', '-oStrictHostKeyChecking=yes', '-oForwardAgent=no', 'git@known.test'])
        assert.ok(words.includes(word), word);

      const second = repository.write('gatehouse.hooks.yaml', 'before_apply: x\n').commit();
      assert.equal((await answer(0, 'source', 'sync', 'ops')).data['commit'], second);
      assert.deepEqual(readdirSync(trees).toSorted(), [first, second].toSorted());
      assert.deepEqual((await answer(0, 'hooks', 'show', 'ops')).data, {
        source: 'ops',
        file: 'gatehouse.hooks.yaml',
        hooks: ['before_apply'],
      });
      const listed = await local('source', 'list');
      assert.match(listed.stdout, new RegExp(`"commit":"${second}"`));
      assert.ok(!listed.stdout.includes('known.test') && !listed.stdout.includes(repository.at));

      rmSync(join(trees, second), { recursive: true });
      await refused(7, /unavailable: .* not on this machine: svc source sync ops/, 'hooks', 'show', 'ops');
      const row = await fixture.store.db
        .selectFrom('sources')
        .selectAll()
        .where('name', '=', 'ops')
        .executeTakeFirstOrThrow();
      const place = placeOfSource(await checkTag(fixture.store, 'sources', row));
      await fixture.services.sources.fetch({ ...place, ref: row.commit_id });
      assert.deepEqual(
        await fixture.services.sources.treeOf(place),
        { path: join(trees, second), named: null },
        'a machine that lacks the commit fetches it by its id',
      );
    },
  );

  test(
    'a fetch that fails adds nothing, and says why in the words of git',
    { skip: needs('git', 'Landlock ABI 4') },
    async () => {
      await refused(
        7,
        /unavailable: git fetch failed: Host key verification failed\./,
        'source',
        'add',
        'bad',
        '--git',
        'git@other.test:x',
      );
      await refused(
        7,
        /unavailable: git fetch failed: .*Could not read from remote repository/,
        'source',
        'add',
        'bad',
        '--git',
        `ssh://git@known.test:${port}${fixture.dir}/nothing`,
      );
      await refused(
        7,
        /couldn't find remote ref nope/,
        'source',
        'add',
        'bad',
        '--git',
        `ssh://git@known.test:${port}${fixture.dir}/repository`,
        '--ref',
        'nope',
      );
      await refused(
        1,
        /invalid_argument: git: the URL must not contain credentials/,
        'source',
        'add',
        'bad',
        '--git',
        'https://ana:canary@h/x',
      );
      await refused(
        1,
        /invalid_argument: ref: /,
        'source',
        'add',
        'bad',
        '--git',
        'git@known.test:x',
        '--ref=--orphan',
      );
      await refused(3, /not_found/, 'source', 'sync', 'bad');
      assert.ok(
        !readdirSync(join(fixture.dir, 'data', 'sources')).some((name) => name === 'bad' || name.startsWith('.')),
      );
    },
  );

  test('a directory is named from where the command line runs, and looked at when it is synced', async () => {
    const net = join(fixture.dir, 'net');
    mkdirSync(net);
    const added = await answer(0, 'source', 'add', 'net', '--dir', relative(process.cwd(), net));
    assert.deepEqual(
      { ...added.data, synced_at: 0 },
      { name: 'net', kind: 'dir', ref: null, commit: null, synced_at: 0 },
    );
    const row = await fixture.store.db
      .selectFrom('sources')
      .select('location')
      .where('name', '=', 'net')
      .executeTakeFirstOrThrow();
    assert.equal(row.location, net);
    assert.deepEqual((await answer(0, 'hooks', 'show', 'net')).data, { source: 'net', file: null, hooks: [] });
    await answer(0, 'source', 'sync', 'net');
    rmSync(net, { recursive: true });
    await refused(1, /invalid_argument: dir: the path does not exist/, 'source', 'sync', 'net');
    await refused(
      1,
      /invalid_argument: dir: must not be inside, or contain, the data directory/,
      'source',
      'add',
      'own',
      '--dir',
      join(fixture.dir, 'data', 'runs'),
    );
  });

  test(
    'a source has one place and one name, and stays while a workspace uses it',
    { skip: needs('git', 'Landlock ABI 4') },
    async () => {
      await refused(1, /invalid_argument: dir, git: expected one/, 'source', 'add', 'x');
      await refused(
        1,
        /invalid_argument: dir, git: expected one/,
        'source',
        'add',
        'x',
        '--dir',
        '.',
        '--git',
        'git@h:x',
      );
      await refused(
        1,
        /invalid_argument: ref: not allowed with dir/,
        'source',
        'add',
        'x',
        '--dir',
        fixture.dir,
        '--ref',
        'main',
      );
      await refused(5, /duplicate: .*ops/, 'source', 'add', 'ops', '--git', 'git@known.test:x');
      await answer(0, 'workspace', 'add', 'w', '--source', 'ops');
      const other = join(fixture.dir, 'other');
      mkdirSync(other);
      const replaced = await answer(0, 'source', 'add', 'ops', '--dir', other, '--replace');
      assert.deepEqual([replaced.data['kind'], replaced.data['commit']], ['dir', null]);
      await refused(5, /conflict: .*workspace w uses/, 'source', 'remove', 'ops');
      await answer(0, 'workspace', 'remove', 'w', '--yes');
      await answer(0, 'source', 'remove', 'ops');
      await refused(3, /not_found/, 'source', 'remove', 'ops');
      const ledger = await fixture.store.db
        .selectFrom('ledger')
        .select('detail')
        .where('operation', 'like', 'source.%')
        .execute();
      assert.ok(
        ledger.length >= 5 &&
          ledger.every(({ detail }) => !detail.includes('known.test') && !detail.includes(fixture.dir)),
      );
    },
  );
});

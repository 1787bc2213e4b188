import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Objects } from '../../../../test/support/attacks/hostile/objects.ts';
import { HostileServer } from '../../../../test/support/attacks/hostile/server.ts';
import { Failure } from '../../../domain/failure.ts';
import { systemClock } from '../../../lib/clock.ts';
import { DEFAULT_PATH } from '../../process/environment.ts';
import { SandboxRefused } from '../../launch/errors.ts';
import { createLauncher, type Launcher } from '../../launch/launch.ts';
import type { SandboxPolicy } from '../../sandbox/policy.ts';
import { needs } from '../../../../test/support/tools.ts';
import { fetchGit } from './git.ts';
import { reachOf } from './access.ts';
import { collect, type Git, runGit } from './process.ts';

const portsOf = async (url: string): Promise<SandboxPolicy['connectPorts']> =>
  (await reachOf(url, DEFAULT_PATH)).connectPorts;

describe('Access to a repository', () => {
  let base: string;
  let launcher: Launcher;
  before(() => {
    base = mkdtempSync(join(tmpdir(), 'gatehouse-git-access-'));
    launcher = createLauncher();
  });
  after(async () => {
    rmSync(base, { recursive: true });
  });

  let count = 0;
  function empty(): string {
    const path = join(base, `into-${(count += 1)}`);
    mkdirSync(path);
    return path;
  }

  /** An ssh that only prints its configuration. */
  function sshThatSays(...lines: string[]): string {
    const folder = empty();
    writeFileSync(join(folder, 'ssh'), `#!/bin/sh\ncat <<'END'\n${lines.join('\n')}\nEND\n`);
    chmodSync(join(folder, 'ssh'), 0o755);
    return `${folder}:${DEFAULT_PATH}`;
  }

  describe('what git may reach for a URL', () => {
    it('T70: is the port of the URL, or that of its scheme', async () => {
      assert.deepEqual(await portsOf('https://h/x'), [443]);
      assert.deepEqual(await portsOf('https://h:8443/x'), [8443]);
      assert.deepEqual(await portsOf('https://[::1]:8443/x'), [8443]);
      assert.deepEqual(await portsOf('ssh://git@h.invalid/x'), [22]);
      assert.deepEqual(await portsOf('ssh://git@h.invalid:2222/x'), [2222]);
      assert.deepEqual(await portsOf('git@h.invalid:x'), [22]);
      assert.deepEqual(await portsOf('file:///x'), 'none');
    });

    it('T70: for ssh is what the configuration of the account says, and the files that ssh needs', async () => {
      const [key = '', hosts = '', other = ''] = ['key', 'hosts', 'other'].map((name) => join(base, name));
      for (const path of [key, hosts, other, `${key}.pub`]) writeFileSync(path, '');
      const path = sshThatSays(
        'port 2200',
        `identityfile ${key}`,
        'identityfile ~/.ssh/nothing',
        `userknownhostsfile ${hosts} /nowhere`,
      );
      const reach = await reachOf('git@infra:x', path);
      assert.deepEqual(reach.connectPorts, [2200]);
      for (const file of [key, `${key}.pub`, hosts]) assert.ok(reach.readable.includes(file), file);
      assert.ok(
        !reach.readable.includes(other) &&
          !reach.readable.includes(join(userInfo().homedir, '.ssh')) &&
          !reach.readable.includes(base),
      );
      assert.deepEqual(
        (await reachOf('ssh://u@infra:22/x', sshThatSays('port 22', 'proxyjump u@jump:2022,jump2'))).connectPorts,
        [22, 2022],
      );
    });

    it('T70: is asked of the operator for ssh where the kernel cannot limit it to the port', async () => {
      assert.equal((await reachOf('https://h/x', DEFAULT_PATH)).unfiltered, 'any');
      assert.equal((await reachOf('git@h.invalid:x', DEFAULT_PATH)).unfiltered, 'refused');
    });

    it('T70: for https is no file of an account', async () => {
      assert.deepEqual(
        (await reachOf('https://h/x', DEFAULT_PATH)).readable.filter((path) => !path.startsWith('/usr/')),
        [],
      );
    });
  });

  describe('git in the sandbox', () => {
    it('T70: connects to no other port, whatever makes it try', { skip: needs('git', 'Landlock ABI 4') }, async () => {
      const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
      await once(server, 'listening');
      let connections = 0;
      server.on('connection', () => (connections += 1));
      const { port } = server.address() as AddressInfo;
      const work = empty();
      const gitDir = join(work, 'git');
      const git: Git = {
        launcher,
        clock: systemClock,
        work,
        gitDir,
        home: work,
        searchPath: DEFAULT_PATH,
        protocols: ['http'],
        account: null,
        guard: null,
        signal: new AbortController().signal,
      };
      await runGit(
        git,
        ['init', '--quiet', '--bare', '--template=', gitDir],
        { readable: [], connectPorts: [] },
        collect,
      );
      const fetch = (ports: readonly number[]): Promise<string> =>
        runGit(
          git,
          ['fetch', '--quiet', '--', `http://127.0.0.1:${port}/x`, 'HEAD'],
          { readable: [], connectPorts: ports },
          collect,
        );
      await assert.rejects(
        fetch([port === 443 ? 444 : 443]),
        (error: unknown) => error instanceof Failure && /git fetch failed/.test(error.message),
      );
      assert.equal(connections, 0);
      await assert.rejects(fetch([port]), Failure);
      assert.equal(connections, 1, 'its own port is open');
      server.close();
    });

    it(
      'T70: works as the account of jobs where the service is root, in a folder that is gone afterwards',
      { skip: needs('git', 'root', 'Landlock ABI 4') },
      async () => {
        const server = await new HostileServer().listen();
        const objects = new Objects();
        const tip = objects.commit(objects.tree(['100644', 'f', objects.blob()]));
        const url = server.serve({ tip, shallow: tip, pack: objects.pack() });
        chmodSync(base, 0o711);
        const folder = empty();
        chmodSync(folder, 0o711);
        const into = empty();
        const started: unknown[] = [];
        const recording: Launcher = {
          ...launcher,
          launch(request) {
            started.push([
              request.account?.uid,
              lstatSync(request.cwd).uid,
              request.policy?.writable.every((path) => path.startsWith(`${folder}/.git-`)),
            ]);
            return launcher.launch(request);
          },
        };
        const place = { account: { uid: 65_534, gid: 65_534 }, folder };
        const { tree } = await fetchGit({ launcher: recording, url, ref: null, into, place, protocols: ['http'] });
        assert.deepEqual(started, [
          [65_534, 65_534, true],
          [65_534, 65_534, true],
        ]);
        assert.deepEqual([readdirSync(tree), lstatSync(join(tree, 'f')).uid, readdirSync(folder)], [['f'], 0, []]);
        // ssh needs the keys of this account.
        await assert.rejects(
          fetchGit({ launcher: recording, url: 'ssh://git@127.0.0.1:1/x', ref: null, into: empty(), place }),
          Failure,
        );
        assert.deepEqual(started.at(-1), [undefined, 0, false]);
        server.close();
      },
    );

    it('T70: does not start where there is no sandbox, and the refusal says so', async () => {
      const none: Launcher = {
        ...launcher,
        launch: () => Promise.reject(new SandboxRefused('The sandbox needs Landlock ABI 4 (Linux 6.7).')),
      };
      await assert.rejects(
        fetchGit({ launcher: none, url: 'https://127.0.0.1:1/x', ref: null, into: empty() }),
        (error: unknown) => {
          return (
            error instanceof Failure &&
            error.code === 'unavailable' &&
            /cannot be read in the sandbox\. The sandbox needs Landlock/.test(error.message)
          );
        },
      );
    });
  });
});

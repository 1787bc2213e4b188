import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { HOSTILE_URLS, MARKER, Repository } from '../../../../test/support/attacks/hostile-repositories.ts';
import { Failure } from '../../../domain/failure.ts';
import { systemClock } from '../../../lib/clock.ts';
import { DEFAULT_PATH } from '../../process/environment.ts';
import { createLauncher, type Launcher } from '../../launch/launch.ts';
import { needs } from '../../../../test/support/tools.ts';
import { fetchGit, FETCH_LIMITS, type FetchLimits } from './git.ts';
import { cleaned, collect, NO_REACH, runGit } from './process.ts';
import { GIT_PROTOCOLS } from './url.ts';

const LIMITS: FetchLimits = { ...FETCH_LIMITS, timeoutMs: 30_000 };
const FROM_FILES = [...GIT_PROTOCOLS, 'file'];

const refusal =
  (words: RegExp) =>
  (error: unknown): boolean =>
    error instanceof Failure && words.test(error.message);

/** What a payload that ran has left behind. */
function traced(): string[] {
  return fs.readdirSync('/tmp').filter((name) => MARKER.endsWith(name));
}

describe('A repository that git reads', () => {
  let base: string;
  let launcher: Launcher;
  let count = 0;
  before(() => {
    base = fs.mkdtempSync(join(tmpdir(), 'gatehouse-git-'));
    launcher = createLauncher();
  });
  after(() => fs.rmSync(base, { recursive: true }));

  function empty(): string {
    const path = join(base, `into-${(count += 1)}`);
    fs.mkdirSync(path);
    return path;
  }

  function repository(): Repository {
    return new Repository(join(base, `repository-${(count += 1)}`));
  }

  function fetched(
    from: Repository,
    options: { ref?: string; limits?: FetchLimits } = {},
  ): Promise<{ commit: string; tree: string }> {
    return fetchGit({
      launcher,
      url: from.url,
      ref: options.ref ?? null,
      into: empty(),
      limits: options.limits ?? LIMITS,
      protocols: FROM_FILES,
    });
  }

  describe('a git source', { skip: needs('git', 'Landlock ABI 4') }, () => {
    it('is fetched as the files of one commit, with no trace of git', async () => {
      const from = repository().write('sub/run', '#!/bin/true\n').link('sub/same.tf', '../main.tf');
      fs.chmodSync(join(from.at, 'sub/run'), 0o755);
      const commit = from.commit();
      const got = await fetched(from);
      assert.equal(got.commit, commit);
      assert.deepEqual(fs.readdirSync(got.tree).toSorted(), ['main.tf', 'sub']);
      assert.equal(
        fs.readFileSync(join(got.tree, 'sub/same.tf'), 'utf8'),
        fs.readFileSync(join(got.tree, 'main.tf'), 'utf8'),
      );
      assert.deepEqual(
        ['main.tf', 'sub/run', 'sub'].map((path) => fs.lstatSync(join(got.tree, path)).mode & 0o777),
        [0o600, 0o700, 0o700],
      );
    });

    it('is fetched at a branch, a tag or a commit, and at what the server calls HEAD', async () => {
      const from = repository();
      const first = from.commit();
      from.git('tag', '--annotate', 'v1', '--message', 'x');
      from.git('switch', '--quiet', '--create', 'next');
      const second = from.write('more.tf', '').commit();
      from.git('switch', '--quiet', 'main');
      for (const [ref, commit] of [
        ['main', first],
        ['next', second],
        ['refs/heads/next', second],
        ['v1', first],
        [first, first],
        [second, second],
      ] as const) {
        assert.equal((await fetched(from, { ref })).commit, commit, ref);
      }
      assert.equal((await fetched(from)).commit, first);
    });

    it('is read whole also where git has ended before its output is read', async () => {
      const from = repository();
      const commit = from.commit();
      const late: Launcher = {
        ...launcher,
        async launch(request) {
          const launched = await launcher.launch(request);
          await launched.exited;
          return launched;
        },
      };
      const got = await fetchGit({ launcher: late, url: from.url, ref: null, into: empty(), protocols: FROM_FILES });
      assert.equal(got.commit, commit);
    });

    it('that has no such ref, or is no repository, is refused in the words of git', async () => {
      const from = repository();
      from.commit();
      await assert.rejects(
        fetched(from, { ref: 'nope' }),
        refusal(/git fetch failed: .*couldn't find remote ref nope/),
      );
      await assert.rejects(
        fetchGit({ launcher, url: `file://${base}/nothing`, ref: null, into: empty(), protocols: FROM_FILES }),
        refusal(/does not appear to be a git repository/),
      );
    });

    it('a branch that is named like a commit is not taken for it', async () => {
      const from = repository();
      from.commit();
      from.git('update-ref', `refs/heads/${'a'.repeat(40)}`, 'HEAD');
      await assert.rejects(fetched(from, { ref: 'a'.repeat(40) }), Failure);
    });

    it('that needs more time than it is given is ended with all of its processes', async () => {
      const from = repository();
      from.commit();
      await assert.rejects(fetched(from, { limits: { ...LIMITS, timeoutMs: 0 } }), refusal(/took longer than 0s/));
      // A server that takes the connection and never says a word.
      const server = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as { port: number };
      const hung = fetchGit({
        launcher,
        url: `https://127.0.0.1:${port}/x`,
        ref: null,
        into: empty(),
        limits: { ...LIMITS, timeoutMs: 700 },
      });
      const ended = new Promise<void>((resolve) =>
        server.once('connection', (socket) => socket.resume().once('close', () => resolve())),
      );
      await assert.rejects(hung, refusal(/took longer than 700ms/));
      await ended;
      server.close();
    });

    it('that no caller waits for any more is ended with all of its processes', async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as { port: number };
      const stop = new AbortController();
      const hung = fetchGit({
        launcher,
        url: `https://127.0.0.1:${port}/x`,
        ref: null,
        into: empty(),
        limits: LIMITS,
        signal: stop.signal,
      });
      const ended = new Promise<void>((resolve) =>
        server.once('connection', (socket) => socket.resume().once('close', () => resolve())),
      );
      server.once('connection', () => stop.abort());
      await assert.rejects(hung, refusal(/the fetch was stopped/));
      await ended;
      server.close();
      const late = fetchGit({
        launcher,
        url: `https://127.0.0.1:${port}/x`,
        ref: null,
        into: empty(),
        limits: LIMITS,
        signal: stop.signal,
      });
      await assert.rejects(late, refusal(/the fetch was stopped/));
    });

    it('needs git, and says so', async () => {
      await assert.rejects(
        fetchGit({ launcher, url: 'https://127.0.0.1:1/x', ref: null, into: empty(), searchPath: base }),
        refusal(/git cannot be started/),
      );
    });
  });

  describe('what git says', () => {
    it('is shown without credentials and without what would move the cursor, and is cut', () => {
      assert.equal(
        cleaned("fatal: unable to access 'https://ana:canary@h/x/': no\u001b[31m red\u001b[0m\r\nnext\u0007\u202e\n"),
        "fatal: unable to access 'https://h/x/': no red; next",
      );
      assert.equal(cleaned('\n'), 'it gave no reason.');
      assert.ok(cleaned('x'.repeat(10_000)).length < 600);
    });
  });

  describe('T22: a URL that was not refused when it was written', () => {
    it(
      'T22: gets nowhere with git as it is started in production: nothing runs, no file is read',
      { skip: needs('git', 'ssh', 'Landlock ABI 4') },
      async () => {
        const home = empty();
        const gitDir = join(home, 'git');
        const git = {
          launcher,
          clock: systemClock,
          work: home,
          gitDir,
          home,
          searchPath: DEFAULT_PATH,
          protocols: GIT_PROTOCOLS,
          account: null,
          guard: null,
          signal: new AbortController().signal,
        };
        await runGit(git, ['init', '--quiet', '--bare', '--template=', gitDir], NO_REACH, collect);
        // Those by which git itself would run or read something; what is a host and a path to git would only be looked
        // up.
        const dialled = /^(?:https:\/\/|git\+ssh|javascript:|file:\/etc)/;
        const running = HOSTILE_URLS.filter(
          (url) =>
            /^(?:[a-z+-]+:|[A-Z]+:|[-/.~x]|bundle)|@-/.test(url) &&
            !/\0|^ssh:\/\/(?!-|u@-)|^u@h/.test(url) &&
            !dialled.test(url),
        );
        assert.ok(running.length >= 25, String(running.length));
        for (const url of running) {
          await assert.rejects(
            runGit(git, ['fetch', '--quiet', '--depth=1', '--', url, 'HEAD'], NO_REACH, collect),
            Failure,
            url,
          );
        }
        assert.deepEqual(traced(), []);
      },
    );

    it('T22: is refused before git starts: a fetch of any of the 60 leaves nothing behind', async () => {
      for (const url of HOSTILE_URLS) {
        const into = empty();
        await assert.rejects(
          fetchGit({ launcher, url, ref: null, into }),
          (error: unknown) => error instanceof Failure && error.code === 'invalid_argument',
          url,
        );
        assert.deepEqual(fs.readdirSync(into), []);
      }
      assert.deepEqual(traced(), []);
    });

    it(
      'T22: nothing that a job wrote into a home, and nothing in the environment, changes what git does',
      { skip: needs('git', 'Landlock ABI 4') },
      async () => {
        const from = repository();
        from.commit();
        const into = empty();
        fs.mkdirSync(join(into, 'work', 'home'), { recursive: true });
        fs.writeFileSync(
          join(into, 'work', 'home', '.gitconfig'),
          `[url "ext::touch ${MARKER} "]\n\tinsteadOf = file://\n[core]\n\tsshCommand = touch ${MARKER}\n`,
        );
        // The folder is the caller's own and empty: one in which somebody was before is not used.
        await assert.rejects(fetchGit({ launcher, url: from.url, ref: null, into, protocols: FROM_FILES }), Failure);
        const hostile = {
          GIT_SSH_COMMAND: `touch ${MARKER}`,
          GIT_EXTERNAL_DIFF: MARKER,
          GIT_CONFIG_COUNT: '1',
          GIT_CONFIG_KEY_0: 'core.fsmonitor',
          GIT_CONFIG_VALUE_0: `touch ${MARKER}`,
          GIT_DIR: '/nowhere',
        };
        Object.assign(process.env, hostile);
        try {
          assert.equal((await fetched(from)).commit, from.git('rev-parse', 'HEAD'));
        } finally {
          for (const name of Object.keys(hostile)) delete process.env[name];
        }
        assert.deepEqual(traced(), []);
        assert.equal(fs.existsSync(MARKER), false);
      },
    );
  });
});

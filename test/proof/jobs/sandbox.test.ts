/** What holds a job in, as its tool sees it, and what happens where it cannot be held in. */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { copyOfTheProgram, replace } from '../../support/kernels/program-copy.ts';

/** All that a job may know of, and what a shell adds by itself. */
const ALLOWED = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SVC_JOB_ID', 'TERM', 'TMPDIR', 'USER'];
const ADDED_BY_A_SHELL = ['OLDPWD', 'SHLVL', '_'];
const CANARY = 'canary-5f3a';

/** Variables that make a tool, a loader or an interpreter do what its caller did not ask for. */
const HOSTILE_NAMES = [
  'TF_CLI_ARGS', 'TF_CLI_ARGS_apply', 'TF_VAR_password', 'TF_PLUGIN_CACHE_DIR', 'TF_REATTACH_PROVIDERS',
  'TF_LOG', 'TF_DATA_DIR',
  'ANSIBLE_CONFIG', 'ANSIBLE_LIBRARY', 'ANSIBLE_VAULT_PASSWORD_FILE', 'ANSIBLE_SSH_ARGS', 'ANSIBLE_ACTION_PLUGINS',
  'GIT_SSH_COMMAND', 'GIT_CONFIG_GLOBAL', 'GIT_EXEC_PATH', 'GIT_ASKPASS', 'GIT_TRACE',
  'PYTHONPATH', 'PYTHONSTARTUP', 'PERL5LIB', 'PERL5OPT', 'RUBYOPT', 'BASH_ENV', 'ENV', 'IFS', 'PS4', 'PROMPT_COMMAND',
  'SSH_AUTH_SOCK', 'SSH_ASKPASS', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'no_proxy',
  'AWS_SECRET_ACCESS_KEY', 'VAULT_TOKEN', 'SVC_TOKEN', 'SVC_OUTPUT', 'DATABASE_URL', 'EDITOR', 'DOCKER_HOST',
]; // prettier-ignore

async function linesOf(fixture: Fixture, id: string, stream: string): Promise<string[]> {
  return (await fixture.events(id)).flatMap((event) =>
    event.type === 'log' && event.stream === stream ? [event.text] : [],
  );
}

interface Damage {
  readonly what: string;
  readonly damage: (copy: string) => void;
  /** Only the start of a job shows it. */
  readonly healthy?: true;
}

const BROKEN: readonly Damage[] = [
  {
    what: 'has no machine code for its processor',
    damage: (copy) => replace(join(copy, 'src/runners/launch/code.ts'), `  ${process.arch}:`, '  other:'),
  },
  {
    what: 'ends at its first step',
    damage: (copy) =>
      replace(join(copy, 'src/runners/sandbox/kernel/made-calls.ts'), /close_range: 436/g, 'close_range: 9436'),
    healthy: true,
  },
  {
    what: 'gets no Landlock from the kernel',
    // The kernel answers a call that it does not know as one without Landlock does.
    damage: (copy) =>
      replace(
        join(copy, 'src/runners/sandbox/kernel/made-calls.ts'),
        'landlock_create_ruleset: 444',
        'landlock_create_ruleset: 9444',
      ),
  },
];

describe('the sandbox', () => {
  for (const { what, damage, healthy } of BROKEN) {
    test(`T34: a job whose process ${what} fails with a reason, and its tool never starts`, async (t) => {
      const fixture = await openFixture(t);
      const copy = copyOfTheProgram(t);
      damage(copy);
      const daemon = await fixture.start({ program: join(copy, 'src', 'main.ts') });
      const api = daemon.api(fixture.token);
      const proof = join(fixture.dir, 'it-ran');
      // Bare, this would succeed: nothing but the sandbox keeps it from writing there.
      const id = await api.run(['/usr/bin/touch', proof]);
      const end = await api.waitFor(id);
      assert.deepEqual({ state: end.state, exit_code: end.exit_code }, { state: 'failed', exit_code: null });
      assert.equal(existsSync(proof), false);
      assert.ok((await linesOf(fixture, id, 'system')).length > 0, 'the output says why');
      const health = await api.get<{ name: string; status: string }[]>('/health');
      const status = health.data.find((entry) => entry.name === 'sandbox')?.status;
      assert.equal(status, healthy ? 'ok' : 'fail');
      assert.equal(daemon.log().includes('sandboxed jobs cannot run here'), !healthy);
    });
  }

  test('T34: the API grants no privilege, and a privileged job is marked', async (t) => {
    const fixture = await openFixture(t);
    const api = (await fixture.start()).api(fixture.token);
    const refused = await api.post('/commands/run', {
      inventory: 'localhost',
      command: ['/bin/true'],
      privileged: true,
    });
    assert.deepEqual([refused.status, refused.error?.code], [400, 'invalid_argument']);
    assert.match(refused.error?.message ?? '', /privileged/);
    const marked = await fixture.queue({ command: ['/bin/true'], privileged: true });
    assert.equal((await api.waitFor(marked)).privileged, true);
    const plain = await api.waitFor(await api.run(['/bin/true']));
    assert.equal('privileged' in plain, false);
  });

  test(`T18: of ${HOSTILE_NAMES.length} variables that the daemon was started with, none reaches a job`, async (t) => {
    const fixture = await openFixture(t);
    const env = Object.fromEntries(HOSTILE_NAMES.filter((name) => name !== 'SVC_OUTPUT').map((name) => [name, CANARY]));
    const daemon = await fixture.start({
      env: { ...env, SVC_OUTPUT: 'text', LD_LIBRARY_PATH: `/${CANARY}`, NODE_EXTRA_CA_CERTS: `/${CANARY}` },
    });
    const api = daemon.api(fixture.token);
    for (const privileged of [false, true]) {
      const id = privileged
        ? await fixture.queue({ command: ['/usr/bin/env', '-0'] })
        : await api.run(['/usr/bin/env', '-0']);
      assert.equal((await api.waitFor(id)).state, 'succeeded');
      const variables = (await linesOf(fixture, id, 'stdout'))
        .join('\n')
        .split('\0')
        .filter((text) => text !== '');
      const names = variables.map((text) => text.slice(0, text.indexOf('=')));
      assert.deepEqual(
        names.filter((name) => ![...ALLOWED, ...ADDED_BY_A_SHELL].includes(name)),
        [],
      );
      assert.ok(variables.every((text) => !text.includes(CANARY)));
      assert.ok(variables.includes(`SVC_JOB_ID=${id}`));
    }
  });

  test('T33: a job can neither change the program that it was started by nor read the data directory', async (t) => {
    const fixture = await openFixture(t);
    const copy = copyOfTheProgram(t);
    const main = join(copy, 'src', 'main.ts');
    const before = readFileSync(main, 'utf8');
    const dataDir = join(fixture.dir, 'data');
    appendFileSync(join(dataDir, 'private.txt'), CANARY);
    const api = (await fixture.start({ program: main })).api(fixture.token);
    const script = `echo x >> ${main}; cp /bin/true ${join(copy, 'src', 'new.ts')}; rm -f ${main}; chmod 0777 ${main};
      cat ${join(dataDir, 'private.txt')} ${join(fixture.dir, 'seal.key')}; ls ${dataDir}; cat /proc/$PPID/environ
      echo end`;
    const id = await api.run(['/bin/sh', '-c', script]);
    assert.equal((await api.waitFor(id)).state, 'succeeded');
    assert.deepEqual(await linesOf(fixture, id, 'stdout'), ['end']);
    assert.ok((await linesOf(fixture, id, 'stderr')).length >= 7);
    assert.equal(readFileSync(main, 'utf8'), before);
    assert.equal(existsSync(join(copy, 'src', 'new.ts')), false);
  });
});

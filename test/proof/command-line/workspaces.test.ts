/** Infrastructure by the command line alone: bin/svc as a process, the real daemon, the real terraform. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Projected, ViewName } from '../../../src/views/views.ts';
import { items, writeRoot } from '../../support/infrastructure.ts';
import { openFixture, type Fixture } from '../../support/fixtures/installation.ts';
import { needs } from '../../support/tools.ts';

const SVC = join(import.meta.dirname, '..', '..', '..', 'bin', 'svc');
const UNKNOWN = '01m7yd4zyke00anp2z332d2j5p';

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Svc = (...words: readonly string[]) => Promise<Ended>;

/** Runs a command line with these settings in its environment, and none of the user who runs the tests. */
function svcWith(env: Readonly<Record<string, string>>, cwd: string): Svc {
  return async (...words) => {
    const child = spawn(SVC, words, {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', HOME: cwd, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, ...output };
  };
}

function ended(expected: number, { code, stdout, stderr }: Ended): string {
  assert.equal(code, expected, `${stdout}\n${stderr}`);
  return stdout;
}

function data<V extends ViewName>(text: string, kind: V): Projected<V> {
  const envelope = JSON.parse(text) as { kind: string; data: Projected<V> };
  assert.equal(envelope.kind, kind);
  return envelope.data;
}

/** The id of the plan that `plan --wait` proposes to apply. */
function proposed({ stderr }: Ended): string {
  return /svc workspace apply net --plan (art_[0-9a-z]{26})/.exec(stderr)?.[1] ?? assert.fail(stderr);
}

interface Home {
  readonly fixture: Fixture;
  /** Of the workspace `net`, which is not added yet. */
  readonly root: string;
  /** Of the person who works on the machine. */
  readonly svc: Svc;
  readonly json: <V extends ViewName>(kind: V, ...words: string[]) => Promise<Projected<V>>;
  /** Of another person, who decides over HTTP. */
  readonly ben: Svc;
}

async function openHome(t: TestContext): Promise<Home> {
  const fixture = await openFixture(t);
  const daemon = await fixture.start();
  const home = join(fixture.dir, 'home');
  mkdirSync(home);
  const root = writeRoot(fixture, 'net', items(2));
  const svc = svcWith(
    { SVC_DATA_DIR: join(fixture.dir, 'data'), SVC_SEAL_KEY_FILE: join(fixture.dir, 'seal.key') },
    home,
  );
  const json = async <V extends ViewName>(kind: V, ...words: string[]): Promise<Projected<V>> =>
    data(ended(0, await svc(...words, '--output', 'json')), kind);
  const approver = await json('token.created', 'token', 'create', '--name', 'ben', '--scope', 'approve');
  const ben = svcWith({ SVC_REMOTE: daemon.ready.web_url.replace(/\/$/, ''), SVC_TOKEN: approver.token }, home);
  return { fixture, root, svc, json, ben };
}

async function refuseUnknownNames({ fixture, svc, ben }: Pick<Home, 'fixture' | 'svc' | 'ben'>): Promise<void> {
  ended(3, await svc('workspace', 'plan', 'nowhere', '--wait'));
  ended(3, await svc('workspace', 'apply', 'net', '--plan', `art_${UNKNOWN}`));
  ended(3, await ben('approval', 'approve', `apr_${UNKNOWN}`));
  ended(3, await svc('workspace', 'plan', 'net', '--run-secret', 'TOKEN=net/none'));
  ended(0, await svc('workspace', 'add', 'torn', '--dir', writeRoot(fixture, 'torn', 'resource "terraform_data" {')));
  const torn = await svc('workspace', 'plan', 'torn', '--wait');
  ended(1, torn);
  assert.match(torn.stdout + torn.stderr, /Error: (Missing name for resource|Unclosed configuration block)/);
  assert.doesNotMatch(torn.stderr, /svc workspace apply/);
}

async function refuseWhatIsPast({ root, svc }: Pick<Home, 'root' | 'svc'>): Promise<void> {
  writeFileSync(join(root, 'main.tf'), items(2));
  const plan = proposed(await svc('workspace', 'plan', 'net', '--wait'));
  const moved = data(ended(0, await svc('workspace', 'apply', 'net', '--wait', '--output', 'json')), 'job.get');
  const late = await svc('workspace', 'apply', 'net', '--plan', plan);
  ended(5, late);
  assert.match(
    late.stderr,
    new RegExp(
      `^Hint: The plan was made from serial \\d+; .* by job ${moved.id} via cli .*svc workspace plan net$`,
      'm',
    ),
  );
}

test(
  'a plan is made, read, applied, gated and approved by another person, all with svc',
  { skip: needs('terraform or tofu') },
  async (t) => {
    const { fixture, root, svc, json, ben } = await openHome(t);

    await t.test('a directory becomes a workspace, and what it would make is planned, saved and applied', async () => {
      assert.match(ended(0, await svc('workspace', 'add', 'net', '--dir', root)), /^Workspace +net$/m);
      const planned = await svc('workspace', 'plan', 'net', '--wait');
      assert.match(ended(0, planned), /^Plan: 2 to add, 0 to change, 0 to destroy\.$/m);
      assert.match(
        ended(0, await svc('workspace', 'apply', 'net', '--plan', proposed(planned), '--wait')),
        /^Apply complete! Resources: 2 added/m,
      );
      const [net] = await json('workspace.list', 'workspace', 'list');
      assert.ok((net?.serial ?? 0) > 0);
    });

    await t.test(
      '--detailed-exitcode ends with 2 where something would change, and with 0 where nothing would',
      async () => {
        ended(0, await svc('workspace', 'plan', 'net', '--wait', '--detailed-exitcode'));
        writeFileSync(join(root, 'main.tf'), items(3));
        ended(2, await svc('workspace', 'plan', 'net', '--wait', '--detailed-exitcode'));
        ended(0, await svc('workspace', 'plan', 'net', '--wait'));
        const job = data(
          ended(2, await svc('workspace', 'plan', 'net', '--wait', '--detailed-exitcode', '--output', 'json')),
          'job.get',
        );
        assert.deepEqual([job.kind, job.state, job.exit_code], ['plan', 'succeeded', 2]);
      },
    );

    await t.test('a plan that destroys waits for another person, who reads and approves it over HTTP', async () => {
      writeFileSync(join(root, 'main.tf'), items(1));
      const plan = proposed(await svc('workspace', 'plan', 'net', '--wait'));
      const asked = await json('approval.pending', 'workspace', 'apply', 'net', '--plan', plan, '--wait');
      const { approval_id: approval, job_id: job } = asked;
      assert.match(
        ended(0, await ben('approval', 'plan', approval)),
        /^− terraform_data\.item\[1\] \(destroy\)\n[^]*\nPlan: 1 to destroy(?:, 0 to \w+){3}\.\n$/m,
      );
      ended(4, await svc('approval', 'approve', approval));
      assert.match(
        ended(0, await ben('approval', 'approve', approval, '--reason', 'read it')),
        /^Approved: .* is queued\.$/m,
      );
      ended(5, await ben('approval', 'approve', approval));
      assert.match(ended(0, await svc('job', 'wait', job, '--timeout', '1m')), /^State +succeeded$/m);
      assert.match(ended(0, await ben('approval', 'get', approval)), /^Decided .*, by ben via api\nReason +read it$/m);
      const [newest] = await json('workspace.state', 'workspace', 'state', 'net');
      const [net] = await json('workspace.list', 'workspace', 'list');
      assert.deepEqual([newest?.job_id, newest?.resources, newest?.serial], [job, 1, net?.serial]);
    });

    await t.test('a plan that the state has moved past is refused, and who moved it is said', () =>
      refuseWhatIsPast({ root, svc }),
    );

    await t.test(
      'an unknown name exits with 3, and a broken root exits with the code and the message of terraform',
      () => refuseUnknownNames({ fixture, svc, ben }),
    );
  },
);

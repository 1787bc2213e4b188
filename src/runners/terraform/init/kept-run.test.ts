import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { ACCOUNTS, nameOf, NO_ROOT } from '../../../../test/support/accounts/job-account.ts';
import type { AccountIds } from '../../../domain/jobs/account.ts';
import { redactText } from '../../../domain/secrets/redaction.ts';
import { jobIdPart, type PathPart } from '../../../domain/path-part.ts';
import { systemClock } from '../../../lib/clock.ts';
import { makeRunDir } from '../../run-dir.ts';
import { listRunFolder, makeRunFolder, readRunFile, writeRunFile } from '../../run-files/run-files.ts';
import { KeptInits, keptInitsDir } from './kept-inits.ts';
import { KeptOfRun } from './kept-run.ts';

const SECRET = Buffer.from('canary-of-a-secret');
const NOTE = 'tree/.terraform/terraform.tfstate';
const MAX = 1_000;

interface Options {
  readonly treeDigest?: string;
  readonly secret?: Buffer;
  readonly state?: Buffer;
  readonly inits?: KeptInits;
  readonly signal?: AbortSignal;
  readonly privileged?: boolean;
  readonly mirror?: string;
}

const stateOf = (name: string): Buffer => Buffer.from(JSON.stringify({ provider: `provider["${name}"]` }));

class Scene {
  readonly dir = mkdtempSync(join(tmpdir(), 'gatehouse-kept-run-'));
  readonly runs = join(this.dir, 'runs');
  readonly folder = keptInitsDir(this.runs);
  readonly tool = join(this.dir, 'terraform');
  readonly #account: AccountIds | null;
  #made = 0;

  constructor(t: TestContext, account: AccountIds | null) {
    this.#account = account;
    t.after(() => rmSync(this.dir, { recursive: true }));
    chmodSync(this.dir, 0o711);
    mkdirSync(this.runs, { mode: 0o711 });
    writeFileSync(this.tool, '');
  }

  /** A new run with an empty root. */
  async run({ treeDigest = 'tree', secret, state, inits, signal, privileged = false, mirror }: Options = {}) {
    const id = jobIdPart(`job_${String((this.#made += 1)).padStart(26, '0')}`);
    const runDir = makeRunDir(this.runs, id, this.#account);
    await makeRunFolder(runDir, 'tree');
    const said: string[] = [];
    const place = { folder: this.folder, workspace: 'net', facts: '' };
    const secrets = new Map(secret === undefined ? [] : [['x', secret]]);
    const materials = { kept: place, mirror: mirror ?? null, state: state ?? null };
    const kept = new KeptOfRun(
      {
        job: { id, secrets, hidden: [], privileged, materials },
        tools: {
          runDir,
          clock: systemClock,
          signal: signal ?? new AbortController().signal,
          say: (text) => void said.push(text),
          redact: (text) => redactText(text, [...secrets.values()]),
        },
        tool: { name: 'terraform', path: this.tool },
        root: { runDir, folder: 'tree', treeDigest },
      },
      inits,
    );
    return { id, runDir, said, kept };
  }

  /** A run in which `init` leaves this note of a backend. */
  async init(text: string, options: Options = {}) {
    const on = await this.run(options);
    assert.equal(await on.kept.restore(), false, on.said.join('\n'));
    await makeRunFolder(on.runDir, 'tree/.terraform');
    await writeRunFile(on.runDir, NOTE, Buffer.from(text));
    await on.kept.keep();
    return on;
  }

  async isKept(options: Options = {}): Promise<boolean> {
    return (await this.run(options)).kept.restore();
  }

  left(): string[] {
    return readdirSync(this.folder).toSorted();
  }
}

for (const account of ACCOUNTS) {
  describe(`What an init left, in runs ${nameOf(account)}`, { skip: account !== null && NO_ROOT }, () => {
    test('is given to the next run as a copy that belongs to its account', async (t) => {
      const scene = new Scene(t, account);
      const { id } = await scene.init('note');
      const next = await scene.run();
      assert.equal(await next.kept.restore(), true);
      assert.match(
        next.said.join('\n'),
        new RegExp(`^terraform init is left out: .* since ${id} ran it at 2\\S+Z\\.$`),
      );
      assert.equal((await readRunFile(next.runDir, NOTE, MAX)).toString(), 'note');
      const { uid, mode } = statSync(join(next.runDir, NOTE));
      assert.deepEqual([uid, mode & 0o777], [account?.uid ?? process.geteuid?.(), 0o600]);
      assert.deepEqual(await listRunFolder(next.runDir, 'tree'), ['.terraform']);
      // What this run does with its copy is not kept.
      await writeRunFile(next.runDir, NOTE, Buffer.from('hostile'));
      await next.kept.keep();
      const last = await scene.run();
      assert.equal(await last.kept.restore(), true);
      assert.equal((await readRunFile(last.runDir, NOTE, MAX)).toString(), 'note');
    });

    test('is not used where it was altered, and its copy does not stay in the run', async (t) => {
      const scene = new Scene(t, account);
      const { id } = await scene.init('note');
      appendFileSync(join(scene.folder, 'net', id, 'files', 'terraform.tfstate'), 'x');
      const next = await scene.run();
      assert.equal(await next.kept.restore(), false);
      assert.match(next.said.join('\n'), /cannot be used, so init runs: its files are not those that init left\.$/);
      assert.deepEqual(await listRunFolder(next.runDir, 'kept-init'), []);
      assert.deepEqual(await listRunFolder(next.runDir, 'tree'), []);
      assert.deepEqual(scene.left(), []);
    });

    test('is not kept with a link that leads out of it', async (t) => {
      const scene = new Scene(t, account);
      const on = await scene.run();
      await on.kept.restore();
      await makeRunFolder(on.runDir, 'tree/.terraform');
      const { openCopyTarget } = await import('../../checkout/copy-target.ts');
      await using target = await openCopyTarget(on.runDir, 'tree/.terraform');
      await target.makeLink('passwd', '/etc/passwd');
      await on.kept.keep();
      assert.match(on.said.join('\n'), /not kept: "passwd" is a symbolic link that leads out, or nowhere\.$/);
      assert.deepEqual(scene.left(), []);
    });
  });
}

describe('What an init left', () => {
  test('counts only for the same files, tool, providers, providers of the state and rights', async (t) => {
    const scene = new Scene(t, null);
    await scene.init('note');
    assert.equal(await scene.isKept({ state: stateOf('terraform.io/builtin/terraform') }), true);
    for (const other of [
      { treeDigest: 'other' },
      { mirror: '/mirror' },
      { privileged: true },
      { state: stateOf('registry.terraform.io/hashicorp/aws') },
    ])
      assert.equal(await scene.isKept(other), false, JSON.stringify(other));
    assert.equal(await scene.isKept(), true);
    writeFileSync(scene.tool, 'another build');
    assert.equal(await scene.isKept(), false);
  });

  test('is not kept where init made or changed the lock file', async (t) => {
    const scene = new Scene(t, null);
    const on = await scene.run();
    await on.kept.restore();
    await writeRunFile(on.runDir, 'tree/.terraform.lock.hcl', Buffer.from('made by init'));
    await on.kept.keep();
    assert.match(
      on.said.join('\n'),
      /^Init runs again in the next run, because it changed \.terraform\.lock\.hcl: commit/,
    );
    assert.equal(await scene.isKept(), false);
  });

  test('is not kept in clear where it holds a secret of the run, in any form', async (t) => {
    const scene = new Scene(t, null);
    for (const text of [String(SECRET), SECRET.toString('base64'), `\u{1f600}"${String(SECRET)}"`]) {
      const { said } = await scene.init(text, { secret: SECRET });
      assert.match(said.join('\n'), /because what it left is not kept: it contains a secret\.$/);
      assert.deepEqual(scene.left(), []);
    }
    await scene.init('without', { secret: SECRET });
    assert.deepEqual(scene.left(), ['net']);
  });

  test('that is too large or cannot be written is not kept, and the run continues', async (t) => {
    const scene = new Scene(t, null);
    const small = new (class extends KeptInits {
      override async stage(jobId: PathPart) {
        return { ...(await super.stage(jobId)), bytesMax: 3 };
      }
    })(scene.folder, systemClock);
    const { said } = await scene.init('note', { inits: small });
    assert.match(said.join('\n'), /because what it left is not kept: there are more than 3 bytes in it\.$/);
    const full = new (class extends KeptInits {
      override settle(): Promise<void> {
        return Promise.reject(Object.assign(new Error('ENOSPC: a path of the service'), { code: 'ENOSPC' }));
      }
    })(scene.folder, systemClock);
    assert.match((await scene.init('note', { inits: full })).said.join('\n'), /is not kept: ENOSPC\.$/);
    assert.deepEqual(scene.left(), []);
    rmSync(scene.folder, { recursive: true });
    writeFileSync(scene.folder, 'a file');
    assert.match((await scene.init('note')).said.join('\n'), /ENOTDIR/);
  });

  test('a run that is stopped keeps nothing and ends as stopped', async (t) => {
    const scene = new Scene(t, null);
    const stop = new AbortController();
    const on = await scene.run({ signal: stop.signal });
    await on.kept.restore();
    await makeRunFolder(on.runDir, 'tree/.terraform');
    await writeRunFile(on.runDir, NOTE, Buffer.from('note'));
    stop.abort(new Error('stopped'));
    await assert.rejects(on.kept.keep(), /^Error: stopped$/);
    assert.deepEqual([scene.left(), on.said], [[], []]);
  });

  test('is dropped after a run that used it has failed', async (t) => {
    const scene = new Scene(t, null);
    const first = await scene.init('note');
    await first.kept.drop();
    const second = await scene.run();
    assert.equal(await second.kept.restore(), true, 'the failure of the run that made it says nothing about it');
    await second.kept.drop();
    assert.equal(await scene.isKept(), false);
  });
});

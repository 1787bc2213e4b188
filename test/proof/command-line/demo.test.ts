import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { until } from '../../support/api-client.ts';
import { needs, TERRAFORM } from '../../support/tools.ts';

const DEMO = join(import.meta.dirname, '..', '..', '..', 'scripts', 'demo.ts');

interface Started {
  readonly demo: ChildProcessByStdio<null, Readable, Readable>;
  /** Where it makes its directories. */
  readonly folder: string;
  readonly errors: () => string;
}

function startDemo(t: TestContext, args: readonly string[]): Started {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-demo-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const demo = spawn(process.execPath, [DEMO, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, TMPDIR: folder },
  });
  t.after(() => demo.kill('SIGKILL'));
  let errors = '';
  demo.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  return { demo, folder, errors: () => errors };
}

test('point 40: The demo shows the sign-in page; interrupted, it ends its daemon and takes its directory away', async (t) => {
  const { demo, folder, errors } = startDemo(t, []);
  const ended = once(demo, 'exit');
  let web = '';
  for await (const line of createInterface({ input: demo.stdout })) {
    const [, ready] = /ready on (http:\S+)/.exec(line) ?? [];
    if (ready !== undefined) {
      web = ready;
      const page = await fetch(web);
      assert.equal(page.status, 401);
      assert.match(await page.text(), /<form method="post" action="\/login"[^]*name="token"/);
    }
    // In the middle of a job, and to the whole group, as a terminal does.
    if (line.includes('step 1 of 3')) process.kill(-(demo.pid ?? assert.fail('it has no pid')), 'SIGINT');
  }
  assert.deepEqual(await ended, [130, null], errors());
  assert.deepEqual(readdirSync(folder), []);
  await assert.rejects(fetch(`${web}/api/v1/whoami`), TypeError, 'the port is closed');
});

test(
  'The demo with --keep applies an approved plan and leaves a daemon that removes its directory at its end',
  { skip: needs(TERRAFORM) },
  async (t) => {
    const { demo, folder, errors } = startDemo(t, ['--keep']);
    const ended = once(demo, 'exit');
    let shown = '';
    demo.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    assert.deepEqual(await ended, [0, null], `${shown}${errors()}`);
    assert.equal(errors(), '');
    assert.match(shown, /Planned: 0 to destroy, 1 to replace[^]*is awaiting_approval[^]*Approved at[^]*1 destroyed/);
    const value = (name: RegExp): string => name.exec(shown)?.[1] ?? assert.fail(shown);
    const headers = { authorization: `Bearer ${value(/export SVC_TOKEN=(\S+)/)}` };
    const url = value(/export SVC_REMOTE=(\S+)/);
    const pid = Number(value(/: kill (\d+)/));
    let isEnded = false;
    t.after(() => isEnded || process.kill(pid, 'SIGKILL'));
    assert.equal((await fetch(`${url}/api/v1/jobs`, { headers })).status, 200);
    process.kill(pid, 'SIGTERM');
    await until('its directory is gone', () => readdirSync(folder).length === 0);
    isEnded = true;
  },
);

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

const DEMO = join(import.meta.dirname, '..', '..', '..', 'scripts', 'demo.ts');

for (const args of [[], ['--keep']]) {
  test(
    `The demo${args.map((arg) => ` with ${arg}`).join('')} that is interrupted ends its daemon and takes its ` +
      'directory away',
    { timeout: 150_000 },
    async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'gatehouse-demo-test-'));
      t.after(() => rmSync(folder, { recursive: true, force: true }));
      const demo = spawn(process.execPath, [DEMO, ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
        env: { ...process.env, TMPDIR: folder },
      });
      t.after(() => demo.kill('SIGKILL'));
      const ended = once(demo, 'exit');
      let errors = '';
      demo.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
      let web = '';
      for await (const line of createInterface({ input: demo.stdout })) {
        web = /ready on (http:\S+)/.exec(line)?.[1] ?? web;
        // In the middle of a job, and to the whole group, as a terminal does.
        if (line.includes('step 1 of 3')) process.kill(-(demo.pid ?? assert.fail('it has no pid')), 'SIGINT');
      }
      assert.deepEqual(await ended, [130, null], errors);
      assert.deepEqual(readdirSync(folder), []);
      await assert.rejects(fetch(`${web}/api/v1/whoami`), TypeError, 'the port is closed');
    },
  );
}

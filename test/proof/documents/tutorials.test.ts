/** The tutorials, done as a reader does them (reader.ts). */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { until } from '../../support/api-client.ts';
import { startSshServer } from '../../support/inventories/sshd.ts';
import { freePort } from '../../support/network/free-port.ts';
import { patient } from '../../support/measure/slowness.ts';
import { needs, TERRAFORM } from '../../support/tools.ts';
import { ROOT } from '../../documents/blocks.ts';
import { followed, type Reader, reader, type Run } from '../../documents/reader.ts';

const BLOCK_LIMIT_MS = 90_000;

const run: Run = (script, env) =>
  new Promise((resolve, reject) => {
    const child = spawn('/bin/bash', ['-c', script], {
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      timeout: patient(BLOCK_LIMIT_MS),
    });
    const texts = ['', '', '', ''];
    for (const at of [1, 2, 3]) child.stdio[at]?.on('data', (chunk: Buffer) => (texts[at] += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, shown: `${texts[1]}${texts[2]}`, cwd: texts[3]?.trim() ?? '' }));
  });

/** The server of this machine listens on another port, and its keys are elsewhere. */
async function doPlaybook(t: TestContext, person: Reader): Promise<string> {
  const server = await startSshServer();
  t.after(() => server.stop());
  return followed(person, 'first-playbook', {
    typed: (text) =>
      text
        .replace('ssh-copy-id -i key.pub root@127.0.0.1', `cat key.pub >> ${server.authorizedKeys}`)
        .replaceAll('ansible_user=root', `ansible_user=${server.user} ansible_port=${server.port}`)
        .replaceAll('--inventory lab', `--inventory lab --egress-port ${server.port}`)
        // The reader compares the fingerprint and agrees.
        .replace('svc inventory trust lab web1', 'svc inventory trust lab web1 --yes'),
  });
}

/** The web server of the second terminal is stopped where the tutorial says so, and started again. */
async function doCheck(t: TestContext, person: Reader): Promise<string> {
  const port = String(await freePort());
  let script = '';
  let server: ChildProcess | null = null;
  const start = (): void => void (server = spawn('/bin/bash', ['-c', script], { stdio: 'ignore', detached: true }));
  const stop = async (): Promise<void> => {
    const child = server;
    server = null;
    if (child?.pid === undefined) return;
    const exit = once(child, 'exit');
    // Its shell and the server, as Ctrl+C does.
    process.kill(-child.pid, 'SIGKILL');
    await exit;
  };
  t.after(stop);
  const sees = (command: string, pattern: RegExp): Promise<unknown> =>
    until(`${command} shows ${pattern}`, async () => pattern.test(await person.look(command)));
  let isSnoozeOver = false;
  return followed(person, 'first-check', {
    typed: (text) => text.replaceAll('8000', port),
    begin: (text) => {
      if (!text.includes('http.server')) return false;
      // The folder of its variables is another terminal's by the time that it starts again.
      script = `ADDRESS=$(hostname -I | cut -d' ' -f1)\n${text}`;
      start();
      return true;
    },
    before: async ({ command }) => {
      if (command.includes('svc check get')) await sees('svc check get site', /home +up /);
      if (command.includes('svc check list')) {
        await stop();
        await sees('svc event list --source check', /fired/);
        await sees('svc job list', /succeeded/);
      }
      isSnoozeOver ||= command.includes('--for 0');
      if (!isSnoozeOver || !command.includes('svc event list')) return;
      start();
      await sees('svc event list --source check', /resolved/);
    },
  });
}

describe('The tutorials', () => {
  test('can be done one after the other', async (t) => {
    const person = await reader(t, run);
    const job = await followed(person, 'first-job');
    assert.match(job, /Permission denied/);
    assert.match(job, /"kind":"job.list"/);

    const rule = await followed(person, 'first-rule');
    for (const word of ['ignored', 'gated', 'suppressed', 'Mounted on']) assert.ok(rule.includes(word), word);

    if (needs(TERRAFORM) !== false) return;
    const plan = await followed(person, 'first-plan');
    assert.match(plan, /1 to destroy/);
    assert.match(plan, /The workspace moved on after the plan art_/);
  });

  test('a first playbook runs on a host over SSH', { skip: needs('ansible-playbook', 'sshd', 'ssh') }, async (t) => {
    const playbook = await doPlaybook(t, await reader(t, run));
    for (const words of [/web1 .*ok=2 /, /web2 .*unreachable=1/, /degraded, exit code 4/, /load average/])
      assert.match(playbook, words);
  });

  test('a first check reports an outage', { skip: needs('an address that is not loopback') }, async (t) => {
    const check = await doCheck(t, await reader(t, run));
    for (const words of [/ up /, / down /, /outage: home/, /in 1h/, /resolved/]) assert.match(check, words);
  });

  test('leave nothing in the clone', () => {
    const written = /(?:>|mkdir(?: -p)?) *(?!~|\/)[\w.]/;
    for (const name of ['first-rule', 'first-plan', 'first-check', 'first-playbook']) {
      const text = readFileSync(join(ROOT, 'docs', 'tutorial', `${name}.md`), 'utf8');
      assert.ok(
        text.search(/cd ~\//) >= 0 && text.search(/cd ~\//) < text.search(written),
        `${name} writes into the clone`,
      );
    }
  });
});

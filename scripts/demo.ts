/**
 * The whole main job in one command: starts a daemon on a temporary data directory, mints a token, queues a real
 * command through the HTTP API, follows its output live, prints how it ended. `--keep` leaves the daemon running.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const SVC = join(import.meta.dirname, '..', 'bin', 'svc');
const READY_LIMIT_MS = 30_000;
const JOB_LIMIT_MS = 60_000;
const COMMAND = ['/bin/sh', '-c', 'for i in 1 2 3; do echo "step $i of 3 on $(uname -n)"; sleep 0.3; done; echo "job $SVC_JOB_ID is done"'];

interface Ready {
  readonly web_url: string;
  readonly pid: number;
}

interface Envelope<T> {
  readonly data: T;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function startDaemon(dataDir: string, keep: boolean): Promise<{ child: ChildProcess; ready: Ready }> {
  const log = join(dataDir, 'daemon.log');
  const logFd = openSync(log, 'a', 0o600);
  const args = ['serve', '--data-dir', dataDir, '--web-addr', '127.0.0.1:0', '--ingress-addr', '127.0.0.1:0', '--output', 'json'];
  const child = spawn(SVC, args, { stdio: ['ignore', 'pipe', logFd], detached: keep });
  const ready = await new Promise<Ready>((resolve, reject) => {
    createInterface({ input: child.stdout ?? process.stdin }).once('line', (line) => {
      const told = JSON.parse(line) as Envelope<Ready | undefined>;
      if (told.data === undefined) reject(new Error(`the daemon did not start: ${line}`));
      else resolve(told.data);
    });
    child.once('exit', (code) => reject(new Error(`the daemon ended with ${code}; its log is ${log}`)));
    AbortSignal.timeout(READY_LIMIT_MS).addEventListener('abort', () => reject(new Error('the daemon was not ready in 30 s')));
  });
  return { child, ready };
}

/** Runs a verb of the command line and answers the data of its envelope. */
async function svc<T>(dataDir: string, ...args: string[]): Promise<T> {
  const child = spawn(SVC, [...args, '--data-dir', dataDir, '--output', 'json'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  return (JSON.parse(text) as Envelope<T>).data;
}

/** Prints the log lines of the stream as they come; answers the data of its last event. */
async function follow(url: string, headers: Record<string, string>): Promise<{ state: string; exit_code: number | null }> {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(JOB_LIMIT_MS) });
  if (!response.ok || response.body === null) throw new Error(`the stream answered ${response.status}: ${await response.text()}`);
  let buffer = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (buffer + text).split('\n\n');
    buffer = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1] ?? '{}';
      if (event === 'end') return JSON.parse(data) as { state: string; exit_code: number | null };
      if (event === 'log') say(`   | ${(JSON.parse(data) as { text: string }).text}`);
      if (event === 'state') say(`   . ${(JSON.parse(data) as { state: string }).state}`);
    }
  }
  throw new Error('the stream ended before the job did');
}

async function main(keep: boolean): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-demo-'));
  say(`1. Starting the daemon on ${dataDir} ...`);
  const { child, ready } = await startDaemon(dataDir, keep);
  try {
    say(`   ready on ${ready.web_url}`);
    say('2. Minting an operator token (svc token create) ...');
    const { token } = await svc<{ token: string }>(dataDir, 'token', 'create', '--name', 'demo', '--scope', 'operator');
    const headers = { authorization: `Bearer ${token}` };
    say('3. Queueing a command (POST /api/v1/commands/run) ...');
    const answer = await fetch(`${ready.web_url}/api/v1/commands/run`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ inventory: 'localhost', command: COMMAND }),
    });
    if (answer.status !== 202) throw new Error(`the request answered ${answer.status}: ${await answer.text()}`);
    const { job_id: jobId } = ((await answer.json()) as Envelope<{ job_id: string }>).data;
    say(`4. Following ${jobId} (GET /api/v1/jobs/${jobId}/stream) ...`);
    const end = await follow(`${ready.web_url}/api/v1/jobs/${jobId}/stream`, headers);
    say(`5. The job ${end.state}, exit code ${end.exit_code}.`);
    if (keep) say(`\nStill running: ${ready.web_url}\nToken: ${token}\nStop it: kill ${ready.pid}   (its data: ${dataDir})`);
    return end.state === 'succeeded' ? 0 : 1;
  } finally {
    if (keep) {
      child.stdout?.destroy();
      child.unref();
    } else {
      child.kill('SIGTERM');
      if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve));
      rmSync(dataDir, { recursive: true, force: true });
    }
  }
}

process.exitCode = await main(process.argv.includes('--keep'));

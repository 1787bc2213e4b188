import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text as textOf } from 'node:stream/consumers';
import type { Phone } from './demo-phone.ts';

/** The daemon of the demo: how it is started and called. */

const SVC = join(import.meta.dirname, '..', 'bin', 'svc');
const DAEMON = join(import.meta.dirname, 'demo-daemon');
const READY_LIMIT_MS = 60_000;
const JOB_LIMIT_MS = 60_000;
/** Of a single request. */
export const ANSWER_LIMIT_MS = 60_000;
/** The settings of a real installation, such as its database, do not apply to the demo. */
const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_')));

interface Ready {
  readonly web_url: string;
  readonly ingress_url: string;
  readonly pid: number;
}

interface Envelope<T> {
  readonly data: T;
}

export interface JobEnd {
  readonly state: string;
  readonly exit_code: number | null;
}

/** What is there to be taken away again, as it comes. */
export interface Held {
  readonly folder: string;
  readonly dataDir: string;
  /** The one of the daemon's jobs. */
  readonly runsDir: string;
  /** The daemon and the verbs of the command line that are under way. */
  readonly running: Set<ChildProcess>;
  phone?: Phone;
  /** Nothing is started any more: it would make the directory again. */
  over?: true;
}

export interface Demo {
  readonly held: Held;
  readonly ready: Ready;
  readonly phone: Phone;
  readonly token: string;
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/**
 * In its own process group: a signal of the terminal is for the demo, which ends the others in order.
 */
function start(held: Held, program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  if (held.over) throw new Error('the demo is over');
  const child = spawn(program, args, { ...options, detached: true });
  held.running.add(child);
  child.once('exit', () => held.running.delete(child));
  return child;
}

/** Jobs of root run as another account, which may not get through the folder that TMPDIR names. */
export function ownRunsDir(folder: string): string {
  return process.getuid?.() === 0 ? mkdtempSync('/tmp/gatehouse-demo-runs-') : join(folder, 'runs');
}

/**
 * Starts it with this search path; `held` has its process from then on, whether it gets ready or not. The daemon
 * removes the directories of `held` when it ends.
 */
export async function startDaemon(held: Held, phone: Phone, path = process.env['PATH']): Promise<Ready> {
  const log = join(held.folder, 'daemon.log');
  const logFd = openSync(log, 'a', 0o600);
  const args = [
    held.folder,
    held.runsDir,
    'serve',
    '--data-dir',
    held.dataDir,
    '--runs-dir',
    held.runsDir,
    '--web-addr',
    '127.0.0.1:0',
    '--ingress-addr',
    '127.0.0.1:0',
    '--push-detail',
    'full',
    '--output',
    'json',
  ];
  const env = { ...ENVIRONMENT, PATH: path, SVC_NOTIFY: phone.url };
  const child = start(held, DAEMON, args, { stdio: ['ignore', 'pipe', logFd], env });
  return new Promise<Ready>((resolve, reject) => {
    createInterface({ input: child.stdout ?? process.stdin }).once('line', (line) => {
      const answer = JSON.parse(line) as Envelope<Ready | undefined>;
      if (answer.data === undefined) reject(new Error(`the daemon did not start: ${line}`));
      else resolve(answer.data);
    });
    // The log is removed with its folder.
    child.once('exit', (code) => reject(new Error(`the daemon ended with ${code}; its log:\n${textOfFile(log)}`)));
    AbortSignal.timeout(READY_LIMIT_MS).addEventListener('abort', () =>
      reject(new Error('the daemon was not ready within a minute')),
    );
  });
}

function textOfFile(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** Runs a verb of the command line and answers the data of its envelope. */
export async function svc<T>(held: Held, ...args: string[]): Promise<T> {
  const child = start(held, SVC, [...args, '--data-dir', held.dataDir, '--output', 'json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: ENVIRONMENT,
  });
  const answer = JSON.parse(await textOf(child.stdout ?? process.stdin)) as Envelope<T | undefined>;
  if (answer.data === undefined) throw new Error(`svc ${args[0]} ${args[1]}: ${JSON.stringify(answer)}`);
  return answer.data;
}

/** Asks the API, with a POST where there is a body, and answers the data of its envelope. */
export async function api<T>({ ready, token }: Pick<Demo, 'ready' | 'token'>, path: string, body?: object): Promise<T> {
  return read<T>(`${ready.web_url}/api/v1${path}`, { authorization: `Bearer ${token}` }, body);
}

export async function read<T>(url: string, headers: Record<string, string>, body?: object): Promise<T> {
  const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
  const sent =
    body === undefined
      ? { headers }
      : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(url, { ...sent, signal });
  if (!answer.ok) throw new Error(`the request answered ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as Envelope<T>).data;
}

/** Prints the log lines of the stream as they come; answers the data of its last event. */
export async function follow({ ready, token }: Demo, jobId: string): Promise<JobEnd> {
  const url = `${ready.web_url}/api/v1/jobs/${jobId}/stream`;
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(JOB_LIMIT_MS),
  });
  if (!response.ok || response.body === null)
    throw new Error(`the stream answered ${response.status}: ${await response.text()}`);
  let buffer = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (buffer + text).split('\n\n');
    buffer = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1] ?? '{}';
      if (event === 'end') return JSON.parse(data) as JobEnd;
      if (event === 'log') say(`   | ${(JSON.parse(data) as { text: string }).text}`);
      if (event === 'state') say(`   . ${(JSON.parse(data) as { state: string }).state}`);
    }
  }
  throw new Error('the stream ended before the job did');
}

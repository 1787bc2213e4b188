import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text as textOf } from 'node:stream/consumers';
import type { DemoFolders } from './demo-folders.ts';
import type { Phone } from './demo-phone.ts';
import { answered, DemoError, sentenceOf, within } from './demo-wait.ts';

/** The daemon of the demo: how it is started and called. */

const SVC = join(import.meta.dirname, '..', 'bin', 'svc');
const DAEMON = join(import.meta.dirname, 'demo-daemon');
const READY_LIMIT_MS = 60_000;
const JOB_LIMIT_MS = 60_000;
/** Of a verb of the command line, which is a program that has to start. */
const VERB_LIMIT_MS = 60_000;
/** Of a single request. */
export const ANSWER_LIMIT_MS = 60_000;
/** The settings of a real installation, such as its database, do not apply to the demo. */
const ENVIRONMENT = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_')));

interface Ready {
  readonly web_url: string;
  readonly ingress_url: string;
  readonly pid: number;
}

/** Has one of the two. */
interface Envelope {
  readonly data?: unknown;
  readonly error?: { readonly message: string };
}

export interface JobEnd {
  readonly state: string;
  readonly exit_code: number | null;
}

/** What is there to be taken away again, as it comes. */
export interface Held {
  readonly folders: DemoFolders;
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
  /** Else jobs are privileged. */
  readonly isSandboxed: boolean;
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/**
 * In its own process group: a signal of the terminal is for the demo, which ends the others in order.
 */
function start(held: Held, program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  if (held.over) throw new DemoError('the demo is over');
  const child = spawn(program, args, { ...options, detached: true });
  held.running.add(child);
  // One of the two comes: the error of a program that cannot be started, whose output is empty then.
  for (const end of ['exit', 'error'] as const) child.once(end, () => held.running.delete(child));
  return child;
}

/** The started daemon. */
interface Daemon {
  readonly ready: Ready;
  /** Rejects when the daemon ends. */
  readonly ended: Promise<never>;
}

/**
 * Starts it with this search path; `held` has its process from then on, whether it gets ready or not. The daemon
 * removes the directories of `held` when it ends.
 */
export async function startDaemon(held: Held, phone: Phone, path: string): Promise<Daemon> {
  const { folders } = held;
  const args = [
    folders.own,
    folders.open,
    'serve',
    '--data-dir',
    folders.data,
    '--runs-dir',
    folders.runs,
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
  const child = start(held, DAEMON, args, { stdio: ['pipe', 'pipe', openSync(folders.log, 'a', 0o600)], env });
  const ended = new Promise<never>((_resolve, reject) => {
    child.once('exit', (code) => reject(new DemoError(`the daemon ended with ${code}`)));
    child.once('error', (error) => reject(new DemoError(`the daemon cannot be started: ${sentenceOf(error)}`)));
  });
  // It counts only while something waits for it.
  ended.catch(() => undefined);
  const line = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout ?? process.stdin }).once('line', resolve);
  });
  const first = await within(Promise.race([line, ended]), READY_LIMIT_MS, 'the address of the daemon');
  return { ready: dataOf('the daemon', first) as Ready, ended };
}

/** Of what a program printed as its envelope. */
function dataOf(what: string, printed: string): unknown {
  let envelope: Envelope;
  try {
    envelope = JSON.parse(printed) as Envelope;
  } catch {
    throw new DemoError(`${what} printed no answer${printed === '' ? '' : `, but: ${printed}`}`);
  }
  if (envelope.data === undefined) throw new DemoError(`${what} answered: ${envelope.error?.message ?? printed}`);
  return envelope.data;
}

/** Runs a verb of the command line, of two words, and answers the data of its envelope. */
export async function svc<T>(held: Held, area: string, verb: string, ...args: string[]): Promise<T> {
  const words = [area, verb, '--data-dir', held.folders.data, '--output', 'json', ...args];
  const child = start(held, SVC, words, { stdio: ['ignore', 'pipe', 'inherit'], env: ENVIRONMENT });
  const what = `svc ${area} ${verb}`;
  const output = textOf(child.stdout ?? process.stdin);
  return dataOf(what, await within(output, VERB_LIMIT_MS, `the output of ${what}`)) as T;
}

/** Asks the API, with a POST where there is a body, and answers the data of its envelope. */
export async function api<T>({ ready, token }: Pick<Demo, 'ready' | 'token'>, path: string, body?: object): Promise<T> {
  return read<T>(`${ready.web_url}/api/v1${path}`, { authorization: `Bearer ${token}` }, body);
}

export function read<T>(url: string, headers: Record<string, string>, body?: object): Promise<T> {
  const sent =
    body === undefined
      ? { headers }
      : { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  // The path of a webhook is a secret.
  const what = new URL(url).pathname.replace(/^(\/hook\/).*/, '$1…');
  return answered(`the answer of ${what}`, ANSWER_LIMIT_MS, async (signal) => {
    const answer = await fetch(url, { ...sent, signal });
    return dataOf(what, await answer.text()) as T;
  });
}

/** Prints the log lines of the stream as they come; answers the data of its last event. */
export function follow({ ready, token }: Demo, jobId: string): Promise<JobEnd> {
  return answered(`the end of ${jobId}`, JOB_LIMIT_MS, async (signal) => {
    const url = `${ready.web_url}/api/v1/jobs/${jobId}/stream`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal });
    if (!response.ok || response.body === null)
      throw new DemoError(`the stream of ${jobId} answered ${response.status}: ${await response.text()}`);
    let buffer = '';
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      const blocks = (buffer + text).split('\n\n');
      buffer = blocks.pop() ?? '';
      const end = blocks.map(show).find((each) => each !== null);
      if (end !== undefined) return requireSuccess(jobId, end);
    }
    throw new DemoError(`the stream of ${jobId} ended before the job did`);
  });
}

/** Prints an event of the stream of a job; answers the end of the job, which is its last event. */
function show(block: string): JobEnd | null {
  const event = /^event: (.*)$/m.exec(block)?.[1];
  const data = /^data: (.*)$/m.exec(block)?.[1] ?? '{}';
  if (event === 'end') return JSON.parse(data) as JobEnd;
  if (event === 'log') say(`   | ${(JSON.parse(data) as { text: string }).text}`);
  if (event === 'state') say(`   . ${(JSON.parse(data) as { state: string }).state}`);
  return null;
}

/** What follows in the story depends on the job. */
function requireSuccess(jobId: string, end: JobEnd): JobEnd {
  if (end.state === 'succeeded') return end;
  throw new DemoError(`${jobId} ${end.state}; its lines above give the reason`);
}

/** The real daemon as a child process, on its own data directory. */
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { HEAP_GROWING } from '../../src/app/run/start-memory.ts';
import { HttpConnection, requestBytes, type HttpResponse } from './http-client.ts';
import { SVC } from './program.ts';
import { cleanEnvironment, end, runsDirFor, start, tempDir } from './scratch.ts';
import { monotonicMs } from './time.ts';

const script = readFileSync(SVC, 'utf8');
/** The flags of Node in a server, for a daemon inside a program of the bench. */
export const NODE_FLAGS: readonly string[] = [
  ...(script.match(/--max-semi-space-size=\d+/g) ?? []),
  `--min-semi-space-size=${/^ +y=(\d+)$/m.exec(script)?.[1] ?? ''}`,
  HEAP_GROWING,
];
const READY_WITHIN_MS = 60_000;
const API = '/api/v1';

export interface DaemonOptions {
  readonly dataDir?: string;
  readonly flags?: readonly string[];
  /** A shared PostgreSQL in place of the embedded SQLite. */
  readonly databaseUrl?: string;
  /** The key of the daemons that share a database; by default its own key. */
  readonly sealKeyFile?: string;
  /** The command that starts it; by default that of the package. */
  readonly svc?: string;
}

export interface Daemon {
  readonly pid: number;
  readonly dataDir: string;
  /** From the start of the process to its ready line, in milliseconds. */
  readonly readyMs: number;
  /** Absolute, of a path below /api/v1. */
  url(path: string): string;
  /** One request, as the operator unless other headers say so. `body` is sent as JSON. */
  ask(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<HttpResponse>;
  /** A verb of the command line on the data directory. */
  svc<T>(words: readonly string[]): Promise<T>;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the status page; empty without one. */
  readonly statusUrl: string;
  /** The headers of a new token that belongs to `owner`. */
  headersFor(owner: string, scope?: string): Promise<Record<string, string>>;
  stop(): Promise<void>;
  /** As a crash would end it. */
  kill(): Promise<void>;
}

interface Started {
  readonly child: ChildProcess;
  readonly webUrl: string;
  readonly statusUrl: string;
  readonly readyMs: number;
}

/** Starts the daemon and waits for its ready line. */
export async function startBare(
  dataDir: string,
  flags: readonly string[],
  env: NodeJS.ProcessEnv = cleanEnvironment(),
  command = SVC,
): Promise<Started> {
  const logFile = join(dataDir, 'bench-daemon.log');
  const log = openSync(logFile, 'a', 0o600);
  const args = [
    'serve',
    '--data-dir',
    dataDir,
    '--web-addr',
    '127.0.0.1:0',
    '--ingress-addr',
    '127.0.0.1:0',
    '--runs-dir',
    runsDirFor(dataDir),
    '--output',
    'json',
    ...flags,
  ];
  const before = monotonicMs();
  const child = start(command, args, { env, stdio: ['ignore', 'pipe', log] });
  closeSync(log);
  const line = await firstLine(child, logFile);
  const readyMs = monotonicMs() - before;
  const result = JSON.parse(line) as { data?: { web_url: string; status_url?: string } };
  if (result.data === undefined) throw new Error(`the daemon did not start: ${line}`);
  return { child, webUrl: result.data.web_url, statusUrl: result.data.status_url ?? '', readyMs };
}

function firstLine(child: ChildProcess, logFile: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`the daemon was not ready in ${READY_WITHIN_MS} ms`)),
      READY_WITHIN_MS,
    );
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      act();
    };
    if (child.stdout !== null)
      createInterface({ input: child.stdout }).once('line', (line) => settle(() => resolve(line)));
    child.once('error', (error) => settle(() => reject(error)));
    child.once('exit', (code) =>
      settle(() => reject(new Error(`the daemon ended with ${String(code)}; its log is ${logFile}`))),
    );
  });
}

/** Runs a verb of the command line on the data directory and answers the data of its envelope. */
async function svc<T>(dataDir: string, env: NodeJS.ProcessEnv, words: readonly string[]): Promise<T> {
  const child = start(SVC, [...words, '--data-dir', dataDir, '--output', 'json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  for await (const chunk of child.stdout ?? []) text += String(chunk);
  const result = JSON.parse(text) as { data?: T };
  if (result.data === undefined) throw new Error(`svc ${words.join(' ')} answered ${text}`);
  return result.data;
}

async function headersOf(
  dataDir: string,
  env: NodeJS.ProcessEnv,
  owner: string,
  scope = 'operator',
): Promise<Record<string, string>> {
  const { token } = await svc<{ token: string }>(dataDir, env, ['token', 'create', '--name', owner, '--scope', scope]);
  return { authorization: `Bearer ${token}` };
}

let made = 0;

export async function startDaemon(options: DaemonOptions = {}): Promise<Daemon> {
  const dataDir = options.dataDir ?? tempDir('data');
  const env = cleanEnvironment();
  if (options.databaseUrl !== undefined) env['SVC_DATABASE_URL'] = options.databaseUrl;
  if (options.sealKeyFile !== undefined) env['SVC_SEAL_KEY_FILE'] = options.sealKeyFile;
  const { child, webUrl, statusUrl, readyMs } = await startBare(dataDir, options.flags ?? [], env, options.svc);
  made += 1;
  const headers = await headersOf(dataDir, env, `bench-${process.pid}-${made}`);
  const url = (path: string): string => `${webUrl}${API}${path}`;
  return {
    pid: child.pid ?? 0,
    dataDir,
    readyMs,
    statusUrl,
    url,
    headers,
    svc: (words) => svc(dataDir, env, words),
    async ask(method, path, body, as = headers) {
      const connection = await HttpConnection.open(webUrl);
      try {
        const text = body === undefined ? {} : { body: JSON.stringify(body) };
        return await connection.send(requestBytes({ method, url: url(path), headers: as, ...text }));
      } finally {
        connection.close();
      }
    },
    headersFor: (owner, scope) => headersOf(dataDir, env, owner, scope),
    stop: () => end(child),
    kill: () => end(child, 'SIGKILL'),
  };
}

/** Throws when the status was another one. */
export function expectStatus({ status, body }: HttpResponse, expected: number): void {
  if (status !== expected) throw new Error(`answered ${status}, expected ${expected}: ${body.toString()}`);
}

/** The data that a GET answers. */
export async function getData<T>(daemon: Daemon, path: string): Promise<T> {
  const response = await daemon.ask('GET', path);
  expectStatus(response, 200);
  return (JSON.parse(response.body.toString()) as { data: T }).data;
}

/** Queues a command as the operator; answers the id of its job. */
export async function queueCommand(daemon: Daemon, command: readonly string[], timeout = '10m'): Promise<string> {
  const response = await daemon.ask('POST', '/commands/run', { inventory: 'localhost', command, timeout });
  expectStatus(response, 202);
  return (JSON.parse(response.body.toString()) as { data: { job_id: string } }).data.job_id;
}

/** A place that two builds use one after another: a data directory, perhaps a PostgreSQL database, and a seal key. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Api } from '../../support/api-client.ts';
import { type RunningDaemon, runsDirFor, spawnDaemon, type StartingDaemon } from '../../support/daemon.ts';
import type { Ending } from '../../support/fixtures/installation.ts';
import { patient } from '../../support/measure/slowness.ts';
import { freshDatabase } from '../../support/postgres/postgres.ts';
import { ROOT } from './builds.ts';

/** Of a verb that waits for a job, such as a run of terraform. */
const VERB_LIMIT_MS = 120_000;
/** An older build can hang on PostgreSQL after its answer: a listener that stopped while it connected never ended. */
const OLD_VERB_END_MS = 5_000;

export interface Program {
  /** The path of its `bin/svc`. */
  readonly svc: string;
  readonly isThisBuild: boolean;
}

export const THIS_BUILD: Program = { svc: join(ROOT, 'bin', 'svc'), isThisBuild: true };

export interface VerbAnswer {
  readonly exitCode: number | null;
  readonly text: string;
  /** Of the envelope, where the answer is one. */
  readonly data: unknown;
}

export interface Place {
  readonly dir: string;
  readonly databaseUrl: string | null;
  /** Starts a daemon that is not yet ready. Each number of a daemon has a separate data directory. */
  spawn(program: Program, args?: readonly string[], daemon?: number): StartingDaemon;
  /** Runs a verb on the machine. */
  svc(program: Program, words: readonly string[], input?: string): Promise<VerbAnswer>;
}

/** A daemon of a build with the tokens of the place. */
export interface Session {
  readonly place: Place;
  readonly program: Program;
  readonly daemon: RunningDaemon;
  readonly operator: Api;
  readonly approver: Api;
  /** Runs a verb, and rejects unless it ends with `exitCode`, by default 0. Answers the data of the envelope. */
  verb<T = unknown>(words: readonly string[], more?: { input?: string; exitCode?: number }): Promise<T>;
}

export async function openPlace(ending: Ending, postgres: boolean): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-upgrades-'));
  // Jobs of a daemon that is root pass through it, as another account.
  chmodSync(dir, 0o711);
  const database = postgres ? await freshDatabase() : null;
  const databaseUrl = database?.url ?? null;
  const started: StartingDaemon[] = [];
  ending.after(async () => {
    for (const daemon of started) {
      await daemon.kill();
      await daemon.helpersEnded();
    }
    await database?.drop();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  const sealKeyFile = join(dir, 'seal.key');
  const dataDir = (daemon: number): string => join(dir, `data${daemon}`);
  return {
    dir,
    databaseUrl,
    spawn({ svc, isThisBuild }, args = [], daemon = 1) {
      // By the environment, because the older ones of the builds would refuse the flag.
      const env = { SVC_RUNS_DIR: runsDirFor(dataDir(daemon)) };
      const build = isThisBuild ? {} : { otherBuild: svc };
      const child = spawnDaemon({ dataDir: dataDir(daemon), databaseUrl, sealKeyFile, args, env, ...build });
      started.push(child);
      return child;
    },
    svc: (program, words, input = '') =>
      runVerb(program, words, input, {
        SVC_DATA_DIR: dataDir(1),
        SVC_SEAL_KEY_FILE: sealKeyFile,
        SVC_OUTPUT: 'json',
        ...(databaseUrl === null ? {} : { SVC_DATABASE_URL: databaseUrl }),
      }),
  };
}

export interface Tokens {
  readonly operator: string;
  readonly approver: string;
}

/** Creates a token of each of the two persons with this build. */
export async function createTokens(place: Place, program: Program): Promise<Tokens> {
  const create = async (name: string, scope: string): Promise<string> => {
    const { data, text } = await place.svc(program, ['token', 'create', '--name', name, '--scope', scope]);
    const token = (data as { token?: string } | undefined)?.token;
    if (token === undefined) throw new Error(`no token was created: ${text}`);
    return token;
  };
  return { operator: await create('ana', 'operator'), approver: await create('ben', 'approve') };
}

export function sessionOf(place: Place, program: Program, daemon: RunningDaemon, tokens: Tokens): Session {
  return {
    place,
    program,
    daemon,
    operator: daemon.api(tokens.operator),
    approver: daemon.api(tokens.approver),
    async verb<T>(words: readonly string[], { input, exitCode = 0 }: { input?: string; exitCode?: number } = {}) {
      const answer = await place.svc(program, words, input);
      if (answer.exitCode !== exitCode)
        throw new Error(`svc ${words.join(' ')} ended with ${answer.exitCode}: ${answer.text}`);
      return answer.data as T;
    },
  };
}

/** A folder of the place that the jobs of every account can read. */
export function folderOf({ dir }: Place, name: string): string {
  const folder = join(dir, name);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  return folder;
}

async function runVerb(
  { svc, isThisBuild }: Program,
  words: readonly string[],
  input: string,
  settings: Readonly<Record<string, string>>,
): Promise<VerbAnswer> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'));
  const child = spawn(svc, words, {
    cwd: '/',
    env: { ...Object.fromEntries(inherited), ...settings },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: patient(VERB_LIMIT_MS),
  });
  let [stdout, stderr] = ['', ''];
  let hung: NodeJS.Timeout | undefined;
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    if (isThisBuild || dataOf(stdout) === undefined) return;
    hung ??= setTimeout(() => child.kill('SIGKILL'), patient(OLD_VERB_END_MS));
  });
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on('error', () => {}); // A verb that reads no input may have ended.
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(hung);
  const exitCode = code === null && hung !== undefined ? 0 : code;
  return { exitCode, text: `${stdout}${stderr}`, data: dataOf(stdout) };
}

function dataOf(stdout: string): unknown {
  try {
    return (JSON.parse(stdout) as { data?: unknown }).data;
  } catch {
    return undefined;
  }
}

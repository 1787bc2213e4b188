import { execFile } from 'node:child_process';
import type { ProgramFiles } from '../../domain/program.ts';

/** How a program on disk is tried before a daemon becomes it. */
interface Trial {
  /** The whole environment of the program, with the settings of the daemon. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The options of Node that the daemon was started with. */
  readonly nodeOptions: readonly string[];
  /** Its start would change the schema of the store, so that it cannot open it before. */
  readonly isNewer: boolean;
}

/** A busy machine needs a while for each of the three; the doctor reads the whole ledger. */
const LIMIT_MS = 120_000;
const OUTPUT_MAX_BYTES = 4 * 1024 * 1024;
const WORDS_MAX_CHARS = 300;

/** Entries of the doctor without which a daemon does not start; the second list where it can open the store. */
const NEEDED = ['data_dir'];
const NEEDED_OF_STORE = ['store', 'schema', 'seal'];

interface Ran {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Starts the program for its version, for the help of a server, whose code a bundle has in a separate file, and for a
 * health report. None of them changes anything. Resolves to null, or to the program's own words, without control
 * characters and credentials.
 */
export async function tryProgram(program: ProgramFiles, trial: Trial, signal: AbortSignal): Promise<string | null> {
  const version = await run(program, trial, ['version'], signal);
  const [, number] = /"version":"([^"]+)"/.exec(version.stdout) ?? [];
  if (!version.ok || number === undefined) return `svc version: ${words(version)}`;
  const server = await run(program, trial, ['serve', '--help'], signal);
  if (!server.ok) return `svc serve: ${words(server)}`;
  const doctor = await run(program, trial, ['doctor'], signal);
  const entries = entriesOf(doctor.stdout);
  if (entries === null) return `svc doctor: ${words(doctor)}`;
  const needed = trial.isNewer ? NEEDED : [...NEEDED, ...NEEDED_OF_STORE];
  const broken = entries.find(({ name, status }) => needed.includes(name) && status === 'fail');
  return broken === undefined ? null : clean(`svc doctor: ${broken.name}: ${broken.detail}`);
}

function run(program: ProgramFiles, trial: Trial, verb: readonly string[], signal: AbortSignal): Promise<Ran> {
  const args = [...trial.nodeOptions, program.main, ...verb, '--output', 'json', '--no-input'];
  const options = {
    env: { ...trial.environment },
    cwd: '/',
    timeout: LIMIT_MS,
    maxBuffer: OUTPUT_MAX_BYTES,
    killSignal: 'SIGKILL',
    signal,
  } as const;
  return new Promise((resolve) => {
    execFile(program.executable, args, options, (error, stdout, stderr) =>
      resolve({ ok: error === null, stdout, stderr: stderr === '' ? (error?.message ?? '') : stderr }),
    );
  });
}

interface Entry {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
}

/** Null where that is no health report. */
function entriesOf(text: string): readonly Entry[] | null {
  try {
    const { data } = JSON.parse(text) as { data?: unknown };
    return Array.isArray(data) ? (data as readonly Entry[]) : null;
  } catch {
    return null;
  }
}

/** The line that says what is wrong: Node shows the source of a fault first. */
function words({ stdout, stderr }: Ran): string {
  const lines = `${stderr}\n${stdout}`.split('\n').filter((line) => line.trim() !== '');
  return clean(lines.find((line) => /^\w*Error\b/.test(line)) ?? lines[0] ?? 'it ended without a word');
}

function clean(text: string): string {
  const safe = text.replaceAll(/\/\/[^/@\s]*@/g, '//').replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ');
  return safe.trim().slice(0, WORDS_MAX_CHARS);
}

/** The service of the guest, as its unit runs it, and what the checks ask of systemd. Everything runs as root. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Api, createApi } from '../../../../support/api-client.ts';

export const UNIT = 'gatehouse.service';
export const DATA_DIR = '/var/lib/gatehouse';
/** The control group of the service. */
export const GROUP = `/sys/fs/cgroup/system.slice/${UNIT}`;
export const FLOOR_PORT = 8430;
const WEB_URL = 'http://127.0.0.1:8420';
const DROP_IN = `/etc/systemd/system/${UNIT}.d/checks.conf`;
/** The next boot of the same disk uses it too. */
const TOKEN_FILE = '/root/token';
/** An emulated machine starts a daemon in a minute. */
const PROGRAM_MS = 600_000;

/** What the program prints. Fails where it does not end with 0. */
export function run(program: string, ...words: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, words, { encoding: 'utf8', timeout: PROGRAM_MS });
  assert.equal(status, 0, `${program} ${words.join(' ')}: ${error?.message ?? `${stdout}${stderr}`}`);
  return stdout;
}

/** The command line of the service, as its account. */
export function svc(...words: string[]): string {
  return run('runuser', '-u', 'gatehouse', '--', 'env', `SVC_DATA_DIR=${DATA_DIR}`, 'svc', ...words);
}

/** A property of the unit. */
export function property(name: string): string {
  return run('systemctl', 'show', '--value', '--property', name, UNIT).trim();
}

export const mainPid = (): number => Number(property('MainPID'));

/** Of an operator. The first call makes its token. */
export function openApi(): Api {
  if (!existsSync(TOKEN_FILE)) {
    const token = svc('token', 'create', '--name', 'checks', '--scope', 'operator').trim();
    writeFileSync(TOKEN_FILE, token, { mode: 0o600 });
  }
  return createApi(WEB_URL, readFileSync(TOKEN_FILE, 'utf8'));
}

/** Restarts the service with these lines in its section, besides those of the unit; without, as the unit is. */
export async function restartWith(...lines: string[]): Promise<void> {
  rmSync(DROP_IN, { force: true });
  mkdirSync(dirname(DROP_IN), { recursive: true });
  if (lines.length > 0) writeFileSync(DROP_IN, `[Service]\n${lines.join('\n')}\n`);
  run('systemctl', 'daemon-reload');
  run('systemctl', 'restart', UNIT);
  // The connection to the daemon before it is used up by this request.
  await fetch(WEB_URL).catch(() => null);
}

/** What a job printed, by stream. */
export async function outputOf(api: Api, id: string): Promise<Record<'stdout' | 'stderr' | 'system', string>> {
  const all = { stdout: '', stderr: '', system: '' };
  for (const { type, stream, text } of await api.events(id))
    if (type === 'log' && stream !== undefined) all[stream] += `${text ?? ''}\n`;
  return all;
}

/** Runs a shell script as a job to its end, and answers what it printed. */
export async function ran(api: Api, script: string): Promise<string> {
  const id = await api.run(['sh', '-c', script]);
  const { state } = await api.waitFor(id);
  const { stdout, stderr, system } = await outputOf(api, id);
  assert.equal(state, 'succeeded', `${stdout}${stderr}${system}`);
  return stdout;
}

interface Entry {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
}

/** An entry of the doctor of the running service. */
export async function entry(api: Api, name: string): Promise<Entry> {
  const { data } = await api.get<Entry[]>('/health');
  return data.find((each) => each.name === name) ?? assert.fail(`the doctor has no entry ${name}`);
}

/** What the service logged since this time of the system's clock, in milliseconds. */
export function journalSince(ms: number): string {
  return run('journalctl', '--unit', UNIT, '--output', 'cat', '--since', `@${Math.floor(ms / 1_000)}`);
}

/** Of all processes. */
export function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(commandLine);
}

/** Empty for a process that is gone. */
function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

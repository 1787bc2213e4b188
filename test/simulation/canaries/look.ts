import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { AREAS_BY_NAME } from '../areas/areas.ts';
import type { Copy } from './copy.ts';

export interface Found {
  /** That broke first; null where none did. */
  readonly rule: string | null;
  /** How many were run. */
  readonly seeds: number;
  readonly seconds: number;
  /** What the rule saw, or why the canary was not found. */
  readonly what: string;
}

/** It is only there where each daemon has a lease and a machine. */
const OF_POSTGRES = '.postgres.diff';
/** Of one canary. A seed takes half a second to two. */
const LIMIT_MS = 7_200_000;
const WHAT_CHARS = 100;

/** Plants the fault of a diff below this folder in the copy, and runs seeds from 1 on, until one breaks a rule. */
export function lookFor(copy: Copy, path: string, seeds: number): Found {
  const began = performance.now();
  const result = (rule: string | null, ran: number, what: string): Found => {
    const seconds = (performance.now() - began) / 1_000;
    return { rule, seeds: ran, seconds, what: what.slice(0, WHAT_CHARS) };
  };
  copy.restore();
  const refusal = plant(copy.root, path);
  if (refusal !== null) return result(null, 0, `the diff does not apply: ${refusal}`);
  const main = join(copy.root, 'test', 'simulation', 'main.ts');
  const area = dirname(path);
  const focus = AREAS_BY_NAME.has(area) ? ['--with', area] : [];
  const store = path.endsWith(OF_POSTGRES) ? ['--store', 'postgres'] : [];
  const args = ['--disable-warning=ExperimentalWarning', main, '--count', String(seeds), '--stop', ...store, ...focus];
  const ran = spawnSync(process.execPath, args, { cwd: copy.root, encoding: 'utf8', timeout: LIMIT_MS });
  const count = Number(/^(\d+) seeds, /m.exec(ran.stdout)?.[1] ?? 0);
  const [, rule, what = ''] = /^seed \d+ breaks (\w+): (.*)$/m.exec(ran.stdout) ?? [];
  if (rule !== undefined) return result(rule, count, what);
  if (ran.status === 0) return result(null, count, 'no seed broke a rule');
  return result(null, count, `the simulation ended with an error: ${lastLine(ran.stderr)}`);
}

/** Null where it is planted, else why it is not. */
function plant(root: string, path: string): string | null {
  const diff = join(root, 'test', 'simulation', 'canaries', path);
  // Without a ceiling, a repository around the temporary folder would be meant.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(root) };
  const { status, stderr, error } = spawnSync('git', ['apply', diff], { cwd: root, encoding: 'utf8', env });
  return status === 0 ? null : (error?.message ?? lastLine(stderr));
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

import assert from 'node:assert/strict';
import ffi from 'node:ffi';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { HOSTILE } from '../../support/attacks/hostile/all.ts';
import type { Ground, Hostile } from '../../support/attacks/hostile/corpus.ts';
import { HostileServer } from '../../support/attacks/hostile/server.ts';
import { Failure } from '../../../src/domain/failure.ts';
import { createLauncher, type Launcher } from '../../../src/runners/launch/launch.ts';
import { needs } from '../../support/tools.ts';
import { fetchGit } from '../../../src/runners/checkout/git/git.ts';
import { GIT_PROTOCOLS } from '../../../src/runners/checkout/git/url.ts';

/**
 * What the repository of a stranger may cost: processor time of git and of this process, and memory of a process of
 * git.
 */
const WITHIN_MS = 5_000;
const MEMORY_BYTES = 200_000_000;
/** A machine that does something else for a while is no fault of a repository. */
const TRIES = 3;

/** `all` walks every repository (about a minute) and prints what came of each; `npm run corpus` sets it. */
const EXTENT = process.env['GATEHOUSE_CORPUS'] ?? 'some';
/** Otherwise each fourth one is walked, and these: one of each kind that the service itself has to stop. */
const EACH = 4;
const ALWAYS: ReadonlySet<string> = new Set([
  'link: 339 that wind through each other',
  'tree: a billion empty folders in ten objects',
  'commit: a message of 2 MiB',
  'pack: a difference of 20 KB that makes 1.3 GB',
  'server: leads to another port',
  'files: objects that lie in a repository beside it',
]);
const ROWS = HOSTILE.filter(({ name }, n) => EXTENT === 'all' || n % EACH === 0 || ALWAYS.has(name));

let base: string;
let launcher: Launcher;
let ground: Ground;
let count = 0;
before(async () => {
  base = mkdtempSync(join(tmpdir(), 'gatehouse-corpus-'));
  launcher = createLauncher();
  ground = { folder, server: await new HostileServer().listen(), marker: join(base, 'marker') };
});
after(async () => {
  ground.server.close();
  rmSync(base, { recursive: true });
});

function folder(): string {
  const path = join(base, `g${(count += 1)}`);
  mkdirSync(path);
  return path;
}

/** The words of the refusal, or the files that came out with their modes. */
async function outcomeOf(built: { readonly url: string; readonly ref?: string }): Promise<string | string[]> {
  const into = folder();
  try {
    const protocols = [...GIT_PROTOCOLS, 'file', 'http'];
    const { tree } = await fetchGit({ url: built.url, ref: built.ref ?? null, into, launcher, protocols });
    return filesBelow(tree);
  } catch (error) {
    assert.ok(error instanceof Failure, String(error));
    assert.doesNotMatch(error.message, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    return error.message;
  } finally {
    rmSync(into, { recursive: true });
  }
}

function filesBelow(tree: string): string[] {
  const paths = readdirSync(tree, { recursive: true, encoding: 'utf8' }).toSorted();
  return paths.map((path) => `${path} ${(lstatSync(join(tree, path)).mode & 0o7777).toString(8)}`);
}

function isExpected(outcome: string | string[], expected: Hostile['expected']): boolean {
  if (typeof outcome === 'string') return expected instanceof RegExp && expected.test(outcome);
  const names = outcome.map((line) => line.slice(0, line.lastIndexOf(' ')));
  if (expected instanceof RegExp) return expected.test(names.join('\n'));
  const wanted = expected.toSorted();
  return wanted.join('\n') === names.toSorted().join('\n') || wanted.join('\n') === outcome.toSorted().join('\n');
}

/** Answers what is wrong; null when it was refused or harmless as expected, in time. */
async function walk(row: Hostile): Promise<string | null> {
  const built = row.build(ground);
  for (let attempt = 1; ; attempt += 1) {
    const began = performance.now();
    const before = processorMs();
    const bytesBefore = process.memoryUsage.rss();
    ownPeakBytes = bytesBefore;
    const outcome = await outcomeOf(built);
    const took = processorMs() - before;
    grownBytes = Math.max(grownBytes, ownPeakBytes - bytesBefore);
    const shown = typeof outcome === 'string' ? outcome : outcome.slice(0, 10).join(', ');
    if (EXTENT === 'all')
      console.log(
        `${took.toFixed(0)} ms of processors, ${(performance.now() - began).toFixed(0)} ms: ${row.name}: ${shown}`,
      );
    if (!isExpected(outcome, row.expected)) return `${row.name}: ${shown}`;
    if (took <= WITHIN_MS) return null;
    if (attempt === TRIES) return `${row.name}: took ${took.toFixed(0)} ms`;
  }
}

const RUSAGE_CHILDREN = -1;
const { functions } = ffi.dlopen(null, { getrusage: { arguments: ['i32', 'pointer'], return: 'i32' } });

/** Of the children of this process that have ended, and of theirs. */
function usageOfChildren(): Buffer {
  const usage = Buffer.alloc(144);
  assert.equal(functions.getrusage(RUSAGE_CHILDREN, ffi.getRawPointer(usage)), 0);
  return usage;
}

/** Processor time of this process and its children, in milliseconds. */
function processorMs(): number {
  const [userS = 0, userUs = 0, systemS = 0, systemUs = 0] = [0, 8, 16, 24].map((at) =>
    Number(usageOfChildren().readBigInt64LE(at)),
  );
  const own = process.cpuUsage();
  return (userS + systemS) * 1_000 + (userUs + systemUs + own.user + own.system) / 1_000;
}

/** Between two looks at the memory of git, in milliseconds. */
const LOOK_EVERY_MS = 10;
let peakBytes = 0;
/**
 * Of this process, which also is the server: during the walk of one repository, and the most that it grew by in one.
 */
let ownPeakBytes = 0;
let grownBytes = 0;

/** Notes the most memory that a process of git had so far: what its own limit allows at most is 190 MiB. */
function lookAtMemory(pid: number | 'self'): void {
  for (const child of textOf(`/proc/${pid}/task/${pid === 'self' ? process.pid : pid}/children`)
    .split(' ')
    .filter((text) => text !== '')) {
    const status = textOf(`/proc/${child}/status`);
    if (status.startsWith('Name:\tgit'))
      peakBytes = Math.max(peakBytes, Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024);
    lookAtMemory(Number(child));
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

describe('repositories of somebody who wants more than to be read', () => {
  it('T69, T70: are refused or harmless, each within 5 s and 200 MB', { skip: needs('git') }, async () => {
    assert.ok(HOSTILE.length >= 80, String(HOSTILE.length));
    assert.equal(new Set(HOSTILE.map(({ name }) => name)).size, HOSTILE.length);
    const wrong: string[] = [];
    const looking = setInterval(() => {
      lookAtMemory('self');
      ownPeakBytes = Math.max(ownPeakBytes, process.memoryUsage.rss());
    }, LOOK_EVERY_MS);
    // Not at the end: a failed test would never end.
    looking.unref();
    for (const row of ROWS) {
      const problem = await walk(row);
      if (problem !== null) wrong.push(problem);
    }
    assert.deepEqual(wrong, []);
    assert.deepEqual(ground.server.strays, [], 'a redirect was followed');
    assert.equal(existsSync(ground.marker), false, 'something of a repository ran');
    clearInterval(looking);
    if (EXTENT === 'all')
      console.log(
        `${ROWS.length} repositories; at most ${peakBytes} bytes of a process of git, ${grownBytes} more of this one`,
      );
    assert.ok(peakBytes > 1_000_000 && peakBytes <= MEMORY_BYTES, `git had ${peakBytes} bytes`);
    assert.ok(grownBytes <= MEMORY_BYTES, `this process grew by ${grownBytes} bytes`);
  });
});

import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { State } from '../../domain/workspace.ts';
import { pause, type Clock } from '../../lib/clock.ts';
import { isWithin } from '../../lib/within.ts';

/** Where terraform keeps the state of a root without a backend, below its folder. */
export const STATE_FILE = 'terraform.tfstate';
/** What terraform leaves behind when it could not write the state where it belongs. */
export const ERRORED_STATE_FILE = 'errored.tfstate';
/** A state of 10,000 resources has some 20 MB. */
export const STATE_MAX_BYTES = 128 * 1024 * 1024;
/** How often a running apply's state is looked at, in milliseconds. */
const LOOK_EVERY_MS = 250;
/** Keeping a large state takes its time: so many times that long passes until the next look. */
const REST_FACTOR = 10;

/** Reads a state. Null for what is no whole state: terraform may be writing it at this moment. */
export function parseState(bytes: Buffer): State | null {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch {
    return null;
  }
  if (typeof json !== 'object' || json === null) return null;
  const { serial, lineage, resources } = json as { serial?: unknown; lineage?: unknown; resources?: unknown };
  if (typeof serial !== 'number' || !Number.isSafeInteger(serial) || serial < 0 || typeof lineage !== 'string') return null;
  return { bytes, serial, lineage, resources: countInstances(resources) };
}

/** A resource with `count` or `for_each` stands once, with its instances in it. */
function countInstances(resources: unknown): number {
  if (!Array.isArray(resources)) return 0;
  return resources.reduce<number>((sum, each: { instances?: unknown } | null) => sum + (Array.isArray(each?.instances) ? each.instances.length : 0), 0);
}

/**
 * The state in a folder of the run; null when there is none, or none that is whole. A job writes here as it likes: a
 * link is not followed, and a folder that leads out of `within` is not read.
 */
export async function readState(within: string, folder: string, name: string = STATE_FILE): Promise<State | null> {
  try {
    const real = await realpath(folder);
    if (!isWithin(real, await realpath(within))) return null;
    return parseState(await readWhole(join(real, name), STATE_MAX_BYTES));
  } catch {
    return null;
  }
}

/** A regular file of the run, up to `limitBytes`. Rejects for a link, another kind of file, and a larger one. */
export async function readWhole(path: string, limitBytes: number): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > limitBytes) throw new Error(`${path} is no file of at most ${limitBytes} bytes`);
    const bytes = Buffer.alloc(stats.size);
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  } finally {
    await file.close();
  }
}

/** Where a running apply keeps its state. */
export interface StatePlace {
  /** A folder that leads out of this is not read. */
  readonly within: string;
  readonly folder: string;
}

/**
 * Hands over the state of a running apply whenever it has changed, until `signal` aborts. Resolves once it has seen what
 * there is at the beginning; `ended` never rejects.
 */
export async function watchState(
  place: StatePlace,
  clock: Clock,
  keep: (state: State) => Promise<void>,
  signal: AbortSignal,
): Promise<{ readonly ended: Promise<void> }> {
  const seen = await look(place.folder);
  return { ended: watch(place, clock, keep, seen, signal) };
}

async function watch(place: StatePlace, clock: Clock, keep: (state: State) => Promise<void>, first: string, signal: AbortSignal): Promise<void> {
  let seen = first;
  let restMs = LOOK_EVERY_MS;
  while (await pause(clock, restMs, signal)) {
    const now = await look(place.folder);
    if (now === seen) continue;
    const began = clock.monotonic();
    const state = await readState(place.within, place.folder);
    // Half a file is looked at again, and so is what could not be kept.
    if (state !== null && (await kept(keep, state))) seen = now;
    restMs = Math.max(LOOK_EVERY_MS, (clock.monotonic() - began) * REST_FACTOR);
  }
}

async function kept(keep: (state: State) => Promise<void>, state: State): Promise<boolean> {
  try {
    await keep(state);
    return true;
  } catch {
    return false;
  }
}

/** Tells one version of the file from another. */
async function look(folder: string): Promise<string> {
  try {
    const { mtimeNs, size, ino } = await stat(join(folder, STATE_FILE), { bigint: true });
    return `${mtimeNs} ${size} ${ino}`;
  } catch {
    return '';
  }
}

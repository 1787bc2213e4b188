import { generic } from './generic.ts';
import { enqueued, events, job, jobs, redrive, result } from './jobs.ts';
import type { Page } from './page.ts';
import { block } from './safe.ts';
import { doctor, token, tokenCreated, tokens, whoami } from './service.ts';

/**
 * Text for people by the key that a row of the operation table names (`cli.text`). Each gets the projected data of
 * its own kind: which kind a row answers is checked where it answers, and the table ties the two.
 */
const RENDERINGS: Readonly<Record<string, (data: never, page: Page) => string>> = {
  doctor,
  enqueued,
  events,
  job,
  jobs,
  redrive,
  result,
  token,
  tokenCreated,
  tokens,
  whoami,
};

export function hasRendering(key: string): boolean {
  return Object.hasOwn(RENDERINGS, key);
}

/** Ends with a line end. What has no rendering of its own gets the generic one. */
export function render(key: string, data: unknown, page: Page): string {
  const own = hasRendering(key) ? RENDERINGS[key] : undefined;
  const safe = madeSafe(data);
  return own === undefined ? generic(safe, page) : own(safe as never, page);
}

/** The data with every text in it made safe, so that no rendering can forget one (T44). */
function madeSafe(data: unknown): unknown {
  if (typeof data === 'string') return block(data);
  if (Array.isArray(data)) return data.map(madeSafe);
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [block(name), madeSafe(value)]));
}

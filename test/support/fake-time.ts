/** A daemon whose wall clock a story moves while it runs: libfaketime, which leaves the monotonic clock alone. */
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FixtureFlags } from './fixtures/installation.ts';
import { LIBFAKETIME } from './tools.ts';

export interface MovedClock {
  readonly env: NonNullable<FixtureFlags['env']>;
  /** From now on the wall clock of a process with this environment is `offsetSeconds` off the true one. */
  set(offsetSeconds: number): void;
}

/** `dir` is the fixture's. */
export function movedClock(dir: string): MovedClock {
  const file = join(dir, 'faketime');
  const set = (offsetSeconds: number): void => {
    // It is read at each look at the clock: never half of it.
    writeFileSync(`${file}.new`, `${offsetSeconds < 0 ? '' : '+'}${offsetSeconds}s\n`);
    renameSync(`${file}.new`, file);
  };
  set(0);
  const env = {
    LD_PRELOAD: LIBFAKETIME ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  return { env, set };
}

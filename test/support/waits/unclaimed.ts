/** Verbs that wait while no daemon can take their job. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import * as app from '../../../src/app.ts';
import { hurriedClock, type Ran, svc } from '../terminal.ts';
import type { Fixture } from '../fixtures/installation.ts';

export const EXIT_BUSY = 7;
const LIMIT_MS = 30_000;
/** Why the job of a verb waits, or its run. */
export const NO_DAEMON =
  /^No daemon runs, so (job job_\w+ stays queued|run wfr_\w+ does not continue)\. Start one: svc serve\. /;

interface Waited extends Ran {
  readonly tookMs: number;
  /** The last message, of the failure. */
  readonly message: string;
}

/** A verb of the machine, with a clock on which a wait passes at once. */
export async function wait(fixture: Fixture, ...argv: string[]): Promise<Waited> {
  const env = { SVC_DATA_DIR: join(fixture.dir, 'data'), SVC_SEAL_KEY_FILE: join(fixture.dir, 'seal.key') };
  const clock = hurriedClock();
  const startedAt = clock.monotonic();
  const ran = await svc(argv, { env, app, clock });
  const message = /^Error: (.*)$/m.exec(ran.stderr)?.[1] ?? '';
  return { ...ran, message, tookMs: clock.monotonic() - startedAt };
}

/** It ended after its time, for this reason, which it had said at once. */
export function endsFor(ran: Waited, reason: RegExp): void {
  assert.equal(ran.exitCode, EXIT_BUSY, ran.stderr);
  assert.match(ran.message, reason, ran.stderr);
  const cut = ran.message.slice(0, ran.message.indexOf('. ') + 1);
  assert.ok(ran.stderr.includes(`${cut} `) && ran.stderr.includes('Waiting for up to 30s.'), ran.stderr);
  assert.ok(ran.tookMs >= LIMIT_MS);
}

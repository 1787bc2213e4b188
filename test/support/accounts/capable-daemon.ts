/** A daemon that is not root and has the capabilities to run jobs as another account. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { ACCOUNT_CAPABILITIES } from '../../../src/domain/jobs/account.ts';
import { type Fixture, type FixtureFlags, openFixture } from '../fixtures/installation.ts';

/** The account of the service. No account of the machine has to have this number. */
export const SERVICE_ID = 64_001;
/** The account of its jobs: one that every Debian has, and that no other test uses. */
export const JOB_USER = 'news';

/** In the words of setpriv. */
export const CAPABILITIES = ACCOUNT_CAPABILITIES.map(({ name }) => name.slice('CAP_'.length).toLowerCase());

/** Starts a program as the account of the service, with these capabilities as systemd's AmbientCapabilities= does. */
export function asService(capabilities: readonly string[]): string[] {
  const held = ['-all', ...capabilities.map((name) => `+${name}`)].join(',');
  const ids = [`--reuid=${SERVICE_ID}`, `--regid=${SERVICE_ID}`, '--clear-groups'];
  return ['setpriv', ...ids, `--inh-caps=${held}`, `--ambient-caps=${held}`, `--bounding-set=${held}`];
}

export interface CapableFixture extends Fixture {
  /** The flags of a daemon with exactly these capabilities. */
  flags(capabilities?: readonly string[]): FixtureFlags;
}

/** An installation that belongs to the account of the service. */
export async function openCapableFixture(t: TestContext): Promise<CapableFixture> {
  // The command line of this fixture is root, which reads no key that another account can change.
  const closed = mkdtempSync(join(tmpdir(), 'gatehouse-key-'));
  t.after(() => rmSync(closed, { recursive: true, force: true }));
  const key = join(closed, 'seal.key');
  const fixture = await openFixture({ after: (step) => t.after(step) }, { sealKeyFile: key });
  const ofService = join(fixture.dir, 'seal.key');
  copyFileSync(key, ofService);
  execFileSync('chown', ['-R', `${SERVICE_ID}:${SERVICE_ID}`, fixture.dir]);
  return {
    ...fixture,
    flags: (capabilities = CAPABILITIES) => ({
      args: ['--job-user', JOB_USER],
      sealKeyFile: ofService,
      wrapper: asService(capabilities),
      env: { HOME: '/nonexistent' },
    }),
  };
}

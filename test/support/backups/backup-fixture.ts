/** A fixture whose daemon keeps its backups in a folder beside the data directory. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as app from '../../../src/app.ts';
import { type Ran, svc } from '../terminal.ts';
import {
  type Ending,
  type Fixture,
  type FixtureFlags,
  type FixtureOptions,
  openFixture,
} from '../fixtures/installation.ts';

export interface BackupFixture {
  readonly fixture: Fixture;
  readonly folder: string;
  readonly dataDir: string;
  readonly keyFile: string;
  readonly flags: FixtureFlags;
}

export interface ListedBackup {
  readonly id: string;
  readonly job_id: string;
  readonly size_bytes: number;
  readonly sha256: string;
  readonly verified_at: string | null;
}

const LIMIT_MS = 60_000;

export async function openBackupFixture(
  t: Ending,
  args: readonly string[] = [],
  options: FixtureOptions = {},
): Promise<BackupFixture> {
  const fixture = await openFixture(t, options);
  const folder = join(fixture.dir, 'backups');
  mkdirSync(folder);
  return {
    fixture,
    folder,
    dataDir: join(fixture.dir, 'data'),
    keyFile: join(fixture.dir, 'seal.key'),
    flags: { args: ['--backup-dir', folder, ...args] },
  };
}

export async function queueBackup({ fixture }: BackupFixture, name = 'store'): Promise<string> {
  return (await fixture.call<{ job_id: string }>('backup.create', { name })).job_id;
}

/** Makes one; answers the id of its job. */
export async function backUp(on: BackupFixture, name?: string): Promise<string> {
  const id = await queueBackup(on, name);
  const { state } = await on.fixture.waitFor(id, ['succeeded', 'failed', 'interrupted'], LIMIT_MS);
  assert.equal(state, 'succeeded', await outputOf(on, id));
  return id;
}

export async function outputOf({ fixture }: BackupFixture, jobId: string): Promise<string> {
  return (await fixture.events(jobId)).flatMap((event) => (event.type === 'log' ? [event.text] : [])).join('\n');
}

export function listOf({ fixture }: BackupFixture): Promise<readonly ListedBackup[]> {
  return fixture.call('backup.list', {});
}

/** The path of the only backup. */
export function onlyFile({ folder }: BackupFixture): string {
  const [file = '', ...others] = readdirSync(folder);
  assert.deepEqual(others, []);
  return join(folder, file);
}

/** A verb on the data directory of the fixture, in JSON. Later flags win. */
export function verb({ dataDir, keyFile, folder }: BackupFixture, ...argv: readonly string[]): Promise<Ran> {
  const place = { '--data-dir': dataDir, '--seal-key-file': keyFile, '--backup-dir': folder };
  const flags = Object.entries(place).flatMap(([name, value]) => (argv.includes(name) ? [] : [name, value]));
  return svc([...argv, ...flags, '--output', 'json'], { app });
}

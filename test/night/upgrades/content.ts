/**
 * What an older build makes by its command line and API, and what this build must be able to do with it. That nothing
 * of it is lost is checked by `snapshot.ts`, for all of it in the same way.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolName } from '../../support/tools.ts';
import { createApi } from '../../support/api-client.ts';
import { BACKUP_CONTENT } from './backups/content.ts';
import { EVENT_CONTENT } from './event-content.ts';
import { folderOf, type Session } from './place.ts';
import { WORKSPACE_CONTENT } from './workspace-content.ts';

/** What has to hold under this build. */
export type Check = (now: Session) => Promise<void>;

export interface Content {
  readonly name: string;
  /** The schema of the first build that can make it. */
  readonly since: number;
  readonly needs?: ToolName;
  /** Of SQLite alone. */
  readonly isOfSqlite?: true;
  make(old: Session): Promise<Check>;
}

export const CONTENT: readonly Content[] = [
  { name: 'tokens authenticate, and a revoked one does not', since: 1, make: makeTokens },
  { name: 'an idempotency key still answers with its job', since: 1, make: makeKey },
  { name: 'jobs that succeeded, failed and were cancelled', since: 1, make: makeEndedJobs },
  ...EVENT_CONTENT,
  ...WORKSPACE_CONTENT,
  { name: 'a workflow runs again', since: 23, make: makeWorkflow },
  { name: 'an inventory is readable', since: 23, make: makeInventory },
  BACKUP_CONTENT,
  { name: 'a configuration file still describes the service', since: 34, make: makeConfiguration },
];

async function makeTokens(old: Session): Promise<Check> {
  const create = (name: string): Promise<{ id: string; token: string }> =>
    old.verb(['token', 'create', '--name', name, '--scope', 'readonly', '--expires', '90d']);
  const reader = await create('reader');
  const revoked = await create('revoked');
  await old.verb(['token', 'revoke', revoked.id, '--yes']);
  return async ({ daemon }) => {
    const whoami = (token: string) => createApi(daemon.ready.web_url, token).get<{ scope: string }>('/whoami');
    const known = await whoami(reader.token);
    assert.equal(known.status, 200, known.text);
    assert.equal(known.data.scope, 'readonly');
    assert.equal((await whoami(revoked.token)).status, 401);
  };
}

async function makeKey({ operator }: Session): Promise<Check> {
  const command = ['echo', 'keyed'];
  const id = await operator.run(command, { key: 'upgrade-1' });
  await operator.waitFor(id);
  return async (now) => assert.equal(await now.operator.run(command, { key: 'upgrade-1' }), id);
}

async function makeEndedJobs({ operator }: Session): Promise<Check> {
  const kept = await operator.run(['echo', 'kept']);
  assert.equal((await operator.waitFor(kept)).state, 'succeeded');
  const failed = await operator.run(['false']);
  assert.equal((await operator.waitFor(failed)).exit_code, 1);
  const cancelled = await operator.run(['sleep', '600']);
  await operator.waitFor(cancelled, ['running']);
  await operator.post(`/jobs/${cancelled}/cancel`);
  await operator.waitFor(cancelled, ['cancelled']);
  return async (now) => {
    const printed = (await now.operator.events(kept)).filter(({ type }) => type === 'log');
    assert.deepEqual(
      printed.map(({ text }) => text),
      ['kept'],
    );
    assert.equal((await now.operator.job(failed)).state, 'failed');
    assert.equal((await now.operator.job(cancelled)).state, 'cancelled');
  };
}

async function makeWorkflow(old: Session): Promise<Check> {
  const text = [
    'name: two-steps',
    'steps:',
    '  - { name: first, command: [echo, first], inventory: localhost }',
    '  - { name: second, command: [echo, second], inventory: localhost }',
  ].join('\n');
  await old.verb(['workflow', 'add'], { input: `${text}\n` });
  await old.verb(['workflow', 'run', 'two-steps', '--wait']);
  return async (now) => {
    const run = await now.verb<{ state: string }>(['workflow', 'run', 'two-steps', '--wait']);
    assert.equal(run.state, 'succeeded');
  };
}

async function makeInventory(old: Session): Promise<Check> {
  const text =
    'all:\n  children:\n    db:\n      hosts:\n        db1: { ansible_host: 192.0.2.7, ansible_port: 2222 }\n';
  await old.verb(['inventory', 'add', 'lab', '--format', 'yaml'], { input: text });
  const before = JSON.stringify(await old.verb(['inventory', 'get', 'lab']));
  assert.match(before, /192\.0\.2\.7/);
  return async (now) => assert.match(JSON.stringify(await now.verb(['inventory', 'get', 'lab'])), /192\.0\.2\.7/);
}

/** The check is disabled: nothing of this test is probed. */
async function makeConfiguration(old: Session): Promise<Check> {
  const text = [
    'set: upgrade',
    'netgroups: [{ name: lab-net, prefixes: [192.0.2.0/24] }]',
    'checks:',
    '  - { name: site, kind: tcp, interval: 1m, targets: ["web=192.0.2.9:443"], enabled: false }',
    'schedules:',
    '  - { name: tidy, cron: "0 4 1 1 *", command: ["true"], inventory: localhost }',
  ].join('\n');
  const file = join(folderOf(old.place, 'configuration'), 'gatehouse.yaml');
  writeFileSync(file, `${text}\n`);
  await old.verb(['config', 'apply', '--file', file, '--yes']);
  return async (now) => void (await now.verb(['config', 'diff', '--file', file]));
}

/** Rows of every table: what operations make, jobs in each state, and a row for each table that is still empty. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { JOB_STATES } from '../../../../src/domain/jobs/job.ts';
import { newId } from '../../../../src/lib/id.ts';
import { insertDaemon } from '../../../../src/store/maintenance/daemons.ts';
import type { Fixture, FixtureFlags } from '../../../support/fixtures/installation.ts';
import { putEvents } from '../../../support/fixtures/events.ts';
import { askForNotification, insertEndpointOf } from '../../../support/notify/rows.ts';
import type { Store } from '../../../../src/store/store.ts';
import { insertCommand } from '../../../support/store/job-store.ts';
import { type Column, fillEmpty } from './tables.ts';

/** No daemon has this name: its jobs wait. */
const ELSEWHERE = 'elsewhere';
const ACTION = 'action: { command: ["true"], inventory: localhost }';
/** Far away: nothing of a test is run by it. */
const YEARLY = '0 3 1 1 *';

/** No flags of a user; a check is answered on this machine alone. */
export const FLAGS: FixtureFlags = { args: ['--check-canary', '127.0.0.1:1'] };

export async function fill(fixture: Fixture, columns: readonly Column[]): Promise<void> {
  await infrastructure(fixture);
  await reactions(fixture);
  await jobs(fixture);
  await insertEndpointOf(fixture.store, 'ana', 'https://127.0.0.1:1/push');
  await askForNotification(fixture.store);
  await putEvents(fixture.store, [{}]);
  const left = await fillEmpty(fixture.store, columns, await known(fixture.store));
  assert.deepEqual(left, [], 'tables without a row');
}

/** What rows name, and what constraints want. */
async function known({ db }: Store): Promise<Record<string, unknown>> {
  const token = await db.selectFrom('tokens').select('id').executeTakeFirstOrThrow();
  const job = await db.selectFrom('jobs').select('id').where('state', '=', 'succeeded').executeTakeFirstOrThrow();
  const approval = await db.selectFrom('approvals').select('id').executeTakeFirstOrThrow();
  const page = await db.selectFrom('pages').select('id').executeTakeFirstOrThrow();
  return {
    token_id: token.id,
    job_id: job.id,
    approval_id: approval.id,
    page_id: page.id,
    workspace: 'net',
    webhook: 'in',
    'decision_links.decision': 'approve',
    'deliveries.state': 'waiting',
    'host_results.status': 'ok',
  };
}

async function infrastructure(fixture: Fixture): Promise<void> {
  const call: Fixture['call'] = (...of) => fixture.call(...of);
  const files = join(fixture.dir, 'files');
  mkdirSync(files);
  writeFileSync(join(files, 'main.tf'), '', { mode: 0o644 });
  await call('secret.set', { secret: 'net/token', value: 'a word that is kept' });
  await call('source.add', { name: 'files', dir: files });
  await call('workspace.add', { name: 'net', dir: files });
  await call('inventory.add', { name: 'lab', text: 'all:\n  hosts:\n    db1: { ansible_host: 127.0.0.1 }\n' });
  await call('netgroup.add', { name: 'lab-net', prefixes: '127.0.0.0/8' });
  await call('check.add', { name: 'site', kind: 'tcp', interval: '24h', targets: ['web=127.0.0.1:1'] });
}

async function reactions(fixture: Fixture): Promise<void> {
  const call: Fixture['call'] = (...of) => fixture.call(...of);
  await call('webhook.add', { name: 'in', source: 'generic' });
  await call('deadman.add', { name: 'watch', webhook: 'in', every: '48h' });
  await call('rule.add', { text: `name: r\nwhen: event.source == "generic"\n${ACTION}\n` });
  await call('silence.add', { rule: 'r', for: '1h', reason: 'fuzz' });
  await call('mute.add', { scope_kind: 'global', for: '1h', reason: 'fuzz' });
  await call('schedule.add', { name: 's', cron: YEARLY, timezone: 'UTC', inventory: 'localhost', words: ['true'] });
  const step = 'steps:\n  - { name: first, command: ["true"], inventory: localhost, approval: required }\n';
  await call('workflow.add', { name: 'w', text: step });
  await call('workflow.run', { name: 'w' });
}

async function jobs({ store }: Fixture): Promise<void> {
  const daemonId = newId('dmn', Date.now());
  const dead = { id: daemonId, host: 'here', boot_id: 'boot', pid: 1, version: '0', started_at: 0 };
  await store.write((tx) => insertDaemon(tx, { ...dead, lease_until: 1, stopped_at: null, node: ELSEWHERE }));
  for (const state of JOB_STATES) {
    const id = await store.write((tx) => insertCommand(tx, null, { node: ELSEWHERE }));
    if (state === 'queued') continue;
    const now = Date.now();
    const ended = { started_at: now, finished_at: now, exit_code: state === 'succeeded' ? 0 : 1 };
    const claimed = { started_at: now, leader_pid: 1, leader_start: 1, daemon_id: daemonId, lease_generation: 1 };
    await store.write(async ({ db }) => {
      const more = state === 'running' ? claimed : state === 'awaiting_approval' ? {} : { ...ended, ...claimed };
      await db
        .updateTable('jobs')
        .set({ state, ...more })
        .where('id', '=', id)
        .execute();
    });
  }
}

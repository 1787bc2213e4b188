/** Webhooks, rules and their events, and what stops them, of an older build. */
import assert from 'node:assert/strict';
import { patient } from '../../support/measure/slowness.ts';
import type { Check, Content } from './content.ts';
import { folderOf, type Session } from './place.ts';

/** An answer to a message that does not come within this time is a fault by itself. */
const POST_LIMIT_MS = 30_000;
const REACTION = 10;

export const EVENT_CONTENT: readonly Content[] = [
  { name: 'webhook and rules take the next alert, and an earlier approval is given', since: REACTION, make: makeRules },
  { name: 'a silence stops its rule, and a mute is listed', since: REACTION, make: makeSilences },
  { name: 'a schedule, a dead-man watch and a source are listed', since: REACTION, make: makeTimed },
];

interface Accepted {
  readonly event_id: string;
  readonly outcome: string;
}

/** Posts an alert to the webhook by its path, which is the same under each build. */
async function alert({ daemon }: Session, path: string, name: string, instance: string): Promise<Accepted> {
  const labels = { alertname: name, instance };
  const response = await fetch(`${daemon.ready.ingress_url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ version: '4', alerts: [{ status: 'firing', labels }] }),
    signal: AbortSignal.timeout(patient(POST_LIMIT_MS)),
  });
  const text = await response.text();
  const { data } = JSON.parse(text) as { data?: { events: Accepted[] } };
  const accepted = data?.events[0];
  if (accepted === undefined) throw new Error(`the webhook answered ${response.status}: ${text}`);
  return accepted;
}

async function addRule(session: Session, name: string, approval: 'none' | 'required'): Promise<void> {
  const lines = [
    `name: ${name}`,
    `when: event.status == "firing" && event.labels.alertname == "${name}"`,
    `approval: ${approval}`,
    // As long as a build allows, because the upgrade takes a while on a busy machine.
    ...(approval === 'required' ? ['approval_ttl: 24h'] : []),
    'action: { command: [echo, "${event.labels.instance}"], inventory: localhost }',
  ];
  await session.verb(['rule', 'add'], { input: `${lines.join('\n')}\n` });
}

async function addWebhook(session: Session, name: string): Promise<string> {
  const { url } = await session.verb<{ url: string }>(['webhook', 'add', name, '--source', 'alertmanager']);
  return new URL(url).pathname;
}

/** The job of an event that fired has ended well. */
async function jobOf({ operator }: Session, eventId: string): Promise<void> {
  const { data } = await operator.get<{ job_id: string | null }>(`/events/${eventId}`);
  assert.ok(data.job_id, `event ${eventId} has a job`);
  assert.equal((await operator.waitFor(data.job_id)).state, 'succeeded');
}

async function makeRules(old: Session): Promise<Check> {
  const path = await addWebhook(old, 'alerts');
  await addRule(old, 'fires', 'none');
  await addRule(old, 'asks', 'required');
  assert.equal((await alert(old, path, 'unknown', 'db1')).outcome, 'ignored');
  const fired = await alert(old, path, 'fires', 'db1');
  assert.equal(fired.outcome, 'fired');
  await jobOf(old, fired.event_id);
  const gated = await alert(old, path, 'asks', 'db1');
  assert.equal(gated.outcome, 'gated');
  return async (now) => {
    assert.equal((await alert(now, path, 'unknown', 'db2')).outcome, 'ignored');
    const again = await alert(now, path, 'fires', 'db2');
    assert.equal(again.outcome, 'fired');
    await jobOf(now, again.event_id);
    const { data } = await now.operator.get<{ approval_id: string | null; job_id: string | null }>(
      `/events/${gated.event_id}`,
    );
    assert.ok(data.approval_id, 'the event has its approval');
    await approve(now, data.approval_id);
    await jobOf(now, gated.event_id);
  };
}

/** Approves as the second person. */
export async function approve({ approver }: Session, id: string): Promise<void> {
  const answer = await approver.post(`/approvals/${id}/decision`, { decision: 'approve' });
  assert.equal(answer.status, 200, answer.text);
}

async function makeSilences(old: Session): Promise<Check> {
  const path = await addWebhook(old, 'silenced-alerts');
  await addRule(old, 'silenced', 'none');
  await old.verb(['silence', 'add', '--rule', 'silenced', '--for', '24h', '--reason', 'upgrade']);
  await old.verb(['mute', 'add', 'host', 'db9', '--for', '24h', '--reason', 'upgrade']);
  assert.equal((await alert(old, path, 'silenced', 'db1')).outcome, 'suppressed');
  return async (now) => assert.equal((await alert(now, path, 'silenced', 'db2')).outcome, 'suppressed');
}

/** Their fields are compared with those of the older build by the snapshot. */
async function makeTimed(old: Session): Promise<Check> {
  await addWebhook(old, 'heartbeat');
  const yearly = ['--cron', '0 3 1 1 *', '--timezone', 'Europe/Berlin'];
  await old.verb(['schedule', 'add', 'yearly', ...yearly, '--inventory', 'localhost', '--', 'true']);
  await old.verb(['source', 'add', 'files', '--dir', folderOf(old.place, 'source')]);
  await old.verb(['deadman', 'add', 'watchdog', '--webhook', 'heartbeat', '--every', '48h']);
  return async (now) => {
    const listed = async (path: string): Promise<string[]> =>
      (await now.operator.get<{ name: string }[]>(path)).data.map(({ name }) => name);
    assert.ok((await listed('/schedules')).includes('yearly'));
    assert.ok((await listed('/sources')).includes('files'));
    assert.ok((await now.verb<{ name: string }[]>(['deadman', 'list'])).some(({ name }) => name === 'watchdog'));
  };
}

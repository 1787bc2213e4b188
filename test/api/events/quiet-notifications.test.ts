/** How loud a notification is: a rule's as its event, and that of a job less while who ordered it follows it. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { composeNotification, type NotificationFacts } from '../../../src/domain/notifications.ts';
import { RULE_NOTIFICATIONS } from '../../../src/domain/rules/notifications.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { notifyJobEnd } from '../../../src/reaction/job-notification.ts';
import { getJob } from '../../../src/store/jobs/jobs.ts';
import { armJob } from '../../../src/store/notify/endpoints.ts';
import { openHookFixture, tell } from '../../support/fixtures/hooks.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { until } from '../../support/api-client.ts';

const CONTEXT = {
  id: 'ntf_1',
  detail: 'summary',
  now: 0,
  baseUrl: 'http://localhost',
  node: 'one',
  links: null,
} as const;

/** The facts of the newest notification. */
async function newest({ store }: Pick<Program, 'store'>): Promise<NotificationFacts> {
  const row = store.db.selectFrom('pages').select('detail').orderBy('id', 'desc').limit(1);
  return JSON.parse((await row.executeTakeFirstOrThrow()).detail) as NotificationFacts;
}

async function priority(program: Pick<Program, 'store'>): Promise<number> {
  return composeNotification(await newest(program), CONTEXT).priority;
}

const matched = (severity: string | null) =>
  ({ kind: 'rule', rule: 'say', eventId: 'evt_1', event: 'Down', message: null, severity }) as const;
const summary = (followed: boolean) =>
  ({ kind: 'jobs', count: 2, names: ['a'], states: { failed: 2 }, first: [], followed }) as const;

describe('A rule that notifies is as loud as its event', () => {
  const SEVERITIES = [
    ['critical', 'firing', 5],
    ['Fatal', 'firing', 5],
    ['error', 'firing', 4],
    ['major', 'firing', 4],
    ['warning', 'firing', 3],
    ['info', 'firing', 2],
    ['P1', 'firing', 3],
    ['critical', 'resolved', 3],
  ] as const;
  for (const [severity, status, expected] of SEVERITIES)
    test(`${severity}, ${status}: ${expected}`, async (t) => {
      const at = await openHookFixture(t);
      await at.call('rule.add', { name: 'say', text: 'when: event.source == "generic"\naction: {notify: "It is so"}' });
      await tell(await at.hook('generic'), { name: 'Down', status, severity, fingerprint: 'f' });
      assert.equal(await priority(at.program), expected);
    });

  test('a summary of several is as loud as the loudest of them', () => {
    const fold = RULE_NOTIFICATIONS.rule.burst?.fold ?? assert.fail();
    for (const [severities, expected] of [
      [['info', 'critical', 'warning'], 5],
      [['info', 'info'], 2],
      [[null, 'info'], 3],
    ] as const) {
      const all = fold(severities.map(matched)) as NotificationFacts;
      assert.equal(composeNotification(all, CONTEXT).priority, expected, severities.join());
    }
  });
});

interface At {
  readonly program: Program;
  /** Moves the clock of the service. */
  readonly pass: (ms: number) => void;
}

async function start(t: TestContext): Promise<At> {
  let moved = 0;
  const program = await startProgram(t, { clock: { ...systemClock, now: () => systemClock.now() + moved } });
  return { program, pass: (ms) => void (moved += ms) };
}

/** The id of a job that the operator ordered. */
async function order({ url, tokens }: Program, followed: boolean): Promise<string> {
  const response = await fetch(`${url}/api/v1/commands/run`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.operator}`, 'content-type': 'application/json' },
    body: JSON.stringify({ inventory: 'localhost', command: ['false'], followed }),
  });
  assert.equal(response.status, 202);
  return ((await response.json()) as { data: { job_id: string } }).data.job_id;
}

function follow({ url }: Program, id: string, token: string, signal?: AbortSignal): Promise<Response> {
  const headers = { authorization: `Bearer ${token}` };
  return fetch(`${url}/api/v1/jobs/${id}/stream?followed=true`, {
    headers,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** The job fails, and its end is recorded. */
async function fail(program: Program, id: string): Promise<void> {
  await program.claim();
  await program.finish(id, { state: 'failed', exitCode: 1 });
  await program.store.write(async (tx) => {
    await notifyJobEnd({ wake: () => undefined }, tx, await getJob(tx.db, id));
  });
}

async function isKept({ store }: Program, id: string): Promise<boolean> {
  const row = store.db.selectFrom('job_follows').select('until').where('job_id', '=', id);
  return (await row.executeTakeFirst()) !== undefined;
}

describe('The failure of a job is quiet while who ordered it follows it', () => {
  test('from the order, also where it fails before a stream is open', async (t) => {
    const { program } = await start(t);
    await fail(program, await order(program, true));
    assert.equal(await priority(program), 2);
  });

  test('not of an order that says nothing of it', async (t) => {
    const { program } = await start(t);
    await fail(program, await order(program, false));
    assert.equal(await priority(program), 4);
  });

  test('not a minute after its caller vanished', async (t) => {
    const { program, pass } = await start(t);
    const id = await order(program, true);
    pass(61_000);
    await fail(program, id);
    assert.equal(await priority(program), 4);
  });

  test('a stream renews it, and a minute after the end of the stream it is over', async (t) => {
    const { program, pass } = await start(t);
    const id = await order(program, true);
    pass(61_000);
    const left = new AbortController();
    const stream = await follow(program, id, program.tokens.operator, left.signal);
    assert.equal(stream.status, 200);
    const valid = () => program.store.db.selectFrom('job_follows').select('until').executeTakeFirstOrThrow();
    await until('the stream renewed it', async () => (await valid()).until > systemClock.now() + 90_000 || undefined);
    left.abort();
    pass(61_000);
    await fail(program, id);
    assert.equal(await priority(program), 4);
  });

  test('it outlives a stream that showed the end', async (t) => {
    const { program } = await start(t);
    const id = await order(program, true);
    const stream = await follow(program, id, program.tokens.operator);
    await fail(program, id);
    assert.match(await stream.text(), /^event: end$/m);
    assert.ok(await isKept(program, id));
    assert.equal(await priority(program), 2);
  });

  test('another person does not make it quiet', async (t) => {
    const { program } = await start(t);
    const id = await order(program, false);
    const other = await program.token('operator', { owner: 'ben' });
    assert.equal((await follow(program, id, other)).status, 403);
    assert.equal((await follow(program, id, program.tokens.readonly)).status, 403);
    assert.ok(!(await isKept(program, id)));
  });

  test('not for a person who asked to be notified', async (t) => {
    const { program } = await start(t);
    const id = await order(program, true);
    await program.store.write((tx) => armJob(tx, { job_id: id, armed_by: 'ana', owner: 'ana' }));
    await fail(program, id);
    assert.equal(await priority(program), 4);
  });

  test('a summary is quiet where each of its jobs is', () => {
    assert.equal(composeNotification(summary(true), CONTEXT).priority, 2);
    assert.equal(composeNotification(summary(false), CONTEXT).priority, 4);
  });
});

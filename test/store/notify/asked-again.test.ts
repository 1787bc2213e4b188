/** What a notification asks is taken from the rows of the request when it is sent, on each database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NotificationMessage } from '../../../src/domain/notify/row.ts';
import { DialFailed } from '../../../src/dial/dial-failed.ts';
import { fromJson, toJson } from '../../../src/lib/json.ts';
import type { Store } from '../../../src/store/store.ts';
import { until } from '../../support/api-client.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { openNotifyFixture } from '../../support/notify/fixture.ts';
import { tamper } from '../../support/store/rewrite.ts';
import { ENGINES } from '../engine-fixture.ts';

/** Whatever somebody could write that makes a person tap. */
const FORGED = { heading: 'Clear the cache', requestedBy: 'bo', workspace: 'cache', plan: null, oneTap: true };

const OTHER = { summary: 'Clear the cache', rule: 'cache' };

async function forgeDetail(store: Store): Promise<void> {
  await store.write(async ({ db }) => {
    const asking = db.selectFrom('pages').select(['id', 'detail']).where('kind', '=', 'approval');
    const { id, detail } = await asking.executeTakeFirstOrThrow();
    const forged = toJson({ ...fromJson(detail), ...FORGED });
    await db.updateTable('pages').set({ detail: forged }).where('id', '=', id).execute();
    await db.updateTable('deliveries').set({ next_at: 0 }).execute();
  });
}

/** For the moment of the look: who does this puts the row back before somebody taps. */
const AWAY: readonly (readonly [string, (store: Store) => Promise<unknown>])[] = [
  [
    'settled',
    (store) =>
      store.write(({ db }) =>
        db
          .updateTable('approvals')
          .set({ state: 'expired', ...OTHER })
          .execute(),
      ),
  ],
  ['away', (store) => store.write(({ db }) => db.deleteFrom('approvals').execute())],
];

/** What is sent where nothing was until the row was changed. */
async function sentAfter(
  t: Parameters<typeof openNotifyFixture>[0],
  engine: (typeof ENGINES)[number],
  change: (store: Store, jobId: string) => Promise<void>,
): Promise<NotificationMessage> {
  const sent: NotificationMessage[] = [];
  let tries = 0;
  let isOpen = false;
  const fixture = await openNotifyFixture(t, engine, {
    detail: 'full',
    async send(_target, message) {
      tries += 1;
      if (!isOpen) throw new DialFailed('answered 500');
      sent.push(message);
    },
  });
  const { store } = fixture;
  store.adoption.end();
  await fixture.endpoint('https://phone.test/');
  await fixture.start();
  const { jobId } = await gate(store, { planned: false, requestedBy: 'ci' });
  await until('the first try is recorded', async () => {
    const row = await store.db.selectFrom('deliveries').select('attempts').executeTakeFirst();
    return tries === 1 && row?.attempts === 1 ? true : undefined;
  });
  isOpen = true;
  await change(store, jobId);
  // Of a request that seems to be settled there is another one, which says so.
  return until('it is sent', () => sent.find(({ title }) => title.startsWith('Approve?')));
}

for (const engine of ENGINES) {
  describe(`T80: a notification that asks, on ${engine.name}`, () => {
    test('T80: has the text and the buttons of the request, whatever its own row says', async (t) => {
      const message = await sentAfter(t, engine, forgeDetail);
      assert.match(message.title, /^Approve\? Run a command on /);
      assert.match(message.message, /^Run true on localhost\. Asked by ci, /);
      assert.deepEqual(
        message.actions.map(({ action, label }) => [action, label]),
        [
          ['view', 'Review command'],
          ['http', 'Reject command'],
          ['view', 'Open'],
        ],
      );
    });

    for (const [what, change] of AWAY)
      test(`T80: has no word and no button of a request that is ${what}`, async (t) => {
        const message = await sentAfter(t, engine, async (store) => {
          await change(store);
          await forgeDetail(store);
        });
        assert.match(message.title, /^Approve\? a request that is no longer pending /);
        assert.deepEqual(message.actions, []);
      });

    test('T80: says that a request was changed, and has no button that approves', async (t) => {
      const message = await sentAfter(t, engine, async (store, jobId) => {
        await tamper(store, 'jobs', jobId, { spec: '{"inventory":"cache"}' });
        await forgeDetail(store);
      });
      assert.match(message.title, /^Approve\? Integrity: job job_\w+ was changed after it was written/);
      assert.ok(message.actions.every(({ action, label }) => action === 'view' || label.startsWith('Reject')));
    });
  });
}

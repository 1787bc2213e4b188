/** Rules that an earlier build stored: none is lost, and nothing that they no longer do is lost in silence. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { RuleAction } from '../../src/domain/rules/actions.ts';
import { toJson } from '../../src/lib/json.ts';
import { insertMute } from '../../src/store/rules/mutes.ts';
import { getJob } from '../../src/store/jobs/jobs.ts';
import type { NotificationRow } from '../../src/store/schema/schema.ts';
import type { Store } from '../../src/store/store.ts';
import { receive } from '../../src/reaction/receive.ts';
import type { Outcome } from '../../src/reaction/types.ts';
import { addEarlierRule } from '../support/fixtures/earlier-rule.ts';
import { addRule, alert, reactionOf, WEBHOOK } from '../support/fixtures/reaction.ts';
import { ENGINES, freshStore } from './engine-fixture.ts';

const DF = ['df', '-h', '${event.labels.mountpoint}'];

for (const engine of ENGINES) {
  describe(`A rule of an earlier build on ${engine.name}`, () => {
    const its = freshStore(engine);
    let store: Store;
    let deps: ReturnType<typeof reactionOf>;
    let count = 0;
    beforeEach(() => {
      store = its.store;
      deps = reactionOf(store);
    });

    async function add(name: string, command: readonly string[]): Promise<void> {
      await addEarlierRule(store, name, command);
      deps.rules.forget();
    }

    async function outcome(mountpoint: string): Promise<Outcome> {
      const event = alert({ labels: { mountpoint, host: 'db1' }, fingerprint: `f${(count += 1)}` });
      const [only] = await receive(deps, [event], WEBHOOK);
      assert.ok(only !== undefined);
      return only;
    }

    async function command(mountpoint: string): Promise<unknown> {
      const { jobId, event } = await outcome(mountpoint);
      if (jobId === null) return event.reason;
      return (JSON.parse((await getJob(store.db, jobId)).spec) as Extract<RuleAction, { kind: 'command' }>).command;
    }

    const pages = (): Promise<Pick<NotificationRow, 'topic' | 'detail'>[]> =>
      store.db.selectFrom('pages').select(['topic', 'detail']).orderBy('topic').execute();

    test('still works: a whole word takes a name or a path', async () => {
      await add('disk', DF);
      assert.deepEqual(await command('/'), ['df', '-h', '/']);
      assert.deepEqual(await command('/var/lib/x.y'), ['df', '-h', '/var/lib/x.y']);
      assert.deepEqual(await command('sda1'), ['df', '-h', 'sda1']);
    });

    test('T80: fires where it was read before its tag was added, and not where it was changed since', async () => {
      await add('disk', DF);
      const none = { order_tag: null, order_key_id: null };
      const tags = store.db.selectFrom('rules').select(['order_tag', 'order_key_id']);
      const tag = await tags.executeTakeFirstOrThrow();
      const set = (columns: object): Promise<unknown> =>
        store.write(({ db }) => db.updateTable('rules').set(columns).execute());
      await set(none);
      deps.rules.forget();
      assert.match(String(await command('/')), /Integrity: rule disk has no tag/);
      await set(tag);
      assert.deepEqual(await command('/'), ['df', '-h', '/']);
      const other = { kind: 'command', command: ['id'], inventory: 'localhost', limit: null, timeout: null };
      const forged = JSON.stringify(other);
      await set({ ...none, action: forged, version: 7 });
      deps.rules.forget();
      assert.match(String(await command('/')), /Integrity: rule disk has no tag/);
      await set(tag);
      assert.match(String(await command('/')), /Integrity: rule disk was changed/);
    });

    test('T80: tells people nothing where it was written or changed in the database', async () => {
      await addRule(deps, 'tell', { action: { kind: 'notify', message: 'disk' } as RuleAction });
      const forged = toJson<RuleAction>({ kind: 'notify', message: 'Call 555' });
      await store.write(({ db }) => db.updateTable('rules').set({ action: forged }).execute());
      deps.rules.forget();
      const { event } = await outcome('/');
      assert.equal(event.outcome, 'error');
      assert.match(event.reason, /Rule tell matched, but no one was notified: Integrity: rule tell was changed/);
      await add('disk', DF);
      await store.write(({ db }) => db.updateTable('rules').set({ order_tag: null }).execute());
      deps.rules.forget();
      await outcome('$(id)');
      assert.deepEqual(await pages(), []);
    });

    test('still works in each place that was accepted', async () => {
      await add('disk', ['bash', '/opt/fix.sh', '${event.labels.mountpoint}']);
      assert.deepEqual(await command('sda1'), ['bash', '/opt/fix.sh', 'sda1']);
      await add('a-text', ['logger', 'disk ${event.labels.mountpoint} is full']);
      assert.deepEqual(await command('sda1'), ['logger', 'disk sda1 is full']);
      await add('a-started', ['timeout', '9', 'logger', 'disk ${event.labels.mountpoint} is full']);
      assert.deepEqual(await command('sda1'), ['timeout', '9', 'logger', 'disk sda1 is full']);
    });

    test('makes the event an error where it refuses a value; one notification per rule and day says so', async () => {
      await add('disk', DF);
      const first = await outcome('/mnt/../etc');
      assert.equal(first.event.outcome, 'error');
      assert.equal(
        first.event.reason,
        'Rule disk matched, but its action cannot be filled in: command: word 3: "/mnt/../etc" is not accepted; ' +
          'expected a name: letters, digits and _ . : @ -, at most 253 characters, the first a letter, a digit or _.',
      );
      assert.equal(deps.wakes(), 1);
      for (const mountpoint of ['a b', '$(id)', '-x', ''])
        assert.equal((await outcome(mountpoint)).event.outcome, 'error');
      const [page, ...more] = await pages();
      assert.deepEqual(more, []);
      assert.match(page?.topic ?? '', /^unfit:disk:\d{4}-\d\d-\d\d$/);
      assert.deepEqual(JSON.parse(page?.detail ?? ''), {
        kind: 'rule',
        rule: 'disk',
        eventId: first.event.id,
        event: 'DiskFull',
        message: 'Rule disk matched but did nothing: it does not accept a value of the event',
      });
      assert.equal(deps.wakes(), 1);
      assert.deepEqual(await command('/srv'), ['df', '-h', '/srv']);
    });

    test('that is added again takes a path only as path(…)', async () => {
      await add('disk', DF);
      const action = { kind: 'command', command: DF, inventory: 'localhost', limit: null, timeout: null } as const;
      await store.write((tx) => tx.db.deleteFrom('rules').execute());
      await addRule(deps, 'disk', { action });
      assert.match(
        String(await command('/')),
        /"\/" is not accepted; expected a name: .*; write \$\{path\(…\)\} for an absolute path\.$/,
      );
      const [page] = await pages();
      assert.match(page?.topic ?? '', /^unfit:disk:/);
    });

    test('sends no notification of a refused value while a mute covers the event', async () => {
      await add('disk', DF);
      const now = Date.now();
      const times = { created_at: now, expires_at: now + 60_000, ended_at: null };
      const mute = {
        id: 'mute_1',
        scope_kind: 'host',
        scope_value: 'db1',
        reason: 'r',
        created_by: 'ana',
        created_via: 'cli',
        ...times,
      } as const;
      await store.write((tx) => insertMute(tx, mute));
      assert.equal((await outcome('a b')).event.outcome, 'error');
      assert.deepEqual(await pages(), []);
    });
  });
}

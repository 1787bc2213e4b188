/** Parts whose failure no user sees, because no user waits for them: schedules, rules, notifications. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { addEarlierRule } from '../../test/support/fixtures/earlier-rule.ts';
import { putEvents } from '../../test/support/fixtures/events.ts';
import { addSchedule } from '../../test/support/fixtures/schedules.ts';
import { migratedDatabase, type FreshDatabase } from '../../test/support/postgres/postgres.ts';
import type { NotifyTarget } from '../domain/notify/target.ts';
import { toJson } from '../lib/json.ts';
import { setCordon, setNodeCordon } from '../store/maintenance/cordon.ts';
import { insertDaemon, markStopped } from '../store/maintenance/daemons.ts';
import { insertEndpoint } from '../store/notify/endpoints.ts';
import { targetsJson } from '../store/notify/targets.ts';
import { insertRule, type NewRule } from '../store/rules/rules.ts';
import type { DaemonRow } from '../store/schema/schema.ts';
import { createDoctor } from './doctor.ts';
import type { DoctorParts } from './entry.ts';
import { install, type Installation } from '../../test/support/doctor-facts.ts';

const OPS: NotifyTarget = { name: 'ops', key: 'a'.repeat(64) };

function addDaemon(
  store: Installation['store'],
  id: string,
  targets: readonly NotifyTarget[],
  some: Partial<Pick<DaemonRow, 'node' | 'lease_until'>> = {},
): Promise<void> {
  const row = {
    id,
    host: 'web1',
    boot_id: 'boot',
    pid: 1,
    version: '0',
    started_at: 0,
    lease_until: null,
    stopped_at: null,
    notify_targets: targetsJson(targets),
    ...some,
  };
  return store.write((tx) => insertDaemon(tx, row));
}

for (const postgres of [false, true]) {
  describe(`On ${postgres ? 'PostgreSQL' : 'SQLite'}`, () => {
    let database: FreshDatabase | undefined;
    let home: Installation;
    beforeEach(async () => {
      database = postgres ? await migratedDatabase() : undefined;
      home = await install(database?.url);
    });
    afterEach(async () => {
      await home.remove();
      await database?.drop();
    });

    async function demand(
      name: string,
      status: string,
      detail: string,
      otherwise: Partial<DoctorParts> = {},
    ): Promise<void> {
      const found = (await createDoctor(home.parts(otherwise))()).find((each) => each.name === name);
      assert.deepEqual([found?.status, found?.detail], [status, detail]);
    }

    test('schedules warns of enabled ones whose last slot was refused, with the reason', async () => {
      const { store } = home;
      await addSchedule(store, { name: 'fine' });
      await addSchedule(store, { name: 'off', enabled: 0, last_refusal: 'There is no workspace off.' });
      await demand('schedules', 'ok', 'The last slot of each enabled schedule queued its job.');
      await addSchedule(store, { name: 'nightly', last_refusal: 'There is no workspace net.' });
      await demand('schedules', 'warn', 'The last slot of nightly was refused: There is no workspace net.');
      for (let n = 0; n < 5; n += 1) await addSchedule(store, { name: `a${n}`, last_refusal: 'No.' });
      const named = Array.from({ length: 5 }, (_, n) => `The last slot of a${n} was refused: No.`).join(' ');
      await demand('schedules', 'warn', `${named} There are more: svc schedule list.`);
    });

    test('daemons warns under a cordon, of the service or of one daemon, and of a daemon that is gone', async () => {
      const { store } = home;
      await demand('daemons', 'ok', 'No daemon runs, and no job waits.');
      await store.write((tx) => setCordon(tx, 'ana'));
      const cordoned = 'The service is cordoned: no job starts. Lift the cordon with: svc maintenance uncordon.';
      await demand('daemons', 'warn', cordoned);
      await store.write((tx) => setCordon(tx, null));
      await store.write((tx) => setNodeCordon(tx, 'web2', 'ana'));
      const alone = 'Cordoned, so that no job starts there: web2. Lift it: svc maintenance uncordon --node NODE.';
      await demand('daemons', 'warn', alone);
      await addDaemon(store, 'dmn_0000000000000000000000000a', [], { node: 'web1', lease_until: postgres ? 1 : null });
      const gone = 'Ended without stopping in order: web1. Start svc serve again, which cleans up.';
      await demand('daemons', 'warn', `${alone} ${gone}`);
      await store.write((tx) => setNodeCordon(tx, 'web2', null));
      await demand('daemons', 'warn', gone);
      await store.write((tx) => markStopped(tx, 'dmn_0000000000000000000000000a'));
      await demand('daemons', 'ok', 'No daemon runs, and no job waits.');
    });

    test('schedules warns of those of earlier builds that run on other days now', async () => {
      const { store } = home;
      await addSchedule(store, { name: 'now', cron: '0 9 */2 * 1' });
      for (const [at, cron] of ['0 9 */2 * *', '0 9 * * */2', '0 9 1-31/2 * 1', '0 9 13 * 5', '*/5 * * * *'].entries())
        await addSchedule(store, { name: `same${at}`, cron, star_steps: null });
      await addSchedule(store, { name: 'off', cron: '0 9 */2 * 1', star_steps: null, enabled: 0 });
      await demand('schedules', 'ok', 'The last slot of each enabled schedule queued its job.');
      await addSchedule(store, { name: 'odd', cron: '0 9 */2 * 1', star_steps: null });
      await addSchedule(store, { name: 'week', cron: '0 9 1-7 * */2', star_steps: null });
      await demand(
        'schedules',
        'warn',
        'These schedules run on fewer days than in the version that they were added with: odd (0 9 */2 * 1), ' +
          'week (0 9 1-7 * */2). A star with a step does not restrict days by itself, so a day must be in both ' +
          'fields. If either field is to be enough, write 1-31/2 for */2. Add them again with svc schedule add NAME ' +
          '--replace to end this warning.',
      );
    });

    test('rules warns of those whose text this version refuses, with the reason', async () => {
      const { store } = home;
      const add = (name: string, some: Partial<NewRule>): Promise<unknown> =>
        store.write((tx) =>
          insertRule(tx, {
            name,
            when: 'true',
            cooldownMs: null,
            approval: 'none',
            approvalTtlMs: null,
            action: { kind: 'notify', message: null },
            owners: ['ana'],
            addedBy: 'ana',
            ...some,
          }),
        );
      await add('fine', {});
      await demand('rules', 'ok', 'Rules: 1, all of them can be read.');
      await add('when', { when: 'true &&' });
      await add('act', { action: { kind: 'apply', workspace: 'A b', timeout: null } });
      const found = (await createDoctor(home.parts())()).find(({ name }) => name === 'rules');
      assert.equal(found?.status, 'warn');
      assert.match(
        found.detail,
        new RegExp(
          '^Rules: 3, of which 2 cannot be read by this version and act on nothing: ' +
            String.raw`act \(action\.apply: expected .*\); when \(when: .+\)\.$`,
        ),
      );
      for (let n = 0; n < 20; n += 1) await add(`z${`${n}`.padStart(2, '0')}`, { when: '1' });
      const many = (await createDoctor(home.parts())()).find(({ name }) => name === 'rules');
      assert.match(many?.detail ?? '', /^Rules: 23, of which 22 cannot .*; z17 \(when: [^()]+\); 2 more\.$/);
    });

    test('rules warns of rules of an earlier build whose form is out of date, or that refused a value', async () => {
      const { store } = home;
      await addEarlierRule(store, 'a-fine', ['df', '${event.labels.x}']);
      await demand('rules', 'ok', 'Rules: 1, all of them can be read.');
      await addEarlierRule(store, 'b-shell', ['bash', '/opt/fix.sh', '${event.labels.x}']);
      await addEarlierRule(store, 'c-text', ['logger', 'disk ${event.labels.x}']);
      await addEarlierRule(store, 'd-value', ['logger', '${event.labels.text}']);
      await addEarlierRule(store, 'e-path', ['tool', '--dir=${event.labels.mountpoint}']);
      await addEarlierRule(store, 'f-size', ['tool', '--size=${size(event.name)}', '--dir=${path(event.labels.x)}']);
      const labels = { x: '/srv', text: 'a text' };
      const rows = ['a-fine', 'd-value'].map((rule) => ({ rule, labels: toJson(labels) }));
      const refused = (await putEvents(store, rows))[1]?.id;
      await demand(
        'rules',
        'warn',
        'Rules: 6, all of them can be read. 4 of an earlier build may end events as errors: ' +
          'b-shell (action.command: word 3: "bash" runs its arguments, so ${…} is not accepted in them; ' +
          'put the program or your own script first); ' +
          'c-text (action.command: word 2: ${…} must be a whole word, or the end of a ' +
          'word whose text before it ends with "=", "/" or ":"); ' +
          `d-value (a value of ${refused} is not accepted); ` +
          'e-path (action.command: word 2 refuses a path; write ${path(…)} if the value can be one). ' +
          'Export each with svc rule export NAME, rewrite it as in docs/how-to/write-values-of-an-event.md, ' +
          'and run svc rule add --replace --file FILE.',
      );
    });

    test('notifications warns where the daemons of a store have different targets', async () => {
      await addDaemon(home.store, 'dmn_a', [OPS, { name: 'dev', key: 'b'.repeat(64) }]);
      await demand(
        'notifications',
        'ok',
        'No registered endpoints and 2 targets of --notify; none failed within a day.',
        { targets: () => 2 },
      );
      await addDaemon(home.store, 'dmn_b', [OPS]);
      await demand(
        'notifications',
        'warn',
        'No registered endpoints and 2 targets of --notify. The running daemons have different ' +
          'targets of --notify: dev is only on dmn_a on web1. Each is notified only while its ' +
          'daemon runs: give all daemons the same list.',
        { targets: () => 2 },
      );
    });

    test('notifications counts the registered endpoints and the targets of the daemon', async () => {
      await demand(
        'notifications',
        'ok',
        'No registered endpoints and no targets of --notify; none failed within a day.',
        { targets: () => 0 },
      );
      await demand(
        'notifications',
        'ok',
        'No registered endpoints and 2 targets of --notify; none failed within a day.',
        { targets: () => 2 },
      );
      await home.store.write((tx) =>
        insertEndpoint(tx, {
          id: 'ep_1',
          token_id: 'local:ana',
          owner: 'ana',
          endpoint: 'https://93.184.215.14/',
          label: null,
          p256dh: null,
          auth: null,
        }),
      );
      await demand('notifications', 'ok', '1 registered endpoint and 1 target of --notify; none failed within a day.', {
        targets: () => 1,
      });
      // The command line on the data directory: its own environment is not that of the daemon.
      await demand(
        'notifications',
        'ok',
        '1 registered endpoint (for the number of targets of --notify, run svc doctor ' +
          '--remote URL); none failed within a day.',
        { targets: () => null },
      );
    });
  });
}

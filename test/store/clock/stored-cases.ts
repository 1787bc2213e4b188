/** What a clock that was ahead stores, one case for each stored time. */
import { toJson } from '../../../src/lib/json.ts';
import { insertSession, insertToken } from '../../../src/store/access/tokens.ts';
import { insertCheck } from '../../../src/store/checks/checks.ts';
import { renewShards, reportSweep } from '../../../src/store/checks/shards.ts';
import { insertTargets, sealTarget, snoozeTargets } from '../../../src/store/checks/targets.ts';
import { insertWebhook } from '../../../src/store/events/webhooks.ts';
import { requestRestart, settleRestart } from '../../../src/store/maintenance/restarts.ts';
import { assignTargets, requestNotification } from '../../../src/store/notify/notifications.ts';
import { insertMute } from '../../../src/store/rules/mutes.ts';
import { insertSilence } from '../../../src/store/rules/silences.ts';
import type { Store } from '../../../src/store/store.ts';
import { gate } from '../../support/fixtures/approvals.ts';
import { type MovedTime, timeFrom } from '../../support/fixtures/schedules.ts';
import { TEST_RING } from '../../support/seal.ts';
import { DEADMAN_TIMES } from '../deadman/stored-times.ts';
import { addDaemon, makeToken } from '../engine-fixture.ts';
import type { StoredCase } from './stored-case.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const LEASE_MS = 15_000;

const webhook = { name: 'dog', source: 'generic', hash: 'h', created_at: 1, last_heard_at: null } as const;
const draining = { state: 'draining', cordoned: 1 } as const;

const begun = (ends: number) => ({ created_at: 0, expires_at: ends });

export const CASES: Readonly<Record<string, StoredCase>> = {
  approvals: { put: (store) => gate(store, { ttlMs: HOUR_MS }), table: 'approvals', becomes: begun(HOUR_MS) },
  'announcements of approvals': {
    async put(store) {
      const { approval } = await gate(store);
      const facts = { kind: 'approval', approvalId: approval.id } as never;
      await store.write((tx) => requestNotification(tx, { topic: `approval:${approval.id}`, facts }));
    },
    table: 'pages',
    becomes: { created_at: 0 },
  },
  deliveries: {
    put: (store) =>
      store.write(async (tx) => {
        const id = await requestNotification(tx, { topic: 't', facts: { kind: 'test' } as never, alone: true });
        await assignTargets(tx, id!, [{ target: 'ep_1', daemonId: 'dmn_a' }]);
      }),
    table: 'deliveries',
    becomes: { next_at: 0 },
  },
  mutes: {
    put: (store, now) =>
      store.write((tx) =>
        insertMute(tx, {
          id: 'mute_1',
          scope_kind: 'global',
          scope_value: null,
          reason: null,
          created_by: 'mia',
          created_via: 'cli',
          created_at: now,
          expires_at: now + HOUR_MS,
          ended_at: null,
        }),
      ),
    table: 'mutes',
    becomes: begun(HOUR_MS),
  },
  silences: {
    put: (store, now) =>
      store.write((tx) =>
        insertSilence(tx, {
          rule: 'disk',
          when_text: null,
          reason: 'r',
          created_by: 'ana',
          created_at: now,
          expires_at: now + HOUR_MS,
        }),
      ),
    table: 'silences',
    becomes: begun(HOUR_MS),
  },
  snoozes: {
    put: (store, now) =>
      store.write(async (tx) => {
        await insertCheck(tx, { name: 'web', kind: 'tcp', interval_ms: 1_000, options: toJson({}) });
        await insertTargets(tx, [
          sealTarget(TEST_RING, 'web', 0, { name: 'a', spec: '10.0.0.5:1', credentials: null }),
        ]);
        await tx.db.updateTable('checks').set({ updated_at: now }).execute();
        await snoozeTargets(tx, 'web', null, now + HOUR_MS);
      }),
    table: 'check_targets',
    becomes: { snoozed_until: HOUR_MS },
  },
  'last messages of webhooks': {
    put: (store, now) => store.write((tx) => insertWebhook(tx, { ...webhook, last_heard_at: now })),
    table: 'webhooks',
    becomes: { last_heard_at: 0 },
  },
  ...DEADMAN_TIMES,
  sessions: {
    put: (store, now) =>
      store.write(async (tx) => {
        const token = makeToken();
        await insertToken(tx, token);
        const row = { id: 's', token_id: token.id, csrf: 'c', created_at: now, expires_at: now + 12 * HOUR_MS };
        await insertSession(tx, row);
      }),
    table: 'sessions',
    becomes: begun(12 * HOUR_MS),
  },
  tokens: {
    put: (store, now) =>
      store.write((tx) => insertToken(tx, makeToken({ created_at: now, expires_at: now + 90 * DAY_MS }))),
    table: 'tokens',
    becomes: begun(90 * DAY_MS),
  },
  'leases of daemons': {
    put: (store, now) => addDaemon(store, 'dmn_b', now + LEASE_MS),
    table: 'daemons',
    becomes: { lease_until: 600_000 },
  },
  'leases of probes': {
    async put(store, now) {
      await store.write((tx) => renewShards(tx, 'dmn_b', LEASE_MS, []));
      await store.write(({ db }) =>
        db
          .updateTable('check_shards')
          .set({ lease_until: now + LEASE_MS })
          .execute(),
      );
    },
    table: 'check_shards',
    leased: true,
    becomes: { lease_until: 600_000 },
  },
  'leases of probing daemons': {
    async put(store, now) {
      await store.write((tx) => renewShards(tx, 'dmn_b', LEASE_MS, []));
      await store.write(({ db }) =>
        db
          .updateTable('check_sweepers')
          .set({ lease_until: now + LEASE_MS })
          .execute(),
      );
    },
    table: 'check_sweepers',
    leased: true,
    becomes: { lease_until: 600_000 },
  },
  'reports of probing daemons': {
    put: (store) => store.write((tx) => reportSweep(tx, 'dmn_b', toJson({} as never), 0)),
    table: 'check_sweepers',
    becomes: { reported_at: 0 },
  },
  'restarts that wait for jobs': {
    put: (store, now) => restart(store, { ...draining, drain_deadline: now + HOUR_MS, requested_at: now }),
    table: 'restarts',
    becomes: { requested_at: 0, drain_deadline: HOUR_MS },
  },
  'restarts whose program starts': {
    put: (store, now) => restart(store, { state: 'executing', finished_at: now }),
    table: 'restarts',
    becomes: { finished_at: 0 },
  },
};

async function restart(store: Store, set: object): Promise<void> {
  const program = { version: '0' } as never;
  await store.write((tx) => settleRestart(tx, { node: 'here', daemonId: 'dmn_a', program, follows: false }));
  await store.write((tx) => requestRestart(tx, 'here', false));
  await store.write(({ db }) => db.updateTable('restarts').set(set).execute());
}

/** A time that a test moves, which begins so far from now. */
export function timeNow(byMs = 0): MovedTime {
  return timeFrom(new Date(Date.now() + byMs).toISOString());
}

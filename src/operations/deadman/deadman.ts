import * as z from 'zod';
import { formatDuration, requireDuration } from '../../domain/duration.ts';
import { OPERATORS, READERS } from '../../domain/access/scope.ts';
import { rfc3339 } from '../../lib/clock.ts';
import { deleteWatch, insertWatch, listWatches, type Watch } from '../../store/deadman/watches.ts';
import * as field from '../core/fields.ts';
import { localOnly, type Operation, readOperation, writeOperation } from '../core/operation.ts';
import { reply, written } from '../core/reply.ts';
import type { ViewItem } from '../../views/views.ts';

/**
 * When a webhook was heard is noted once a second at most, and looked at once a second: less would page for nothing.
 */
const EVERY_MIN_MS = 10_000;
const EVERY_MAX_MS = 30 * 86_400_000;

const LOCAL_ONLY = localOnly('A watch is set up at the machine, beside the webhook that it listens to.');

function watchView(row: Watch): ViewItem<'deadman.list'> {
  const untroubled = row.last_heard_at === null ? 'waiting' : 'heard';
  return {
    name: row.name,
    webhook: row.webhook,
    every: formatDuration(row.every_ms),
    state: row.tripped_at === null ? untroubled : 'silent',
    last_heard_at: row.last_heard_at === null ? null : rfc3339(row.last_heard_at),
    created_at: rfc3339(row.created_at),
  };
}

const list = readOperation({
  id: 'deadman.list',
  summary: 'List the watches for silent webhooks',
  scopes: READERS,
  ...LOCAL_ONLY,
  cli: { verb: 'deadman list', examples: ['svc deadman list'] },
  answers: ['deadman.list'],
  run: async ({ store }) => reply('deadman.list', (await listWatches(store.db)).map(watchView)),
});

const add = writeOperation({
  id: 'deadman.add',
  causes: { none: 'A watch notifies people; no event comes of it.' },
  summary: 'Create a watch: notify when a webhook is silent and when it recovers',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'deadman add',
    positionals: ['name'],
    examples: ['svc deadman add prometheus --webhook watchdog --every 10m'],
  },
  input: z.strictObject({
    name: field.name,
    webhook: field.name.describe('Webhook to watch'),
    every: field.as(
      'DURATION',
      z
        .string({ error: 'expected a duration such as 10m' })
        .describe('Longest silence allowed, such as 10m; at least 10s; counted from now'),
    ),
  }),
  answers: ['deadman.get'],
  failures: ['not_found', 'duplicate'],
  async run({ tx, caller, services }, { name, webhook, every }) {
    const everyMs = requireDuration('every', every, EVERY_MIN_MS, EVERY_MAX_MS);
    const row = await insertWatch(tx, { name, webhook, every_ms: everyMs, added_by: caller.name });
    tx.afterCommit(() => services.wake());
    return written(reply('deadman.get', watchView(row)), name, { webhook, every });
  },
});

const remove = writeOperation({
  id: 'deadman.remove',
  causes: { none: 'A watch notifies people; no event comes of it.' },
  summary: 'Remove a watch',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'deadman remove', removes: true, positionals: ['name'], examples: ['svc deadman remove prometheus'] },
  input: z.strictObject({ name: field.name }),
  answers: ['deadman.get'],
  failures: ['not_found'],
  run: async ({ tx }, { name }) => written(reply('deadman.get', watchView(await deleteWatch(tx, name))), name),
});

export const DEADMAN_OPERATIONS: readonly Operation[] = [list, add, remove];

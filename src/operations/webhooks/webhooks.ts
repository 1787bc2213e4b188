import * as z from 'zod';
import { WEBHOOK_SOURCES } from '../../domain/events/event.ts';
import { Failure } from '../../domain/failure.ts';
import { hookUrl } from '../../domain/approvals/link.ts';
import { OPERATORS } from '../../domain/access/scope.ts';
import { newSecret } from '../../domain/access/token.ts';
import { rfc3339 } from '../../lib/clock.ts';
import type { WebhookRow } from '../../store/schema/schema.ts';
import { setSigningSecret } from '../../store/events/webhook-signing.ts';
import { deleteWebhook, insertWebhook, listWebhooks, webhookHash } from '../../store/events/webhooks.ts';
import * as field from '../core/fields.ts';
import { localOnly, type Operation, readOperation, writeOperation } from '../core/operation.ts';
import { reply, written } from '../core/reply.ts';
import type { ViewItem } from '../../views/views.ts';

const LOCAL_ONLY = localOnly('Webhooks are managed on the machine only, because the URL of a webhook is a capability.');

function webhookView(row: WebhookRow): ViewItem<'webhook.list'> {
  return {
    name: row.name,
    source: row.source,
    signed: row.signed === 1,
    created_at: rfc3339(row.created_at),
    last_heard_at: row.last_heard_at === null ? null : rfc3339(row.last_heard_at),
  };
}

const list = readOperation({
  id: 'webhook.list',
  summary: 'List webhooks and the time of their last message, without URLs',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: { verb: 'webhook list', examples: ['svc webhook list'] },
  answers: ['webhook.list'],
  run: async ({ store }) => reply('webhook.list', (await listWebhooks(store.db)).map(webhookView)),
});

const add = writeOperation({
  id: 'webhook.add',
  causes: { of: 'webhook' },
  summary: 'Create a URL that receives alerts; it is shown only once',
  shownOnce: true,
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'webhook add',
    positionals: ['name'],
    examples: ['svc webhook add alerts --source alertmanager', 'svc webhook add backups --source generic --signed'],
  },
  input: z.strictObject({
    name: field.name,
    source: field.oneOf(WEBHOOK_SOURCES).describe('Sender of the alerts; selects the payload format'),
    signed: z.boolean().default(false).describe('Accept only signed messages; the signing secret is shown only once'),
  }),
  answers: ['webhook.created'],
  failures: ['duplicate'],
  prepare: async ({ services }, { signed }) => ({
    ring: signed ? await services.keyring() : null,
    origin: await services.linkOrigin(),
  }),
  async run({ tx }, { name, source, signed }, { ring, origin }) {
    const token = newSecret();
    await insertWebhook(tx, {
      name,
      source,
      hash: webhookHash(token),
      created_at: tx.now,
      last_heard_at: null,
      signed: signed ? 1 : 0,
    });
    const signingSecret = ring === null ? null : newSecret();
    if (ring !== null && signingSecret !== null) await setSigningSecret(tx, ring, name, signingSecret);
    const created = { name, source, signed, url: hookUrl(origin, token), signing_secret: signingSecret };
    return written(reply('webhook.created', created), name, { source, signed });
  },
});

const remove = writeOperation({
  id: 'webhook.remove',
  causes: { of: 'webhook' },
  summary: 'Remove a webhook; its URL stops working',
  scopes: OPERATORS,
  ...LOCAL_ONLY,
  cli: {
    verb: 'webhook remove',
    removes: true,
    confirm: {
      by: 'yes',
      question: 'Senders lose the URL of {name} for good: a new webhook has another. Go on? [y/N] ',
    },
    positionals: ['name'],
    examples: ['svc webhook remove alerts'],
  },
  input: z.strictObject({ name: field.name }),
  answers: ['webhook.get'],
  failures: ['not_found', 'conflict'],
  // All areas of the store: no other verb of webhooks needs them, and they take a tenth of its start.
  prepare: async () => (await import('../../store/areas.ts')).neededBy,
  async run({ tx }, { name }, neededBy) {
    const need = await neededBy(tx, 'webhooks', name);
    if (need !== null) throw new Failure('conflict', need);
    return written(reply('webhook.get', webhookView(await deleteWebhook(tx, name))), name);
  },
});

export const WEBHOOK_OPERATIONS: readonly Operation[] = [list, add, remove];

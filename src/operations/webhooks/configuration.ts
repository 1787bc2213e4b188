import * as z from 'zod';
import { WEBHOOK_SOURCES } from '../../domain/events/event.ts';
import { Failure } from '../../domain/failure.ts';
import { listWebhooks } from '../../store/events/webhooks.ts';
import * as field from '../core/fields.ts';
import { jsonSchema } from '../core/json-schema.ts';
import type { ConfigSection } from '../core/sections/section.ts';
import { readEntry, withoutEmpty } from '../core/sections/read-entry.ts';

const entry = z.strictObject({
  source: field.oneOf(WEBHOOK_SOURCES).describe('Sender of the alerts'),
  signed: field.flag.describe('Accept only signed messages'),
});

/** By name only: the URL is a capability, which no file holds. */
export const webhooksSection: ConfigSection = {
  word: 'webhook',
  isShownOnce: true,
  schema: () => jsonSchema(entry, 'input'),
  async stored({ db }) {
    const rows = await listWebhooks(db);
    return new Map(rows.map(({ name, source, signed }) => [name, withoutEmpty({ source, signed: signed === 1 })]));
  },
  read: (map, restore) => Promise.resolve(withoutEmpty(readEntry(entry, map, restore))),
  add: (name, to) => [['webhook.add', { name, ...to }]],
  change(name) {
    throw new Failure(
      'conflict',
      `a webhook keeps its sender and its URL; remove it first: svc webhook remove ${name}. The URL will be another.`,
    );
  },
  remove: (name) => [['webhook.remove', { name }]],
};

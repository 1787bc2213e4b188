import { z } from 'zod';
import { EVENT_OUTCOMES, WEBHOOK_SOURCES } from '../../domain/events/event.ts';
import { time } from './shared.ts';

const webhook = { name: z.string(), source: z.enum(WEBHOOK_SOURCES), signed: z.boolean() };
const shown = z.object({ ...webhook, created_at: time, last_heard_at: time.nullable() });

/**
 * Where alerts come in. The URL holds the token: it is shown when the webhook is made, as its signing secret is, and
 * never again.
 */
export const WEBHOOK_VIEWS = {
  'webhook.list': z.array(shown),
  'webhook.get': shown,
  'webhook.created': z.object({ ...webhook, url: z.string(), signing_secret: z.string().nullable() }),
  /** What became of a message: an entry for each alert in it, in its order. */
  'event.accepted': z.object({ events: z.array(z.object({ event_id: z.string(), outcome: z.enum(EVENT_OUTCOMES) })) }),
} as const satisfies Record<string, z.ZodType>;

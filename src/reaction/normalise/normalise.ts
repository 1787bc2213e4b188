import type { WebhookSource } from '../../domain/events/event.ts';
import { alertmanager } from './alertmanager.ts';
import { gatus } from './gatus.ts';
import { generic } from './generic.ts';
import { grafana } from './grafana.ts';
import { healthchecks } from './healthchecks.ts';
import type { Normaliser } from './payload.ts';
import { uptimeKuma } from './uptime-kuma.ts';

/** How the payload of each kind of sender is read. Another sender is one more row, and three payloads in its test. */
export const NORMALISERS = {
  generic,
  alertmanager,
  grafana,
  'uptime-kuma': uptimeKuma,
  gatus,
  healthchecks,
} satisfies Record<WebhookSource, Normaliser>;

import type { Projected, ViewName } from '../../views/views.ts';
import { AUDIT_TEXTS } from './audit/text.ts';
import { APPROVALS_TEXTS } from './approvals/text.ts';
import { BACKUPS_TEXTS } from './backups/text.ts';
import { CHECKS_TEXTS } from './checks/text.ts';
import { EVENTS_TEXTS } from './events/text.ts';
import type { Text } from '../text/blocks.ts';
import { GATE_TEXTS } from './gate/text.ts';
import { CONFIGURATION_TEXTS } from './configuration/text.ts';
import { generic } from '../text/generic.ts';
import { JOBS_TEXTS } from './jobs/text.ts';
import { MUTE_TEXTS } from './rules/mutes-text.ts';
import { NETGROUPS_TEXTS } from './netgroups/text.ts';
import { INVENTORIES_TEXTS } from './inventories/text.ts';
import { NOTIFY_TEXTS } from './notify/text.ts';
import { DEADMAN_TEXTS } from './deadman/text.ts';
import type { Display } from '../text/display.ts';
import { PLAYBOOKS_TEXTS } from './playbooks/text.ts';
import { PLAN_TEXTS } from './workspaces/plan-text.ts';
import { RULES_TEXTS } from './rules/text.ts';
import { block } from '../text/safe.ts';
import { SCHEDULES_TEXTS } from './schedules/text.ts';
import { SECRETS_TEXTS } from './secrets/text.ts';
import { SERVICE_TEXTS } from './service/text.ts';
import { SOURCES_TEXTS } from './sources/text.ts';
import { WEBHOOK_TEXTS } from './events/webhooks-text.ts';
import { WORKFLOWS_TEXTS } from './workflows/text.ts';
import { WORKSPACES_TEXTS } from './workspaces/text.ts';

/**
 * Text for people, by the kind of the answer: a repeat with a held idempotency key may answer another kind than the
 * verb.
 */
const RENDERINGS: { readonly [V in ViewName]: (data: Projected<V>, display: Display) => Text } = {
  ...SERVICE_TEXTS,
  ...JOBS_TEXTS,
  ...PLAYBOOKS_TEXTS,
  ...BACKUPS_TEXTS,
  ...SOURCES_TEXTS,
  ...INVENTORIES_TEXTS,
  ...GATE_TEXTS,
  ...WORKFLOWS_TEXTS,
  ...WORKSPACES_TEXTS,
  ...APPROVALS_TEXTS,
  ...PLAN_TEXTS,
  ...CHECKS_TEXTS,
  ...EVENTS_TEXTS,
  ...RULES_TEXTS,
  ...NOTIFY_TEXTS,
  ...DEADMAN_TEXTS,
  ...MUTE_TEXTS,
  ...WEBHOOK_TEXTS,
  ...NETGROUPS_TEXTS,
  ...CONFIGURATION_TEXTS,
  ...SCHEDULES_TEXTS,
  ...SECRETS_TEXTS,
  ...AUDIT_TEXTS,
  'workspace.exported': generic,
  'host.request': generic,
  'event.accepted': generic,
};

/** A kind that this build does not know gets the generic rendering. */
export function textOf(kind: string, data: unknown, display: Display): Text {
  const own = Object.hasOwn(RENDERINGS, kind) ? RENDERINGS[kind as ViewName] : undefined;
  const safe = madeSafe(data);
  return own === undefined ? generic(safe, display) : own(safe as never, display);
}

/** The data with every text in it made safe, so that no rendering can forget one (T44). */
export function madeSafe(data: unknown): unknown {
  if (typeof data === 'string') return block(data);
  if (Array.isArray(data)) return data.map(madeSafe);
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [block(name), madeSafe(value)]));
}

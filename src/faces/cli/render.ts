import type { Projected, ViewName } from '../../operations/views/views.ts';
import { auditHead, auditList } from './text/audit.ts';
import { approval, approvals, decision, link, pending } from './text/approvals.ts';
import { backup, backups } from './text/backups.ts';
import { check, checks, probed } from './text/checks.ts';
import { eventList, eventSheet, eventSummary, eventTrace } from './text/events.ts';
import { generic } from './display/generic.ts';
import { commandLine, enqueued, events, job, jobs, redrive, result } from './text/jobs.ts';
import { mute, mutes } from './text/mutes.ts';
import { classified, netgroup, netgroups } from './text/checks/netgroups.ts';
import { hostKeys, inventories, inventory } from './text/inventories.ts';
import { armed, endpoint, endpoints, testNotification, watch, watches } from './text/notify.ts';
import type { Display } from './display/display.ts';
import { plan } from './text/plan.ts';
import { rule, ruleFile, rules, ruleTest, silence, silences } from './text/rules.ts';
import { block } from '../text/safe.ts';
import { schedule, schedules } from './text/schedules.ts';
import { seal, sealExported, secret, secrets } from './text/secrets.ts';
import { doctor, nodes, readiness, token, tokenCreated, tokens, whoami } from './text/service.ts';
import { hooks, source, sources } from './text/sources.ts';
import { webhook, webhookCreated, webhooks } from './text/webhooks.ts';
import { workflow, workflowRun, workflows } from './text/workflows.ts';
import { states, workspace, workspaces } from './text/workspaces.ts';

/**
 * Text for people, by the kind of the answer: a repeat with a held idempotency key may answer another kind than the
 * verb.
 */
const RENDERINGS: { readonly [V in ViewName]: (data: Projected<V>, display: Display) => string } = {
  whoami,
  doctor,
  'job.list': jobs,
  'job.get': job,
  'job.events': events,
  'job.enqueued': enqueued,
  'job.redrive': redrive,
  'job.command': commandLine,
  'command.result': result,
  'backup.list': backups,
  'backup.get': backup,
  'source.list': sources,
  'source.get': source,
  'hooks.show': hooks,
  'inventory.list': inventories,
  'inventory.get': inventory,
  'inventory.host_keys': hostKeys,
  'workflow.list': workflows,
  'workflow.get': workflow,
  'workflow.status': workflowRun,
  'workspace.list': workspaces,
  'workspace.get': workspace,
  'workspace.state': states,
  'approval.pending': pending,
  'approval.list': approvals,
  'approval.get': approval,
  'approval.plan': plan,
  'approval.decision': decision,
  'approval.link': link,
  'check.list': checks,
  'check.get': check,
  'check.probe': probed,
  'event.list': eventList,
  'event.get': eventSheet,
  'event.summary': eventSummary,
  'event.trace': eventTrace,
  'rule.list': rules,
  'rule.get': rule,
  'rule.exported': ruleFile,
  'rule.test': ruleTest,
  'silence.list': silences,
  'silence.get': silence,
  'notify.endpoint.list': endpoints,
  'notify.endpoint': endpoint,
  'notify.test': testNotification,
  'job.notify': armed,
  'deadman.list': watches,
  'deadman.get': watch,
  'mute.list': mutes,
  'mute.get': mute,
  'webhook.list': webhooks,
  'webhook.get': webhook,
  'webhook.created': webhookCreated,
  'netgroup.list': netgroups,
  'netgroup.get': netgroup,
  'netgroup.classify': classified,
  'schedule.list': schedules,
  'schedule.get': schedule,
  'secret.list': secrets,
  'secret.get': secret,
  'seal.status': seal,
  'seal.exported': sealExported,
  'audit.list': auditList,
  'audit.head': auditHead,
  'token.list': tokens,
  'token.get': token,
  'token.created': tokenCreated,
  'workspace.exported': generic,
  'maintenance.readiness': readiness,
  'node.list': nodes,
  'host.request': generic,
  'event.accepted': generic,
};

/**
 * Answers with a value that is shown only once: standard output has only the value, for scripts; the rendering on
 * standard error explains it.
 */
const SECRETS: { readonly [V in ViewName]?: (data: Projected<V>) => string } = {
  'token.created': ({ token: secret }) => `${secret}\n`,
  'seal.exported': ({ text }) => text ?? '',
  'webhook.created': ({ url, signing_secret: secret }) => `${url}\n${secret === null ? '' : `${secret}\n`}`,
};

/** The value of an answer that is shown only once, with its line end; null if it has no such value. */
export function secretOf(kind: string, data: unknown): string | null {
  const own = Object.hasOwn(SECRETS, kind) ? SECRETS[kind as ViewName] : undefined;
  return own === undefined ? null : own(madeSafe(data) as never);
}

/** Ends with a line end. A kind that this build does not know gets the generic rendering. */
export function render(kind: string, data: unknown, display: Display): string {
  const own = Object.hasOwn(RENDERINGS, kind) ? RENDERINGS[kind as ViewName] : undefined;
  const safe = madeSafe(data);
  return own === undefined ? generic(safe, display) : own(safe as never, display);
}

/** The data with every text in it made safe, so that no rendering can forget one (T44). */
function madeSafe(data: unknown): unknown {
  if (typeof data === 'string') return block(data);
  if (Array.isArray(data)) return data.map(madeSafe);
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [block(name), madeSafe(value)]));
}

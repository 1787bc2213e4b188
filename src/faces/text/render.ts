import type { Projected, ViewName } from '../../operations/views/views.ts';
import { auditHead, auditList } from './views/audit.ts';
import { approval, approvals, decision, link, pending } from './views/approvals.ts';
import { backup, backups } from './views/backups.ts';
import { check, checks, probed } from './views/checks.ts';
import { eventList, eventSheet, eventSummary, eventTrace } from './views/events.ts';
import type { Text } from './blocks.ts';
import { configApplied, configDiff, configFile } from './views/configuration/config.ts';
import { generic } from './generic.ts';
import { commandLine, enqueued, events, job, jobs, redrive, result } from './views/jobs.ts';
import { mute, mutes, previewed } from './views/mutes.ts';
import { classified, netgroup, netgroups } from './views/checks/netgroups.ts';
import { hostKeys, inventories, inventory } from './views/inventories.ts';
import { armed, endpoint, endpoints, pushKey, testNotification, watch, watches } from './views/notify.ts';
import type { Display } from './display.ts';
import { playbookHosts } from './views/jobs/hosts.ts';
import { plan } from './views/plan.ts';
import { rule, ruleFile, rules, ruleTest, silence, silences } from './views/rules.ts';
import { block } from './safe.ts';
import { agenda, schedule, schedules } from './views/schedules.ts';
import { seal, sealExported, secret, secrets } from './views/secrets.ts';
import { doctor, nodes, readiness, reload, restart, token, tokenCreated, tokens, whoami } from './views/service.ts';
import { hooks, source, sources } from './views/sources.ts';
import { webhook, webhookCreated, webhooks } from './views/webhooks.ts';
import { workflow, workflowRun, workflows } from './views/workflows.ts';
import { plans, states, workspace, workspaces } from './views/workspaces.ts';

/**
 * Text for people, by the kind of the answer: a repeat with a held idempotency key may answer another kind than the
 * verb.
 */
const RENDERINGS: { readonly [V in ViewName]: (data: Projected<V>, display: Display) => Text } = {
  whoami,
  doctor,
  'job.list': jobs,
  'job.get': job,
  'job.events': events,
  'job.enqueued': enqueued,
  'job.redrive': redrive,
  'job.command': commandLine,
  'command.result': result,
  'playbook.hosts': playbookHosts,
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
  'workspace.plans': plans,
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
  'notify.key': pushKey,
  'notify.test': testNotification,
  'job.notify': armed,
  'deadman.list': watches,
  'deadman.get': watch,
  'mute.list': mutes,
  'mute.get': mute,
  'mute.preview': previewed,
  'webhook.list': webhooks,
  'webhook.get': webhook,
  'webhook.created': webhookCreated,
  'netgroup.list': netgroups,
  'netgroup.get': netgroup,
  'netgroup.classify': classified,
  'config.exported': configFile,
  'config.diff': configDiff,
  'config.applied': configApplied,
  'schedule.list': schedules,
  'schedule.agenda': agenda,
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
  'maintenance.reload': reload,
  'maintenance.restart': restart,
  'node.list': nodes,
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

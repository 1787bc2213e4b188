import type { Projected, ViewName } from '../../views/views.ts';
import { auditHead, auditList } from './audit/text.ts';
import { approval, approvals, decision, link, pending } from './approvals/text.ts';
import { backup, backups } from './backups/text.ts';
import { check, checks, probed } from './checks/text.ts';
import { eventList, eventSheet, eventSummary, eventTrace } from './events/text.ts';
import type { Text } from '../text/blocks.ts';
import { configApplied, configDiff, configFile } from './configuration/text.ts';
import { generic } from '../text/generic.ts';
import { commandLine, enqueued, events, job, jobs, redrive, result } from './jobs/text.ts';
import { mute, mutes, previewed } from './rules/mutes-text.ts';
import { classified, netgroup, netgroups } from './netgroups/text.ts';
import { hostKeys, inventories, inventory } from './inventories/text.ts';
import { armed, endpoint, endpoints, pushKey, testNotification } from './notify/text.ts';
import { watch, watches } from './deadman/text.ts';
import type { Display } from '../text/display.ts';
import { playbookHosts } from './playbooks/text.ts';
import { plan } from './workspaces/plan-text.ts';
import { rule, ruleFile, rules, ruleTest, silence, silences } from './rules/text.ts';
import { block } from '../text/safe.ts';
import { agenda, schedule, schedules } from './schedules/text.ts';
import { seal, sealExported, secret, secrets } from './secrets/text.ts';
import { doctor, nodes, readiness, reload, restart, token, tokenCreated, tokens, whoami } from './service/text.ts';
import { hooks, source, sources } from './sources/text.ts';
import { webhook, webhookCreated, webhooks } from './events/webhooks-text.ts';
import { workflow, workflowRun, workflows } from './workflows/text.ts';
import { plans, states, workspace, workspaces } from './workspaces/text.ts';

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

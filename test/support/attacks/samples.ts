/** A request of each route, for tests that try all of them. */
import assert from 'node:assert/strict';

const UNKNOWN_JOB = 'job_00000000000000000000000000';
const UNKNOWN_EVENT = 'evt_00000000000000000000000000';
const UNKNOWN_ENDPOINT = 'ep_00000000000000000000000000';
const UNKNOWN_RUN = 'wfr_00000000000000000000000000';
const UNKNOWN_APPROVAL = 'apr_00000000000000000000000000';

/** What is sent to each operation, and what who may call it gets. A new operation needs its row here. */
export const SAMPLES: Readonly<
  Record<string, { params?: Readonly<Record<string, string>>; body?: unknown; allowed: number; endless?: true }>
> = {
  whoami: { allowed: 200 },
  doctor: { allowed: 200 },
  openapi: { allowed: 200 },
  'job.list': { allowed: 200 },
  'job.get': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'job.events': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'job.tail': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'job.cancel': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'job.rerun': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'job.result': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'command.run': { body: { inventory: 'localhost', command: ['true'] }, allowed: 202 },
  'playbook.run': { body: { playbook: 'site.yml', source: 'ops', inventory: 'localhost' }, allowed: 404 },
  'source.list': { allowed: 200 },
  'workspace.list': { allowed: 200 },
  'workspace.plan': { params: { name: 'nowhere' }, allowed: 404 },
  'workspace.apply': { params: { name: 'nowhere' }, allowed: 404 },
  'workspace.destroy': { params: { name: 'nowhere' }, allowed: 404 },
  'approval.list': { allowed: 200 },
  'approval.get': { params: { id: UNKNOWN_APPROVAL }, allowed: 404 },
  'audit.list': { allowed: 200 },
  'approval.plan': { params: { id: UNKNOWN_APPROVAL }, allowed: 404 },
  'approval.order': { params: { id: UNKNOWN_APPROVAL }, allowed: 404 },
  'job.order': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'approval.decision': { params: { id: UNKNOWN_APPROVAL }, body: { decision: 'approve' }, allowed: 404 },
  'approval.watch': { allowed: 200, endless: true },
  'secret.list': { allowed: 200 },
  'backup.list': { allowed: 200 },
  'host.request': { body: { request: 'nothing' }, allowed: 200 },
  'netgroup.list': { allowed: 200 },
  'netgroup.add': { body: { name: 'away', prefixes: '10.0.0.0/8' }, allowed: 400 },
  'netgroup.set': { params: { name: 'nowhere' }, body: { name: 'nowhere', prefixes: '10.0.0.0/8' }, allowed: 404 },
  'netgroup.remove': { params: { name: 'nowhere' }, allowed: 404 },
  'check.list': { allowed: 200 },
  'check.add': { body: { name: 'web', kind: 'nothing', interval: '1m', targets: ['a=10.0.0.1:80'] }, allowed: 400 },
  'check.update': { params: { name: 'nowhere' }, body: { targets: ['a=10.0.0.1:80'] }, allowed: 404 },
  'check.enable': { params: { name: 'nowhere' }, allowed: 404 },
  'check.disable': { params: { name: 'nowhere' }, allowed: 404 },
  'check.remove': { params: { name: 'nowhere' }, allowed: 404 },
  'check.probe': { params: { name: 'nowhere' }, allowed: 404 },
  'mute.list': { allowed: 200 },
  'schedule.list': { allowed: 200 },
  'event.list': { allowed: 200 },
  'event.summary': { allowed: 200 },
  'event.get': { params: { id: UNKNOWN_EVENT }, allowed: 404 },
  'rule.list': { allowed: 200 },
  'silence.list': { allowed: 200 },
  'notify.endpoint.list': { allowed: 200 },
  'notify.endpoint.add': { body: { endpoint: 'http://example.com/x' }, allowed: 400 },
  'notify.endpoint.remove': { params: { id: UNKNOWN_ENDPOINT }, allowed: 404 },
  'job.notify': { params: { id: UNKNOWN_JOB }, allowed: 404 },
  'mute.add': { body: { scope_kind: 'global', for: '1h' }, allowed: 200 },
  'mute.remove': { params: { id: 'mute_00000000000000000000000000' }, allowed: 404 },
  'silence.add': { body: { rule: 'nowhere', for: '1h', reason: 'moved' }, allowed: 404 },
  'silence.remove': { params: { id: 'sil_00000000000000000000000000' }, allowed: 404 },
  'rule.disable': { params: { name: 'nowhere' }, allowed: 404 },
  'check.snooze': { params: { name: 'nowhere' }, body: { for: '1h' }, allowed: 404 },
  'schedule.disable': { params: { name: 'nowhere' }, allowed: 404 },
  'workflow.run': { params: { name: 'nowhere' }, allowed: 404 },
  'workflow.status': { params: { run: UNKNOWN_RUN }, allowed: 404 },
  'workflow.cancel': { params: { run: UNKNOWN_RUN }, allowed: 404 },
  'workspace.drift': { params: { name: 'nowhere' }, allowed: 404 },
  'event.trace': { params: { id: UNKNOWN_EVENT }, allowed: 404 },
  'job.redrive': { body: { ids: [UNKNOWN_JOB] }, allowed: 404 },
  'notify.test': { allowed: 200 },
  'config.diff': { body: { text: 'set: nothing' }, allowed: 200 },
  'config.apply': { body: { text: 'set: nothing' }, allowed: 200 },
  'maintenance.interrupted': { allowed: 200 },
  'maintenance.readiness': { allowed: 200 },
  'node.list': { allowed: 200 },
  'maintenance.cordon': { allowed: 200 },
  'maintenance.uncordon': { allowed: 200 },
  'maintenance.reload': { allowed: 503 },
  'maintenance.restart': { allowed: 503 },
  'maintenance.restart-status': { allowed: 503 },
};

/** The path of a route, with what its row sends for each parameter. */
export function pathOf(id: string, template: string): string {
  return template.replaceAll(
    /\{([a-z_]+)\}/g,
    (_all, name: string) => SAMPLES[id]?.params?.[name] ?? assert.fail(`${id}: ${name} has no sample`),
  );
}
